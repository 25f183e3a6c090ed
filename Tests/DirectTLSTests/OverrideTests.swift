import CDirectOpenSSL
import DirectCore
import TLSFixtures
import Testing

@testable import DirectTLS

/// What can be wrong with a server's chain.
private enum Flaw: CaseIterable {
    case forgedSignature, otherName, outsideConstraints, expiredIssuer, expired, revoked, weakKey
    case wrongPurpose, brokenRule

    /// What an override is asked.
    var kind: CertificateFault.Kind {
        switch self {
        case .forgedSignature: .badSignature
        case .otherName: .nameMismatch
        case .outsideConstraints: .outsideNameConstraints
        case .expiredIssuer, .expired: .expired
        case .revoked: .revoked
        case .weakKey: .weakKey
        case .wrongPurpose: .wrongPurpose
        case .brokenRule: .ruleViolated
        }
    }

    static var pairs: [(Flaw, Flaw)] {
        allCases.flatMap { one in allCases.map { (one, $0) } }.filter { $0.kind != $1.kind }
    }
}

/// A chain with these flaws below a root that is trusted, and the settings of a client that sees them.
private struct FlawedServer {
    let leaf: FixtureCertificate
    var settings = TLSSettings()

    init(_ flaws: Flaw..., root: TestAuthority = TestAuthority("Root")) throws {
        let issuer = try root.intermediate("Issuer") {
            if flaws.contains(.expiredIssuer) { $0.validity = .expired }
            if flaws.contains(.outsideConstraints) { $0.nameConstraints = "permitted;DNS:c.test" }
        }
        var profile = CertificateProfile(for: flaws.contains(.otherName) ? "b.test" : "a.test")
        if flaws.contains(.expired) { profile.validity = .expired }
        if flaws.contains(.weakKey) { profile.key = .rsa(1024) }
        if flaws.contains(.wrongPurpose) { profile.purposes = [.clientAuth] }
        // authorityInfoAccess without an entry.
        if flaws.contains(.brokenRule) {
            profile.extensions = [.init("1.3.6.1.5.5.7.1.1", der: [0x30, 0x00])]
        }
        let honest = try issuer.issue(profile)
        leaf = flaws.contains(.forgedSignature) ? try honest.withBrokenSignature() : honest
        settings.roots = .only([.der(root.rootDER)])
        if flaws.contains(.revoked) {
            let list = try issuer.revocationListPEM([honest])
            settings.revocationLists = RevocationLists([.pem(list)], scope: .serverCertificate)
        }
    }

    /// Connects with an override of these kinds of faults, and no others.
    func shake(
        accepting kinds: Set<CertificateFault.Kind>,
        _ change: (inout TLSSettings) throws -> Void = { _ in }
    ) throws -> (step: TLSStep, facts: TLSFacts) {
        var settings = settings
        settings.insecureOverride = InsecureCertificateOverride { kinds.contains($0.fault.kind) }
        try change(&settings)
        let pair = try Pair(TestServer(leaf), TLSContext(settings), .name("a.test"))
        return (pair.shake(), pair.client.facts)
    }
}

extension TLSError {
    fileprivate var kind: CertificateFault.Kind {
        switch self {
        case .certificateRejected(let fault): fault.kind
        case .nameMismatch: .nameMismatch
        default: .other(code: -1)
        }
    }
}

@Suite("Overrides beside a second fault")
struct OverrideTests {
    @Test("An override accepts a chain with one fault, and the chain is marked and not called verified")
    func one() throws {
        for flaw in Flaw.allCases {
            let (step, facts) = try FlawedServer(flaw).shake(accepting: [flaw.kind])
            #expect(step == .moved(0), "\(flaw)")
            #expect(Set(facts.acceptedFaults.map(\.kind)) == [flaw.kind] && facts.verifiedName == nil)
            #expect(facts.description.contains("accepted in spite of"))
        }
    }

    @Test("An override of one fault does not accept a second one, which is the error", arguments: Flaw.pairs)
    private func second(_ accepted: Flaw, _ other: Flaw) throws {
        let server = try FlawedServer(accepted, other)
        let error = try server.shake(accepting: [accepted.kind]).step.error
        #expect(error?.kind == other.kind)
        // All faults are known, and named.
        let (step, facts) = try server.shake(accepting: [accepted.kind, other.kind])
        #expect(step == .moved(0))
        #expect(Set(facts.acceptedFaults.map(\.kind)) == [accepted.kind, other.kind])
    }

