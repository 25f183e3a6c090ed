import CDirectOpenSSL
import Testing

@testable import DirectTLS

@Suite("Connections of a survey")
struct SurveyConnectionTests {
    private let leaf = TestCertificate(TestCertificate.Plan(names: [.dns("a.test")]), issuer: .authority)

    /// A survey of the server, in memory: drives both sides to the end of the handshake.
    private func survey(
        _ server: TestServer,
        _ context: SurveyContext,
        serverName: String?,
        offersHTTP: Bool = false
    ) throws -> (step: TLSStep, client: SurveyConnection, side: ServerSide) {
        let side = server.accept()
        let client = try SurveyConnection(
            context: context,
            offering: SurveyOffer(serverName: serverName, offersHTTP: offersHTTP),
            transport: side
        )
        for _ in 0..<1000 {
            let step = client.handshake()
            side.work()
            switch step {
            case .moved, .ended, .failed: return (step, client, side)
            case .wantsRead, .wantsWrite, .wantsVerdict, .again: continue
            }
        }
        throw Unexpected("no end")
    }

    private func context(_ roots: [CertificateSource]? = nil) throws -> SurveyContext {
        try SurveyContext(roots: .only(roots ?? [.der(TestCertificate.authority.der)]))
    }

    @Test("A survey accepts any certificate, and a client of the same server still refuses it")
    func anyCertificateIsAcceptedAndAClientMadeBesideStillRefusesIt() throws {
        var plan = TestCertificate.Plan(names: [.dns("a.test")])
        plan.ends = -60
        let server = TestServer(TestCertificate(plan, issuer: .authority))
        let context = try context()
        let (step, client, side) = try survey(server, context, serverName: "a.test")
        #expect(step == .moved(0))
        #expect(client.served?.judged().faults.map(\.kind) == [.expired])
        withExtendedLifetime(side) {}
        let pair = try Pair(server, .testing(), .name("a.test"))
        guard case .certificateRejected = pair.shake().error else { throw Unexpected("accepted") }
    }

    @Test("The server name is sent only if there is one")
    func theNameIsSentOnlyIfThereIsOne() throws {
        let server = TestServer(leaf)
        let context = try context()
        for name in ["b.test", nil] {
            let (step, client, side) = try survey(server, context, serverName: name)
            #expect(step == .moved(0))
            withExtendedLifetime((client, side)) {}
        }
        #expect(server.offeredNames == ["b.test", nil])
    }

    @Test("The facts have the version, the ALPN protocol and a request for a certificate")
    func itSaysWhatWasAgreedOn() throws {
        let plan = TestServer.Plan(alpn: "http/1.1", verifyMode: SSL_VERIFY_PEER)
        let (step, client, side) = try survey(
            TestServer(leaf, plan),
            context(),
            serverName: nil,
            offersHTTP: true
        )
        #expect(step == .moved(0))
        #expect(client.facts.version == "TLSv1.3")
        #expect(client.facts.alpn == "http/1.1")
        #expect(client.facts.requestsClientCertificate)
        #expect(client.facts.staple == nil)
        withExtendedLifetime(side) {}
        let (_, other, otherSide) = try survey(TestServer(leaf), context(), serverName: nil)
        #expect(other.facts.alpn == nil)
        #expect(!other.facts.requestsClientCertificate)
        withExtendedLifetime(otherSide) {}
    }

    @Test("No byte is read or written before the handshake")
    func nothingIsReadOrWrittenBeforeTheHandshake() throws {
        let side = TestServer(leaf).accept()
        let client = try SurveyConnection(
            context: context(),
            offering: SurveyOffer(serverName: nil),
            transport: side
        )
        #expect([1, 2].withUnsafeBytes { client.write($0) }.isFailure)
        withUnsafeTemporaryAllocation(byteCount: 8, alignment: 1) { #expect(client.read(into: $0).isFailure) }
        withExtendedLifetime(side) {}
    }
}
