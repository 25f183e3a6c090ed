import CDirectOpenSSL
import Testing

@testable import DirectTLS

/// How long TLS reads its own messages before its caller may look at its limits.
@Suite("Limits of TLS messages")
struct MessageLimitTests {
    private let limit = Int(TransportState.mostMessages)

    /// Shaken hands, and the session tickets are read.
    private func open(_ version: Int32 = TLS1_3_VERSION) throws -> Pair {
        let server = TestServer(.leaf("a.test"), .init(versions: version...version))
        let pair = try Pair(server, .testing(), .name("a.test"))
        #expect(pair.shake() == .moved(0))
        #expect(pair.readOnce() == .wantsRead)
        return pair
    }

    @Test("A read that finds only TLS messages without data returns to its caller")
    func readReturns() throws {
        let pair = try open()
        pair.server.bytesAtOnce = pair.server.updateKeys(times: 8)
        #expect(pair.readOnce() == .again)
        #expect(pair.readOnce() == .again)
        #expect(pair.readOnce() == .wantsRead)
        pair.server.send("data")
        #expect(pair.read() == .moved(4))
    }

    @Test("More TLS messages without data than the limit end the connection", arguments: [true, false])
    func floodEndsTheConnection(_ comesAtOnce: Bool) throws {
        let pair = try open()
        let size = pair.server.updateKeys(times: 4_000)
        if !comesAtOnce { pair.server.bytesAtOnce = size }
        pair.server.send("data")
        let error = TLSError.tooManyMessages(limit: limit)
        #expect(pair.read() == .failed(error))
        // OpenSSL reads once for several messages in a row; since 3.2 it begins anew after each change of
        // keys.
        #expect(pair.server.readsOfClient <= 2 * limit)
        #expect(pair.read() == .failed(error))
        #expect(pair.write("more") == .failed(error))
        #expect(error.description == "the server sent more than 16 TLS messages without data")
    }

    @Test("TLS messages are counted, also if each arrives with a part of the next")
    func piecesAreNoWayAround() throws {
        let pair = try open()
        pair.server.bytesAtOnce = pair.server.updateKeys(times: 100) + 3
        #expect(pair.read() == .failed(.tooManyMessages(limit: limit)))
        #expect(pair.server.readsOfClient < 40)
    }

    @Test("Data resets the count of TLS messages")
    func dataBeginsAnew() throws {
        let pair = try open()
        for _ in 0..<10 {
            // The two session tickets of the handshake count as well.
            pair.server.updateKeys(times: limit - 2)
            pair.server.send("data")
            #expect(pair.read() == .moved(4))
        }
    }

    @Test("Requests to renegotiate count as TLS messages without data")
    func renegotiationsAreCounted() throws {
        let pair = try open(TLS1_2_VERSION)
        for _ in 0..<100 {
            SSL_renegotiate(pair.server.ssl)
            pair.server.note(SSL_do_handshake(pair.server.ssl))
        }
        #expect(pair.readOnce() == .failed(.tooManyMessages(limit: limit)))
    }

    @Test("A handshake with too many messages fails")
    func handshakeIsBounded() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        #expect(pair.client.handshake() == .wantsRead)
        // HelloRequest, which a client passes over until its handshake is done (RFC 5246, section 7.4.1.1).
        for _ in 0..<100_000 { pair.server.sendRaw([22, 3, 3, 0, 4, 0, 0, 0, 0]) }
        // A step ends after 16 reads, of which OpenSSL needs one for many messages, or since 3.2 two for one.
        let steps = (0..<4).map { _ in pair.client.handshake() }
        #expect(steps.last == .failed(.tooManyMessages(limit: limit)))
        #expect(pair.server.readsOfClient < 4 * limit)
    }

    @Test("A handshake in many pieces returns to its caller between them")
    func handshakeReturns() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        pair.server.bytesAtOnce = 16
        var steps: [TLSStep] = []
        while steps.last != .moved(0), steps.count < 1_000 {
            let before = pair.server.readsOfClient
            steps.append(pair.client.handshake())
            #expect(pair.server.readsOfClient - before <= 16)
            pair.server.work()
        }
        #expect(steps.last == .moved(0))
        #expect(steps.contains(.again))
    }

    @Test("A transport that used up input without a byte is read again, without a wait")
    func transportMayHaveMore() throws {
        let connection = try TLSConnection(
            context: .testing(),
            identity: .name("a.test"),
            transport: StuckTransport(.again)
        )
        #expect(connection.handshake() == .again)
    }

    @Test("A survey ends after as many TLS messages as a connection")
    func surveysAreBounded() throws {
        let side = TestServer(.leaf("a.test")).accept()
        let context = try SurveyContext(roots: .only([.der(TestCertificate.authority.der)]))
        let client = try SurveyConnection(
            context: context,
            offering: SurveyOffer(serverName: "a.test"),
            transport: side
        )
        while client.handshake() != .moved(0) { side.work() }
        side.work()
        side.updateKeys(times: 1_000)
        let steps = (0..<4).map { _ in
            withUnsafeTemporaryAllocation(byteCount: 100, alignment: 1) { client.read(into: $0) }
        }
        #expect(steps.last == .failed(.tooManyMessages(limit: limit)))
    }
}