    @Test("An override of any fault does not accept a chain without a trusted root", arguments: Flaw.allCases)
    private func untrusted(_ flaw: Flaw) throws {
        var server = try FlawedServer(flaw)
        server.settings.roots = .only([.der(TestAuthority("Another root").rootDER)])
        let error = try #require(try server.shake(accepting: [flaw.kind]).step.error)
        #expect(error.kind == .unknownIssuer, "\(error)")
        let (step, facts) = try server.shake(accepting: [flaw.kind, .unknownIssuer])
        #expect(step == .moved(0) && facts.acceptedFaults.contains { $0.kind == .unknownIssuer })
    }

    @Test("Neither pins, a required staple nor a verifier give way to an override")
    func checksOfTheirOwn() throws {
        for flaw in Flaw.allCases {
            let server = try FlawedServer(flaw)
            let pinned = try server.shake(accepting: [flaw.kind]) {
                $0.pins = try KeyPins(["a.test": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]])
            }
            guard case .keyNotPinned? = pinned.step.error else { throw Unexpected(pinned.step) }
            let unstapled = try server.shake(accepting: [flaw.kind]) { $0.stapling = .required }
            #expect(unstapled.step.error == .staple(.notStapled))
            let refused = try server.shake(accepting: [flaw.kind]) {
                $0.verifier = CertificateVerifier { .reject("\($0.acceptedFaults.count)") }
            }
            #expect(refused.step.error == .rejectedByVerifier(reason: "1"))
        }
    }

    @Test("A forged signature is the first fault of all")
    func signatures() throws {
        for flaw in Flaw.allCases where flaw != .forgedSignature {
            let server = try FlawedServer(flaw, .forgedSignature)
            #expect(try server.shake(accepting: []).step.error?.kind == .badSignature)
        }
    }

    @Test("More faults than are noted are accepted by no override")
    func tooMany() throws {
        // Each of them has expired, and the last fault would be the forged signature of the leaf.
        let root = TestAuthority("Root")
        var issuer = root
        for number in 0..<34 { issuer = try issuer.intermediate("\(number)") { $0.validity = .expired } }
        let honest = try issuer.issue(CertificateProfile(for: "a.test"))
        for leaf in [honest, try honest.withBrokenSignature()] {
            let context = try TLSContext.testing {
                $0.roots = .only([.der(root.rootDER)])
                $0.insecureOverride = InsecureCertificateOverride { _ in true }
            }
            let error = try Pair(TestServer(leaf), context, .name("a.test")).shake().error
            #expect(error?.kind == .other(code: Int(X509_V_ERR_UNSPECIFIED)))
        }
    }

    @Test("A fault that has no name is accepted by no override")
    func unnamed() throws {
        var plan = TestCertificate.Plan(names: [.dns("a.test")])
        plan.rawDate = "no date"
        let leaf = TestCertificate(plan, issuer: .authority)
        let context = try TLSContext.testing { $0.insecureOverride = .init { _ in true } }
        let error = try Pair(TestServer(leaf), context, .name("a.test")).shake().error
        #expect(error?.kind == .other(code: Int(X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD)))
    }

    @Test("What a judge refuses is accepted only with the other faults of what was sent")
    func judged() throws {
        let root = TestAuthority("System Root")
        let judge = TestJudge { _ in .refused(code: X509_V_ERR_CERT_REJECTED, reason: "no") }
        let honest = root.certificate(for: "b.test")
        func error(_ kinds: Set<CertificateFault.Kind>) throws -> TLSError? {
            let context = try judge.context {
                $0.insecureOverride = .init { kinds.contains($0.fault.kind) }
            }
            return try Pair(TestServer(honest), context, .name("a.test")).shake().error
        }
        #expect(try error([.distrusted])?.kind == .nameMismatch)
        #expect(try error([.nameMismatch])?.kind == .distrusted)
        #expect(try error([.nameMismatch, .distrusted]) == nil)
    }
}

@Suite("Faults that are worse than their neighbours")
struct FaultKindTests {
    private let root = TestAuthority("Root")

    /// Whether a client with an override of these kinds accepts the server.
    private func accepts(
        _ leaf: FixtureCertificate,
        _ kinds: Set<CertificateFault.Kind>,
        lists: [CertificateSource]? = nil
    ) throws -> Bool {
        let context = try TLSContext.testing {
            $0.roots = .only([.der(root.rootDER)])
            $0.revocationLists = lists.map { RevocationLists($0, scope: .serverCertificate) }
            $0.insecureOverride = InsecureCertificateOverride { rejected in
                guard case .certificateRejected(let fault) = rejected.fault else { return false }
                return kinds.contains(fault.kind)
            }
        }
        return try Pair(TestServer(leaf), context, .name("a.w.test")).shake() == .moved(0)
    }

