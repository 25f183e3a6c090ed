internal import DirectHTTP

/// A response as the caller has it.
struct ReceivedResponse {
    let status: UInt16
    let headers: HTTPHeaders
    let body: [UInt8]
    /// Whether the caller has read all of the body.
    let isWhole: Bool
    let transaction: HTTPTransaction?
    let retryStop: RetryStop?
}

extension ReceivedResponse {
    /// A response that was fetched.
    init(_ response: HTTPClient.BufferedResponse) {
        self.init(
            status: response.status.code,
            headers: response.headers,
            body: response.body,
            isWhole: true,
            transaction: response.transaction,
            retryStop: response.retryStop
        )
    }
}
