internal import DirectHTTP1
internal import DirectIO

extension CachedHead {
    /// What our own question whether it still holds is asked with (RFC 9111, section 4.3.1).
    func addValidators(to headers: inout Headers) {
        if let tag = self.headers["ETag"] { headers["If-None-Match"] = tag }
        if let date = self.headers["Last-Modified"] { headers["If-Modified-Since"] = date }
    }

    /// Whether a 304, or the head of a 200, speaks of this one (RFC 9111, section 4.3.4).
    ///
    /// One without validators does: we asked about nothing else.
    func isMeant(by head: ResponseHead) -> Bool {
        if let tag = EntityTag(head.headers) {
            guard let own = entityTag else { return false }
            return tag.isWeak ? own.matches(tag) : own == tag || own.isWeak && own.matches(tag)
        }
        guard let modified = head.headers["Last-Modified"], entityTag == nil else { return true }
        return modified == headers["Last-Modified"]
    }

    /// Confirmed by a 304, or by a HEAD: with its fields where it has some of a name, and ours elsewhere
    /// (RFC 9111, section 3.2).
    func freshened(by head: ResponseHead, requestTime: UnixTime, responseTime: UnixTime) -> CachedHead {
        let update = CachedHead(received: head, requestTime: requestTime, responseTime: responseTime)
        var headers = headers
        headers.remove("Age")
        headers.remove("Warning")
        let changes = update.headers.filter { !Self.contentFields.contains($0.name.lowercased()) }
        for change in changes { headers.remove(change.name) }
        for change in changes { headers.add(change.name, change.value) }
        let merged = ResponseHead(
            status: self.head.status,
            reason: self.head.reason,
            version: self.head.version,
            headers: headers
        )
        return CachedHead(merged, requestTime: requestTime, responseTime: responseTime)
    }

    /// Whether the answer to a HEAD is that of the response that is kept (RFC 9111, section 4.3.5).
    func isConfirmed(byHead head: ResponseHead, length: Int) -> Bool {
        guard head.status == self.head.status, isMeant(by: head) else { return false }
        guard let announced = head.headers["Content-Length"] else { return true }
        return announced == String(length)
    }

    /// They say how to read the content that we have, not the one that was not sent.
    private static let contentFields: Set = [
        "content-length", "content-encoding", "content-range",
    ]
}

extension CachedHead {
    /// The head as it is given out (RFC 9111, section 4).
    ///
    /// Without asking the origin, fields that are not to be reused without asking are left out.
    func served(at now: UnixTime, confirmed: Bool) -> ResponseHead {
        var headers = headers
        if !confirmed {
            for name in control.noCacheFields { headers.remove(name) }
        }
        headers["Age"] = String(min(age(at: now), 1 << 31))
        return ResponseHead(status: head.status, reason: head.reason, version: head.version, headers: headers)
    }

    /// That the caller has it already (RFC 9110, section 15.4.5).
    func notModified(at now: UnixTime) -> ResponseHead {
        let served = served(at: now, confirmed: false)
        var headers = Headers()
        for field in served.headers where Self.fieldsOfNotModified.contains(field.name.lowercased()) {
            headers.add(field.name, field.value)
        }
        return ResponseHead(status: .notModified, version: served.version, headers: headers)
    }

    /// A part of it (RFC 9110, section 15.3.7).
    func partial(_ range: Range<Int>, of length: Int, at now: UnixTime) -> ResponseHead {
        let whole = served(at: now, confirmed: false)
        var headers = whole.headers
        headers["Content-Length"] = String(range.count)
        headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
        return ResponseHead(status: .partialContent, version: whole.version, headers: headers)
    }

    private static let fieldsOfNotModified: Set = [
        "age", "cache-control", "content-location", "date", "etag", "expires", "last-modified", "vary",
    ]
}
