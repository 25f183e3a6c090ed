import DirectCore
import DirectHTTP
import DirectIO
import DirectTestPeers
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Servers whose cause another one resembles.
@Suite("Causes that are easily mistaken")
struct ExactCausesTests {
    private let root = TestAuthority()

    private func record(_ arguments: [String]) async throws -> ProbeRecord {
        try #require(try await probe(arguments, trusting: root.rootPEM).record)
    }

    private func record(of script: ByteScript, _ options: String...) async throws -> ProbeRecord {
        let server = try FixtureServer.start(behaviour: .bytes(script))
        return try await record(["a.test@\(server.authority)"] + options)
    }

    @Test("A reset while connecting is one of the server, not of the route")
    func resetAtOnce() async throws {
        let failure = HandshakeFailure(
            .failed(.connect, .system(SystemError("connect", code: ECONNRESET))),
            firstBytes: []
        )
        #expect(failure == .reset)
        let listener = try Listener()
        defer { listener.stop() }
        Thread.detachNewThread {
            while let peer = try? listener.accept() { peer.resetOnClose() }
        }
        for _ in 0..<20 {
            let record = try await record(["a.test@127.0.0.1:\(listener.port)"])
            #expect(record.faults.map(\.id) == [.reset])
        }
    }

    @Test("Alert 42 without a request for a certificate is not about one of the client's")
    func badCertificate() async throws {
        let record = try await record(of: [.awaitArrival, .alert(42), .awaitClose])
        #expect(record.faults.map(\.text) == ["server refused the handshake: bad_certificate"])
        #expect(record.hint?.text.contains("client certificate") == false)
    }

    @Test("The alert that ends a connection refuses nothing")
    func closeNotify() async throws {
        let record = try await record(of: [.awaitArrival, .alert(0), .awaitClose])
        #expect(record.faults.map(\.text) == ["connection closed in the handshake"])
        #expect(record.hint?.text.contains("no certificate is set up") == false)
    }

    @Test(
        "An error of Redis is not taken for one of POP3",
        arguments: ["unknown command", "Protocol error: x"]
    )
    func redis(_ words: String) async throws {
        let record = try await record(of: [
            .awaitArrival, .rawBytes(Array("-ERR \(words)\r\n".utf8)), .awaitClose,
        ])
        #expect(record.faults.map(\.text) == ["not TLS: the server speaks something else"])
        #expect(record.hint?.text.contains("--starttls") == false)
    }

    /// The ServerHello of TLS 1.2 of a server older than RFC 5746: without any extension.
    private static let oldServerHello: [UInt8] =
        [22, 3, 3, 0, 42, 2, 0, 0, 38, 3, 3] + [UInt8](repeating: 7, count: 32) + [0, 0xC0, 0x2F, 0]

    @Test("A server without secure renegotiation is not said to violate TLS")
    func oldRenegotiation() async throws {
        let record = try await record(of: [.awaitArrival, .rawBytes(Self.oldServerHello), .awaitClose])
        #expect(record.faults.map(\.id) == [.handshakeBroken])
        #expect(record.faults.map(\.text) == ["server lacks secure renegotiation (RFC 5746)"])
        #expect(record.hint?.text.contains("RFC 5746") == true)
        #expect(record.hint?.text.contains("violates") == false)
    }

    /// The prime of 1024 bits of RFC 2409, section 6.2.
    private static let smallPrime =
        "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
        + "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
        + "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF"

