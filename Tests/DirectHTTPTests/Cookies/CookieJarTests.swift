@testable import DirectCore
import DirectHTTP1
import DirectIO
@testable import DirectTransport
import Testing

@testable import DirectHTTP

@Suite("Cookie jars")
struct CookieJarTests {
    @Test("A cookie is sent to the host that set it, and to no other")
    func hostOnly() throws {
        let jar = CookieJar()
        try jar.take("a=1", from: "https://www.example.com/")
        #expect(try jar.field("https://www.example.com/") == "a=1")
        #expect(try jar.field("https://www.example.com:8443/deep") == "a=1")
        #expect(try jar.field("https://example.com/") == nil)
        #expect(try jar.field("https://x.www.example.com/") == nil)
    }

    @Test("The longest path comes first, then the oldest cookie")
    func order() throws {
        let jar = CookieJar()
        try jar.take("a=1; Path=/", "b=2; Path=/deep", "c=3; Path=/", from: "https://a.test/")
        try jar.take("a=4; Path=/", from: "https://a.test/")
        #expect(try jar.field("https://a.test/deep/er") == "b=2; a=4; c=3")
    }

    @Test("Cookies of several domains above a host are in the same order")
    func mixedSites() throws {
        let jar = CookieJar()
        // Below amazonaws.com, which can be registered, s3.amazonaws.com is a suffix again.
        try jar.take("own=1", "late=4; Path=/deep", from: "https://mine.s3.amazonaws.com/")
        try jar.take(
            "deep=2; Domain=amazonaws.com; Path=/deep",
            "all=3; Domain=amazonaws.com; Path=/",
            from: "https://amazonaws.com/"
        )
        #expect(try jar.field("https://mine.s3.amazonaws.com/deep") == "late=4; deep=2; own=1; all=3")
        #expect(try jar.field("https://s3.amazonaws.com/deep") == "deep=2; all=3")
    }

    @Test("A cookie over http hides no Secure one, also where one registrable domain lies below another")
    func overlaidSites() throws {
        let jar = CookieJar()
        try jar.take("sid=good; Secure; Domain=amazonaws.com", from: "https://amazonaws.com/")
        try jar.take("sid=evil; Path=/login", from: "http://mine.s3.amazonaws.com/login")
        #expect(try jar.field("https://mine.s3.amazonaws.com/login") == "sid=good")
        try jar.take("id=good; Secure", from: "https://mine.s3.amazonaws.com/")
        try jar.take("id=evil; Path=/login; Domain=amazonaws.com", from: "http://amazonaws.com/login")
        #expect(try jar.field("https://mine.s3.amazonaws.com/login") == "sid=good; id=good")
        try jar.take("sid=own", from: "http://other.test/")
        #expect(try jar.field("http://other.test/") == "sid=own")
    }

