public import DirectCore
public import DirectHTTP1
internal import DirectIO
public import DirectTLS
internal import DirectTransport

/// An event of a call.
public struct CallEvent: Sendable, CustomStringConvertible {
    /// The number of the call, unique in the process.
    public let call: UInt64
    /// The tags of the request: the caller's, and from the next event on those that interceptors have set.
    public let tags: RequestTags
    /// The time since the call began.
    public let time: Duration
    /// The event itself.
    public let kind: Kind

    /// The kinds of events.
    @nonexhaustive
    public enum Kind: Sendable {
        /// The call began. The URL is `nil` if the request's URL is invalid.
        case began(HTTPMethod, HTTPURL?)
        /// The addresses of a name are known. `after` is the time that a resolver took; `nil` if none was
        /// asked.
        case resolved(name: String, [Endpoint], AddressSource, after: Duration?)
        /// A resolver failed to name the addresses of a name. Another one of its chain may have named them,
        /// so the call may succeed all the same.
        case resolverFailed(name: String, ResolverError)
        /// An attempt at an address began, for this name.
        case attempted(Endpoint, name: String)
        /// An attempt at an address failed.
        case attemptFailed(Attempt)
        /// The files of the client's certificate have changed and cannot be used, for this reason. The former
        /// certificate still is.
        case identityKept(TLSError)
        /// A connection was made. With TLS, its certificate is valid for the name, or was accepted in spite
        /// of its faults. Without an endpoint it is one to a Unix domain socket, here and below.
        case connected(Endpoint?, tls: TLSFacts?)
        /// A request is sent on a connection: its head, and as much of the body as is sent with it.
        case sending(HTTPMethod, HTTPURL, Endpoint?, bytes: Int, isReused: Bool)
        /// An idle connection turned out to be dead; the request is sent on another one.
        case foundDead(Endpoint?)
        /// The head of a response arrived.
        case responded(HTTPStatus, HTTPTransaction)
        /// The body of a response ended, or its reader abandoned it.
        case bodyEnded(bytes: UInt64, isWhole: Bool)
        /// The response from this endpoint is late: the request is sent to another one as well.
        case hedging(Endpoint)
        /// Another request of the call follows, for the hop's reason.
        case goesOn(Hop)
        /// The call and the body of its response ended. No other event of the call follows.
        case ended(CallReport)
    }

    /// The number of the call, the time and the event.
    public var description: String {
        "#\(call) \(time.text): \(kind)"
    }
}

extension CallEvent.Kind: CustomStringConvertible {
    /// The event in words, without header values.
    public var description: String {
        switch self {
        case .began(let method, let url): "\(method) \(url.map { "\($0)" } ?? "without a URL")"
        case .resolved(let name, let endpoints, let source, let time):
            "\(name) resolved to \(endpoints.map { "\($0)" }.joined(separator: ", ")) (\(source))"
                + (time.map { " after \($0.text)" } ?? "")
        case .resolverFailed(let name, let error): "\(name) not resolved: \(error)"
        case .attempted(let endpoint, let name): "trying \(endpoint) for \(name)"
        case .attemptFailed(let attempt): "failed: \(attempt)"
        case .identityKept(let error): "the former client certificate is kept: \(error)"
        case .connected(let endpoint, let tls):
            "connected to \(Self.text(endpoint))" + (tls.map { ", \($0)" } ?? "")
        case .sending(let method, let url, let endpoint, let bytes, let isReused):
            "sending \(method) \(url) to \(Self.text(endpoint)) on \(isReused ? "a reused" : "an unused") connection, \(bytes) bytes"
        case .foundDead(let endpoint): "the idle connection to \(Self.text(endpoint)) is dead"
        case .responded(let status, let transaction): "\(status) from \(transaction)"
        case .bodyEnded(let bytes, let isWhole): "\(isWhole ? "" : "abandoned after ")\(bytes) bytes of body"
        case .hedging(let endpoint): "the response from \(endpoint) is late"
        case .goesOn(let hop): "next request after: \(hop)"
        case .ended(let report): "\(report)"
        }
    }

    private static func text(_ endpoint: Endpoint?) -> String {
        endpoint?.description ?? "a Unix domain socket"
    }
}
