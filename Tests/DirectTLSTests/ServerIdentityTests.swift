import DirectCore
import Testing

@testable import DirectTLS

@Suite("Identities of servers")
struct ServerIdentityTests {
    @Test(
        "Host names are accepted as they are",
        arguments: [
            "a.test", "xn--bcher-kva.example", "_dmarc.a.test", "a", "1.a.test", "a-b.c9", "-a.test",
            "a-.test",
        ]
    )
    func hostNamesAreTaken(_ text: String) throws {
        #expect(try ServerIdentity.name(text).text == text)
    }

    @Test(
        "The identity of a host is its name, or its address without a zone",
        arguments: [("A.test", "a.test"), ("192.0.2.1", "192.0.2.1"), ("[fe80::1%lo]", "fe80::1")]
    )
    func hosts(_ text: String, identity: String) throws {
        let host = try HTTPHost(text)
        #expect(ServerIdentity(of: host).text == identity)
        #expect(ServerIdentity(of: host).kind == (host.name == nil ? .address : .name))
    }

    @Test("Letters of a name become lower case")
    func lettersAreMadeLowerCase() throws {
        #expect(try ServerIdentity.name("WWW.Example.TEST") == ServerIdentity.name("www.example.test"))
    }

    @Test(
        "A text that is no host name is refused",
        arguments: [
            "", ".", ".a.test", "a.test.", "a..test", "*.a.test", "bücher.test", "a.test\0", "a test",
            "a.test:443", "127.0.0.1", "1.2.3", "0x7f.1", "a.0x7F", "::1", "[::1]", "a/b",
            String(repeating: "a", count: 64) + ".test",
            Array(repeating: "abcdefghi", count: 26).joined(separator: "."),
        ]
    )
    func whatIsNoHostNameIsRefused(_ text: String) {
        #expect(throws: TLSError.self) { try ServerIdentity.name(text) }
    }

    @Test("The longest name has 253 characters")
    func theLongestNameIsTaken() throws {
        let text = Array(repeating: "abcdefghi", count: 25).joined(separator: ".") + ".ab"
        #expect(text.utf8.count == 252)
        #expect(throws: Never.self) { try ServerIdentity.name(text + "c") }
        #expect(throws: TLSError.self) { try ServerIdentity.name(text + "cd") }
    }

    @Test(
        "Each address has one spelling",
        arguments: [
            ("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
            ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
        ]
    )
    func addressesHaveOneSpelling(_ text: String, _ canonical: String) throws {
        #expect(try ServerIdentity.address(text).text == canonical)
    }

    @Test(
        "A text that is no address is refused",
        arguments: [
            "", "127.1", "01.2.3.4", "0x7f.0.0.1", "256.1.1.1", "[::1]", "fe80::1%lo", " 127.0.0.1",
            "127.0.0.1 ", "127.0.0.1\0", "a.test",
        ]
    )
    func whatIsNoAddressIsRefused(_ text: String) {
        #expect(throws: TLSError.self) { try ServerIdentity.address(text) }
    }
}
