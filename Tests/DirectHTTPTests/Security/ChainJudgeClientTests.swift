import DirectCore
import DirectHTTP
import DirectTestCommands
import DirectTestTime
import Synchronization
import TLSFixtures
import Testing

@testable import DirectTLS

@Suite("Clients with a judge of chains", .idleLimit)
struct ChainJudgeClientTests {
    private let time = HeldTime()
    private let root = TestAuthority("System Root")

    /// A judge that trusts all servers by this root, and tells their names. Those whose number the closure
    /// knows wait for its gate first.
    private final class Judge: Sendable {
        let raw: ChainJudge
        private let asked: Locked<[String]>

        var names: [String] { asked.withLock { $0 } }

        init(_ root: TestAuthority, gate: @escaping @Sendable (Int) -> DiskGate? = { _ in nil }) {
            let asked = Locked<[String]>([]), root = root.rootDER
            self.asked = asked
            raw = ChainJudge { question in
                let number = asked.withLock { names in
                    names.append(question.name ?? "-")
                    return names.count
                }
                gate(number)?.wait()
                return .trusted(question.certificates + [root])
            }
        }
    }

    private func client(
        _ judge: Judge,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient {
        HTTPClient { settings in
            settings.loop = time.loop
            settings.tls.judge = judge.raw
            configure(&settings)
        }
    }

    private func server(_ name: String, on address: String = "127.0.0.1") throws -> FixtureServer {
        try .start(.tls(root.certificate(for: name)), on: address) { .text($0.serverAddress) }
    }

    @Test("The system's roots are those of the judge, and a resumed session has the chain that it returned")
    func trusted() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in
            var reply = FixtureReply.text("hello")
            reply.ending = .close
            return reply
        }
        let judge = Judge(root)
        let client = client(judge)
        for isResumed in [false, true] {
            let tls = try await client.fetch(server.request(server.https("a.test"))).transaction?.tls
            #expect(tls?.resumed == isResumed && tls?.certificates.last?.der == root.rootDER)
        }
        #expect(judge.names == ["a.test"])
        let error = try await httpError { try await client.fetch(server.request(server.https("b.test"))) }
        #expect(error.tlsError == .nameMismatch(expected: "b.test", served: ["a.test"]))
        #expect(judge.names == ["a.test", "-"])
    }

    @Test("Clients with different judges share no connection")
    func settings() async throws {
        let server = try server("a.test")
        let one = Judge(root), other = Judge(root)
        let client = client(one)
        var request = server.request(server.https("a.test"))
        for (judge, isReused) in [(one, false), (other, false), (one, true), (other, true)] {
            var tls = TLSSettings()
            tls.judge = judge.raw
            request.tls = tls
            #expect(try await client.fetch(request).isReused == isReused)
        }
        #expect(one.names.count == 1 && other.names.count == 1)
    }

    @Test("A required staple is checked by the judge's root")
    func staple() async throws {
        let issuer = try root.intermediate()
        let leaf = try issuer.issue(CertificateProfile(for: "a.test"))
        for (signer, isGood) in [(issuer, true), (TestAuthority("Stranger"), false)] {
            let staple = try signer.ocspResponse(for: leaf)
            let server = try FixtureServer.start(.tls(leaf) { $0.ocspStaple = staple }) { _ in .text("hello")
            }
            let client = client(Judge(root)) { $0.tls.stapling = .required }
            let request = server.request(server.https("a.test"))
            if isGood {
                let tls = try await client.fetch(request).transaction?.tls
                #expect(tls?.stapledStatus == .good)
            } else {
                let error = try await httpError { try await client.fetch(request) }
                guard case .staple(.invalid)? = error.tlsError else { throw error }
            }
        }
    }

    @Test("A judge that is silent ends the call at the limit of the handshake, and its verdict is dropped")
    func silent() async throws {
        let server = try server("a.test")
        let gate = DiskGate()
        let judge = Judge(root) { $0 == 1 ? gate : nil }
        let client = client(judge) { $0.timeouts.tls = .seconds(7) }
        let request = server.request(server.https("a.test"))
        let call = Task { try await client.fetch(request) }
        try await waitUntil { judge.names.count == 1 }
        time.advance(by: .seconds(7))
        let error = try await httpError { try await call.value }
        #expect(error.isTimeout && error.phase == .tls)
        gate.open()
        #expect(try await client.fetch(request).status == 200)
        #expect(judge.names.count == 2)
        #expect(server.records.first?.requests.isEmpty == true)
    }

    @Test("A cancelled call does not wait for the judge, and neither does the end of the client")
    func cancelled() async throws {
        let server = try server("a.test")
        let gate = DiskGate()
        let judge = Judge(root) { _ in gate }
        let request = server.request(server.https("a.test"))
        let call = Task { [client = client(judge)] in try await client.fetch(request) }
        try await waitUntil { judge.names.count == 1 }
        call.cancel()
        await #expect(throws: (any Error).self) { try await call.value }
        gate.open()
    }

    @Test("While the judge is silent the loop serves other calls")
    func otherCalls() async throws {
        let server = try server("a.test")
        let plain = try FixtureServer.start { _ in .text("plain") }
        let gate = DiskGate()
        let judge = Judge(root) { _ in gate }
        let client = client(judge)
        let request = server.request(server.https("a.test"))
        async let call = client.fetch(request)
        try await waitUntil { judge.names.count == 1 }
        #expect(try await client.fetch(plain.request(plain.http())).text == "plain")
        gate.open()
        #expect(try await call.status == 200)
    }

    @Test("Another address overtakes one whose judge is silent")
    func overtaken() async throws {
        let certificate = root.certificate(for: "a.test")
        let addresses = ["127.0.0.1", "127.0.0.2"]
        let servers = try FixtureServer.startOnSamePort(addresses, security: .tls(certificate)) {
            .text($0.serverAddress)
        }
        let gate = DiskGate()
        let judge = Judge(root) { $0 == 1 ? gate : nil }
        let client = client(judge)
        var request = Request(.get, servers[0].https("a.test"))
        request.addresses = ["127.0.0.1", "127.0.0.2"]
        let call = Task { [request] in try await client.fetch(request) }
        try await waitUntil { judge.names.count == 1 }
        try await time.pass(.milliseconds(250))
        #expect(try await call.value.status == 200)
        gate.open()
        #expect(judge.names == ["a.test", "a.test"])
    }

    @Test("A hedge whose judge is silent ends with the response to the first request")
    func hedged() async throws {
        let certificate = root.certificate(for: "a.test")
        let answer = Gate(), verdict = DiskGate()
        let servers = try FixtureServer.startOnSamePort(
            ["127.0.0.1", "127.0.0.2"],
            security: .tls(certificate)
        ) { request in
            if request.serverAddress == "127.0.0.1" { try request.wait(for: answer) }
            return .text(request.serverAddress)
        }
        let judge = Judge(root) { $0 == 2 ? verdict : nil }
        let client = client(judge) {
            $0.dialling.keepsOrder = true
            $0.hedging = HedgingPolicy(after: .milliseconds(50))
        }
        var request = Request(.get, servers[0].https("a.test"))
        request.addresses = ["127.0.0.1", "127.0.0.2"]
        let call = Task { [request] in try await client.fetch(request) }
        try await time.pass(.milliseconds(50))
        try await waitUntil { judge.names.count == 2 }
        answer.open()
        #expect(try await call.value.text == "127.0.0.1")
        verdict.open()
    }

    @Test("A proxy is judged by its own name, and the server within the tunnel by its")
    func proxy() async throws {
        let origin = try server("a.test")
        let proxy = try FixtureServer.start(
            .tls(root.certificate(for: "proxy.test")),
            behaviour: .proxy(FixtureProxy(["a.test:443": origin.authority]))
        )
        let judge = Judge(root)
        var settings = try Proxy("https://proxy.test:\(proxy.port)")
        settings.addresses = [proxy.endpoint]
        let client = client(judge) { [settings] in $0.proxy = ProxySettings(settings) }
        #expect(try await client.get("https://a.test/").status == 200)
        #expect(judge.names == ["proxy.test", "a.test"])
    }
}
