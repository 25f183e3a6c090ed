public import DirectHTTP1
public import DirectIO
public import DirectTLS

/// Hears what happens to a client's calls: event by event, of each call in their order, whatever becomes of it.
///
/// It is called by whichever thread the event happens on, for several calls at a time, and must not block.
public typealias CallObserver = @Sendable (CallEvent) -> Void

/// Something that has happened to a call.
public struct CallEvent: Sendable, CustomStringConvertible {
    /// The call's number; no other call of the process has it.
    public let call: UInt64
    /// Since the call began.
    public let time: Duration
    /// What it was.
    public let kind: Kind

    @nonexhaustive
    public enum Kind: Sendable {
        /// The caller has asked for this. Nothing if the request has no URL that can be used.
        case began(Method, HTTPURL?)
        /// It is known which addresses there are for a name, and from whom. `after` is nothing if nobody had to be
        /// asked.
        case resolved(name: String, [Endpoint], AddressSource, after: Duration?)
        /// An address is tried, on behalf of that name.
        case attempted(Endpoint, name: String)
        /// The address did not do.
        case attemptFailed(Attempt)
        /// There is a connection; with TLS, if it is wanted, and a certificate that proves the name.
        case connected(Endpoint, tls: TLSFacts?)
        /// A request goes out on a connection: its head, and as much of the body as goes with it.
        case sending(Method, HTTPURL, Endpoint, bytes: Int, isReused: Bool)
        /// The connection was kept from before and turned out to be dead: the request goes out on another one.
        case foundDead(Endpoint)
        /// The head of a response is there.
        case responded(Status, Transaction)
        /// Nothing more will be read of a response's body.
        case bodyEnded(bytes: UInt64, isWhole: Bool)
        /// The response is not the last: another request follows, for the hop's reason.
        case goesOn(Hop)
        /// The call is over, and so is the body of its response. Nothing follows.
        case ended(CallReport)
    }

    public var description: String {
        "#\(call) \(time): \(kind)"
    }
}

extension CallEvent.Kind: CustomStringConvertible {
    public var description: String {
        switch self {
        case .began(let method, let url): "\(method) \(url.map { "\($0)" } ?? "without a URL")"
        case .resolved(let name, let endpoints, let source, let time):
            "\(name) is at \(endpoints.map { "\($0)" }.joined(separator: ", ")) (\(source))"
                + (time.map { " after \($0)" } ?? "")
        case .attempted(let endpoint, let name): "trying \(endpoint) for \(name)"
        case .attemptFailed(let attempt): "failed: \(attempt)"
        case .connected(let endpoint, let tls): "connected to \(endpoint)" + (tls.map { ", \($0)" } ?? "")
        case .sending(let method, let url, let endpoint, let bytes, let isReused):
            "sending \(method) \(url) to \(endpoint) on a \(isReused ? "kept" : "new") connection, \(bytes) bytes"
        case .foundDead(let endpoint): "the kept connection to \(endpoint) is dead"
        case .responded(let status, let transaction): "\(status) from \(transaction)"
        case .bodyEnded(let bytes, let isWhole): "\(isWhole ? "" : "given up after ")\(bytes) bytes of body"
        case .goesOn(let hop): "going on: \(hop)"
        case .ended(let report): "\(report)"
        }
    }
}
