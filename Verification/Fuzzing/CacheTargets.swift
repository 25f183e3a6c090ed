import DirectCore
import DirectHTTP1
import Glibc

@testable import DirectHTTP

extension FuzzTarget {
    /// The fields that decide about storing and using a response: Cache-Control, Age, Date, Expires, ETag,
    /// Vary.
    ///
    /// - Ages never fall and freshness never rises as time passes; no lifetime is negative.
    /// - Nothing that is for one connection is stored, and what is stored has a date.
    /// - Directives in their plainest form are read as the same directives.
    /// - The normal form of a selecting field is its own normal form.
    static let cacheFields = FuzzTarget(name: "cache-fields") { choices in
        let status = 100 + choices.number(below: 500)
        let times = (0..<4).map { _ in Int64(bitPattern: choices.word()) >> choices.number(below: 64) }
        let headers = readLines(choices.texts())
        guard let status = HTTPStatus(code: status) else { return }
        let head = ResponseHead(status: status, headers: headers)
        checkAges(
            of: CachedHead(
                head,
                requestTime: .init(seconds: times[0]),
                responseTime: .init(seconds: times[1])
            ),
            at: times
        )
        let received = CachedHead(
            received: head,
            requestTime: .init(seconds: 0),
            responseTime: .init(seconds: 9)
        )
        require(received.headers.contains("Date"), "a date")
        for name in ["Connection", "Keep-Alive", "Transfer-Encoding", "TE", "Upgrade", "Proxy-Authorization"]
        {
            require(!received.headers.contains(name), "\(name) is not stored")
        }
        checkControl(CacheControl(headers))
        checkVary(headers)
    }

    /// The beginning of the year 100.
    private static let year100: Int64 = -59_011_459_200

    /// Dates of header fields and of cookies.
    ///
    /// - A date that was read is written in a form that is read as the same date, as by the C library.
    static let date = FuzzTarget(name: "date") { choices in
        let bytes = choices.rest()
        let now = UnixTime(seconds: 1_800_000_000)
        for time in [HTTPDate.parse(bytes.text, now: now), CookieDate.parse(bytes)].compactMap({ $0 }) {
            let text = HTTPDate.text(time)
            requireEqual(HTTPDate.parse(text, now: now), time, "\(text) is read back")
            // In cookies the first 70 years are those from 2000 on (RFC 6265, section 5.1.1), and the next 30
            // from 1970 on.
            if time.seconds >= Self.year100 {
                requireEqual(CookieDate.parse(text.utf8) ?? time, time, "\(text) is a cookie's date too")
            }
            requireEqual(text, textOfTheLibrary(time), "strftime agrees")
        }
        if let folded = HTTPDate.parseIgnoringCase(bytes, now: now), bytes.allSatisfy({ $0 < 0x80 }) {
            requireEqual(
                HTTPDate.parseIgnoringCase(Array(bytes.text.uppercased().utf8), now: now),
                folded,
                "case"
            )
        }
    }
}

/// Texts of the form `name: value` as fields.
private func readLines(_ texts: [[UInt8]]) -> HTTPHeaders {
    var headers = HTTPHeaders()
    for text in texts {
        guard let colon = text.firstIndex(of: 0x3A) else { continue }
        headers.add(Array(text[..<colon]).text, bytes: Array(text[(colon + 1)...].drop { $0 == 0x20 }))
    }
    return headers
}

private func checkAges(of cached: CachedHead, at times: [Int64]) {
    require(cached.lifetime >= 0 && cached.initialAge >= 0, "no negative lifetime or age")
    var (lastAge, lastFreshness) = (Int64(0), Int64.max)
    for seconds in times.sorted() where seconds >= cached.responseTime.seconds {
        let now = UnixTime(seconds: seconds)
        let (age, freshness) = (cached.age(at: now), cached.freshness(at: now))
        require(age >= lastAge && freshness <= lastFreshness, "ages rise, freshness falls")
        require(freshness <= cached.lifetime, "no fresher than at first")
        (lastAge, lastFreshness) = (age, freshness)
    }
}

private func checkControl(_ control: CacheControl) {
    var parts: [String] = []
    let flags: [(Bool, String)] = [
        (control.noStore, "no-store"), (control.noCache, "no-cache"),
        (control.mustRevalidate, "must-revalidate"),
        (control.mustUnderstand, "must-understand"), (control.isPublic, "public"),
        (control.onlyIfCached, "only-if-cached"),
    ]
    for (isSet, name) in flags where isSet { parts.append(name) }
    let numbers: [(Int64?, String)] = [
        (control.maxAge, "max-age"), (control.minFresh, "min-fresh"),
        (control.staleWhileRevalidate, "stale-while-revalidate"), (control.staleIfError, "stale-if-error"),
    ]
    for case (let number?, let name) in numbers { parts.append("\(name)=\(number)") }
    if let stale = control.maxStale { parts.append(stale == .max ? "max-stale" : "max-stale=\(stale)") }
    // Other names would have to be quoted, and lower case differs between bytes and text.
    let names = control.noCacheFields
    guard names.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isTokenByte) }) else { return }
    if !names.isEmpty { parts.append("no-cache=\"\(names.joined(separator: ", "))\"") }
    let again = CacheControl(["Cache-Control": parts.joined(separator: ", ")])
    requireEqual(again, control, "the plainest form")
}

private func checkVary(_ headers: HTTPHeaders) {
    let fields = VaryFields(headers: headers, defaults: [:])
    for name in Set(headers.map { $0.name.lowercased() }) {
        guard let value = fields[name] else { continue }
        // An open quotation changes where elements end once they are joined.
        guard !value.contains("\"") else { continue }
        let again = VaryFields(headers: HTTPHeaders([(name, value)]), defaults: [:])[name]
        requireEqual(again, value, "the normal form of \(name)")
    }
    guard let names = VaryNames(headers, to: fields) else { return }
    requireEqual(names.names, Array(Set(names.names)).sorted(), "sorted, each name once")
    _ = CacheVariant(names, fields, key: [])
    if let tag = headers["ETag"] { _ = EntityTag.list(tag).map { EntityTag(text: tag).matches($0) } }
}

private func textOfTheLibrary(_ time: UnixTime) -> String {
    var (seconds, parts) = (time_t(time.seconds), tm())
    guard gmtime_r(&seconds, &parts) != nil else { return "" }
    var text = [CChar](repeating: 0, count: 64)
    let year = String(Int(parts.tm_year) + 1900)
    let count = strftime(&text, text.count, "%a, %d %b YYYY %H:%M:%S GMT", &parts)
    let date = String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return date.replacing("YYYY", with: String(repeating: "0", count: max(0, 4 - year.count)) + year)
}
