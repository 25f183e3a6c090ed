import DirectHTTP1
import DirectIO
import Testing

@testable import DirectHTTP

@Suite("Cookie jar")
struct CookieJarTests {
    @Test("a cookie goes back to the host that set it, and to no other")
    func hostOnly() throws {
        let jar = CookieJar()
        try jar.take("a=1", from: "https://www.example.com/")
        #expect(try jar.field("https://www.example.com/") == "a=1")
        #expect(try jar.field("https://www.example.com:8443/deep") == "a=1")
        #expect(try jar.field("https://example.com/") == nil)
        #expect(try jar.field("https://x.www.example.com/") == nil)
    }

    @Test("the longest path comes first, then the oldest")
    func order() throws {
        let jar = CookieJar()
        try jar.take("a=1; Path=/", "b=2; Path=/deep", "c=3; Path=/", from: "https://a.test/")
        try jar.take("a=4; Path=/", from: "https://a.test/")
        #expect(try jar.field("https://a.test/deep/er") == "b=2; a=4; c=3")
    }

    @Test("the caller's cookies come first, and the jar adds none of their names")
    func merging() throws {
        let jar = CookieJar()
        try jar.take("a=1", "b=2", from: "https://a.test/")
        var headers: Headers = ["Cookie": "x=9; b=8", "Accept": "*/*", "cookie": "y"]
        jar.addField(to: &headers, for: try HTTPURL("https://a.test/"), at: testTime)
        #expect(headers.values(for: "Cookie") == ["x=9; b=8; y; a=1"])
        var empty: Headers = [:]
        jar.addField(to: &empty, for: try HTTPURL("https://a.test/"), at: testTime)
        #expect(empty.values(for: "cookie") == ["a=1; b=2"])
    }
}

let testTime = UnixTime(seconds: 1_800_000_000)

extension CookieJar {
    func take(_ fields: String..., from url: String, at now: UnixTime = testTime) throws {
        take(Headers(fields.map { (name: "Set-Cookie", value: $0) }), from: try HTTPURL(url), at: now)
    }

    func field(_ url: String, at now: UnixTime = testTime) throws -> String? {
        field(for: try HTTPURL(url), at: now)
    }
}
