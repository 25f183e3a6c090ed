import CDirectOpenSSL
import DirectCore
import DirectTestCommands
import Foundation
import Testing

@testable import DirectTLS

@Suite("The protocol")
struct ProtocolTests {
    @Test(
        "Bytes are exchanged both ways, and the facts have version, cipher and group",
        arguments: [(TLS1_2_VERSION, TLSVersion.tls12), (TLS1_3_VERSION, .tls13)]
    )
    func bytesGoBothWays(_ version: Int32, _ expected: TLSVersion) throws {
        let server = TestServer(.leaf("a.test"), .init(versions: version...version))
        let pair = try Pair(server, .testing(), .name("a.test"))
        #expect(pair.shake() == .moved(0))
        #expect(pair.write("ping") == .moved(4))
        #expect(pair.server.received == Array("ping".utf8))
        pair.server.send("pong")
        #expect(pair.read() == .moved(4))
        #expect(pair.text == "pong")
        let facts = pair.client.facts
        #expect(facts.version == expected)
        #expect(facts.cipher.hasPrefix("TLS_"))
        // OpenSSL 3.5 prefers the hybrid group in TLS 1.3.
        #expect(["X25519", "X25519MLKEM768"].contains(facts.group))
        #expect(!facts.resumed)
    }

    @Test("A server that supports only TLS 1.1 is refused")
    func serverThatSpeaksOnlyTLS11IsRefused() throws {
        let server = TestServer(.leaf("a.test"), .init(versions: TLS1_1_VERSION...TLS1_1_VERSION))
        let context = try TLSContext.testing()
        // The system's security level would refuse it too: here our own limit must.
        SSL_CTX_set_security_level(context.raw, 0)
        SSL_CTX_set_cipher_list(context.raw, "ALL@SECLEVEL=0")
        let pair = try Pair(server, context, .name("a.test"))
        #expect(pair.shake() == .failed(.alertReceived(.protocolVersion)))
    }

    @Test("A version outside the settings is refused")
    func versionsOutsideTheSettingsAreRefused() throws {
        let server = TestServer(.leaf("a.test"), .init(versions: TLS1_2_VERSION...TLS1_2_VERSION))
        let context = try TLSContext.testing { $0.minimumVersion = .tls13 }
        let pair = try Pair(server, context, .name("a.test"))
        #expect(pair.shake() == .failed(.alertReceived(.protocolVersion)))
    }

