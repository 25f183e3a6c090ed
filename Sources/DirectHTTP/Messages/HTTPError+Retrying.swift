internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS
internal import DirectTransport

extension HTTPError {
    /// Whether the connection was lost while the request was on it: it was reset, timed out in the network,
    /// or ended before the response was complete, whichever layer has seen that.
    ///
    /// A connection that could not be made is not lost, nor one that this client closed for a reason of its
    /// own, such as a time limit.
    public var isConnectionLoss: Bool {
        switch phase {
        case .write, .response, .body: reason.isConnectionLoss
        case .request, .resolve, .queue, .proxy, .connect, .tls, .redirect: false
        }
    }

    /// Whether the same request may succeed a little later: the network, or a host on the path, has failed.
    ///
    /// False if another attempt would fail the same way: the request is invalid, the name has no address, an
    /// address is refused, a file cannot be written, the server could not prove its identity, or it refuses
    /// the client's. To retry where a proof is wrong would be a way around the check. The failure of an
    /// authenticator counts as the error that it has thrown, so that a request for a token is like any other.
    /// Calls.md has a table of all failures.
    public var isWorthRetrying: Bool {
        switch reason {
        case .authenticator(let error), .proxy(.authenticator(let error)):
            (error as? HTTPError)?.isWorthRetrying ?? false
        // In a body every other call of the system is for a file.
        case .system where phase == .body: isConnectionLoss
        default: phase != .request && reason.isTransient
        }
    }
}

extension HTTPError {
    /// Whether the connection ended before a response began, as an idle one does that the server closes while
    /// a request is on its way.
    package var showsDeadConnection: Bool {
        if case .http(.truncatedHead) = reason { return false }
        return phase != .body && isConnectionLoss
    }
}

extension HTTPError.Reason {
    fileprivate var isConnectionLoss: Bool {
        switch self {
        case .connectionClosed: true
        case .system(let error): error.isOfTransfer
        case .tls(.connectionLost), .tls(.truncated): true
        case .http(let error): error.isEndOfStream
        default: false
        }
    }

    fileprivate var isTransient: Bool {
        switch self {
        case .system, .overtaken, .timedOut, .tooSlow, .connectionClosed, .http: true
        case .lookup(let error): !error.saysNone
        case .resolver(let error): error.isTransient
        case .tls(let error): error.isTransient
        case .proxy(let fault): fault.isTransient
        case .url, .address, .noAddresses, .refused, .redirect, .bodyTooLarge, .bodyLength, .bodySource,
            .authenticator, .bodyAlreadyRead, .cache, .coding, .requestBody, .settings, .noStream,
            .streamClosed,
            .unsupportedCharset, .lineTooLong, .eventTooLong, .notEventStream, .download, .blockingInTask:
            false
        case .status(let status): RetryPolicy().statuses.contains(status)
        }
    }
}

extension HTTP1Error {
    fileprivate var isEndOfStream: Bool {
        switch self {
        case .closedBeforeResponse, .truncatedHead, .truncatedContent, .truncatedChunks, .truncatedUntilClose:
            true
        default: false
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

extension TLSError {
    fileprivate var isTransient: Bool {
        switch self {
        case .alertReceived(let alert): !alert.isLasting
        case .proxyConnection(_, let error): error.isTransient
        default: if case .tryNext = consequence { true } else { false }
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
