/// One request as the transport sends it: what is sent, what the connection has to be, and within which
/// limits.
///
/// It cannot be copied. It is made where it is used, and borrowed from there on: copies of a value of this
/// size would cost each request 2,000 instructions.
package struct OutgoingRequest: ~Copyable {
    package let message: OutgoingMessage
    package var target: ConnectionTarget
    package let limits: RequestLimits

    /// Makes a value of its parts.
    @inline(__always)
    package init(
        _ message: consuming OutgoingMessage,
        over target: consuming ConnectionTarget,
        within limits: consuming RequestLimits
    ) {
        self.message = message
        self.target = target
        self.limits = limits
    }
}
