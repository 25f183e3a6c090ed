internal import DirectCore
internal import TLSFixtures

/// The replies of the servers, by path.
enum Replies {
    /// The number of bytes of a large body, and of an upload: several records, and more than the cache writes
    /// at once.
    static let largeSize = 300_000
    /// The value of the cookie that `/cookie` sets.
    static let cookie = "flavour=plain"

    static func reply(to request: FixtureRequest, redirectPort: UInt16 = 0) throws -> FixtureReply {
        switch request.path {
        case "/small": .text("hello")
        case "/large": .pattern(count: largeSize)
        case "/resumable": resumableReply(request)
        case "/chunked": .pattern(count: largeSize, framing: .chunked)
        case "/gzip": .bytes(gzip, ["Content-Encoding": "gzip"])
        case "/upload": .text(isPattern(try request.body) ? "whole" : "damaged")
        case "/redirect": .redirect(to: "https://secure.test:\(redirectPort)/cookie")
        case "/cookie": cookieReply(request)
        case "/strict": .text("hello", ["Strict-Transport-Security": "max-age=1000"])
        case "/cached": .pattern(count: largeSize).adding("Cache-Control", value: "max-age=1000")
        case "/checked": checkedReply(request)
        case "/varied": .text("hello", ["Cache-Control": "max-age=1000", "Vary": "Accept-Language"])
        case "/versions/plain", "/versions/varied", "/versions/checked": versionReply(request)
        case "/dns-query": .bytes(dnsAnswer(try request.body), ["Content-Type": "application/dns-message"])
        case "/account/d": .text(#"{"host":"secure.test","ips":["127.0.0.1"],"ttl":60}"#)
        default: .status(404)
        }
    }

    private static func isPattern(_ body: [UInt8]) -> Bool {
        body.count == largeSize && FixturePattern.matches(body.span, at: 0)
    }

    private static func cookieReply(_ request: FixtureRequest) -> FixtureReply {
        .text(request.headers["cookie"] ?? "", ["Set-Cookie": "\(cookie); Max-Age=1000; Path=/"])
    }

    /// The pattern with a validator: the first request gets a third of it before the connection breaks off.
    private static func resumableReply(_ request: FixtureRequest) -> FixtureReply {
        let bytes = FixturePattern.bytes(at: 0, count: largeSize)
        guard let range = request.headers["range"], request.headers["if-range"] == "\"one\"",
            let start = Int(range.dropFirst("bytes=".count).dropLast()), start < largeSize
        else {
            let headers: FixtureHeaders = ["ETag": "\"one\"", "Content-Length": "\(largeSize)"]
            return .bytes(Array(bytes.prefix(largeSize / 3)), headers).then(.cut)
        }
        let part = "bytes \(start)-\(largeSize - 1)/\(largeSize)"
        return .bytes(Array(bytes[start...]), status: 206, ["ETag": "\"one\"", "Content-Range": part])
    }

    /// A response that has to be checked each time, and is confirmed.
    private static func checkedReply(_ request: FixtureRequest) -> FixtureReply {
        let headers: FixtureHeaders = ["Cache-Control": "no-cache", "ETag": #""one""#]
        guard request.headers["if-none-match"] == nil else { return .status(304, headers) }
        return .text("hello", headers)
    }

    /// The number of changes of each resource.
    private static let versions = Locked<[String: Int]>([:])

    /// A resource that each PUT changes.
    private static func versionReply(_ request: FixtureRequest) -> FixtureReply {
        let version = versions.withLock { versions in
            if request.method == "PUT" { versions[request.target, default: 0] += 1 }
            return versions[request.target] ?? 0
        }
        let isChecked = request.path.hasSuffix("checked")
        let tag = "\"\(version)\""
        let headers: FixtureHeaders =
            isChecked
            ? ["Cache-Control": "no-cache", "ETag": tag]
            : [
                "Cache-Control": "max-age=1000",
                "Vary": request.path.hasSuffix("varied") ? "Accept-Language" : "",
            ]
        if isChecked, request.headers["if-none-match"] == tag { return .status(304, headers) }
        return .text("version \(version)", headers)
    }

    /// The answer to a query in DNS form (RFC 1035): 127.0.0.1 for an A record, and no address for any other.
    private static func dnsAnswer(_ query: [UInt8]) -> [UInt8] {
        guard query.count > 16, let end = query[12...].firstIndex(of: 0), end + 4 < query.count else {
            return []
        }
        let asksForV4 = query[end + 2] == 1
        let head = query[..<2] + [0x81, 0x80, 0, 1, 0, asksForV4 ? 1 : 0, 0, 0, 0, 0]
        let record: [UInt8] = [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]
        let question = Array(query[12...end + 4])
        return Array(head) + question + (asksForV4 ? record : [])
    }

    /// "hello", compressed.
    private static let gzip: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
    ]
}
