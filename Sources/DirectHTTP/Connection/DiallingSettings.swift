internal import DirectIO

/// How addresses are tried where there are several for one name.
public struct DiallingSettings: Hashable, Sendable {
    /// What becomes of the others when an address answers with a certificate that will not do.
    public enum WrongServer: Hashable, Sendable {
        /// The request fails: the network is fine, and trying on would hide what is not.
        case fail
        /// They are tried. The certificate is never accepted, and the attempt is reported.
        case tryNext
    }

    /// How long after one address the next one is tried beside it, should the first not have answered by then
    /// (RFC 8305, section 5). Less than 100 ms count as 100 ms, more than 2 s as 2 s.
    public var stagger: Duration = .milliseconds(250)
    /// Whether addresses are tried one after the other in the order given: no race, no memory of which of them
    /// is good.
    public var keepsOrder = false
    /// What to do about a wrong certificate.
    public var wrongServer = WrongServer.fail

    /// The defaults.
    public init() {}

    var staggerNanoseconds: UInt64 {
        min(max(stagger.clampedNanoseconds, 100_000_000), 2_000_000_000)
    }
}
