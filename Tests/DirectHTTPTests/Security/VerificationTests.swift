import DirectCore
import DirectHTTP
import DirectTestCommands
import DirectTLS
import TLSFixtures
import Testing

/// Notes what a closure was called with.
private final class Notes<Value: Sendable>: Sendable {
    private let values = Locked<[Value]>([])

    var all: [Value] { values.withLock { $0 } }

    func add(_ value: Value) { values.withLock { $0.append(value) } }
}

/// A server for a.test that ends the connection after each reply, so that sessions are resumed.
private func closingServer(
    _ certificate: FixtureCertificate,
    _ configure: (inout FixtureTLSSettings) -> Void = { _ in }
) throws -> FixtureServer {
    try .start(.tls(certificate, configure)) { _ in
        var reply = FixtureReply.text("hello")
        reply.ending = .close
        return reply
    }
}

@Suite("A verifier of the caller's", .idleLimit)
struct CertificateVerifierTests {
    @Test(
        "It sees name and verified chain, also on a resumed session",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func sees(version: TLSVersion) async throws {
        let middle = try testAuthority.intermediate()
        let server = try closingServer(try middle.issue(CertificateProfile(for: "a.test")))
        let seen = Notes<VerifiedServer>()
        let client = HTTPClient.trusting {
            $0.tls.maximumVersion = version
            $0.tls.verifier = CertificateVerifier {
                seen.add($0)
                return .accept
            }
        }
        for isResumed in [false, true] {
            let tls = try await client.fetch(server.request(server.https("a.test"))).transaction?.tls
            #expect(tls?.resumed == isResumed)
            #expect(tls?.certificates == seen.all.last?.certificates)
            #expect(tls?.certificate == tls?.certificates.first)
        }
        #expect(seen.all.map(\.name) == ["a.test", "a.test"] && seen.all.map(\.isResumed) == [false, true])
        for server in seen.all {
            #expect(server.certificates.map(\.subject).count == 3)
            #expect(server.certificates.last?.der == testAuthority.rootDER)
        }
    }

    @Test("A server that it rejects receives no byte, and the error has the reason and the certificates")
    func rejects() async throws {
        let server = try FixtureServer.secure("a.test", on: "127.0.0.2")
        let other = try FixtureServer.secure("a.test", on: "127.0.0.3")
        let client = HTTPClient.trusting {
            $0.dialling.keepsOrder = true
            $0.tls.verifier = CertificateVerifier { _ in .reject("not today\n") }
        }
        var request = server.request(server.https("a.test"), .post, body: .text("secret"))
        request.addresses = [server.endpoint, other.endpoint]
        let error = try await httpError { try await client.fetch(request) }
        #expect(error.tlsError == .rejectedByVerifier(reason: "not today\n"))
        #expect(!error.description.contains("\n"))
        #expect(error.certificates.map(\.dnsNames) == [["a.test"]])
        #expect(try await server.nextRecord().receivedCount == 0)
        // A wrong certificate is no failure of the network.
        #expect(other.records.isEmpty)
    }

    @Test("It is asked again for a resumed session, and can reject that")
    func rejectsResumed() async throws {
        let server = try closingServer(testAuthority.certificate(for: "a.test"))
        let client = HTTPClient.trusting {
            $0.tls.verifier = CertificateVerifier { $0.isResumed ? .reject("resumed") : .accept }
        }
        _ = try await client.fetch(server.request(server.https("a.test")))
        let error = try await httpError { try await client.fetch(server.request(server.https("a.test"))) }
        #expect(error.tlsError == .rejectedByVerifier(reason: "resumed"))
    }

    @Test("A server that failed another check is not shown to it")
    func notAsked() async throws {
        let server = try FixtureServer.secure("b.test")
        let asked = Notes<Void>()
        let client = HTTPClient.trusting {
            $0.tls.verifier = CertificateVerifier { _ in
                asked.add(())
                return .accept
            }
        }
        let error = try await httpError { try await client.fetch(server.request(server.https("a.test"))) }
        #expect(error.tlsError == .nameMismatch(expected: "a.test", served: ["b.test"]))
        #expect(error.certificates.map(\.dnsNames) == [["b.test"]])
        #expect(asked.all.isEmpty)
    }

    @Test("Behind a proxy it sees the server, and the error has the server's certificates")
    func proxied() async throws {
        let server = try FixtureServer.secure("a.test", on: "127.0.0.2")
        let gate = try FixtureServer.start(
            .plain,
            on: "127.0.0.3",
            behaviour: .proxy(FixtureProxy(["a.test:443": server.authority]))
        )
        var proxy = try Proxy("http://proxy.test:\(gate.port)")
        proxy.addresses = [gate.endpoint]
        let client = HTTPClient.trusting { [proxy] in
            $0.proxy = ProxySettings(proxy)
            $0.tls.verifier = CertificateVerifier { .reject($0.name) }
        }
        let error = try await httpError { try await client.get("https://a.test/") }
        #expect(error.tlsError == .rejectedByVerifier(reason: "a.test"))
        #expect(error.certificates.map(\.dnsNames) == [["a.test"]])
    }
}

@Suite("Overriding a rejection", .idleLimit)
struct InsecureOverrideTests {
    private let server: FixtureServer

