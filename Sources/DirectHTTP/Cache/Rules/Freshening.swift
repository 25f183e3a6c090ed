internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

extension CachedHead {
    /// Adds the conditions that ask the origin to confirm this response (RFC 9111, section 4.3.1).
    func addValidators(to headers: inout HTTPHeaders) {
        copy("etag", to: "If-None-Match", of: &headers)
        copy("last-modified", to: "If-Modified-Since", of: &headers)
    }

    /// Copies the bytes of a value: an entity tag may have any beyond ASCII (RFC 9110, section 8.8.3), which
    /// text would change.
    private func copy(_ name: StaticString, to condition: String, of headers: inout HTTPHeaders) {
        guard let index = self.headers.index(of: name) else { return }
        headers.remove(condition)
        headers.add(condition, bytes: self.headers.valueBytes(at: index))
    }

    /// Whether a 304, or the response to a HEAD request, is about this response (RFC 9111, section 4.3.4).
    ///
    /// A message without validators is, since the cache has asked about no other response.
    func isMeant(by head: ResponseHead) -> Bool {
        if let tag = EntityTag(head.headers) {
            guard let own = entityTag else { return false }
            return tag.isWeak ? own.matches(tag) : own == tag || own.isWeak && own.matches(tag)
        }
        guard let modified = head.headers["Last-Modified"], entityTag == nil else { return true }
        return modified == headers["Last-Modified"]
    }

    /// The head after confirmation by a 304 or HEAD response, whose fields replace those of the same name
    /// (RFC 9111, section 3.2).
    func updated(by head: ResponseHead, requestTime: UnixTime, responseTime: UnixTime) -> CachedHead {
        let update = CachedHead(received: head, requestTime: requestTime, responseTime: responseTime)
        var headers = headers
        headers.remove("Age")
        headers.remove("Warning")
        // One that the origin does not repeat is old, and who stores cookies would take it for a new one.
        headers.remove("Set-Cookie")
        let changes = update.headers
        let places = changes.indices.filter { !Self.contentFields.contains(changes[$0].name.lowercased()) }
        for place in places { headers.remove(changes[place].name) }
        for place in places { headers.add(fieldAt: place, of: changes) }
        let merged = ResponseHead(
            status: self.head.status,
            reason: self.head.reason,
            version: self.head.version,
            headers: headers
        )
        var updated = CachedHead(merged, requestTime: requestTime, responseTime: responseTime)
        updated.isDated = update.isDated
        return updated
    }

    /// Whether the response to a HEAD request confirms this response (RFC 9111, section 4.3.5).
    func isConfirmed(byHead head: ResponseHead, length: Int) -> Bool {
        guard head.status == self.head.status, isMeant(by: head) else { return false }
        // Of what was not asked with a condition each validator counts: some send no entity tag with it.
        if let modified = head.headers["Last-Modified"], modified != headers["Last-Modified"] { return false }
        guard let announced = head.headers["Content-Length"] else { return true }
        return announced == String(length)
    }

    /// These fields describe how to read the stored content, so those of a message without content do not
    /// replace them.
    private static let contentFields: Set = [
        "content-length", "content-encoding", "content-range",
    ]
}

extension CachedHead {
    /// The head as it is served from the cache (RFC 9111, section 4).
    ///
    /// Unless the origin has confirmed the response, the fields that `no-cache` names are left out.
    func served(at now: UnixTime, confirmed: Bool) -> ResponseHead {
        var headers = headers
        if !confirmed {
            for name in control.noCacheFields { headers.remove(name) }
        }
        headers["Age"] = String(min(age(at: now), 1 << 31))
        return ResponseHead(status: head.status, reason: head.reason, version: head.version, headers: headers)
    }

    /// The head of a 304 that confirms the caller's version (RFC 9110, section 15.4.5).
    func notModified(at now: UnixTime) -> ResponseHead {
        let served = served(at: now, confirmed: false)
        let fields = served.headers
        var headers = HTTPHeaders()
        for place in fields.indices where Self.fieldsOfNotModified.contains(fields[place].name.lowercased()) {
            headers.add(fieldAt: place, of: fields)
        }
        return ResponseHead(status: .notModified, version: served.version, headers: headers)
    }

    /// The head of a 206 with one range (RFC 9110, section 15.3.7).
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
