@testable import DirectCore
import Testing

@Suite("URLs")
struct HTTPURLTests {
    struct Example: CustomTestStringConvertible, Sendable {
        let text: String
        let normalised: String
        let authority: String
        let target: String

        init(_ text: String, _ normalised: String, _ authority: String, _ target: String) {
            (self.text, self.normalised, self.authority, self.target) = (text, normalised, authority, target)
        }

        var testDescription: String { text.debugDescription }
    }

    static let accepted = [
        Example("http://example.com", "http://example.com/", "example.com", "/"),
        Example("HTTPS://WWW.Example.COM/A?B#C", "https://www.example.com/A?B#C", "www.example.com", "/A?B"),
        Example("http://example.com:80/", "http://example.com/", "example.com", "/"),
        Example("https://example.com:443/", "https://example.com/", "example.com", "/"),
        Example("https://example.com:80/", "https://example.com:80/", "example.com:80", "/"),
        Example("http://example.com:/", "http://example.com/", "example.com", "/"),
        Example("http://example.com:0", "http://example.com:0/", "example.com:0", "/"),
        Example("http://example.com:0008080", "http://example.com:8080/", "example.com:8080", "/"),
        Example("http://example.com:65535", "http://example.com:65535/", "example.com:65535", "/"),
        Example("https://example.com.:8443/p", "https://example.com.:8443/p", "example.com:8443", "/p"),
        Example("http://my_host-.a--b.c/", "http://my_host-.a--b.c/", "my_host-.a--b.c", "/"),
        Example(
            "http://xn--bcher-kva.example",
            "http://xn--bcher-kva.example/",
            "xn--bcher-kva.example",
            "/"
        ),
        Example("http://203.0.113.7:81", "http://203.0.113.7:81/", "203.0.113.7:81", "/"),
        Example("http://999999999.com", "http://999999999.com/", "999999999.com", "/"),
        Example("http://0x7f.0.0.0x7g", "http://0x7f.0.0.0x7g/", "0x7f.0.0.0x7g", "/"),
        Example("http://[2001:DB8::0:7]", "http://[2001:db8::7]/", "[2001:db8::7]", "/"),
        Example("http://[::1]:8080?q", "http://[::1]:8080/?q", "[::1]:8080", "/?q"),
        Example("http://[fe80::1%25eth0]:81/", "http://[fe80::1%25eth0]:81/", "[fe80::1]:81", "/"),
        Example("http://u:p@example.com/", "http://u:p@example.com/", "example.com", "/"),
        Example("http://@example.com/", "http://example.com/", "example.com", "/"),
        Example("http://:@example.com/", "http://example.com/", "example.com", "/"),
        Example("http://u:@example.com/", "http://u@example.com/", "example.com", "/"),
        Example("http://:p@example.com/", "http://:p@example.com/", "example.com", "/"),
        Example("http://é:c:[d]@x", "http://%C3%A9:c%3A%5Bd%5D@x/", "x", "/"),
        Example("http://x?", "http://x/?", "x", "/?"),
        Example("http://x#", "http://x/#", "x", "/"),
        Example("http://x?#f", "http://x/?#f", "x", "/?"),
        Example("http://x/a/./b/../c", "http://x/a/c", "x", "/a/c"),
        Example("http://x/%2e%2E/a/.%2e/%2E", "http://x/", "x", "/"),
        Example("http://x/a/..", "http://x/", "x", "/"),
        Example("http://x/../../a", "http://x/a", "x", "/a"),
        Example("http://x////../..", "http://x//", "x", "//"),
        Example("http://x/.../..a/a..", "http://x/.../..a/a..", "x", "/.../..a/a.."),
        Example(
            "http://x/a b/é\"<>^`{}",
            "http://x/a%20b/%C3%A9%22%3C%3E%5E%60%7B%7D",
            "x",
            "/a%20b/%C3%A9%22%3C%3E%5E%60%7B%7D"
        ),
        Example(
            "http://x/[a]|!$&'()*+,;=:@~%7e%zz%",
            "http://x/[a]|!$&'()*+,;=:@~%7e%zz%",
            "x",
            "/[a]|!$&'()*+,;=:@~%7e%zz%"
        ),
        Example(
            "http://x/?a b'\"<>é`{}|\\/?@",
            "http://x/?a%20b%27%22%3C%3E%C3%A9`{}|\\/?@",
            "x",
            "/?a%20b%27%22%3C%3E%C3%A9`{}|\\/?@"
        ),
        Example("http://x/#a b\"<>`é#{}|\\", "http://x/#a%20b%22%3C%3E%60%C3%A9#{}|\\", "x", "/"),
        Example(
            "http://x/a\u{0}\u{1F}\u{7F}?\u{0}#\u{0}b",
            "http://x/a%00%1F%7F?%00#%00b",
            "x",
            "/a%00%1F%7F?%00"
        ),
        Example("http://x/?../a/..", "http://x/?../a/..", "x", "/?../a/.."),
        Example(
            "http://good.example#@evil.example/",
            "http://good.example/#@evil.example/",
            "good.example",
            "/"
        ),
        Example(
            "http://good.example?@evil.example/",
            "http://good.example/?@evil.example/",
            "good.example",
            "/?@evil.example/"
        ),
        Example(
            "http://good.example/@evil.example/",
            "http://good.example/@evil.example/",
            "good.example",
            "/@evil.example/"
        ),
    ]

