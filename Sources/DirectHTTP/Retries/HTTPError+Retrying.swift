internal import DirectIO
internal import DirectTLS

extension HTTPError {
    /// Whether the same request may get through a little later: the network, or somebody on the way, has failed.
    ///
    /// It is false where another try would meet the same: the request itself is at fault, the name has no address,
    /// an address may not be dialled, or somebody was reached who could not prove to be the server. To ask on in
    /// that case would be a way around the check.
    public var isWorthRetrying: Bool { phase != .request && reason.mayPass }
}

extension HTTPError.Reason {
    fileprivate var mayPass: Bool {
        switch self {
        case .system, .overtaken, .timedOut, .tooSlow, .connectionClosed, .http: true
        case .lookup(let error): !error.saysNone
        case .resolver(let error): error.mayPass
        case .tls(let error): error.consequence.mayPass
        case .proxy(let fault): fault.mayPass
        case .url, .address, .noAddresses, .refused, .redirect, .bodyTooLarge, .bodyLength, .bodySource,
            .bodyAlreadyRead, .cache, .coding, .requestBody, .noStream, .streamClosed:
            false
        case .status(let status): RetryPolicy().statuses.contains(status)
        }
    }
}

extension ResolverError {
    /// Of several that were asked one may know better the next time.
    fileprivate var mayPass: Bool { reason.mayPass || earlier.contains(where: \.mayPass) }
}

extension ResolverError.Reason {
    fileprivate var mayPass: Bool {
        switch self {
        case .timedOut, .malformed, .refused, .other: true
        case .request(let error): error.isWorthRetrying
        case .lookup(let error): !error.saysNone
        case .noSuchName, .noAddresses, .notListed, .address: false
        }
    }
}

extension AttemptFailure.Consequence {
    fileprivate var mayPass: Bool {
        switch self {
        case .tryNext: true
        case .wrongServer, .stop: false
        }
    }
}

extension ProxyFault {
    fileprivate var mayPass: Bool {
        switch self {
        case .refused(let refusal): refusal.status.code >= 500 || refusal.status == 429
        // What is out of reach now may be there again (RFC 1928, section 6).
        case .socksReply(let code): (1...6).contains(code) && code != 2
        case .notAProxy: true
        case .url, .unknownScheme, .hasPath, .notAnException, .unfitCredentials, .noCommonMethod,
            .wrongCredentials, .nameTooLong, .unseenByVetting:
            false
        }
    }
}
