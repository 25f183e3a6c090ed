package import DirectHTTP1

/// Makes the credentials for one proxy.
package protocol ProxyAuthorizer: Sendable {
    /// Returns the credentials for one request, or for one tunnel.
    ///
    /// - Parameters:
    ///   - target: the target in the request line, as the proxy reads it.
    ///   - body: the body of the request; `nil` if it is not in memory.
    func credentials(method: HTTPMethod, target: String, body: [UInt8]?) -> RenewedCredentials
}