    @Test("A Secure cookie that has expired keeps no cookie off http")
    func expiredSecure() throws {
        let (jar, now) = (CookieJar(), UnixTime.now)
        let (secure, plain) = (try HTTPURL("https://a.test/"), try HTTPURL("http://a.test/"))
        jar.take(["Set-Cookie": "sid=old; Secure; Max-Age=60"], from: secure, at: now)
        for (seconds, expected) in [(59, "sid=old"), (60, "sid=new")] as [(Int64, String)] {
            let time = now.advanced(bySeconds: seconds)
            jar.take(["Set-Cookie": "sid=new"], from: plain, at: time)
            #expect(
                jar.fieldBytes(for: secure, at: time).map { String(decoding: $0, as: UTF8.self) } == expected
            )
        }
    }

    @Test("The caller's cookies come first, and the jar adds none with the same names")
    func merging() throws {
        let jar = CookieJar()
        try jar.take("a=1", "b=2", from: "https://a.test/")
        let url = try HTTPURL("https://a.test/")
        func merged(_ own: String...) -> [String] {
            var headers = HTTPHeaders(own.map { (name: "cookie", value: $0) })
            headers.add("Accept", "*/*")
            headers.add(cookies: jar.cookies(for: url, at: testTime))
            #expect(headers.contains("accept"))
            return headers.values(for: "Cookie")
        }
        #expect(merged() == ["a=1; b=2"])
        #expect(merged("x=9; b=8", "y") == ["x=9; b=8; y; a=1"])
        #expect(merged("b=8;a") == ["b=8;a; a=1"])
        #expect(merged("b =1; a=0") == ["b =1; a=0"])
        #expect(merged("") == ["a=1; b=2"])
        #expect(merged("A=1") == ["A=1; a=1; b=2"])
        let empty = CookieJar()
        var headers: HTTPHeaders = ["Cookie": "x", "cookie": "y"]
        headers.add(cookies: empty.cookies(for: url, at: testTime))
        #expect(headers.values(for: "Cookie") == ["x; y"])
    }

    @Test("A value that is not UTF-8 is sent back unchanged")
    func bytes() throws {
        let jar = CookieJar()
        var headers = HTTPHeaders()
        headers.add("Set-Cookie", bytes: Array("a=".utf8) + [0xE4, 0xFF])
        let url = try HTTPURL("https://a.test/")
        jar.take(headers, from: url, at: testTime)
        #expect(jar.fieldBytes(for: url, at: testTime) == Array("a=".utf8) + [0xE4, 0xFF])
        #expect(jar.cookies(for: url).map(\.value) == ["\u{E4}\u{FF}"])
    }

    @Test("Cookies can be added, removed and listed")
    func editing() throws {
        let jar = CookieJar()
        let session = try Cookie("a", "1", for: HTTPHost("a.test"))
        let lasting = try Cookie("b", "2", for: HTTPHost("a.test"), expiry: .now.advanced(bySeconds: 100))
        jar.add(session)
        jar.add(lasting)
        #expect(jar.cookies == [session, lasting])
        jar.endSession()
        #expect(jar.cookies == [lasting])
        jar.add(try Cookie("b", "", for: HTTPHost("a.test"), expiry: UnixTime(seconds: 1)))
        #expect(jar.cookies.isEmpty)
        jar.add(session)
        jar.remove(try Cookie("a", "", for: HTTPHost("b.test")))
        jar.remove(try Cookie("a", "", for: HTTPHost("a.test"), path: "/x"))
        #expect(jar.cookies == [session])
        jar.remove(session)
        #expect(jar.cookies.isEmpty)
    }

    static let impossibilities: [(name: String, value: String, path: String, fault: CookieError)] = [
        ("", "", "/", .empty),
        ("a=b", "", "/", .invalidCharacter),
        ("a", "b;c", "/", .invalidCharacter),
        ("a", "b\r\nX: y", "/", .invalidCharacter),
        ("a", "b\u{0}", "/", .invalidCharacter),
        ("a", " b", "/", .invalidCharacter),
        ("", "a=b", "/", .invalidCharacter),
        ("a", "b", "/;", .invalidCharacter),
        ("a", "b", "x", .badPath),
        ("a", String(repeating: "x", count: 4096), "/", .tooLong),
        ("__Secure-a", "b", "/", .brokenPrefix),
        ("__hOST-a", "b", "/", .brokenPrefix),
        ("", "__Host-a", "/", .brokenPrefix),
    ]

    @Test("The caller cannot create a cookie that no server could set", arguments: impossibilities)
    func impossible(name: String, value: String, path: String, fault: CookieError) throws {
        let host = try HTTPHost("a.test")
        #expect(throws: fault) { try Cookie(name, value, for: host, path: path) }
    }

    @Test("Neither an address nor a public suffix can have a cookie for subdomains")
    func domains() throws {
        let address = try HTTPHost("192.0.2.1"), suffix = try HTTPHost("co.uk"),
            host = try HTTPHost("example.co.uk")
        #expect(throws: CookieError.addressHasNoSubdomains) {
            try Cookie("a", "1", for: address, coversSubdomains: true)
        }
        #expect(throws: CookieError.publicSuffix) {
            try Cookie("a", "1", for: suffix, coversSubdomains: true)
        }
        #expect(try Cookie("a", "1", for: host, coversSubdomains: true).coversSubdomains)
    }

    @Test("The description of a cookie never shows its value")
    func description() throws {
        let cookie = try Cookie("a", "secret", for: HTTPHost("a.test"), coversSubdomains: true, path: "/p")
        #expect(cookie.description == "a for *.a.test/p")
    }

    @Test("Several threads may use one jar")
    func threads() async throws {
        let jar = CookieJar()
        await withTaskGroup { group in
            for task in 0..<4 {
                group.addTask {
                    for round in 0..<500 {
                        try? jar.take("c\(round % 7)=\(task)", from: "https://h\(round % 11).test/")
                        _ = try? jar.field("https://h\(round % 11).test/")
                        if round % 50 == 0 { jar.removeAll { $0.name == "c3" } }
                    }
                }
            }
        }
        #expect(jar.cookies.count <= 77)
    }
}

