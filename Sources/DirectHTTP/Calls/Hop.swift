public import DirectHTTP1

/// A response on the way to the last one: why it was not the last, and where it came from.
public struct Hop: Sendable, CustomStringConvertible {
    /// Why another request followed.
    public enum Reason: String, Hashable, Sendable {
        /// It pointed elsewhere.
        case redirect
        /// It asked who we are.
        case authentication
        /// It asked to come back later.
        case retry
        /// It was another server's business (421).
        case misdirected
        /// It did not want to be asked for leave to send the body (417).
        case expectation
    }

    public let reason: Reason
    /// What was asked.
    public let method: Method
    /// Of whom.
    public let url: HTTPURL
    /// What came back.
    public let status: Status
    /// Where the request went, and when; nothing if a cache or a mock answered.
    public let transaction: Transaction?

    init(_ reason: Reason, _ method: Method, _ response: Response) {
        self.reason = reason
        self.method = method
        url = response.url
        status = response.status
        transaction = response.transaction
    }

    public var description: String {
        "\(method) \(url): \(status), \(reason.rawValue)"
    }
}
