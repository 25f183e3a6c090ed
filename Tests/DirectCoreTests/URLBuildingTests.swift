import DirectCore
import DirectTestData
import Testing

@Suite("URLs made of parts")
struct URLBuildingTests {
    private let base = URLBuildingTests.url("https://api.example.com:8443/v1?key=1#part")

    private static func url(_ text: StaticString) -> HTTPURL {
        guard let url = try? HTTPURL("\(text)") else { fatalError("\(text) is no URL") }
        return url
    }

    @Test("The parts of a URL are what it was made of")
    func parts() throws {
        let url = try HTTPURL(
            .https,
            host: "API.example.com",
            port: 8443,
            path: ["v1", "a b/ü"],
            queryItems: [.init("q", "a&b=c d+e#f"), .init("flag", nil)],
            fragment: "50%"
        )
        #expect(
            url.text
                == "https://api.example.com:8443/v1/a%20b%2F%C3%BC?q=a%26b%3Dc%20d%2Be%23f&flag#50%25"
        )
        #expect(try HTTPURL(url.text) == url)
    }

    @Test("A URL made of scheme and host alone is that of the origin")
    func origin() throws {
        #expect(try HTTPURL(.http, host: "example.com").text == "http://example.com/")
        #expect(try HTTPURL(.https, host: "example.com", port: 443).text == "https://example.com/")
        #expect(
            try HTTPURL(.https, host: "2001:db8::7").text == "https://[2001:db8::7]/"
        )
        #expect(try HTTPURL(.http, host: "fe80::1%eth0").text == "http://[fe80::1%25eth0]/")
    }

    @Test(
        "A host that is more than a host is refused",
        arguments: [
            "a.test:80", "a.test/x", "u@a.test", "a.test?q", "", "a b", "a\0b", "bücher.example", "127.1",
        ]
    )
    func hosts(text: String) {
        let error = #expect(throws: HTTPURLError.self) { try HTTPURL(.https, host: text) }
        guard case .host? = error else {
            Issue.record("\(text): \(error as Any)")
            return
        }
    }

    static let values = [
        "a", "../admin", "..%2fadmin", "%2e%2e", "a/b", "a\\b", "a?b", "a#b", "a;b", "..;", "%", "%00", "a b",
        "a+b",
        "a&b=c", "é", "\u{1F600}", "\r\nHost: evil", "\t", "\u{7F}", "...", "~", "'\"<>`{}|^[]", "@:!$*(),",
        "//evil",
    ]

    @Test("A component stays one segment of the path, whatever it contains", arguments: values)
    func components(value: String) throws {
        let url = try base.appending(path: "items", value, "x")
        let segments = url.path.split(separator: "/", omittingEmptySubsequences: false)
        #expect(segments.count == 5 && segments[1] == "v1" && segments[2] == "items" && segments[4] == "x")
        #expect(url.query == "key=1" && url.fragment == "part" && url.origin == base.origin)
        #expect(try HTTPURL(url.text) == url)
        #expect(try HTTPURL("http://x/?\(segments[3])=").queryItems == [.init(value, "")])
    }

    @Test("A value stays one item of the query, and is read back", arguments: values)
    func items(value: String) throws {
        let url = try base.appending(queryItems: [.init(value, value), .init(value, nil)])
        let key = HTTPURL.QueryItem("key", "1")
        #expect(url.queryItems == [key, .init(value, value), .init(value, nil)])
        #expect(url.path == "/v1" && url.fragment == "part")
        #expect(try HTTPURL(url.text) == url)
    }

    @Test("Escapes are of unreserved characters only, so that no server reads syntax in a value")
    func unreserved() throws {
        let all = String(String.UnicodeScalarView((1...0x7F).compactMap(UnicodeScalar.init)))
        let plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        let url = try HTTPURL(.http, host: "x", path: [all], queryItems: [.init(all, all)])
        let parts = [url.path.dropFirst(), try #require(url.query?.split(separator: "=").first)]
        for part in parts {
            #expect(part.allSatisfy { plain.contains($0) || $0 == "%" })
            #expect(part.count == plain.count + 3 * (0x7F - plain.count))
        }
    }

    @Test(
        "Dots alone are no component, because every parser would take them for steps",
        arguments: [".", ".."]
    )
    func dots(component: String) {
        #expect(throws: HTTPURLError.dotPathComponent) { try base.appending(path: "a", component) }
    }

    @Test("An empty component is refused, because the path would name the collection")
    func emptyComponent() {
        #expect(throws: HTTPURLError.emptyPathComponent) { try base.appending(path: "items", "") }
    }

    @Test("NUL is refused in each part")
    func nul() {
        #expect(throws: HTTPURLError.nulCharacter) { try base.appending(path: "a\0") }
        #expect(throws: HTTPURLError.nulCharacter) { try base.appending(query: ["a\0": ""]) }
        #expect(throws: HTTPURLError.nulCharacter) { try base.appending(query: ["a": "\0"]) }
        #expect(throws: HTTPURLError.nulCharacter) { try base.replacing(fragment: "\0") }
    }

    @Test("A URL is not built longer than the parser accepts")
    func length() throws {
        let room = 65_536 - base.text.utf8.count
        let longest = try base.appending(path: String(repeating: "a", count: room - 1))
        #expect(try HTTPURL(longest.text) == longest && longest.text.utf8.count == 65_536)
        for one in [["a"], []] {
            #expect(throws: HTTPURLError.tooLong(limit: 65_536)) {
                try longest.appending(path: one).appending(query: ["a": ""])
            }
        }
        #expect(throws: HTTPURLError.tooLong(limit: 65_536)) { try longest.replacing(fragment: "parts") }
    }

    @Test("Slashes neither double nor vanish where components are appended")
    func slashes() throws {
        let folder = Self.url("http://x/a/")
        #expect(try folder.appending(path: "b").path == "/a/b")
        #expect(try Self.url("http://x").appending(path: "b", "c").path == "/b/c")
        #expect(try Self.url("http://x/a//").appending(path: "b").path == "/a//b")
        #expect(try folder.appending(path: "b", endsWithSlash: true).path == "/a/b/")
        #expect(try folder.appending(path: [], endsWithSlash: true) == folder)
        #expect(try Self.url("http://x/a").appending(path: [], endsWithSlash: true) == folder)
        #expect(
            try Self.url("http://x/a?q").appending(path: "b", endsWithSlash: true).text == "http://x/a/b/?q"
        )
    }

    @Test("User information stays with the URL that parts are added to")
    func userinfo() throws {
        let url = try Self.url("http://u:p@x./").appending(path: "@y").appending(query: ["@": "@"])
        #expect(url.text == "http://u:p@x./%40y?%40=%40" && url.user == "u" && url.hasTrailingDot)
    }

    @Test("Items are added after those that the query has")
    func queries() throws {
        #expect(try Self.url("http://x/").appending(query: ["a": "1"]).query == "a=1")
        #expect(try Self.url("http://x/?").appending(query: ["a": "1"]).query == "a=1")
        #expect(try Self.url("http://x/?b").appending(query: ["a": "1", "a": "2"]).query == "b&a=1&a=2")
        #expect(try Self.url("http://x/?b").appending(queryItems: []).query == "b")
        #expect(
            try base.replacing(queryItems: [.init("a", "")]).text == "https://api.example.com:8443/v1?a=#part"
        )
        #expect(try base.replacing(queryItems: []).query == nil)
        #expect(
            try Self.url("http://x/").appending(queryItems: [.init("", nil)]).queryItems == [.init("", "")]
        )
    }

    @Test("The items of a query are read as those of a form")
    func reading() {
        let items = Self.url("http://x/?a+b=c%20d&&e&=f&g=h=i&%zz=%F0%9F&j=%").queryItems
        let expected: [HTTPURL.QueryItem] = [
            .init("a b", "c d"), .init("e", nil), .init("", "f"), .init("g", "h=i"), .init("%zz", "\u{FFFD}"),
            .init("j", "%"),
        ]
        #expect(items == expected)
        #expect(Self.url("http://x/").queryItems.isEmpty && Self.url("http://x/?").queryItems.isEmpty)
    }

    @Test("Parts of any characters are read back from the text of the URL")
    func walk() throws {
        var random = SplitMix64(seed: 16)
        for _ in 0..<500 {
            let words = (0..<4).map { _ in Self.word(&random) }
            let path = words.filter { !["", ".", ".."].contains($0) }
            let items = [HTTPURL.QueryItem(words[0], words[1]), .init(words[2], words[3])]
            let built = try HTTPURL(.https, host: "x", path: path, queryItems: items, fragment: words[0])
            let read = try HTTPURL(built.text)
            #expect(read == built && read.queryItems == items)
            #expect(read.path.split(separator: "/").count == path.count)
        }
    }

    /// A few characters, most of them ones with a meaning in URLs.
    private static func word(_ random: inout SplitMix64) -> String {
        let syntax = Array("/?#%&=+;:@.\\ ~'\r\n\u{80}é\u{FFFF}\u{10FFFF}a")
        return String(
            (0..<Int.random(in: 0...6, using: &random)).map { _ in syntax.randomElement(using: &random)! }
        )
    }
}