    @Test(
        "A URL with another scheme is equal to the URL of that text",
        arguments: [
            "http://example.com/a?b#c", "http://example.com:443/", "http://example.com:8080/",
            "https://example.com/",
            "https://example.com:80/", "http://u:p@example.com./", "http://203.0.113.7/",
            "https://[2001:db8::7]:81/x",
            "http://[fe80::1%25eth0]/",
        ]
    )
    func otherScheme(text: String) throws {
        let url = try HTTPURL(text)
        for scheme in [HTTPURL.Scheme.http, .https] {
            let other = url.with(scheme: scheme)
            #expect(
                other
                    == (try HTTPURL(
                        scheme.rawValue + url.text[(url.text.firstIndex(of: ":") ?? url.text.endIndex)...]
                    ))
            )
            #expect(try HTTPURL(other.text).authorityBytes == other.authorityBytes)
        }
    }

    @Test("A URL is read into its parts and written in normal form", arguments: accepted)
    func reads(_ example: Example) throws {
        let url = try HTTPURL(example.text)
        #expect(url.text == example.normalised)
        #expect(String(decoding: url.authorityBytes, as: UTF8.self) == example.authority)
        #expect(String(decoding: url.targetBytes, as: UTF8.self) == example.target)
        #expect(try HTTPURL(url.text) == url)
        #expect(url.path + (url.query.map { "?\($0)" } ?? "") == example.target)
    }

    private static let labelOf64 = String(repeating: "a", count: 64)
    private static let nameOf253 = String(repeating: "a.", count: 126) + "a"
    private static let pathOf64KiB = String(repeating: "a", count: 65_536)

    static let refused: [(text: String, fault: HTTPURLError)] = [
        ("", .notHTTP),
        ("example.com", .notHTTP),
        ("//example.com/", .notHTTP),
        ("/path", .notHTTP),
        ("localhost:8080", .notHTTP),
        ("localhost:8080/", .notHTTP),
        ("a.example:443?q", .notHTTP),
        ("localhost:99999#f", .notHTTP),
        ("user:secret@example.com", .notHTTP),
        ("user:sec/ret@example.com", .notHTTP),
        ("sk-4711:@example.com/", .notHTTP),
        ("mailto:someone@example.com", .unsupportedScheme("mailto")),
        ("MAILTO:someone@example.com", .unsupportedScheme("mailto")),
        ("tel:+1-201-555-0123", .unsupportedScheme("tel")),
        ("tel:112", .notHTTP),
        ("javascript:send('a@b.example')", .unsupportedScheme("javascript")),
        ("data:,a@b", .unsupportedScheme("data")),
        ("com.example.app:/done", .unsupportedScheme("com.example.app")),
        ("FTP://example.com/", .unsupportedScheme("ftp")),
        ("ftp://example.com/", .unsupportedScheme("ftp")),
        ("httpss://example.com/", .unsupportedScheme("httpss")),
        ("file:///etc/passwd", .unsupportedScheme("file")),
        ("http:", .missingAuthority),
        ("http:/example.com/", .missingAuthority),
        ("https:example.com", .missingAuthority),
        ("http://", .host(.missing)),
        ("http:///path", .host(.missing)),
        ("http://?q", .host(.missing)),
        ("http://#f", .host(.missing)),
        ("http://:80/", .host(.missing)),
        ("http://user@/", .host(.missing)),
        ("http://user:pass@:80/", .host(.missing)),
        (" http://example.com/", .surroundedBySpace),
        ("http://example.com/ ", .surroundedBySpace),
        ("http://example.com/\n", .surroundedBySpace),
        ("\u{0}http://example.com/", .surroundedBySpace),
        ("http://exam\tple.com/", .tabOrLineBreak),
        ("ht\ntp://example.com/", .tabOrLineBreak),
        ("http://example.com/a\r\nHost: evil", .tabOrLineBreak),
        ("http://example.com/?a\nb", .tabOrLineBreak),
        ("http://example.com/#a\tb", .tabOrLineBreak),
        ("http://u\ts:p@example.com/", .tabOrLineBreak),
        ("http:\\\\example.com", .backslash),
        ("http://good.example\\@evil.example/", .backslash),
        ("http://good.example/a\\b", .backslash),
        ("http://a\\b@good.example/", .backslash),
        ("http://good.example@evil.example@other.example/", .severalAtSigns),
        ("http://@@example.com/", .severalAtSigns),
        ("http://exa mple.com/", .host(.invalidCharacter(0x20))),
        ("http://exa\u{0}mple.com/", .host(.invalidCharacter(0))),
        ("http://example.com<x/", .host(.invalidCharacter(0x3C))),
        ("http://*.example.com/", .host(.invalidCharacter(0x2A))),
        ("http://good.example%2F@evil.example%2F/", .host(.percentEncoded)),
        ("http://example.com%2F.evil.example/", .host(.percentEncoded)),
        ("http://ex%61mple.com/", .host(.percentEncoded)),
        ("http://bücher.example/", .host(.notASCII)),
        ("http://\u{FF27}o.com/", .host(.notASCII)),
        ("http://www。example.com/", .host(.notASCII)),
        ("http://.example.com/", .host(.emptyLabel)),
        ("http://a..b/", .host(.emptyLabel)),
        ("http://example.com../", .host(.emptyLabel)),
        ("http://./", .host(.emptyLabel)),
        ("http://\(labelOf64).example/", .host(.labelTooLong)),
        ("http://example.\(labelOf64)/", .host(.labelTooLong)),
        ("http://\(nameOf253).a/", .host(.tooLong)),
        ("http://1.2.3/", .host(.looksNumeric)),
        ("http://1.2.3.4./", .host(.looksNumeric)),
        ("http://1.2.3.4.5/", .host(.looksNumeric)),
        ("http://01.2.3.4/", .host(.looksNumeric)),
        ("http://1.2.3.256/", .host(.looksNumeric)),
        ("http://2130706433/", .host(.looksNumeric)),
        ("http://0x7f.1/", .host(.looksNumeric)),
        ("http://0X7F000001/", .host(.looksNumeric)),
        ("http://foo.0x/", .host(.looksNumeric)),
        ("http://foo.09./", .host(.looksNumeric)),
        ("http://[::1/", .host(.unclosedBracket)),
        ("http://[::1]x/", .host(.textAfterBracket)),
        ("http://[]/", .host(.notIPv6)),
        ("http://[1.2.3.4]/", .host(.notIPv6)),
        ("http://[www.example.com]/", .host(.notIPv6)),
        ("http://[::1%]/", .host(.notIPv6)),
        ("http://[fe80::1%eth0]/", .host(.notIPv6)),
        ("http://[fe80::1%25]/", .host(.notIPv6)),
        ("http://[fe80::1%25a/b]/", .host(.unclosedBracket)),
        ("http://::1/", .host(.missing)),
        ("http://2001:db8::1/", .host(.looksNumeric)),
        ("http://example.com:80:80/", .invalidPort),
        ("http://example.com:65536/", .invalidPort),
        ("http://example.com:99999999999999999999/", .invalidPort),
        ("http://example.com:-1/", .invalidPort),
        ("http://example.com:+80/", .invalidPort),
        ("http://example.com: 80/", .invalidPort),
        ("http://example.com:http/", .invalidPort),
        ("http://user:pa/ss@example.com/", .invalidPort),
        ("http://x/\(pathOf64KiB)", .tooLong(limit: 65_536)),
    ]

    @Test("A URL that parsers disagree about is refused, and the error names the part", arguments: refused)
    func refuses(_ example: (text: String, fault: HTTPURLError)) {
        #expect(throws: example.fault) { try HTTPURL(example.text) }
    }

    @Test("The longest name is 253 bytes, not counting the trailing dot")
    func longestName() throws {
        let name = String(repeating: "a.", count: 126) + "a"
        #expect(try HTTPURL("http://\(name)./").host == .name(DomainName(name)))
        #expect(throws: HTTPHostError.tooLong) { try DomainName(name + "b") }
    }

    @Test("A trailing dot is kept in the URL and dropped elsewhere")
    func trailingDot() throws {
        let dotted = try HTTPURL("https://example.com./")
        let plain = try HTTPURL("https://example.com/")
        #expect(dotted.hasTrailingDot && !plain.hasTrailingDot)
        #expect(dotted != plain)
        #expect(dotted.origin == plain.origin)
        #expect(dotted.authorityBytes == plain.authorityBytes)
    }

    @Test("User and password are unescaped, and never in the description")
    func credentials() throws {
        let url = try HTTPURL("https://us%65r:p%40ss%3aword%FF%zz@example.com/")
        #expect(url.user == "user")
        #expect(url.credentialBytes?.password == Array("p@ss:word".utf8) + [0xFF] + Array("%zz".utf8))
        #expect(url.description == "https://***@example.com/")
        #expect(url.withoutCredentials.text == "https://example.com/")
        #expect(url.withoutCredentials.user == nil)
        #expect(try HTTPURL("https://example.com/").credentialBytes == nil)
        #expect(try HTTPURL("https://:p@example.com/").user?.isEmpty == true)
    }

    @Test("No error repeats user or password")
    func discretion() {
        let broken = [
            "http://user:secret@exa mple/", "http://user:sec/ret@example.com/",
            "http://user:sec\\ret@example.com/",
            "user:secret@example.com", "http://user:secret@a@b/", "http://user:secret@example.com:x/",
            "http://user:secret@[::g]/", "http://user:secret@é/", "http://user:se\tcret@b/",
            "ftp:user:secret@x/",
        ]
        for text in broken {
            let error = #expect(throws: HTTPURLError.self) { try HTTPURL(text) }
            let words = error?.description ?? ""
            #expect(!words.contains("user:") && !words.contains("sec") && !words.contains("ret"), "\(words)")
        }
    }

    @Test("Origins are equal by scheme, host and effective port, and so are their hashes")
    func origins() throws {
        let same = try ["https://example.com", "https://EXAMPLE.com:443/a", "https://u@example.com.:0443/b"]
            .map {
                try HTTPURL($0).origin
            }
        #expect(Set(same).count == 1)
        #expect(same[0].description == "https://example.com")
        #expect(try same[0] == Origin(scheme: .https, host: HTTPHost("example.com"), port: 443))
        let others = try [
            "http://example.com:443", "https://example.com:444", "https://www.example.com", "https://[::1]",
            "https://[fe80::1%25a]", "https://[fe80::1%25b]", "https://0.0.0.1",
        ].map { try HTTPURL($0).origin }
        #expect(Set(others + same).count == others.count + 1)
        #expect(try HTTPURL("http://[fe80::1%25a]:81").origin.description == "http://[fe80::1]:81")
    }

    @Test("A fragment is inherited only by a URL without one")
    func inheritedFragment() throws {
        let old = try HTTPURL("http://a/#old")
        #expect(try HTTPURL("http://b/").inheritingFragment(from: old).text == "http://b/#old")
        #expect(try HTTPURL("http://b/#").inheritingFragment(from: old).text == "http://b/#")
    }
}
