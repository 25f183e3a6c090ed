@testable import DirectCore
import DirectTestData
import Testing

@Suite("References")
struct ReferenceTests {
    /// RFC 3986, section 5.4, over http, and what the WHATWG URL Standard adds without guessing.
    static let resolved: [(reference: String, result: String)] = [
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."),
        ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("?", "http://a/b/c/d;p?"),
        ("#", "http://a/b/c/d;p?q#"),
        ("//h:81/x", "http://h:81/x"),
        ("//h:80", "http://h/"),
        ("//u:p@h/", "http://u:p@h/"),
        ("https://h/x", "https://h/x"),
        ("HTTP://H:80", "http://h/"),
        (":x", "http://a/b/c/:x"),
        ("1:x", "http://a/b/c/1:x"),
        ("/x:y", "http://a/x:y"),
        ("x/é y", "http://a/b/c/x/%C3%A9%20y"),
    ]

    @Test("A reference is resolved as in RFC 3986", arguments: resolved)
    func resolves(_ example: (reference: String, result: String)) throws {
        let base = try HTTPURL("http://a/b/c/d;p?q")
        #expect(try base.resolving(example.reference).text == example.result)
    }

    @Test("A reference without authority keeps the base's, including user information and port")
    func inheritance() throws {
        let base = try HTTPURL("https://u:p@example.com.:8443/a/b?c#d")
        #expect(try base.resolving("x").text == "https://u:p@example.com.:8443/a/x")
        #expect(try base.resolving("").text == "https://u:p@example.com.:8443/a/b?c")
        #expect(try base.resolving("//other/x").text == "https://other/x")
        #expect(try base.resolving("//other:8443/x").text == "https://other:8443/x")
    }

    static let refused: [(reference: String, fault: HTTPURLError)] = [
        ("http:g", .missingAuthority),
        ("http:", .missingAuthority),
        ("https:/g", .missingAuthority),
        ("///g", .host(.missing)),
        ("//", .host(.missing)),
        ("//a@b@c/", .severalAtSigns),
        ("\\g", .backslash),
        ("\\\\evil.example/", .backslash),
        ("/\\evil.example/", .backslash),
        ("g\\h", .backslash),
        (" g", .surroundedBySpace),
        ("g ", .surroundedBySpace),
        ("g\th", .tabOrLineBreak),
        ("/g\r\nX: y", .tabOrLineBreak),
        ("g:h", .unsupportedScheme("g")),
        ("javascript:alert(1)", .unsupportedScheme("javascript")),
        ("g:8080/h", .notHTTP),
        ("ftp://h/", .unsupportedScheme("ftp")),
        ("//h:x/", .invalidPort),
    ]

    @Test("A reference that parsers disagree about is refused", arguments: refused)
    func refuses(_ example: (reference: String, fault: HTTPURLError)) throws {
        let base = try HTTPURL("http://a/b/c/d;p?q")
        #expect(throws: example.fault) { try base.resolving(example.reference) }
    }

    @Test("50,000 mutated URLs and references are read to the same value from their own text, or refused")
    func stability() async throws {
        var random = SplitMix64(seed: 3986)
        let seeds = HTTPURLTests.accepted.map(\.text) + Self.resolved.map(\.reference)
        let alphabet = Array("abZ019.:/?#@[]%2e\\ \t\r\n\0\u{7F}é*_-'\"<>|^`{}".utf8)
        let base = try HTTPURL("https://u:p@example.com/a/b?c#d")
        var read = 0
        for _ in 0..<50_000 {
            await Task.yield()
            var bytes = Array((seeds.randomElement(using: &random) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes.mutate(with: alphabet, using: &random)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let candidates = [try? HTTPURL(text), try? base.resolving(text)]
            for url in candidates.compactMap({ $0 }) {
                read += 1
                #expect(try HTTPURL(url.text) == url, "\(text)")
                #expect(try HTTPURL(url.description).description == url.description, "\(text)")
                #expect(try base.resolving(url.text) == url, "\(text)")
                #expect(url.targetBytes.first == UInt8(ascii: "/"))
                #expect(url.targetBytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
                #expect(url.authorityBytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "@") })
            }
        }
        #expect(read > 10_000)
    }
}
