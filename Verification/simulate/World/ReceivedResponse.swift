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
