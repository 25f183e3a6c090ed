public import DirectIO

/// Why a resolver has no address for a name.
public struct ResolverError: Error, Sendable {
    /// What went wrong.
    @nonexhaustive
    public enum Reason: Error, Sendable {
        /// The name does not exist.
        case noSuchName
        /// The name exists and has no address.
        case noAddresses
        /// The resolver is a table, and the name is not in it.
        case notListed
        /// The answer did not come in this time.
        case timedOut(after: Duration)
        /// The answer makes no sense: which part of it, and why.
        case malformed(String)
        /// The server says that it cannot or will not answer, in its own words.
        case refused(String)
        /// The server could not be reached, or its answer not be read.
        indirect case request(HTTPError)
        /// The system's resolver failed.
        case lookup(LookupError)
        /// An address that the resolver gave is none.
        case address(AddressError)
        /// A resolver of somebody else's making failed.
        case other(any Error)
    }

    /// The resolver's name.
    public var source: String
    public var reason: Reason
    /// The service address that was asked last, if there is one.
    public var server: Endpoint?
    /// What came of those that were asked before: other servers of the resolver, or other resolvers.
    public var earlier: [ResolverError]

    public init(
        _ source: String,
        _ reason: Reason,
        server: Endpoint? = nil,
        earlier: [ResolverError] = []
    ) {
        self.source = source
        self.reason = reason
        self.server = server
        self.earlier = earlier
    }
}

extension ResolverError: CustomStringConvertible {
    /// Source, server and reason, then those of the earlier ones.
    public var description: String {
        var text = source
        if let server { text += " at \(server)" }
        text += ": \(reason)"
        for error in earlier { text += "; \(error)" }
        return text
    }
}

extension ResolverError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noSuchName: "the name does not exist"
        case .noAddresses: "the name has no address"
        case .notListed: "the name is not listed"
        case .timedOut(let limit): "no answer within \(limit)"
        case .malformed(let fault): "the answer makes no sense: \(fault)"
        case .refused(let words): "the server refused: \(words)"
        case .request(let error): "\(error)"
        case .lookup(let error): "\(error)"
        case .address(let error): "\(error)"
        case .other(let error): "\(error)"
        }
    }
}

extension HTTPError {
    /// The same without the responses before it, which show the URLs that were asked.
    package var withoutHistory: HTTPError {
        var error = self
        error.history = []
        return error
    }
}
