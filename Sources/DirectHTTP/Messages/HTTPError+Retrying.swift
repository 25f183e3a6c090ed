internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS
internal import DirectTransport

extension HTTPError {
    /// Whether the same request may succeed a little later: the network, or a host on the path, has failed.
    ///
    /// False if another attempt would fail the same way: the request is invalid, the name has no address, an
    /// address is refused, or the server could not prove its identity. To retry in the last case would be a
    /// way around the check. The failure of an authenticator counts as the error that it has thrown, so that
    /// a request for a token is like any other.
    public var isWorthRetrying: Bool {
        switch reason {
        case .authenticator(let error), .proxy(.authenticator(let error)):
            (error as? HTTPError)?.isWorthRetrying ?? false
        default: phase != .request && reason.isTransient
        }
    }
}

extension HTTPError {
    /// Whether the connection ended before a response began, as an idle one does that the server closes while
    /// a request is on its way.
    package var showsDeadConnection: Bool {
        guard phase == .write || phase == .response else { return false }
        return switch reason {
        case .http(.closedBeforeResponse), .connectionClosed, .system, .tls(.connectionLost),
            .tls(.truncated):
            true
        default: false
        }
    }
}

extension HTTPError.Reason {
    fileprivate var isTransient: Bool {
        switch self {
        case .system, .overtaken, .timedOut, .tooSlow, .connectionClosed, .http: true
        case .lookup(let error): !error.saysNone
        case .resolver(let error): error.isTransient
        case .tls(let error): error.consequence.isTransient
        case .proxy(let fault): fault.isTransient
        case .url, .address, .noAddresses, .refused, .redirect, .bodyTooLarge, .bodyLength, .bodySource,
            .authenticator, .bodyAlreadyRead, .cache, .coding, .requestBody, .settings, .noStream,
            .streamClosed,
            .lineTooLong, .eventTooLong, .notEventStream, .download, .blockingInTask:
            false
        case .status(let status): RetryPolicy().statuses.contains(status)
        }
    }
}

extension ResolverError {
    /// If several resolvers were asked, one of them may have an answer next time.
    fileprivate var isTransient: Bool { reason.isTransient || earlier.contains(where: \.isTransient) }
}

extension ResolverError.Reason {
    fileprivate var isTransient: Bool {
        switch self {
        case .timedOut, .malformed, .refused, .other: true
        case .request(let error): (error as? HTTPError)?.isWorthRetrying ?? false
        case .lookup(let error): !error.saysNone
        case .noSuchName, .noAddresses, .notListed, .address: false
        }
    }
}

extension AttemptFailure.Consequence {
    fileprivate var isTransient: Bool {
        switch self {
        case .tryNext: true
        case .onCertificateMismatch, .stop: false
        }
    }
}

extension ProxyError {
    fileprivate var isTransient: Bool {
        switch self {
        case .refused(let refusal): refusal.status.code >= 500 || refusal.status == 429
        // A destination that cannot be reached now may be reachable later (RFC 1928, section 6).
        case .socksReply(let code): (1...6).contains(code) && code != 2
        case .notAProxy: true
        case .url, .unknownScheme, .hasPath, .notAnException, .unfitCredentials, .noCommonMethod,
            .wrongCredentials, .nameTooLong, .unseenByVetting, .authenticator:
            false
        }
    }
}
