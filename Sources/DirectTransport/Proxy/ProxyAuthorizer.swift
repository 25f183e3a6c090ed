package import DirectHTTP1

/// Makes the value of `Proxy-Authorization` for one proxy.
package protocol ProxyAuthorizer: Sendable {
    /// Returns the value to send in advance; `nil` to wait for a challenge.
    ///
    /// - Parameters:
    ///   - target: the target in the request line, as the proxy reads it.
    ///   - body: the body of the request; `nil` if it is not in memory.
    func authorization(method: HTTPMethod, target: String, body: [UInt8]?) async throws -> String?

    /// Returns the value to send after a response with 407; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - refusal: the fields of that response.
    ///   - refused: the value that was sent; `nil` if there was none.
    func authorization(
        method: HTTPMethod,
        target: String,
        body: [UInt8]?,
        answering refusal: HTTPHeaders,
        after refused: String?
    ) async throws -> String?
}
