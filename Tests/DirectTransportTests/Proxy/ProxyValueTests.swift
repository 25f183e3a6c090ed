@testable import DirectCore
import DirectIO
import DirectTLS
@testable import DirectTransport
import Testing

@Suite("Values of proxy settings")
struct ProxyValueTests {
    @Test("A proxy is read from a URL, and shown without user and password")
    func reading() throws {
        let proxy = try Proxy("https://me:p%40ss@Proxy.Test:8443/")
        #expect(proxy.scheme == .https && proxy.port == 8443 && proxy.lookup == .byProxy)
        #expect(proxy.credentials == Proxy.Credentials(user: "me", password: "p@ss"))
        #expect("\(proxy)" == "https://proxy.test:8443")
        var dumped = ""
        dump(proxy, to: &dumped)
        #expect(!dumped.contains("p@ss"))
        #expect(try Proxy("proxy.test:3128").scheme == .http)
        #expect(try Proxy("http://proxy.test").port == 80)
        #expect(try Proxy("socks5://127.0.0.1").port == 1080)
        #expect(try Proxy("socks5h://127.0.0.1:80").port == 80)
        #expect(try Proxy("socks5://127.0.0.1").lookup == .byClient)
        #expect(try Proxy("socks5h://me@[::1]").lookup == .byProxy)
        #expect("\(try Proxy("SOCKS5H://[::1]"))" == "socks5h://[::1]:1080")
    }