    // Swift 6.2 passes nothing to the process of a test.
    #if compiler(>=6.3)
    /// OpenSSL reads the file once in a process.
    @Test(
        "The versions that OpenSSL's configuration file allows hold unless the settings name others",
        .ownProcess
    )
    func configurationFile() async throws {
        let file = try ConfigurationFile(
            """
            openssl_conf = start
            [start]
            ssl_conf = tls
            [tls]
            system_default = versions
            [versions]
            MinProtocol = TLSv1.3
            MaxProtocol = TLSv1.3
            """
        )
        defer { withExtendedLifetime(file) {} }
        await #expect(processExitsWith: .success) { [path = file.path as String] in
            setenv("OPENSSL_CONF", path, 1)
            let old = TestServer(.leaf("a.test"), .init(versions: TLS1_2_VERSION...TLS1_2_VERSION))
            let refused = try Pair(old, .testing(), .name("a.test"))
            #expect(refused.shake() == .failed(.alertReceived(.protocolVersion)))
            let asked = try Pair(old, .testing { $0.minimumVersion = .tls12 }, .name("a.test"))
            #expect(asked.shake() == .moved(0))
            #expect(asked.client.facts.isBelowSystemMinimum)
            #expect(asked.client.facts.description.hasSuffix(", older than the system's minimum"))
            let new = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
            #expect(new.shake() == .moved(0))
            #expect(!new.client.facts.isBelowSystemMinimum)
            // The newest version that a program offers is its own as well.
            #expect(throws: TLSError.badSettings("TLS 1.3 is newer than TLS 1.2")) {
                try TLSContext.testing { $0.maximumVersion = .tls12 }
            }
        }
    }

    private static func fileUpToTLS12() throws -> ConfigurationFile {
        try ConfigurationFile(
            """
            openssl_conf = start
            [start]
            ssl_conf = tls
            [tls]
            system_default = versions
            [versions]
            MaxProtocol = TLSv1.2
            """
        )
    }

    @Test(
        "A newest version of OpenSSL's configuration file holds unless the settings name a newer one",
        .ownProcess
    )
    func newestVersionOfTheConfigurationFile() async throws {
        let file = try Self.fileUpToTLS12()
        defer { withExtendedLifetime(file) {} }
        await #expect(processExitsWith: .success) { [path = file.path as String] in
            setenv("OPENSSL_CONF", path, 1)
            let server = TestServer(.leaf("a.test"))
            for (context, version) in [
                (try TLSContext.testing(), TLSVersion.tls12),
                (try .testing { $0.maximumVersion = .tls13 }, .tls13),
            ] {
                let pair = try Pair(server, context, .name("a.test"))
                #expect(pair.shake() == .moved(0))
                #expect(pair.client.facts.version == version && !pair.client.facts.isBelowSystemMinimum)
            }
        }
    }

    @Test(
        "Where OpenSSL's configuration file forbids TLS 1.3, a name that is to be encrypted is not sent",
        .ownProcess,
        .enabled(if: EncryptedClientHello.isSupported, "needs OpenSSL 4")
    )
    func encryptionWithoutItsVersion() async throws {
        let file = try Self.fileUpToTLS12()
        defer { withExtendedLifetime(file) {} }
        await #expect(processExitsWith: .success) { [path = file.path as String] in
            setenv("OPENSSL_CONF", path, 1)
            let list = try ECHConfigList(
                base64: "AEX+DQBBfAAgACAEMNl9zYtSSzrwJmR4fU9CGs12P4MKNjrzeAwR1M1YLQAEAAEA"
                    + "AQASY292ZXIuZXhhbXBsZS50ZXN0AAA="
            )
            let server = TestServer(.leaf("a.test")).accept()
            #expect(throws: TLSError.encryptedClientHelloUnavailable(.versionTooOld)) {
                try TLSConnection(
                    context: .testing(),
                    identity: .name("a.test"),
                    names: HelloNames(serverName: "a.test", ech: ECHOffer(list, innerName: "a.test")),
                    transport: server,
                    sessions: nil,
                    port: 443
                )
            }
        }
    }
    #endif

    @Test("ALPN may choose the offered protocol")
    func alpnMayChooseOurProtocol() throws {
        let pair = try Pair(TestServer(.leaf("a.test"), .init(alpn: "http/1.1")), .testing(), .name("a.test"))
        #expect(pair.shake() == .moved(0))
        #expect(pair.client.facts.alpn == "http/1.1")
    }

    @Test("A server may ignore ALPN")
    func alpnMayBeSilent() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        #expect(pair.shake() == .moved(0))
        #expect(pair.client.facts.alpn == nil)
    }

    @Test("ALPN may not choose a protocol that was not offered", arguments: ["h2", "http/1.0", "http/1.1\0"])
    func alpnMayNotChooseAnotherProtocol(_ name: String) throws {
        let pair = try Pair(TestServer(.leaf("a.test"), .init(alpn: name)), .testing(), .name("a.test"))
        #expect(pair.shake().error != nil)
    }

    @Test("A protocol other than HTTP/1.1 is refused even if OpenSSL offered and accepts it")
    func alpnMayNotChooseAnotherProtocolEvenIfOpenSSLLetsIt() throws {
        let pair = try Pair(TestServer(.leaf("a.test"), .init(alpn: "h2")), .testing(), .name("a.test"))
        let both: [UInt8] = [2] + Array("h2".utf8) + [8] + Array("http/1.1".utf8)
        SSL_set_alpn_protos(pair.client.ssl, both, UInt32(both.count))
        #expect(pair.shake() == .failed(.unexpectedProtocol("h2")))
        #expect(pair.write("secret") == .failed(.unexpectedProtocol("h2")))
    }

    @Test("The server name is sent in lower case")
    func serverNameIsTheNameInLowerCase() throws {
        let server = TestServer(.leaf("a.test"))
        _ = try Pair(server, .testing(), .name("A.Test")).shake()
        #expect(server.offeredNames == ["a.test"])
    }

    @Test("No server name is sent for an address", arguments: ["127.0.0.1", "::1"])
    func noServerNameIsSentForAnAddress(_ address: String) throws {
        let server = TestServer(.leaf("a.test"))
        _ = try Pair(server, .testing(), .address(address)).shake()
        #expect(server.offeredNames == [nil])
    }

    @Test("Renegotiation is refused")
    func renegotiationIsRefused() throws {
        let server = TestServer(.leaf("a.test"), .init(versions: TLS1_2_VERSION...TLS1_2_VERSION))
        let pair = try Pair(server, .testing(), .name("a.test"))
        #expect(pair.shake() == .moved(0))
        SSL_renegotiate(pair.server.ssl)
        pair.server.note(SSL_do_handshake(pair.server.ssl))
        _ = pair.read()
        #expect(pair.server.failure == "no renegotiation")
    }

    @Test("Compression is never offered")
    func compressionIsNeverOffered() throws {
        let context = try TLSContext.testing()
        let options = withExtendedLifetime(context) { SSL_CTX_get_options(context.raw) }
        #expect(options & direct_SSL_OP_NO_COMPRESSION() != 0)
    }

    @Test("A server that does not speak TLS is an error that says so")
    func whatIsNotTLSIsATypedError() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        pair.server.sendRaw(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        let step = pair.client.handshake()
        guard case .protocolFailure(.notTLS, "wrong version number", _) = step.error else {
            throw Unexpected(step)
        }
        #expect(step.error?.description.contains("does not speak TLS") == true)
    }

    @Test(
        "A transport that carries one byte at a time is enough",
        arguments: [TLS1_2_VERSION, TLS1_3_VERSION]
    )
    func oneByteAtATimeIsEnough(_ version: Int32) throws {
        let server = TestServer(.leaf("a.test"), .init(versions: version...version))
        let pair = try Pair(server, .testing(), .name("a.test"))
        pair.server.bytesAtOnce = 1
        #expect(pair.shake() == .moved(0))
        let long = String(repeating: "0123456789", count: 4_000)
        #expect(pair.write(long) == .moved(40_000))
        #expect(pair.server.received == Array(long.utf8))
        pair.server.send("pong")
        #expect(pair.read() == .moved(4))
        #expect(pair.text == "pong")
    }

    @Test("A record is read with one read of the transport")
    func recordIsOneReadOfTheTransport() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        #expect(pair.shake() == .moved(0))
        #expect(pair.readOnce() == .wantsRead)
        let before = pair.server.readsOfClient
        pair.server.send("pong")
        #expect(pair.read() == .moved(4))
        #expect(pair.server.readsOfClient == before + 1)
    }

    @Test("A write returns the size of the record that it took")
    func writeSaysHowMuchItTook() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        #expect(pair.shake() == .moved(0))
        let long = [UInt8](repeating: 7, count: 40_000)
        // One record: without the partial mode OpenSSL reports no progress until all is sent.
        #expect(long.withUnsafeBytes { pair.client.write($0) } == .moved(16_384))
    }

    @Test(
        "A key update requested in the middle of a sent record breaks neither direction",
        arguments: [0, 100]
    )
    func newKeysWithinARecord(room: Int) throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        try #require(pair.shake() == .moved(0))
        pair.server.room = room
        let record = [UInt8](repeating: 120, count: 1000)
        #expect(record.withUnsafeBytes { pair.client.write($0) } == .moved(1000))
        #expect(pair.client.hasUnsentBytes)
        SSL_key_update(pair.server.ssl, SSL_KEY_UPDATE_REQUESTED)
        pair.server.note(SSL_do_handshake(pair.server.ssl))
        pair.server.send("data")
        var steps: [TLSStep] = []
        for _ in 0..<5 { steps.append(pair.readOnce()) }
        #expect(!steps.contains { if case .failed = $0 { true } else { false } }, "\(steps)")
        pair.server.room = .max
        #expect(pair.client.flush() == .moved(0))
        if !steps.contains(.moved(4)) { #expect(pair.read() == .moved(4), "\(steps)") }
        #expect(pair.write("more") == .moved(4))
        pair.server.send("last")
        #expect(pair.read() == .moved(4))
        pair.server.work()
        #expect(pair.server.received == record + Array("more".utf8))
        #expect(pair.server.failure == nil)
    }

    @Test(
        "Data is read although new keys have no room, behind half a record too",
        arguments: [false, true]
    )
    func dataBesideNewKeys(isRecordHalfSent: Bool) throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        try #require(pair.shake() == .moved(0))
        let record = [UInt8](repeating: 120, count: 1000)
        if isRecordHalfSent {
            pair.server.room = 100
            #expect(record.withUnsafeBytes { pair.client.write($0) } == .moved(1000))
        }
        for turn in 0..<3 {
            SSL_key_update(pair.server.ssl, SSL_KEY_UPDATE_REQUESTED)
            pair.server.note(SSL_do_handshake(pair.server.ssl))
            pair.server.send("data")
            #expect(pair.read() == .moved(4))
            guard turn == 0, !isRecordHalfSent else { continue }
            // The keys are changed with the next record, whose write would wait for room.
            pair.server.room = 0
            #expect(record.withUnsafeBytes { pair.client.write($0) } == .moved(1000))
        }
        pair.server.room = .max
        #expect(pair.write("more") == .moved(4))
        pair.server.work()
        #expect(pair.server.received == record + Array("more".utf8))
        #expect(pair.server.failure == nil)
    }

    @Test("A record that was begun is sent before the bytes of the next write")
    func recordThatWasBegunIsFinishedBeforeOtherBytes() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        #expect(pair.shake() == .moved(0))
        pair.server.room = 100
        let old = Array(String(repeating: "A", count: 10_000).utf8)
        #expect(old.withUnsafeBytes { pair.client.write($0) } == .moved(10_000))
        #expect(pair.client.hasUnsentBytes)
        // The caller has given up; what it writes next are other bytes, and fewer.
        let new = Array("BBB".utf8)
        #expect(new.withUnsafeBytes { pair.client.write($0) } == .wantsWrite)
        pair.server.room = .max
        #expect(pair.write("BBB") == .moved(3))
        #expect(pair.server.received == old + new)
    }

    @Test("No close_notify is sent in the middle of a record")
    func noGoodbyeIsSentInTheMiddleOfARecord() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        #expect(pair.shake() == .moved(0))
        pair.server.room = 100
        let bytes = [UInt8](repeating: 7, count: 10_000)
        #expect(bytes.withUnsafeBytes { pair.client.write($0) } == .moved(10_000))
        #expect(pair.client.finishSending() == .wantsWrite)
        pair.server.room = .max
        let before = pair.server.bytesFromClient
        pair.client.close()
        #expect(pair.server.bytesFromClient == before)
    }

    @Test("A stale error in the thread's queue does not fail a healthy connection")
    func staleErrorOfTheThreadDoesNotPoisonAHealthyConnection() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        leaveAnError()
        #expect(pair.client.handshake() == .wantsRead)
        #expect(pair.shake() == .moved(0))
        // The tickets go first: with them OpenSSL clears the queue itself.
        #expect(pair.readOnce() == .wantsRead)
        leaveAnError()
        #expect(pair.readOnce() == .wantsRead)
        leaveAnError()
        #expect(pair.write("ping") == .moved(4))
        pair.server.send("pong")
        leaveAnError()
        #expect(pair.read() == .moved(4))
    }

    @Test("No error remains in the thread's queue")
    func noErrorIsLeftToOthers() throws {
        let pair = try Pair(TestServer(.leaf("b.test")), .testing(), .name("a.test"))
        _ = pair.client.handshake()
        pair.server.work()
        #expect(pair.client.handshake().error != nil)
        #expect(ERR_peek_error() == 0)
        #expect(throws: TLSError.self) { try TLSContext.testing { $0.roots = .only([.pem([1, 2])]) } }
        #expect(ERR_peek_error() == 0)
    }

    @Test("An idle connection releases its buffers and still works")
    func idleConnectionGivesItsBuffersBackAndStillWorks() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        #expect(pair.shake() == .moved(0))
        #expect(pair.write("one") == .moved(3))
        #expect(pair.readOnce() == .wantsRead)
        pair.client.releaseBuffers()
        #expect(pair.write("two") == .moved(3))
        pair.server.send("three")
        #expect(pair.read() == .moved(5))
    }

    @Test("A record that was received but not read is pending")
    func bytesOfTheNextRecordArePending() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        #expect(pair.shake() == .moved(0))
        #expect(pair.readOnce() == .wantsRead)
        #expect(!pair.client.hasPending)
        pair.server.send("one")
        pair.server.send("two")
        #expect(pair.readOnce() == .moved(3))
        #expect(pair.client.hasPending)
        #expect(pair.readOnce() == .moved(3))
        #expect(!pair.client.hasPending)
    }

    private func leaveAnError() {
        let nonsense: [UInt8] = [1, 2, 3, 4]
        nonsense.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            #expect(d2i_X509(nil, &cursor, buffer.count) == nil)
        }
        #expect(ERR_peek_error() != 0)
    }
}

/// A file that ends with the test.
private final class ConfigurationFile {
    let path: String

    init(_ text: String) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "openssl-\(UUID().uuidString).cnf")
        try text.write(to: file, atomically: false, encoding: .utf8)
        path = file.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
