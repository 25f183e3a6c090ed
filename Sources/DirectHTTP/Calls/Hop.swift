public import DirectHTTP1
public import DirectIO

/// One request of a call that was not the last: what came of it, and why another one followed.
public struct Hop: Sendable, CustomStringConvertible {
    /// Why another request followed.
    public enum Reason: String, Hashable, Sendable {
        /// The response pointed elsewhere.
        case redirect
        /// The response asked for credentials.
        case authentication
        /// The response, or the failure, allowed another try.
        case retry
        /// The server does not serve the name (421).
        case misdirected
        /// The server refused the expectation of `100-continue` (417).
        case expectation
    }

    public let reason: Reason
    /// The method of the request.
    public let method: Method
    /// The URL of the request.
    public let url: HTTPURL
    /// Where the request went, and when; `nil` if no response came, or if a cache or a mock answered.
    public let transaction: Transaction?
    private let outcome: Result<Status, HTTPError>

    init(_ reason: Reason, _ method: Method, _ response: Response) {
        self.reason = reason
        self.method = method
        url = response.url
        transaction = response.transaction
        outcome = .success(response.status)
    }

    /// A request without a response. What had come before the failure stands before this hop, and not in it.
    init(_ reason: Reason, _ method: Method, _ url: HTTPURL, _ error: HTTPError) {
        self.reason = reason
        self.method = method
        self.url = url.withoutCredentials
        transaction = nil
        outcome = .failure(error.withoutHistory)
    }

    /// The status of the response; `nil` if no response came.
    public var status: Status? { try? outcome.get() }

    /// Why no response came; `nil` if one came.
    public var error: HTTPError? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    /// Where the request went; `nil` if it reached no address.
    public var endpoint: Endpoint? { transaction?.endpoint ?? error?.endpoint }

    public var description: String {
        "\(method) \(url): \(status.map { "\($0)" } ?? result), \(reason.rawValue)"
    }

    /// What came of it. Names no URL, so that it may stand in an error.
    var result: String {
        switch outcome {
        case .success(let status): endpoint.map { "\(status) from \($0)" } ?? "\(status)"
        case .failure(let error): "\(error)"
        }
    }
}
