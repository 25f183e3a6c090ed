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

    @Test("Status 400 of a server that asked for a client certificate is about that certificate")
    func missingClientCertificate() async throws {
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")) { $0.clientCertificates = .requested }
        ) { _ in .status(400) }
        let record = try await record(["https://a.test:\(server.port)/", "@127.0.0.1"])
        #expect(record.faults.map(\.id) == [.httpStatus])
        #expect(record.hint?.text.contains("wants a client certificate") == true)
    }

    @Test("A server that may not tolerate TLS 1.3 has a hint at --tls 1.2, unless that was given")
    func intolerant() async throws {
        for script: ByteScript in [[.awaitArrival, .alert(40), .awaitClose], [.awaitArrival, .cut]] {
            #expect(try await record(of: script).hint?.text.contains("--tls 1.2") == true)
            #expect(try await record(of: script, "--tls", "1.2").hint?.text.contains("--tls 1.2") == false)
        }
    }

    @Test(
        "A protocol without TLS is recognised by its first bytes, and its hint has what --starttls takes",
        arguments: [
            (Array("220 mx.test ESMTP Postfix\r\n".utf8), "SMTP", "smtp"),
            (Array("554 5.7.1 no\r\n".utf8), "SMTP", "smtp"),
            (Array("421 4.7.0 mx.test ESMTP busy\r\n".utf8), "SMTP", "smtp"),
            (Array("220 (vsFTPd 3.0.3)\r\n".utf8), "FTP", "ftp"),
            (Array("220 ready\r\n".utf8), "SMTP or FTP", "smtp or ftp"),
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

    @Test("The word of each protocol for --starttls is in the table once")
    func oneTable() {
        let words = OtherProtocol.allCases.compactMap(\.upgrade).filter { $0 != .smtp }
        #expect(Set(words).count == words.count)
        #expect(Set(words).union([.smtp, .xmppServer]) == Set(StartTLS.allCases))
    }
}