@Suite("Limits of a cookie jar")
struct CookieLimitTests {
    @Test("A site with too many cookies loses the least recently used, insecure ones first")
    func siteLimit() throws {
        let jar = CookieJar(perSite: 3)
        try jar.take("a=1; Path=/a", "b=2; Secure", "c=3", from: "https://x.a.test/")
        #expect(try jar.field("https://x.a.test/a") == "a=1; b=2; c=3")
        try jar.take("d=4; Secure", from: "https://x.a.test/")
        #expect(try jar.field("https://x.a.test/a") != nil)
        #expect(jar.cookies.count == 3)
        #expect(jar.cookies.map(\.name).contains("b"))
        try jar.take("e=5; Secure", "f=6; Secure", from: "https://y.a.test/")
        #expect(Set(jar.cookies.map(\.name)) == ["d", "e", "f"])
    }

    @Test("Expired cookies are removed before all others")
    func expiredFirst() throws {
        let jar = CookieJar(perSite: 2)
        try jar.take("a=1", "b=2; Max-Age=10; Secure", from: "https://a.test/")
        try jar.take("c=3", from: "https://a.test/", at: testTime.advanced(bySeconds: 11))
        #expect(try jar.field("https://a.test/") == "a=1; c=3")
    }

    @Test("A server with many names cannot displace the cookies of others")
    func flood() throws {
        let jar = CookieJar(perSite: 150, total: 200)
        for index in 0..<40 { try jar.take("good=1", from: "https://good\(index).test/") }
        for index in 0..<1_000 { try jar.take("bad=1", from: "https://n\(index).evil.test/") }
        let names = jar.cookies.map(\.name)
        #expect(names.count { $0 == "good" } == 40)
        #expect(names.count <= 200)
    }

    @Test("With too many cookies in total, the sites with the most lose theirs first")
    func totalLimit() throws {
        let jar = CookieJar(perSite: 190, total: 200)
        for index in 0..<20 { try jar.take("old=1", from: "https://old\(index).test/") }
        for index in 0..<181 { try jar.take("big\(index)=1", from: "https://big.test/") }
        let names = jar.cookies.map(\.name)
        #expect(names.count { $0 == "old" } == 20)
        #expect(names.count == 190 && names.contains("big180") && !names.contains("big0"))
    }

    @Test("CVE-2022-32205: only part of a flood of cookies is stored and sent")
    func fieldLimit() throws {
        let jar = CookieJar()
        let large = String(repeating: "x", count: 4000)
        try jar.take("a=\(large)", "b=\(large)", "c=\(large)", from: "https://a.test/")
        let length = try jar.field("https://a.test/")?.utf8.count ?? 0
        #expect(length == 2 * 4002 + 2)
        let many = CookieJar()
        let fields = (0..<60).map { (name: "Set-Cookie", value: "n\($0)=1") }
        many.take(HTTPHeaders(fields), from: try HTTPURL("https://a.test/"), at: testTime)
        #expect(many.cookies.count == 50)
        for index in 0..<180 { try many.take("m\(index)=1", from: "https://b.test/") }
        #expect(try many.field("https://b.test/")?.split(separator: ";").count == 150)
    }

    @Test("No cookie lives longer than 400 days")
    func longestLife() throws {
        let jar = CookieJar()
        try jar.take(
            "a=1; Max-Age=99999999999999999999",
            "b=2; Expires=Fri, 31 Dec 9999 23:59:59 GMT",
            from: "https://a.test/"
        )
        let end = testTime.advanced(bySeconds: 400 * 86_400)
        #expect(jar.cookies.map(\.expiry) == [end, end])
        #expect(try jar.field("https://a.test/", at: end.advanced(bySeconds: -1)) == "a=1; b=2")
        #expect(try jar.field("https://a.test/", at: end) == nil)
    }

    @Test("A jar from which all cookies are removed sends none, and takes new ones")
    func removingAll() throws {
        let jar = CookieJar()
        try jar.take("a=1", "b=2; Max-Age=9", from: "https://a.test/")
        try jar.take("c=3", from: "https://b.test/")
        jar.removeAll()
        #expect(jar.cookies.isEmpty)
        for url in ["https://a.test/", "https://b.test/"] { #expect(try jar.field(url) == nil) }
        try jar.take("a=4", from: "https://a.test/")
        #expect(try jar.field("https://a.test/") == "a=4")
    }
}

let testTime = UnixTime(seconds: 1_800_000_000)

extension CookieJar {
    func take(_ fields: String..., from url: String, at now: UnixTime = testTime) throws {
        take(HTTPHeaders(fields.map { (name: "Set-Cookie", value: $0) }), from: try HTTPURL(url), at: now)
    }

    func field(_ url: String, at now: UnixTime = testTime) throws -> String? {
        fieldBytes(for: try HTTPURL(url), at: now).map { String(cookieText: $0[...]) }
    }
}