    @Test("Credentials that are not UTF-8 are sent as they are written")
    func bytes() throws {
        let proxy = try Proxy("http://m%E9:p%E9%00%FF@proxy.test")
        #expect(proxy.credentials != (try Proxy("http://m%E8:p%E9%00%FF@proxy.test")).credentials)
        #expect(
            SOCKSMessages(credentials: proxy.credentials).authentication() == [
                1, 2, 0x6D, 0xE9, 4, 0x70, 0xE9, 0, 0xFF,
            ]
        )
        let entry = ProxyEntry(try Proxy("http://m%E9:p%E9%FF@proxy.test"), tls: TLSSettings())
        // The base64 of 6D E9 3A 70 E9 FF.
        #expect(try entry.authorization() == "Basic bek6cOn/")
    }

    @Test("The scheme `socks`, which desktops set, is version 5, where the client resolves names")
    func socks() throws {
        let settings = try ProxySettings.from { ["all_proxy": "socks://proxy.test:1080/"][$0] }
        #expect(settings.forHTTPS == (try Proxy("socks5://proxy.test:1080")))
        #expect(try Proxy("SOCKS://proxy.test").lookup == .byClient)
    }

    @Test(
        "A text that is no proxy is refused",
        arguments: [
            "", "http://", "ftp://a.test", "http://a.test/path", "http://a.test?q", "a b",
            "http://a.test:0x1",
        ]
    )
    func refused(text: String) {
        #expect(throws: ProxyError.self) { try Proxy(text) }
    }

    @Test("The environment is read as by other clients, except HTTP_PROXY, which a request may set")
    func environment() throws {
        let variables = [
            "HTTP_PROXY": "http://evil.test", "https_proxy": "http://low.test",
            "HTTPS_PROXY": "http://high.test",
            "NO_PROXY": "a.test, 10.0.0.0/8",
        ]
        let settings = try ProxySettings.from { variables[$0] }
        #expect(settings.forHTTP == nil)
        #expect(settings.forHTTPS?.host.description == "low.test")
        #expect(settings.exceptions.contain(try HTTPHost("x.a.test"), port: 443))
        let all = try ProxySettings.from { ["ALL_PROXY": "socks5://s.test", "http_proxy": "h.test:1"][$0] }
        #expect(all.forHTTP?.port == 1 && all.forHTTPS?.scheme == .socks5)
        #expect(throws: ProxyError.self) { try ProxySettings.from { ["http_proxy": "ftp://x"][$0] } }
        #expect(try ProxySettings.from { _ in nil } == ProxySettings())
    }

    @Test(
        "Exceptions are matched label by label, and addresses bit by bit",
        arguments: [
            ("example.com", "example.com", true), ("example.com", "www.example.com", true),
            ("example.com", "evilexample.com", false), (".example.com", "www.example.com", true),
            ("*.example.com", "www.example.com", true), ("example.com", "com", false),
            ("EXAMPLE.com.", "example.com", true), ("example.com:443", "example.com", true),
            ("example.com:80", "example.com", false), ("*", "anything.test", true), ("*", "::1", true),
            ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false),
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
            ("10.1.0.0/15", "10.0.3.4", true), ("0.0.0.0/0", "203.0.113.7", true),
            ("0.0.0.0/0", "::1", false),
            ("10.0.0.0/8", "::ffff:10.1.1.1", true), ("[::1]", "::1", true), ("::1", "::1", true),
            ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
            ("2001:db8::/65", "2001:db8::1", true), ("2001:db8::/65", "2001:db8:0:0:8000::1", false),
            ("10.0.0.0/8", "10.example.com", false), ("a.test b.test", "b.test", true), ("", "a.test", false),
            ("[::1]:443", "::1", true), ("[::1]:80", "::1", false),
            ("192.168.*", "192.168.3.4", true), ("192.168.*", "192.169.0.1", false),
            ("10.*", "10.1.2.3", true), ("10.1.2.*", "10.1.2.255", true), ("10.1.2.*", "10.1.3.0", false),
            ("169.254/16", "169.254.169.254", true), ("169.254/16", "169.255.0.1", false),
            ("10.0/8", "10.200.0.1", true), ("192.168.*", "192.168.a.test", false),
            ("a.test:*", "www.a.test", true),
        ]
    )
    func exceptions(list: String, host: String, isException: Bool) throws {
        #expect(try ProxyExceptions(list).contain(try HTTPHost(host), port: 443) == isException)
    }

    @Test(
        "A text that is no exception is refused",
        arguments: [
            "10.0.0.0/33", "a.test/8", "a_b^", "::1/129", "a.test:x", "/8", "*.foo.*", "10/9", "10.0x1.*",
            "1.2.3.4.*", "10.256.*", "<local>",
        ]
    )
    func notAnException(text: String) {
        #expect(throws: ProxyError.self) { try ProxyExceptions(text) }
    }

    @Test("A word in the environment that is no exception is skipped, and the others count")
    func foreignExceptions() throws {
        let odd = "<local>,*.foo.*,10.0.0.0/33,a_b^,http://a.test/,/8,192.168.*:8080,,*a.test"
        for list in ["\(odd),b.test", "b.test \(odd)", "b.test\n\(odd)"] {
            let variables = ["http_proxy": "http://proxy.test", "no_proxy": list]
            let exceptions = try ProxySettings.from { variables[$0] }.exceptions
            #expect(exceptions.contain(try HTTPHost("www.b.test"), port: 80))
            #expect(!exceptions.contain(try HTTPHost("a.test"), port: 80))
        }
    }

    @Test("A name of more than 255 bytes is never written into a SOCKS request")
    func longName() throws {
        let name = DomainName(checked: [UInt8](repeating: UInt8(ascii: "a"), count: 256))
        let messages = SOCKSMessages(credentials: nil)
        #expect(throws: ProxyError.self) { try messages.request(for: .host(.name(name), port: 1)) }
        let longest = DomainName(checked: [UInt8](repeating: UInt8(ascii: "a"), count: 255))
        let request = try messages.request(for: .host(.name(longest), port: 0x1234))
        #expect(request.count == 4 + 1 + 255 + 2 && request[4] == 255 && request.suffix(2) == [0x12, 0x34])
    }

    @Test("SOCKS credentials that are too long are refused before any byte is sent")
    func longCredentials() {
        for (user, password) in [("", "x"), ("x", ""), (String(repeating: "u", count: 256), "x")] {
            let messages = SOCKSMessages(credentials: .init(user: user, password: password))
            #expect(throws: ProxyError.self) { try messages.greeting() }
        }
    }

    @Test("Responses that are not SOCKS are distinguished from refusals")
    func answers() throws {
        let messages = SOCKSMessages(credentials: nil)
        #expect(try messages.remainingLength(after: [5, 0, 0, 1, 0]) == 5)
        #expect(try messages.remainingLength(after: [5, 0, 0, 4, 0]) == 17)
        #expect(try messages.remainingLength(after: [5, 0, 0, 3, 200]) == 202)
        for answer in [[4, 0, 0, 1, 0], [5, 0, 0, 9, 0], [5, 1, 0, 1, 0], [5]] as [[UInt8]] {
            #expect(throws: ProxyError.self) { try messages.remainingLength(after: answer) }
        }
        // Credentials are never sent to a proxy that has none configured.
        #expect(throws: ProxyError.self) { try messages.wantsCredentials([5, 2]) }
        #expect(throws: ProxyError.self) { try messages.wantsCredentials([5, 0xFF]) }
        #expect(try !messages.wantsCredentials([5, 0]))
    }
}
