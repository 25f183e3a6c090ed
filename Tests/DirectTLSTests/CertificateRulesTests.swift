import CDirectOpenSSL
import TLSFixtures
import Testing

@testable import DirectTLS

/// The rules as the settings choose them, in a whole verification.
@Suite("The rules of the settings")
struct CertificateRulesTests {
    private let root = TestAuthority("Rule Root")

    private func context(_ rules: CertificateRules? = nil) throws -> TLSContext {
        var settings = TLSSettings()
        settings.roots = .only([.der(root.rootDER)])
        if let rules { settings.certificateRules = rules }
        return try TLSContext(settings)
    }

    private func fault(
        _ rules: CertificateRules?,
        _ change: (inout CertificateProfile) -> Void
    ) throws -> CertificateFault? {
        var profile = CertificateProfile(for: "a.test")
        change(&profile)
        let error = try context(rules).verify([root.issue(profile).der], for: .name("a.test"))
        guard let error else { return nil }
        guard case .certificateRejected(let fault) = error else { throw Unexpected(error) }
        return fault
    }

    @Test(
        "A good certificate passes all rules",
        arguments: [nil, .standard, .webPKI] as [CertificateRules?]
    )
    func goodCertificateIsGoodByAllRules(_ rules: CertificateRules?) throws {
        #expect(try fault(rules) { _ in } == nil)
    }

    @Test("A leaf with name constraints is refused by default")
    func whatNobodyDoesIsRefusedByDefault() throws {
        let odd: (inout CertificateProfile) -> Void = { $0.nameConstraints = "permitted;DNS:a.test" }
        let fault = try fault(nil, odd)
        #expect(fault?.reason == ChainRule.noConstraintsBelowAuthorities.fault)
        #expect(fault?.kind == .ruleViolated)
        #expect(fault?.depth == 0)
        #expect(fault?.subject == "CN=a.test")
    }

    @Test("A leaf without a purpose is refused by the rules of the web, and accepted by default")
    func whatPrivateAuthoritiesDoIsRefusedOnTheWebOnly() throws {
        let odd: (inout CertificateProfile) -> Void = { $0.purposes = [] }
        #expect(try fault(.webPKI, odd)?.reason == ChainRule.serversHaveServerPurpose.fault)
        #expect(try fault(nil, odd) == nil)
    }

    @Test("A certificate for server gated crypto alone is refused, by default and on the public web")
    func gatedCryptoIsRefused() throws {
        let odd: (inout CertificateProfile) -> Void = { $0.purposes = [.netscapeServerGatedCrypto] }
        for rules in [nil, .webPKI] as [CertificateRules?] {
            #expect(try fault(rules, odd)?.kind == .wrongPurpose)
        }
    }

    @Test("A chain without the policy that an authority demands is refused, by default and on the web")
    func demandForPolicyIsHeeded() throws {
        let strict = try root.intermediate { profile in
            let demand: [UInt8] = [0x30, 0x03, 0x80, 0x01, 0x00]
            profile.extensions = [.init("2.5.29.36", critical: true, der: demand)]
        }
        let chain = try [strict.issue(CertificateProfile(for: "a.test")), strict.certificate].map(\.der)
        for rules in [nil, .webPKI] as [CertificateRules?] {
            let error = try context(rules).verify(chain, for: .name("a.test"))
            guard case .certificateRejected(let fault) = error else { throw Unexpected(error as Any) }
            #expect(fault.kind == .noValidPolicy && fault.depth == 0)
        }
    }

    @Test("A server below an authority for server gated crypto alone is refused", arguments: [true, false])
    func gatedAuthorityIsRefused(_ hasOtherPath: Bool) throws {
        let gated = try root.intermediate("Gated") { $0.purposes = [.microsoftServerGatedCrypto] }
        let leaf = try gated.issue(CertificateProfile(for: "a.test"))
        var chain = [leaf.der, gated.certificate.der]
        if hasOtherPath {
            // The same authority, certified again without the limit: a good path.
            var profile = CertificateProfile.authority("Gated")
            profile.existingKey = gated.certificate
            chain.append(try root.issue(profile).der)
        }
        let error = try context().verify(chain, for: .name("a.test"))
        if hasOtherPath { return #expect(error == nil) }
        guard case .certificateRejected(let fault) = error else { throw Unexpected(error as Any) }
        #expect(fault.depth == 1 && fault.reason == ChainRule.purposeIsServers.fault)
    }

    /// `X509_V_FLAG_X509_STRICT`, which asks for key identifiers, among other things.
    @Test("OpenSSL's strict mode is on for the rules of the web, and off by default")
    func openSSLIsStrictOnTheWebOnly() throws {
        let bare = TestCertificate(.init(names: [.dns("a.test")], commonName: "a.test"), issuer: .authority)
        let strict = try TLSContext.testing { $0.certificateRules = .webPKI }
        guard case .certificateRejected = strict.verify([bare.der], for: try .name("a.test")) else {
            throw Unexpected("accepted")
        }
        #expect(try TLSContext.testing().verify([bare.der], for: .name("a.test")) == nil)
    }

    @Test("An RSA key of 1024 bits is refused by default")
    func shortKeysAreRefusedByDefault() throws {
        #expect(try fault(nil) { $0.key = .rsa(1024) }?.kind == .weakKey)
    }

    @Test("A broken rule fails the handshake and sends an alert, unless it is overruled")
    func handshakeFailsForABrokenRuleAndTellsTheServer() throws {
        let constrained = TestCertificate(
            .init(names: [.dns("a.test")], constraints: "permitted;DNS:a.test"),
            issuer: .authority
        )
        let pair = try Pair(TestServer(constrained), .testing(), .name("a.test"))
        let step = pair.shake()
        guard case .certificateRejected(let fault) = step.error else { throw Unexpected(step) }
        #expect(fault.reason == ChainRule.noConstraintsBelowAuthorities.fault)
        #expect(pair.server.failure?.hasSuffix("alert handshake failure") == true)
        #expect(pair.client.presentedChain?.summaries.count == 1)
        let lax = try TLSContext.testing {
            $0.insecureOverride = InsecureCertificateOverride { rejected in
                guard case .certificateRejected(let fault) = rejected.fault else { return false }
                return fault.kind == .ruleViolated
            }
        }
        #expect(try Pair(TestServer(constrained), lax, .name("a.test")).shake() == .moved(0))
    }

    @Test("The caller chooses the date by which a chain is judged")
    func dateToJudgeByIsTheCallers() throws {
        let leaf = try root.issue(CertificateProfile(for: "a.test"))
        let context = try context()
        #expect(try context.verify([leaf.der], for: .name("a.test"), at: 1_600_000_000) == nil)
        let early = try context.verify([leaf.der], for: .name("a.test"), at: 1_000_000_000)
        guard case .certificateRejected(let fault) = early else { throw Unexpected(early as Any) }
        #expect(fault.kind == .notYetValid)
    }

    @Test("The name is checked without a handshake, too, and an empty chain is refused")
    func nameIsCheckedWithoutAHandshakeToo() throws {
        let leaf = try root.issue(CertificateProfile(for: "a.test"))
        let error = try context().verify([leaf.der], for: .name("b.test"))
        #expect(error == .nameMismatch(expected: "b.test", served: ["a.test"]))
        #expect(try context().verify([], for: .name("b.test")) == .noPeerCertificate)
    }
}
