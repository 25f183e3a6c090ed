internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// The caller's own conditions about a version that it has. A cache may answer them as well (RFC 9111,
/// section 4.3.2).
struct ClientConditions: Equatable, Sendable {
    private let tags: String?
    private let date: String?

    init(_ headers: HTTPHeaders) {
        tags =
            headers.index(of: "if-none-match") == nil
            ? nil : headers.values(for: "If-None-Match").joined(separator: ",")
        date = headers.index(of: "if-modified-since") == nil ? nil : headers["If-Modified-Since"]
    }

    var isEmpty: Bool { tags == nil && date == nil }

    /// Whether the caller already has this version, so that the answer is 304.
    func hold(for stored: CachedHead, now: UnixTime) -> Bool {
        guard stored.head.status == .ok else { return false }
        if let tags {
            let known = EntityTag.list(tags)
            if known.contains(where: { $0.text == "*" }) { return true }
            guard let tag = stored.entityTag else { return false }
            return known.contains { $0.matches(tag) }
        }
        guard let date, let since = HTTPDate.parseIgnoringCase(Array(date.utf8), now: now),
            let modified = stored.headers.date("last-modified", now: now)
                ?? stored.headers.date("date", now: now)
        else { return false }
        return modified <= since
    }
}

/// A request for one range of bytes (RFC 9110, section 14.1.2).
enum ByteRange {
    /// Parses the value of a `Range` field for content of a given length.
    ///
    /// Returns `nil` unless it denotes a single satisfiable range; the server has to decide about all others.
    static func parse(_ text: String, length: Int) -> Range<Int>? {
        let bytes = Array(text.utf8)
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")),
            String(decoding: bytes[..<equals], as: UTF8.self).lowercased() == "bytes"
        else { return nil }
        let ends = bytes[(equals + 1)...].split(
            separator: UInt8(ascii: "-"),
            omittingEmptySubsequences: false
        )
        guard ends.count == 2 else { return nil }
        let (first, last) = (number(ends[0]), number(ends[1]))
        if ends[0].isEmpty {
            guard let count = last, count > 0, length > 0 else { return nil }
            return max(0, length - count)..<length
        }
        guard let first, first < length, ends[1].isEmpty || last != nil else { return nil }
        if let last, last < first { return nil }
        return first..<min(length, (last ?? length - 1) + 1)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty, digits.count < 19, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
