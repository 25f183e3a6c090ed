import CDirectOpenSSL
import Testing

@testable import DirectTLS

@Suite("The check of certificates")
struct CertificateCheckTests {
    private func fault(_ leaf: TestCertificate, chain: [TestCertificate] = []) throws -> CertificateFault? {
        let pair = try Pair(TestServer(leaf, .init(chain: chain)), .testing(), .name("a.test"))
        guard case .failed(.certificateRejected(let fault)) = pair.shake() else { return nil }
        return fault
    }

    private func leaf(_ change: (inout TestCertificate.Plan) -> Void) -> TestCertificate {
        var plan = TestCertificate.Plan(names: [.dns("a.test")])
        change(&plan)
        return TestCertificate(plan, issuer: .authority)
    }

    @Test(
        "The server receives an alert that says why its certificate was refused",
        arguments: [TLS1_2_VERSION, TLS1_3_VERSION]
    )
    func serverIsToldWhyItWasRefused(_ version: Int32) throws {
        let server = TestServer(leaf { $0.ends = -60 }, .init(versions: version...version))
        let pair = try Pair(server, .testing(), .name("a.test"))
        #expect(pair.shake().error != nil)
        #expect(pair.server.failure?.hasSuffix("alert certificate expired") == true)
    }

    /// Even if OpenSSL's own refusal is off, its verdict is read before any byte is exchanged.
    @Test("OpenSSL's verdict is read even if OpenSSL was told to continue")
    func verdictIsReadAlsoWhenOpenSSLDidNotActOnIt() throws {
        let pair = try Pair(TestServer(leaf { $0.ends = -60 }), .testing(), .name("a.test"))
        SSL_set_verify(pair.client.ssl, SSL_VERIFY_NONE, nil)
        let step = pair.shake()
        guard case .certificateRejected(let fault) = step.error else { throw Unexpected(step) }
        #expect(fault.kind == .expired)
        #expect(pair.write("secret").isFailure)
    }

    @Test("An expired certificate is refused, with its names and depth in the error")
    func expiredCertificateIsRefused() throws {
        let fault = try fault(leaf { $0.ends = -60 })
        #expect(fault?.kind == .expired)
        #expect(fault?.depth == 0)
        #expect(fault?.subject == "CN=leaf")
        #expect(fault?.expected == "a.test")
        #expect(fault?.served == ["a.test"])
    }

    @Test("A certificate that is not yet valid is refused")
    func certificateOfTheFutureIsRefused() throws {
        #expect(try fault(leaf { $0.begins = 3600 })?.kind == .notYetValid)
    }

    @Test("A self-signed certificate is refused")
    func selfSignedCertificateIsRefused() throws {
        let own = TestCertificate(.init(names: [.dns("a.test")]))
        #expect(try fault(own)?.kind == .selfSigned)
    }

    @Test("A self-signed certificate is accepted if it is a trusted root itself")
    func selfSignedCertificateIsAcceptedAsItsOwnRoot() throws {
        let own = TestCertificate(.init(names: [.dns("a.test")]))
        let context = try TLSContext.testing { $0.roots = .only([.pem(own.pem)]) }
        #expect(try Pair(TestServer(own), context, .name("a.test")).shake() == .moved(0))
    }

    @Test("A certificate of an unknown issuer is refused, also if the issuer is sent along")
    func certificateOfAnUnknownIssuerIsRefused() throws {
        let stranger = TestCertificate(.init(commonName: "Stranger", isAuthority: true))
        let leaf = TestCertificate(.init(names: [.dns("a.test")]), issuer: stranger)
        let kind = try fault(leaf)?.kind
        #expect(kind == .unknownIssuer)
        let shown = try fault(leaf, chain: [stranger])
        #expect(shown?.kind == .untrustedRoot)
        #expect(shown?.depth == 1)
        #expect(shown?.subject == "CN=Stranger")
    }

    @Test("A root of the same name with another key does not vouch for a certificate")
    func rootOfTheSameNameWithAnotherKeyDoesNotVouch() throws {
        let impostor = TestCertificate(.init(commonName: "Test Root", isAuthority: true))
        let leaf = TestCertificate(.init(names: [.dns("a.test")]), issuer: impostor)
        #expect(try fault(leaf) != nil)
    }

    @Test("A certificate for clients only is refused")
    func certificateForClientsIsRefused() throws {
        let kind = try fault(leaf { $0.usage = "clientAuth" })?.kind
        #expect(kind == .wrongPurpose)
    }

    @Test("A leaf certificate cannot issue another one")
    func leafCannotVouchForAnother() throws {
        let middle = leaf { $0.commonName = "No Authority" }
        let below = TestCertificate(.init(names: [.dns("a.test")]), issuer: middle)
        #expect(try fault(below, chain: [middle])?.kind == .issuerIsNotCA)
    }

    @Test("An intermediate certificate completes the chain to the root")
    func intermediateLeadsToTheRoot() throws {
        let middle = TestCertificate(.init(commonName: "Middle", isAuthority: true), issuer: .authority)
        let below = TestCertificate(.init(names: [.dns("a.test")]), issuer: middle)
        let pair = try Pair(TestServer(below, .init(chain: [middle])), .testing(), .name("a.test"))
        #expect(pair.shake() == .moved(0))
        let subjects = pair.client.facts.certificates.map(\.subject)
        #expect(subjects == ["CN=leaf", "CN=Middle", "CN=Test Root"])
    }

    @Test("The certificates of a server can be inspected after they were refused")
    func certificatesCanBeSeenAfterTheyWereRefused() throws {
        let pair = try Pair(TestServer(.leaf("b.test")), .testing(), .name("a.test"))
        _ = pair.shake()
        #expect(pair.client.presentedChain?.summaries.map(\.dnsNames) == [["b.test"]])
    }

    @Test("A server without a certificate is refused")
    func serverWithoutACertificateIsRefused() throws {
        let context = try TLSContext.testing { $0.maximumVersion = .tls12 }
        let pair = try Pair(TestServer(nil, .init(cipherList: "aNULL@SECLEVEL=0")), context, .name("a.test"))
        // Were it to be offered, such a cipher would need no certificate at all.
        SSL_set_security_level(pair.client.ssl, 0)
        SSL_set_cipher_list(pair.client.ssl, "aNULL@SECLEVEL=0")
        #expect(pair.shake() == .failed(.noPeerCertificate))
    }

    @Test("A refusal is repeated, and no byte is sent after it")
    func refusalIsRepeatedAndNothingMayBeSentAfterIt() throws {
        let pair = try Pair(TestServer(.leaf("b.test")), .testing(), .name("a.test"))
        let error = try #require(pair.shake().error)
        #expect(pair.client.handshake() == .failed(error))
        let sent = pair.server.bytesFromClient
        #expect(pair.write("secret") == .failed(error))
        #expect(pair.readOnce() == .failed(error))
        #expect(pair.server.bytesFromClient == sent)
    }

    @Test("No byte is sent or read before the handshake")
    func nothingMayBeSentBeforeTheHandshake() throws {
        let pair = try Pair(TestServer(.leaf("a.test")), .testing(), .name("a.test"))
        #expect(pair.write("secret") == .failed(.notOpen))
        #expect(pair.readOnce() == .failed(.notOpen))
        #expect(pair.server.bytesFromClient == 0)
        #expect(pair.shake() == .moved(0))
    }
}
