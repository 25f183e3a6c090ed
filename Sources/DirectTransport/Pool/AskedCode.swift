internal import DirectHTTP1

/// Code of the program that a call asks and waits for: an authenticator, a decision on a redirect, an
/// interceptor.
///
/// Responses that wait for it may hold all connections that the limits allow, so a request that it sends
/// itself goes before all others, and may have the place that such a response has lent
/// (``ConnectionPool/Place``).
package enum AskedCode {
    /// Whether the current task is part of such code. One that outlives it may stay so: what is lent is the
    /// bound.
    @TaskLocal package static var isRunning = false
}

extension HTTPStatus {
    /// Whether code of the program is usually asked about such a response: credentials are refused, or the
    /// request is redirected.
    var asksProgram: Bool {
        isRedirection || self == .unauthorized || self == .proxyAuthenticationRequired
    }
}