    /// A record of the handshake with a message of this type.
    private static func message(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        func size(_ count: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).reversed().map { UInt8(count >> ($0 * 8) & 0xFF) }
        }
        return [22, 3, 3] + size(body.count + 4, 2) + [type] + size(body.count, 3) + body
    }

    @Test("A server whose keys for the exchange are too small is not said to violate TLS")
    func smallGroup() async throws {
        var profile = CertificateProfile.publicLeaf("a.test")
        profile.key = .rsa(2048)
        let der = try root.issue(profile).der
        let size = { (count: Int) -> [UInt8] in [0, UInt8(count >> 8), UInt8(count & 0xFF)] }
        let prime = try #require(Hex.decode(Self.smallPrime))
        // DHE-RSA-AES128-GCM-SHA256, and the extension of RFC 5746.
        let choice: [UInt8] = [0, 0, 0x9E, 0, 0, 5, 0xFF, 1, 0, 1, 0]
        let hello: [UInt8] = [3, 3] + [UInt8](repeating: 7, count: 32) + choice
        let exchange: [UInt8] = [0, 128] + prime + [0, 1, 2, 0, 128, 1] + [UInt8](repeating: 5, count: 127)
        let flight: [UInt8] =
            Self.message(2, hello) + Self.message(11, size(der.count + 3) + size(der.count) + der)
            + Self.message(12, exchange + [4, 1, 1, 0] + [UInt8](repeating: 9, count: 256))
            + Self.message(14, [])
        let record = try await record(of: [.awaitArrival, .rawBytes(flight), .awaitClose])
        #expect(record.faults.map(\.text) == ["the handshake failed: dh key too small"])
        #expect(record.hint?.text.contains("too weak for current clients") == true)
    }

    @Test("Status 400 of a server that asked for a client certificate is about that certificate")
    func missingClientCertificate() async throws {
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")) { $0.clientCertificates = .requested }
        ) { _ in .status(400) }
        let record = try await record(["https://a.test:\(server.port)/", "@127.0.0.1"])
        #expect(record.faults.map(\.id) == [.httpStatus])
        #expect(record.hint?.text.contains("wants a client certificate") == true)
    }

    @Test(
        "A protocol without TLS is recognised by its first bytes, and its hint has what --starttls takes",
        arguments: [
            (Array("220 mx.test ESMTP Postfix\r\n".utf8), "SMTP", "smtp"),
            (Array("220 (vsFTPd 3.0.3)\r\n".utf8), "FTP", "ftp"),
            (Array("220 mx.test ready\r\n".utf8), "SMTP, LMTP or FTP", "smtp, lmtp or ftp"),
            (Array("220 mx.test LMTP\r\n".utf8), "LMTP", "lmtp"),
            (Array("* OK IMAP4rev1\r\n".utf8), "IMAP", "imap"),
            (Array("+OK ready\r\n".utf8), "POP3", "pop3"),
            (Array("200 news.test ready\r\n".utf8), "NNTP", "nntp"),
            (Array("\"IMPLEMENTATION\" \"Dovecot\"\r\n".utf8), "ManageSieve", "sieve"),
            (Array("<?xml version='1.0'?><stream:stream".utf8), "XMPP", "xmpp"),
            (Array(":irc.test NOTICE * :*** Looking up your hostname\r\n".utf8), "IRC", "irc"),
            ([0x4A, 0, 0, 0, 10] + Array("8.0.36\0".utf8), "MySQL", "mysql"),
            ([0x45, 0, 0, 0, 0x8C] + Array("SFATAL\0".utf8), "PostgreSQL", "postgres"),
            ([0x30, 0x24, 2, 1, 0, 0x78, 0x1F, 0x0A, 1, 2, 4, 0, 4, 0], "LDAP", "ldap"),
        ] as [([UInt8], String, String)]
    )
    func protocols(_ bytes: [UInt8], _ name: String, _ word: String) async throws {
        let record = try await record(of: [.rawBytes(bytes), .awaitClose])
        #expect(record.faults.map(\.text) == ["not TLS: the server speaks \(name)"])
        #expect(record.hint?.text.contains("--starttls \(word) asks") == true)
    }

    @Test(
        "A greeting that refuses the client has no hint at --starttls, with which the same would come",
        arguments: ["554 5.7.1 no\r\n", "421 4.7.0 mx.test ESMTP busy\r\n", "* BYE not from there\r\n"]
    )
    func turnedAway(_ line: String) async throws {
        let record = try await record(of: [.rawBytes(Array(line.utf8)), .awaitClose])
        #expect(record.faults.map(\.id) == [.notTLS])
        #expect(record.hint?.text.hasPrefix("the server turns this client away before TLS") == true)
    }

    @Test("A connection that is lost after the server's first bytes is not one that wants a PROXY header")
    func lostLater() async throws {
        // The beginning of a record with a handshake message.
        let record = try await record(of: [.awaitArrival, .rawBytes([22, 3, 3, 0, 80, 2, 0, 0, 76]), .cut])
        #expect(record.faults.map(\.id) == [.reset])
        #expect(record.hint?.text.contains("PROXY") == false)
        #expect(record.hint?.text.hasPrefix("it has begun to answer") == true)
    }

    @Test("A refusal of a path has a hint at what a client may show")
    func forbidden() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .status(403) }
        let record = try await record(["https://a.test:\(server.port)/", "@127.0.0.1"])
        #expect(record.faults.map(\.id) == [.httpStatus])
        #expect(record.hint?.text.contains("--cert") == true)
    }

    @Test("A certificate that alone is larger than clients accept is to have fewer names")
    func largeLeaf() async throws {
        var profile = CertificateProfile(for: "a.test")
        profile.names += (0..<4_000).map { .dns("a-rather-long-name-of-a-host-\($0).example.test") }
        let server = try FixtureServer.start(.tls(try root.issue(profile))) { _ in .text("") }
        let record = try await record(["a.test@\(server.authority)", "--skip-default"])
        #expect(record.faults.map(\.id).contains(.chainSize))
        #expect(record.hint?.text.contains("fewer names") == true)
    }

    @Test("The word of each protocol for --starttls is in the table once")
    func oneTable() {
        let words = OtherProtocol.allCases.compactMap(\.upgrade).filter { $0 != .smtp }
        #expect(Set(words).count == words.count)
        #expect(Set(words).union([.smtp, .xmppServer]) == Set(StartTLS.allCases))
    }
}
