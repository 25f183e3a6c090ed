@testable import DirectCore
import Testing

@Suite("Hosts")
struct HostTests {
    @Test("A name becomes lower-case and loses its trailing dot")
    func names() throws {
        #expect(try DomainName("WWW.Example.COM").text == "www.example.com")
        #expect(try DomainName("WWW.Example.COM") == DomainName("www.example.com"))
        #expect(throws: HTTPHostError.emptyLabel) { try DomainName("example.com.") }
        #expect(throws: HTTPHostError.missing) { try DomainName("") }
        #expect(throws: HTTPHostError.invalidCharacter(UInt8(ascii: ":"))) {
            try DomainName("example.com:80")
        }
        #expect(throws: HTTPHostError.looksNumeric) { try DomainName("1.2.3.4") }
        #expect(throws: HTTPHostError.notASCII) { try DomainName("é.example") }
    }

    @Test("A host is an address if it can be one, otherwise a name")
    func hosts() throws {
        #expect(try HTTPHost("example.com").name?.text == "example.com")
        #expect(try HTTPHost("203.0.113.7").address == IPAddress("203.0.113.7"))
        #expect(try HTTPHost("::1").address == IPAddress("::1"))
        #expect(try HTTPHost("[::1]").address == IPAddress("::1"))
        #expect(try HTTPHost("[fe80::1%eth0]").description == "fe80::1%eth0")
        #expect(throws: HTTPHostError.notIPv6) { try HTTPHost("[203.0.113.7]") }
        #expect(throws: HTTPHostError.unclosedBracket) { try HTTPHost("[::1") }
        #expect(throws: HTTPHostError.unclosedBracket) { try HTTPHost("[") }
        #expect(throws: HTTPHostError.looksNumeric) { try HTTPHost("1.2.3") }
        #expect(throws: HTTPHostError.missing) { try HTTPHost("") }
    }

    static let subdomains: [(name: String, parent: String, isBelow: Bool)] = [
        ("example.com", "example.com", true),
        ("www.example.com", "example.com", true),
        ("a.b.example.com", "example.com", true),
        ("example.com", "com", true),
        ("evilexample.com", "example.com", false),
        ("example.com", "www.example.com", false),
        ("example.org", "example.com", false),
        ("com", "example.com", false),
        ("wwwxexample.com", "example.com", false),
    ]

    @Test("A subdomain is compared label by label", arguments: subdomains)
    func isSubdomain(_ example: (name: String, parent: String, isBelow: Bool)) throws {
        #expect(try DomainName(example.name).isSubdomain(of: DomainName(example.parent)) == example.isBelow)
    }
}