    @Test("Who accepts old lists accepts no forged one")
    func forgedList() throws {
        let leaf = root.certificate(for: "a.w.test")
        let kinds: Set<CertificateFault.Kind> = [.unusableRevocationList]
        let old = try CertificateSource.pem(root.revocationListPEM([], validity: .expired))
        #expect(try accepts(leaf, kinds, lists: [old]))
        let genuine = try PEMItem.revocationList.all(in: Array(root.revocationListPEM([]).utf8), as: "test")
        defer { genuine.forEach { X509_CRL_free($0) } }
        var forged = CertificateReader.encoded { i2d_X509_CRL(genuine[0], $0) }
        forged[forged.count - 1] ^= 1
        #expect(try !accepts(leaf, kinds, lists: [.der(forged)]))
    }

    @Test("Who accepts broken rules accepts no wildcard across name constraints")
    func wildcard() throws {
        let limited = try root.intermediate { $0.nameConstraints = "excluded;DNS:b.w.test" }
        let leaf = try limited.issue(CertificateProfile(for: "*.w.test"))
        #expect(try !accepts(leaf, [.ruleViolated]))
        #expect(try accepts(leaf, [.outsideNameConstraints]))
    }
}

@Suite("Verdicts before the client's certificate")
struct IdentityOrderTests {
    /// Whether the server has seen the client's certificate, and how the handshake ended.
    private func shown(
        _ version: Int32,
        to leaf: TestCertificate = .leaf("a.test"),
        _ change: (inout TLSSettings) throws -> Void
    ) throws -> (isShown: Bool, step: TLSStep) {
        let mine = TestCertificate(.init(commonName: "me", usage: "clientAuth"), issuer: .authority)
        var settings = TLSSettings()
        settings.roots = .only([.der(TestCertificate.authority.der)])
        settings.clientIdentity = ClientIdentity(certificateChain: mine.pem, privateKey: mine.keyPEM)
        try change(&settings)
        let plan = TestServer.Plan(
            versions: version...version,
            verifyMode: SSL_VERIFY_PEER,
            trusts: .authority
        )
        let pair = try Pair(TestServer(leaf, plan), TLSContext(settings), .name("a.test"))
        let step = pair.shake()
        return (SSL_get0_peer_certificate(pair.server.ssl) != nil, step)
    }

    @Test("A server that a check refuses does not see it", arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func refused(version: Int32) throws {
        #expect(try shown(version) { _ in } == (true, .moved(0)))
        let pinned = try shown(version) {
            $0.pins = try KeyPins(["a.test": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]])
        }
        guard case .keyNotPinned? = pinned.step.error else { throw Unexpected(pinned.step) }
        let unstapled = try shown(version) { $0.stapling = .required }
        #expect(unstapled.step.error == .staple(.notStapled))
        let refused = try shown(version) { $0.verifier = CertificateVerifier { _ in .reject("no") } }
        #expect(refused.step.error == .rejectedByVerifier(reason: "no"))
        #expect(!pinned.isShown && !unstapled.isShown && !refused.isShown)
    }

    @Test("A server that has signed nothing does not see it: anyone has a copy of its certificate")
    func unsigned() throws {
        let root = TestAuthority("Root")
        var profile = CertificateProfile(for: "a.test")
        profile.key = .rsa(2048)
        let mine = try root.issue(.client("me"))
        let server = try TestServer(root.issue(profile), .tls12)
        SSL_CTX_set_verify(server.raw, SSL_VERIFY_PEER) { _, _ in 1 }
        for (suite, isSigned) in [("AES256-GCM-SHA384", false), ("ECDHE-RSA-AES256-GCM-SHA384", true)] {
            SSL_CTX_set_cipher_list(server.raw, suite)
            let context = try TLSContext.testing {
                $0.roots = .only([.der(root.rootDER)])
                $0.clientIdentity = ClientIdentity(
                    certificateChain: Array(mine.pem.utf8),
                    privateKey: Array(mine.keyPEM.utf8)
                )
            }
            let pair = try Pair(server, context, .name("a.test"))
            #expect((pair.shake() == .moved(0)) == isSigned)
            #expect((SSL_get0_peer_certificate(pair.server.ssl) != nil) == isSigned)
        }
    }

    @Test("A verifier is asked once for a handshake", arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func once(version: Int32) throws {
        let count = Locked(0)
        let accepted = try shown(version) {
            $0.verifier = CertificateVerifier { _ in
                count.withLock { $0 += 1 }
                return .accept
            }
        }
        #expect(accepted == (true, .moved(0)) && count.withLock { $0 } == 1)
    }

    @Test(
        "A server that an override accepts goes without it",
        arguments: [TLS1_2_VERSION, TLS1_3_VERSION]
    )
    func overruled(version: Int32) throws {
        let accepting = InsecureCertificateOverride { _ in true }
        let accepted = try shown(version, to: .leaf("b.test")) { $0.insecureOverride = accepting }
        #expect(accepted == (false, .moved(0)))
        #expect(try shown(version) { $0.insecureOverride = accepting } == (true, .moved(0)))
    }
}
