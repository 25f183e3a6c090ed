internal import DirectHTTP1
internal import DirectIO

extension CachedHead {
    /// Whether the answer to such a request may be kept, and whether that would be of any use
    /// (RFC 9111, section 3).
    func isStorable(_ question: CacheQuestion, at now: UnixTime) -> Bool {
        guard !question.control.noStore, question.method == .get, question.range == nil else { return false }
        guard head.status.isStorable else { return false }
        if control.mustUnderstand {
            // Says itself what `no-store` is for: caches that do not know the directive.
            guard head.status.isUnderstood else { return false }
        } else if control.noStore {
            return false
        }
        return hasValidator || freshness(at: now) > 0 && !control.noCache || mayServeLater
    }

    /// Whether the answer to a POST is also what a GET would get (RFC 9110, section 9.3.3).
    func standsForGet(of url: HTTPURL, at now: UnixTime) -> Bool {
        guard head.status == .ok, !control.noStore, !control.mustUnderstand, !control.noCache,
            freshness(at: now) > 0, control.maxAge != nil || headers.index(of: "expires") != nil,
            let location = headers["Content-Location"], let place = try? url.resolving(location)
        else { return false }
        return place.withoutFragment == url.withoutFragment
    }

    private var mayServeLater: Bool {
        control.staleWhileRevalidate ?? 0 > 0 || control.staleIfError ?? 0 > 0
    }

    /// Whether the end of its content can be told from a break: where the content ends with the connection, only
    /// TLS can.
    func hasCertainEnd(_ received: Headers, _ url: HTTPURL) -> Bool {
        url.scheme == .https || head.status == .noContent || received.index(of: "content-length") != nil
            || received.lists("chunked", in: "transfer-encoding")
    }
}

extension Status {
    /// Final, whole, and not about one request alone (RFC 9111, section 3; RFC 6585 for 428 to 511).
    fileprivate var isStorable: Bool {
        switch code {
        case ..<200, 206, 304: false
        case 407, 408, 421, 425, 428, 429, 431, 511: false
        default: true
        }
    }

    /// Whether we know what it means for caches (RFC 9111, section 5.2.2.3).
    fileprivate var isUnderstood: Bool {
        switch code {
        case 200...205, 300...303, 307, 308, 400...406, 409...418, 422, 426, 451, 500...505: true
        default: false
        }
    }
}
