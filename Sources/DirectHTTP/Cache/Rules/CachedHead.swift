internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// The head of a response in the cache, with the values that the caching rules need.
struct CachedHead: Sendable {
    let head: ResponseHead
    /// When the request was sent that led to the response or last confirmed it.
    let requestTime: UnixTime
    /// When the response was received or last confirmed.
    let responseTime: UnixTime
    /// The place of that request among all, since many are sent within a second
    /// (``nextRequestNumber()``).
    var requestNumber: UInt64 = 0
    /// Whether the origin has said when it generated the response.
    var isDated = true
    let control: CacheControl
    /// The freshness lifetime in seconds, counted from when the origin generated the response.
    let lifetime: Int64
    /// The age in seconds at `responseTime` (RFC 9111, section 4.2.3).
    let initialAge: Int64

    /// Takes a head whose fields are already those to store, for example one read from a store.
    init(_ head: ResponseHead, requestTime: UnixTime, responseTime: UnixTime) {
        self.head = head
        self.requestTime = requestTime
        self.responseTime = responseTime
        control = CacheControl(head.headers)
        let date = head.headers.date("date", now: responseTime) ?? responseTime
        lifetime = Self.lifetime(head, control: control, date: date, now: responseTime)
        let apparentAge = responseTime.secondsSince(date)
        let age = head.headers.ageField.addingClamped(responseTime.secondsSince(requestTime))
        initialAge = max(apparentAge, age)
    }

    /// Takes a head as it was received, and removes the fields that must not be stored.
    init(received head: ResponseHead, requestTime: UnixTime, responseTime: UnixTime) {
        var headers = head.headers
        headers.removeUnstorable()
        // Both fields together are accepted only by a client that says so. The length has framed nothing
        // then.
        if head.headers.contains("Transfer-Encoding") { headers.remove("Content-Length") }
        // RFC 9110, section 6.6.1: a recipient that stores a message without `Date` adds the time when it was
        // received.
        let isDated = headers.contains("Date")
        if !isDated { headers["Date"] = HTTPDate.text(responseTime) }
        let kept = ResponseHead(
            status: head.status,
            reason: head.reason,
            version: head.version,
            headers: headers
        )
        self.init(kept, requestTime: requestTime, responseTime: responseTime)
        self.isDated = isDated
    }

    private static let lastRequestNumber = Locked<UInt64>(0)

    /// The number of a request that is sent now. Later ones have larger numbers, those of other processes as
    /// well: it is the time in nanoseconds.
    static func nextRequestNumber() -> UInt64 {
        lastRequestNumber.withLock { last in
            last = max(last &+ 1, UnixTime.nanoseconds)
            return last
        }
    }

    var headers: HTTPHeaders { head.headers }
    /// An estimate of the memory it takes, in bytes.
    var cost: Int { headers.reduce(256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 20 } }
    var entityTag: EntityTag? { EntityTag(headers) }
    /// Whether the origin can be asked to confirm the response.
    var hasValidator: Bool {
        headers.index(of: "etag") != nil || headers.index(of: "last-modified") != nil
    }

    /// The current age. If the clock was set back, ages are unknown, and every response counts as too old.
    func age(at now: UnixTime) -> Int64 {
        guard now >= responseTime else { return .max }
        return initialAge.addingClamped(now.secondsSince(responseTime))
    }

    /// The remaining seconds of freshness; negative for the seconds since the response became stale.
    func freshness(at now: UnixTime) -> Int64 {
        let age = age(at: now)
        return age == .max ? -.max : lifetime - age
    }

    /// The freshness lifetime (RFC 9111, section 4.2.1). `s-maxage` only concerns shared caches.
    private static func lifetime(
        _ head: ResponseHead,
        control: CacheControl,
        date: UnixTime,
        now: UnixTime
    ) -> Int64 {
        if let maxAge = control.maxAge { return maxAge }
        let headers = head.headers
        if headers.index(of: "expires") != nil {
            // An invalid date means a date in the past (section 5.3).
            return headers.date("expires", now: now)?.secondsSince(date) ?? 0
        }
        guard head.status.isHeuristicallyCacheable || control.isPublic else { return 0 }
        guard let modified = headers.date("last-modified", now: now) else { return 0 }
        return min(date.secondsSince(modified) / 10, longestGuess)
    }

