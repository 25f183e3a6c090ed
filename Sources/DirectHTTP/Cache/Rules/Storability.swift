internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

extension CachedHead {
    /// Whether the response may be stored, and could ever be used again (RFC 9111, section 3).
    func isStorable(_ policy: CacheRequestPolicy, at now: UnixTime) -> Bool {
        guard policy.mayBeStored else { return false }
        guard head.status.isStorable else { return false }
        if control.mustUnderstand {
            // `must-understand` replaces `no-store`, which is then only for caches that do not know the
            // directive.
            guard head.status.isUnderstood else { return false }
        } else if control.noStore {
            return false
        }
        return hasValidator || freshness(at: now) > 0 && !control.noCache || mayServeLater
    }

    /// Whether the response allows itself to be served stale.
    private var mayServeLater: Bool {
        control.staleWhileRevalidate ?? 0 > 0 || control.staleIfError ?? 0 > 0
    }

    /// Whether a complete body can be told from a truncated one.
    func hasCertainEnd(_ received: HTTPHeaders, url: HTTPURL) -> Bool {
        received.showEnd(of: head.status, at: url)
    }
}

extension HTTPHeaders {
    /// Whether a complete body can be told from a truncated one. If the body ends with the connection, only
    /// TLS can tell.
    func showEnd(of status: HTTPStatus, at url: HTTPURL) -> Bool {
        url.scheme == .https || status == .noContent || index(of: "content-length") != nil
            || lists("chunked", in: "transfer-encoding")
    }
}

extension Response {
    /// Whether the program has made the response, with its whole body, of which no connection can have cut
    /// off anything.
    var isMadeWhole: Bool {
        if case .complete = body.content { transaction == nil } else { false }
    }
}

extension CacheRequestPolicy {
    /// Whether the response to the request may be stored, whatever it says.
    var mayBeStored: Bool { !control.noStore && method == .get && range == nil }
}

extension HTTPStatus {
    /// Whether the status is final, its response complete, and not about one request alone (RFC 9111, section
    /// 3; RFC 6585 for 428 to 511).
    fileprivate var isStorable: Bool {
        switch code {
        case ..<200, 206, 304: false
        case 407, 408, 421, 425, 428, 429, 431, 511: false
        default: true
        }
    }

    /// Whether the caching rules of the status are known here (RFC 9111, section 5.2.2.3).
    fileprivate var isUnderstood: Bool {
        switch code {
        case 200...205, 300...303, 307, 308, 400...406, 409...418, 422, 426, 451, 500...505: true
        default: false
        }
    }
}
