import CDirectOpenSSL
import Testing

@testable import DirectTLS

@Suite("The limit on certificates")
struct CertificateLimitTests {
    private let leaf = TestCertificate.leaf("a.test")
    private let small = TestCertificate(.init(commonName: "x", isAuthority: true))

    /// A server that sends `count` certificates, all but its own for nothing.
    private func server(sending count: Int, _ version: TLSVersion, of other: TestCertificate? = nil)
        -> TestServer
    {
        let number = Int32(version.rawValue)
        let others = Array(repeating: other ?? small, count: count - 1)
        return TestServer(leaf, .init(versions: number...number, chain: others))
    }

    private func shake(
        _ server: TestServer,
        _ change: (inout TLSSettings) -> Void = { _ in }
    ) throws -> (TLSStep, Pair) {
        let pair = try Pair(server, .testing(change), .name("a.test"))
        return (pair.shake(), pair)
    }

    @Test(
        "By default a server may send 50 small certificates, and one more ends the handshake before any is read",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func number(_ version: TLSVersion) throws {
        #expect(try shake(server(sending: 50, version)).0 == .moved(0))
        let (step, pair) = try shake(server(sending: 51, version))
        #expect(step == .failed(.certificatesTooLarge(limit: 102_400)))
        #expect(pair.client.presentedChain == nil)
        #expect(pair.server.received.isEmpty)
        #expect(pair.server.failure?.hasSuffix("alert decode error") == true)
    }

    @Test(
        "By default a server may send 100 KiB of certificates, and more end the handshake before they are received",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func bytes(_ version: TLSVersion) throws {
        let names = (0..<300).map { TestCertificate.Name.dns("n\(1_000 + $0).a.test") }
        let large = TestCertificate(.init(names: names), issuer: .authority)
        let size = large.der.count
        #expect(try shake(server(sending: 1 + 100_000 / size, version, of: large)).0 == .moved(0))
        let (step, pair) = try shake(server(sending: 1 + 110_000 / size, version, of: large))
        #expect(step == .failed(.certificatesTooLarge(limit: 102_400)))
        #expect(pair.client.presentedChain == nil)
    }

    @Test("The setting raises and lowers the limit, and the error names it")
    func setting() throws {
        let many = server(sending: 51, .tls13)
        #expect(try shake(many) { $0.maximumCertificateBytes = 51 * 2048 }.0 == .moved(0))
        let (step, _) = try shake(server(sending: 2, .tls13)) { $0.maximumCertificateBytes = 4095 }
        #expect(step == .failed(.certificatesTooLarge(limit: 4095)))
        #expect(step.error?.description.contains("more than 4095 bytes of certificates") == true)
        let (none, _) = try shake(server(sending: 1, .tls13)) { $0.maximumCertificateBytes = .min }
        #expect(none == .failed(.certificatesTooLarge(limit: 1)))
        #expect(try shake(many) { $0.maximumCertificateBytes = .max }.0 == .moved(0))
    }

    @Test("A certificate with 10,000 names is accepted if the settings allow its size")
    func tenThousandNames() throws {
        let names = (0..<10_000).map { TestCertificate.Name.dns("name-\(10_000 + $0).example.test") }
        let large = TestCertificate(.init(names: names), issuer: .authority)
        let server = TestServer(large)
        #expect(large.der.count < 300 * 1024)
        func pair(_ limit: Int?) throws -> Pair {
            let context = try TLSContext.testing { if let limit { $0.maximumCertificateBytes = limit } }
            return try Pair(server, context, .name("name-10001.example.test"))
        }
        #expect(try pair(nil).shake() == .failed(.certificatesTooLarge(limit: 102_400)))
        let accepted = try pair(300 * 1024)
        #expect(accepted.shake() == .moved(0))
        #expect(accepted.client.facts.certificate?.dnsNames.count == 10_000)
    }

    @Test(
        "After a handshake neither the connection nor its sessions keep what the server sent beside its certificate",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func kept(_ version: TLSVersion) throws {
        let sessions = SessionCache()
        let context = try TLSContext.testing()
        let server = server(sending: 50, version)
        for isResumed in [false, true] {
            let pair = try Pair(server, context, .name("a.test"), sessions: sessions)
            #expect(pair.shake() == .moved(0))
            pair.server.send("pong")
            #expect(pair.read() == .moved(4))
            let stacks = [SSL_get_peer_cert_chain(pair.client.ssl), SSL_get0_verified_chain(pair.client.ssl)]
            #expect(stacks.allSatisfy { OPENSSL_sk_num($0) <= 0 })
            #expect(pair.client.facts.certificates.map(\.subject) == ["CN=leaf", "CN=Test Root"])
            #expect(pair.client.facts.resumed == isResumed && sessions.count > 0)
            let saved = try #require(sessions.take(for: pair.client.sessionKey))
            #expect(saved.excess == 0)
            sessions.store(saved, for: pair.client.sessionKey)
        }
    }
}
