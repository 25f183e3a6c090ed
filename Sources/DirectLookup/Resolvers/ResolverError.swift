public import DirectCore
public import DirectIO

/// An error that says why a resolver has no address for a name.
public struct ResolverError: Error, Sendable {
    /// The reason of a ``ResolverError``.
    @nonexhaustive
    public enum Reason: Error, Sendable {
        /// The name does not exist.
        case noSuchName
        /// The name exists and has no address.
        case noAddresses
        /// The resolver is a table, and the name is not in it.
        case notListed
        /// The answer did not come within this time.
        case timedOut(after: Duration)
        /// The answer is malformed: which part of it, and why.
        case malformed(String)
        /// The server says that it cannot or will not answer. The text is the server's.
        case refused(String)
        /// The server could not be reached, or its answer could not be read: an `HTTPError`, if a client has
        /// asked it.
        case request(any Error)
        /// The system's resolver failed.
        case lookup(LookupError)
        /// The resolver returned an invalid address.
        case address(AddressError)
        /// A resolver threw an error that is not a ``ResolverError``. Its text may have secrets, so it stands
        /// neither in descriptions nor in dumps of this one.
        case other(any Error)
    }

    /// The name of the resolver.
    public var source: String
    /// The reason why there is no address.
    public var reason: Reason
    /// The service address that was asked last; `nil` if the resolver has none.
    public var server: Endpoint?
    /// The errors of those that were asked before: other servers of the resolver, or other resolvers.
    public var earlier: [ResolverError]

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - source: The name of the resolver.
    ///   - reason: The reason why there is no address.
    ///   - server: The service address that was asked last, if there is one.
    ///   - earlier: The errors of those that were asked before.
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
    /// Source, server and reason, then the earlier errors.
    public var description: String {
        var text = source
        if let server { text += " at \(server)" }
        text += ": \(reason)"
        for error in earlier { text += "; \(error)" }
        return text
    }
}

extension ResolverError.Reason: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .noSuchName: "the name does not exist"
        case .noAddresses: "the name has no address"
        case .notListed: "the name is not listed"
        case .timedOut(let limit): "no answer within \(limit.text)"
        case .malformed(let fault): "the answer makes no sense: \(fault)"
        case .refused(let words): "the server refused: \(words)"
        case .request(let error): "\(error)"
        case .lookup(let error): "\(error)"
        case .address(let error): "\(error)"
        case .other(let error as SystemError): "\(error)"
        case .other(let error): "it failed with an error of the type \(type(of: error))"
        }
    }
}

extension ResolverError.Reason: CustomReflectable {
    /// An empty mirror: an error of other code may contain anything, even secrets. The description says the
    /// rest.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ResolverError {
    /// This error and those before it, each by itself, in the order in which they happened.
    package var each: [ResolverError] {
        var own = self
        own.earlier = []
        return earlier.flatMap(\.each) + [own]
    }

    /// Whether the resolver is a table without the name, which is no failure.
    package var isNotListed: Bool { if case .notListed = reason { true } else { false } }
}