    init() throws {
        server = try closingServer(TestAuthority().certificate(for: "a.test"))
    }

    private func client(
        _ accepts: @escaping @Sendable (RejectedServer) -> Bool,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient {
        .trusting {
            $0.tls.insecureOverride = InsecureCertificateOverride(accepts)
            configure(&$0)
        }
    }

    @Test("It is shown the fault and the certificates, and what it accepts is marked and never resumed")
    func accepts() async throws {
        let seen = Notes<RejectedServer>()
        let client = client {
            seen.add($0)
            return true
        }
        for _ in 0..<2 {
            let tls = try await client.fetch(server.request(server.https("a.test"))).transaction?.tls
            #expect(tls?.resumed == false)
            #expect(tls?.acceptedFaults.last == seen.all.last?.fault && tls?.verifiedName == nil)
            #expect(tls?.certificates == seen.all.last?.certificates)
        }
        for server in seen.all {
            guard case .certificateRejected(let fault) = server.fault else {
                return #expect(Bool(false), "\(seen.all)")
            }
            #expect(fault.kind == .untrustedRoot || fault.kind == .unknownIssuer)
            #expect(server.name == "a.test")
        }
    }

    @Test("What it does not accept fails as without it")
    func refuses() async throws {
        let error = try await httpError {
            try await client { _ in false }.fetch(server.request(server.https("a.test")))
        }
        #expect(error.certificateFault != nil && !error.certificates.isEmpty)
        #expect(server.records.allSatisfy { $0.receivedCount == 0 })
    }

    @Test("A good server is not shown to it")
    func notAsked() async throws {
        let good = try FixtureServer.secure("a.test")
        let asked = Notes<Void>()
        let client = client { _ in
            asked.add(())
            return true
        }
        let response = try await client.fetch(good.request(good.https("a.test")))
        #expect(response.transaction?.tls?.acceptedFaults == [] && asked.all.isEmpty)
    }

    @Test("Pins count for the server's own key alone, since no chain was verified")
    func pins() async throws {
        let authority = TestAuthority()
        let leaf = authority.certificate(for: "a.test")
        let server = try closingServer(leaf.sent(with: [authority.certificate]))
        for (pin, isEnough) in [(try leaf.pin, true), (try authority.certificate.pin, false)] {
            let pins = try KeyPins(["a.test": [pin]])
            let client = client({ _ in true }) { $0.tls.pins = pins }
            let response = try? await client.fetch(server.request(server.https("a.test")))
            #expect((response != nil) == isEnough)
        }
    }

    @Test("A verifier can still reject what it accepts")
    func verifier() async throws {
        let client = client({ _ in true }) {
            $0.tls.verifier = CertificateVerifier { $0.acceptedFaults.isEmpty ? .accept : .reject("fault") }
        }
        let error = try await httpError { try await client.fetch(server.request(server.https("a.test"))) }
        #expect(error.tlsError == .rejectedByVerifier(reason: "fault"))
    }

    @Test("HSTS is not learned from what it accepts")
    func hsts() async throws {
        let store = HSTSStore()
        let certificate = TestAuthority().certificate(for: "a.test")
        let server = try FixtureServer.start(.tls(certificate)) { _ in
            .text("hello", ["Strict-Transport-Security": "max-age=60"])
        }
        let client = client({ _ in true }) { $0.hsts = store }
        _ = try await client.fetch(server.request(server.https("a.test")))
        #expect(store.entries.isEmpty)
    }
}