    /// The upper bound for a heuristic lifetime: one week.
    private static let longestGuess: Int64 = 7 * 86_400
}

/// An entity tag, which identifies a version of a representation (RFC 9110, section 8.8.3).
struct EntityTag: Equatable, Sendable {
    /// The tag as received, including quotes and `W/`.
    let text: String

    init(text: String) {
        self.text = text
    }

    init?(_ headers: HTTPHeaders) {
        guard let text = headers["ETag"], !text.isEmpty else { return nil }
        self.text = text
    }

    var isWeak: Bool { text.hasPrefix("W/") }

    /// Weak comparison (RFC 9110, section 8.8.3.2).
    func matches(_ other: EntityTag) -> Bool { opaque == other.opaque }

    /// Parses a list of tags such as the value of `If-None-Match`. A comma inside a tag is not a separator.
    static func list(_ text: String) -> [EntityTag] {
        var list = FieldScanner(text.utf8)
        var tags: [EntityTag] = []
        while let tag = list.element(hasEscapes: false) {
            tags.append(EntityTag(text: String(decoding: tag.rest, as: UTF8.self)))
        }
        return tags
    }

    private var opaque: Substring { isWeak ? text.dropFirst(2) : text[...] }
}

extension HTTPHeaders {
    /// The value of a date field; `nil` if it is invalid, or if several fields differ.
    func date(_ name: StaticString, now: UnixTime) -> UnixTime? {
        guard let index = index(of: name) else { return nil }
        let bytes = valueBytes(at: index)
        var next = self.index(of: name, from: index + 1)
        while let other = next {
            guard valueBytes(at: other) == bytes else { return nil }
            next = self.index(of: name, from: other + 1)
        }
        return HTTPDate.parseIgnoringCase(bytes, now: now)
    }

    /// The value of the `Age` field: the first member if there is a list. An invalid value is ignored (RFC
    /// 9111, section 5.1).
    fileprivate var ageField: Int64 {
        guard let index = index(of: "age") else { return 0 }
        let member = valueBytes(at: index).prefix { $0 != UInt8(ascii: ",") }
        return deltaSeconds(member.filter { !$0.isBlank }) ?? 0
    }

    /// Removes fields that are for one connection or for a proxy and must not be stored (RFC 9111, section
    /// 3.1).
    mutating func removeUnstorable() {
        for name in connectionFields { remove(name) }
        for name in Self.unstorable { remove(name) }
    }

    private var connectionFields: [String] {
        // A sender must not be able to remove the fields that decide how the rest is treated.
        elements(of: "connection").filter { !Self.endToEnd.contains($0.lowercased()) }
    }

    private static let unstorable = [
        "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
        "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
    ]

    private static let endToEnd = [
        "cache-control", "vary", "age", "date", "expires", "content-encoding", "content-length",
    ]
}

extension HTTPDate {
    /// RFC 9111, section 4.2: caches are encouraged to parse dates without regard to letter case.
    static func parseIgnoringCase(_ bytes: [UInt8], now: UnixTime) -> UnixTime? {
        if let time = parse(String(decoding: bytes, as: UTF8.self), now: now) { return time }
        var folded = bytes
        var isInWord = false
        for index in folded.indices {
            let lower = folded[index] | 0x20
            let isLetter = UInt8(ascii: "a")...UInt8(ascii: "z") ~= lower
            if isLetter { folded[index] = isInWord ? lower : lower & 0xdf }
            isInWord = isLetter
        }
        if folded.suffix(3).elementsEqual("Gmt".utf8) {
            folded.replaceSubrange(folded.count - 3..<folded.count, with: "GMT".utf8)
        }
        return folded == bytes ? nil : parse(String(decoding: folded, as: UTF8.self), now: now)
    }
}

extension HTTPStatus {
    /// Whether a response without explicit freshness may be cached (RFC 9110, section 15.1).
    var isHeuristicallyCacheable: Bool {
        switch code {
        case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }
}

extension UnixTime {
    /// The seconds since `earlier`; 0 if it lies in the future.
    func secondsSince(_ earlier: UnixTime) -> Int64 {
        guard self > earlier else { return 0 }
        let (difference, overflow) = seconds.subtractingReportingOverflow(earlier.seconds)
        return overflow ? .max : difference
    }
}

extension FixedWidthInteger {
    /// The sum, or the largest value in case of overflow. For numbers that are never negative.
    func addingClamped(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
