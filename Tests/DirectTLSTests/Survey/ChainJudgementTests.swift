import CDirectOpenSSL
import TLSFixtures
import Testing

@testable import DirectTLS

@Suite("Judgement of chains")
struct ChainJudgementTests {
    private let root = TestAuthority("Root")

    private func served(_ leaf: FixtureCertificate, _ others: FixtureCertificate...) throws -> ServedChain {
        let context = try SurveyContext(roots: .only([.der(root.rootDER)]))
        return try #require(ServedChain(der: [leaf.der] + others.map(\.der), context: context))
    }

    @Test("A good chain is in order, leads to its root and has no fault")
    func aGoodChainLeadsToItsRootAndHasNoFault() throws {
        let issuer = try root.intermediate("Issuer")
        let chain = try served(issuer.certificate(for: "a.test"), issuer.certificate)
        let judgement = chain.judged()
        #expect(judgement.isTrusted)
        #expect(judgement.anchor?.short == "Root")
        #expect(chain.isInOrder)
        #expect(chain.certificates(atMost: 10).map(\.subject.short) == ["a.test", "Issuer"])
    }

    @Test("All faults of a certificate are found, not only the first")
    func everyFaultIsFoundNotTheFirst() throws {
        var profile = CertificateProfile(for: "a.test")
        profile.validity = .expired
        profile.purposes = [.clientAuth]
        let faults = try served(try root.issue(profile)).judged().faults
        #expect(
            Set(faults.map(\.kind)) == [.expired, .wrongPurpose]
        )
    }

    @Test("A chain that ends below a root has the missing issuer and its URLs")
    func aChainThatStopsBelowARootShowsWhereItStops() throws {
        let issuer = try root.intermediate("Issuer")
        var profile = CertificateProfile(for: "a.test")
        profile.issuerURL = "http://ca.test/issuer.crt"
        let judgement = try served(try issuer.issue(profile)).judged()
        #expect(!judgement.isTrusted)
        #expect(judgement.anchor == nil)
        #expect(judgement.top?.issuer.short == "Issuer")
        #expect(judgement.top?.issuerURLs == ["http://ca.test/issuer.crt"])
    }

    @Test("A broken rule of the settings is a fault")
    func aFaultOfOurRulesIsOneAsWell() throws {
        let dsaFree = try SurveyContext(roots: .only([.der(root.rootDER)]), rules: .webPKI)
        var profile = CertificateProfile(for: "a.test")
        profile.purposes = []
        let leaf = try root.issue(profile)
        let chain = try #require(ServedChain(der: [leaf.der], context: dsaFree))
        #expect(chain.judged().faults.count == 1)
        #expect(try served(leaf).judged().isTrusted)
    }

    @Test("A chain that the client accepts by another path has no fault")
    func whatTheClientAcceptsByAnotherPathHasNoFault() throws {
        let old = TestAuthority("Old Root")
        let issuer = try root.intermediate("Crossed")
        var crossed = CertificateProfile.authority("Crossed")
        crossed.existingKey = issuer.certificate
        // OpenSSL alone takes the first one that fits, which leads nowhere.
        let useless = try old.issue(crossed)
        let chain = try served(issuer.certificate(for: "a.test"), useless, issuer.certificate)
        #expect(chain.judged().isTrusted)
        #expect(!chain.isInOrder)
    }

    @Test("Names are matched independently of other faults")
    func theNameIsAMatterOfItsOwn() throws {
        let expired = try {
            var profile = CertificateProfile(for: "*.b.test", "127.0.0.1")
            profile.validity = .expired
            return try served(try root.issue(profile))
        }()
        #expect(expired.match(try .name("a.b.test")) == "*.b.test")
        #expect(expired.match(try .name("a.a.b.test")) == nil)
        #expect(expired.match(try .address("127.0.0.1")) == "127.0.0.1")
        #expect(expired.match(try .address("127.0.0.2")) == nil)
    }

    @Test("The common name is never matched")
    func theCommonNameNeverCounts() throws {
        let chain = try served(try root.issue(CertificateProfile([], commonName: "a.test")))
        #expect(chain.match(try .name("a.test")) == nil)
    }

    @Test("The fingerprint depends on all certificates of a chain")
    func fingerprintsTellChainsApart() throws {
        let issuer = try root.intermediate("Issuer")
        let leaf = issuer.certificate(for: "a.test")
        #expect(try served(leaf).fingerprint != served(leaf, issuer.certificate).fingerprint)
        #expect(try served(leaf).fingerprint == leaf.fingerprint)
    }

    @Test("Certificates are read from PEM and from DER, and no certificate is an error")
    func certificatesAreReadFromPEMAndFromDER() throws {
        let leaf = root.certificate(for: "a.test")
        let fromPEM = try readCertificates(Array(leaf.pem.utf8))
        #expect(fromPEM.map(\.summary.der) == [leaf.der])
        #expect(try readCertificates(leaf.der).first?.pem == leaf.pem)
        #expect(throws: TLSError.self) { try readCertificates([]) }
    }
}
