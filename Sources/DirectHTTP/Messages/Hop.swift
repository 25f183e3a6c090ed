public import DirectCore
public import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// One request of a call that was not the last: its result, and why another one followed.
///
/// ``HTTPClient/Response/history`` and ``HTTPError/history`` list the hops of a call in order.
public struct Hop: Sendable, CustomStringConvertible, CustomReflectable {
    /// The reason that another request followed.
    public enum Reason: String, Hashable, Sendable {
        /// The response was a redirect.
        case redirect
        /// The response asked for credentials (401).
        case authentication
        /// The retry policy allowed another attempt after this response or failure.
        case retry
        /// The server does not serve the name (421).
        case misdirected
        /// The server refused the expectation of `100-continue` (417).
        case expectation
        /// The response was late, and the request was sent to a second address as well. In reports only: such
        /// a request is not part of a history.
        case hedge
    }

    /// The reason that another request followed.
    public let reason: Reason
    /// The method of the request.
    public let method: HTTPMethod
    /// The URL of the request.
    public let url: HTTPURL
    /// The connection and the times of the request; `nil` without a response, or if a cache or a mock
    /// answered.
    public let transaction: HTTPTransaction?
    private let outcome: Result<HTTPStatus, HTTPError>

    init(_ reason: Reason, _ method: HTTPMethod, _ response: Response) {
        self.reason = reason
        self.method = method
        url = response.url
        transaction = response.transaction
        outcome = .success(response.status)
    }

    /// Makes a hop of a request without a response. Earlier hops stand before this one in a history, not in
    /// its error.
    init(_ reason: Reason, _ method: HTTPMethod, _ url: HTTPURL, _ error: HTTPError) {
        self.reason = reason
        self.method = method
        self.url = url.withoutCredentials
        transaction = nil
        outcome = .failure(error.withoutURLs)
    }

    /// The status of the response; `nil` if no response came.
    public var status: HTTPStatus? { try? outcome.get() }

    /// The error of a request without a response; `nil` if there was one.
    public var error: HTTPError? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    /// The endpoint that the request was sent to; `nil` if it reached none.
    public var endpoint: Endpoint? { transaction?.endpoint ?? error?.endpoint }

    /// The method, the URL without the values of its query, the result and the reason.
    public var description: String {
        "\(method) \(url.redacted): \(status.map { "\($0)" } ?? result), \(reason.rawValue)"
    }

    /// Shows no more of the URL in `dump` either.
    public var customMirror: Mirror { Mirror(self, children: ["transaction": transaction as Any]) }

    /// The endpoint whose server, or the path to it, is to blame for the hop; `nil` if the request reached
    /// none.
    var failedEndpoint: Endpoint? {
        switch outcome {
        case .success: endpoint
        case .failure(let error): error.endpointOfFailure
        }
    }

    /// The status or the error, and the endpoint. Names no URL, so that it may stand in an error.
    var result: String {
        switch outcome {
        case .success(let status): endpoint.map { "\(status) from \($0)" } ?? "\(status)"
        case .failure(let error): "\(error)"
        }
    }
}

extension FailedEndpoints {
    /// Records the failures in the history of attempts at one origin.
    mutating func record(_ history: [Hop]) {
        for hop in history {
            switch hop.reason {
            case .retry: recordFailure(at: hop.failedEndpoint)
            case .misdirected: recordMisdirection(at: hop.failedEndpoint)
            case .redirect, .authentication, .expectation, .hedge: break
            }
        }
    }
}
