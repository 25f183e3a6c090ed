import CDirectOpenSSL
import Glibc
import Testing

@testable import DirectTLS

@Suite("The end of the stream")
struct EndOfStreamTests {
    private func open(
        _ versions: ClosedRange<Int32> = TLS1_2_VERSION...TLS1_3_VERSION
    ) throws -> Pair {
        let pair = try Pair(
            TestServer(.leaf("a.test"), .init(versions: versions)),
            .testing(),
            .name("a.test")
        )
        let step = pair.shake()
        guard step == .moved(0) else { throw Unexpected(step) }
        return pair
    }

    @Test("A close_notify is a complete end of the stream", arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func closeNotifyIsACompleteEnd(_ version: Int32) throws {
        let pair = try open(version...version)
        pair.server.send("all")
        pair.server.sendCloseNotify()
        pair.server.endsStream = true
        #expect(pair.read() == .moved(3))
        #expect(pair.read() == .ended(clean: true))
        #expect(pair.read() == .ended(clean: true))
    }

    @Test(
        "The end of the stream without close_notify is a truncation",
        arguments: [TLS1_2_VERSION, TLS1_3_VERSION]
    )
    func endWithoutCloseNotifyIsATruncation(_ version: Int32) throws {
        let pair = try open(version...version)
        pair.server.send("part")
        pair.server.endsStream = true
        #expect(pair.read() == .moved(4))
        #expect(pair.read() == .ended(clean: false))
        #expect(pair.read() == .ended(clean: false))
    }

    @Test("The end of the stream inside a record is a truncation")
    func endInsideARecordIsATruncation() throws {
        let pair = try open()
        pair.server.sendRaw([23, 3, 3, 0, 200, 1, 2, 3])
        pair.server.endsStream = true
        #expect(pair.read() == .ended(clean: false))
    }

    @Test("An alert is an error with its number and name, and this one says what is missing")
    func alertIsItsNumberAndName() throws {
        let trusting = TestServer(
            .leaf("a.test"),
            .init(verifyMode: SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT)
        )
        let pair = try Pair(trusting, .testing(), .name("a.test"))
        #expect(pair.shake() == .moved(0))
        let error = TLSError.alertReceived(.certificateRequired)
        #expect(pair.read() == .failed(error))
        // The server's own has been accepted by then, so the error must not blame it.
        #expect(error.description.hasSuffix(": it requires a certificate of the client"))
    }

    @Test("A reset is a lost connection with its errno, also when repeated")
    func resetIsAnErrno() throws {
        let pair = try open()
        pair.server.brokenBy = ECONNRESET
        #expect(pair.read() == .failed(.connectionLost(errno: ECONNRESET)))
        #expect(pair.read() == .failed(.connectionLost(errno: ECONNRESET)))
    }

    @Test("A record that cannot be decrypted is a protocol failure")
    func garbageInARecordIsAProtocolFailure() throws {
        let pair = try open()
        pair.server.sendRaw([23, 3, 3, 0, 40] + [UInt8](repeating: 7, count: 40))
        let step = pair.read()
        guard case .failed(.protocolFailure(.other, let reason, _)) = step else { throw Unexpected(step) }
        #expect(reason == "decryption failed or bad record mac")
    }

    @Test("Writing to a closed peer is an error with its errno, and raises no signal")
    func writingToAVanishedPeerIsAnErrnoAndNoSignal() throws {
        let pair = try open()
        pair.server.brokenBy = EPIPE
        #expect(pair.write("ping") == .failed(.connectionLost(errno: EPIPE)))
        #expect(pair.write("ping") == .failed(.connectionLost(errno: EPIPE)))
        pair.client.close()
    }

    @Test("After a write that failed, a message without data does not end the reads")
    func messageAfterFailedWrite() throws {
        let pair = try open(TLS1_3_VERSION...TLS1_3_VERSION)
        pair.server.brokenBy = EPIPE
        #expect(pair.write("ping") == .failed(.connectionLost(errno: EPIPE)))
        pair.server.brokenBy = 0
        pair.server.updateKeys(times: 1)
        #expect(pair.readOnce() == .wantsRead)
        pair.server.send("answer")
        #expect(pair.readOnce() == .moved(6))
    }

    @Test("The end of the stream during the handshake is a truncation")
    func endDuringTheHandshakeIsATruncation() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        pair.server.endsStream = true
        #expect(pair.client.handshake() == .failed(.truncated))
    }

    @Test("A reset during the handshake is a lost connection with its errno")
    func resetDuringTheHandshakeIsAnErrno() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        #expect(pair.client.handshake() == .wantsRead)
        pair.server.brokenBy = ECONNRESET
        #expect(pair.client.handshake() == .failed(.connectionLost(errno: ECONNRESET)))
    }

    @Test("Closing sends close_notify, and no byte can be sent or read after it")
    func closingTellsTheServer() throws {
        let pair = try open()
        pair.client.close()
        pair.server.work()
        #expect(SSL_get_shutdown(pair.server.ssl) & SSL_RECEIVED_SHUTDOWN != 0)
        #expect(pair.write("more") == .failed(.notOpen))
        #expect(pair.readOnce() == .failed(.notOpen))
    }

    @Test("Closing before the handshake sends no byte")
    func closingBeforeTheHandshakeSendsNothing() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        pair.client.close()
        #expect(pair.server.bytesFromClient == 0)
        #expect(pair.client.handshake() == .failed(.notOpen))
    }

    @Test("After the server closes its side, the client can still write")
    func halfClosedServerStillTakesWhatWeWrite() throws {
        let pair = try open()
        pair.server.endsStream = true
        #expect(pair.read() == .ended(clean: false))
        #expect(pair.write("late") == .moved(4))
        #expect(pair.server.received == Array("late".utf8))
    }

    /// A transport that is TLS itself may have to write before it can read.
    @Test("A read that waits for the transport to become writable asks the caller to wait for that")
    func crosswiseWaitIsPassedOn() throws {
        let connection = try TLSConnection(
            context: .testing(),
            identity: .name("a.test"),
            transport: StuckTransport(.wantsWrite)
        )
        #expect(connection.handshake() == .wantsWrite)
    }
}
