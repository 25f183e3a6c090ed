import TLSFixtures
import Testing

@testable import DirectTLS

@Suite("Each rule for a chain")
struct ChainRuleTests {
    private let root = TestAuthority("Rule Root")

    /// A leaf for `a.test` with one odd thing about it.
    private func leaf(
        _ issuer: TestAuthority? = nil,
        _ change: (inout CertificateProfile) -> Void = { _ in }
    ) throws -> FixtureCertificate {
        var profile = CertificateProfile(for: "a.test")
        change(&profile)
        return try (issuer ?? root).issue(profile)
    }

    private func oddRoot(_ change: (inout CertificateProfile) -> Void) throws -> TestAuthority {
        var profile = CertificateProfile.authority("Odd Root")
        change(&profile)
        return try TestAuthority(profile)
    }

    @Test("A good chain breaks no rule")
    func everyRuleIsKeptByAGoodChain() throws {
        let intermediate = try root.intermediate(pathLength: 0)
        let chain = try RuleChain(
            [leaf(intermediate), intermediate.certificate, root.certificate].map(\.der)
        )
        for rule in ChainRule.webPKI { #expect(chain.depth(breaking: rule) == nil, "\(rule.fault)") }
    }

    @Test("Name constraints are permitted in authorities only")
    func constraintsStandInAuthoritiesOnly() throws {
        let leaf = try leaf { $0.nameConstraints = "permitted;DNS:a.test" }
        #expect(try ChainRule.noConstraintsBelowAuthorities.isBroken(by: leaf, root.certificate) == 0)
        let authority = try root.intermediate { $0.nameConstraints = "permitted;DNS:a.test" }
        #expect(try ChainRule.noConstraintsBelowAuthorities.isBroken(by: authority.certificate) == nil)
    }

    /// An empty sequence, one of two empty lists, and what is no sequence at all.
    @Test(
        "Name constraints contain at least one name",
        arguments: [[0x30, 0x00], [0x30, 0x04, 0xa0, 0x00, 0xa1, 0x00], [0x05, 0x00]] as [[UInt8]]
    )
    func constraintsNameSomething(_ der: [UInt8]) throws {
        let empty = try root.intermediate { profile in
            profile.extensions = [.init("2.5.29.30", critical: true, der: der)]
        }
        #expect(try ChainRule.noEmptyConstraints.isBroken(by: empty.certificate) == 0)
        let excluding = try root.intermediate { $0.nameConstraints = "excluded;DNS:b.test" }
        #expect(try ChainRule.noEmptyConstraints.isBroken(by: excluding.certificate) == nil)
    }

    @Test("A wildcard name may not cover a name that the constraints exclude")
    func wildcardDoesNotReachAcrossConstraints() throws {
        let excluding = try root.intermediate { $0.nameConstraints = "excluded;DNS:Secret.a.test" }
        func verdict(_ name: String) throws -> Int32? {
            let leaf = try leaf(excluding) { $0.names = [.dns("b.test"), .dns(name)] }
            return try ChainRule.noWildcardAcrossConstraints.isBroken(by: leaf, excluding.certificate)
        }
        #expect(try verdict("*.A.test") == 0)
        // One label is what a wildcard stands for, neither more nor less.
        #expect(try verdict("*.test") == nil)
        #expect(try verdict("*.b.test") == nil)
        #expect(try verdict("public.a.test") == nil)
        // Nor may it behind many others.
        let many = (0..<10_000).map { CertificateProfile.Name.dns("\($0).c") }
        let last = try leaf(excluding) { $0.names = many + [.dns("*.a.test")] }
        #expect(try ChainRule.noWildcardAcrossConstraints.isBroken(by: last, excluding.certificate) == 0)
    }

    @Test(
        "Name constraints are plain names without leading dots or wildcards",
        arguments: ["permitted;DNS:.a.test", "excluded;DNS:.b.test", "permitted;DNS:*.a.test"]
    )
    func constraintsArePlainNames(_ constraints: String) throws {
        let odd = try root.intermediate { $0.nameConstraints = constraints }
        #expect(try ChainRule.plainNameConstraints.isBroken(by: leaf(odd), odd.certificate) == 1)
        let plain = try root.intermediate { $0.nameConstraints = "permitted;DNS:a.test" }
        #expect(try ChainRule.plainNameConstraints.isBroken(by: leaf(plain), plain.certificate) == nil)
    }

    @Test("A DSA key is refused; RSA, P-256, P-384 and Ed25519 keys are permitted")
    func keysAreCurrent() throws {
        let old = TestCertificate(.init(names: [.dns("a.test")], publicKey: dsaPublicKey), issuer: .authority)
        #expect(try RuleChain([old.der]).depth(breaking: .onlyCurrentKeyKinds) == 0)
        for key in [.p256, .p384, .ed25519, .rsa(1024)] as [CertificateProfile.Key] {
            let leaf = try leaf { $0.key = key }
            #expect(try ChainRule.onlyCurrentKeyKinds.isBroken(by: leaf, root.certificate) == nil)
        }
    }

    @Test("The length of an RSA key is a whole number of bytes")
    func keysFillBytes() throws {
        #expect(try ChainRule.wholeByteKeys.isBroken(by: leaf { $0.key = .rsa(1028) }) == 0)
        #expect(try ChainRule.wholeByteKeys.isBroken(by: leaf { $0.key = .rsa(1024) }) == nil)
        #expect(try ChainRule.wholeByteKeys.isBroken(by: leaf { $0.key = .ed25519 }) == nil)
    }

    @Test("Only P-256 and P-384 are permitted as curves")
    func curvesAreThoseOfTheWeb() throws {
        let rule = ChainRule.onlyCurvesOfTheWeb
        for key in [.p256, .p384, .rsa(1024)] as [CertificateProfile.Key] {
            #expect(try rule.isBroken(by: leaf { $0.key = key }, root.certificate) == nil)
        }
        #expect(try rule.isBroken(by: leaf { $0.key = .ed25519 }, root.certificate) == 0)
        let plan = TestCertificate.Plan(names: [.dns("a.test")], publicKey: brainpoolPublicKey)
        let odd = TestCertificate(plan, issuer: .authority)
        #expect(try RuleChain([odd.der]).depth(breaking: rule) == 0)
    }

    @Test("An extension may occur only once")
    func extensionsAreThereOnce() throws {
        let twice = try leaf { $0.extensions = [.init("2.5.29.19", der: [0x30, 0x00])] }
        #expect(try ChainRule.noExtensionTwice.isBroken(by: twice, root.certificate) == 0)
        let unknownTwice = try leaf { profile in
            profile.extensions = (0..<2).map { .init("1.3.6.1.4.1.55555.1", der: [0x04, 0x01, $0]) }
        }
        #expect(try ChainRule.noExtensionTwice.isBroken(by: unknownTwice, root.certificate) == 0)
    }

    /// policyConstraints, inhibitAnyPolicy, subjectDirectoryAttributes, freshestCRL.
    @Test(
        "Each extension is critical or not, as RFC 5280 demands",
        arguments: [("2.5.29.36", true), ("2.5.29.54", true), ("2.5.29.9", false), ("2.5.29.46", false)]
    )
    func extensionsAreAsCriticalAsTheyMustBe(_ kind: String, _ isCritical: Bool) throws {
        func verdict(critical: Bool) throws -> Int32? {
            let odd = try root.intermediate { profile in
                profile.extensions = [.init(kind, critical: critical, der: [0x30, 0x00])]
            }
            return try ChainRule.rightCriticality.isBroken(by: leaf(odd), odd.certificate)
        }
        #expect(try verdict(critical: isCritical) == nil)
        #expect(try verdict(critical: !isCritical) == 1)
    }

    @Test(
        "The extension for authority information access must be readable",
        arguments: [[0x30, 0x00], Array("nonsense".utf8)] as [[UInt8]]
    )
    func informationAccessCanBeRead(_ der: [UInt8]) throws {
        let odd = try leaf { $0.extensions = [.init("1.3.6.1.5.5.7.1.1", der: der)] }
        #expect(try ChainRule.decodableInformationAccess.isBroken(by: odd, root.certificate) == 0)
        let plain = try leaf { $0.issuerURL = "http://aia.test/" }
        #expect(try ChainRule.decodableInformationAccess.isBroken(by: plain, root.certificate) == nil)
    }

    @Test("Server gated crypto is not the purpose of TLS servers, whatever OpenSSL says")
    func gatedCryptoIsNoServerPurpose() throws {
        let rule = ChainRule.purposeIsServers
        let gated: [CertificateProfile.Purpose] = [.microsoftServerGatedCrypto, .netscapeServerGatedCrypto]
        for purposes in [gated, [gated[0]], [gated[1], .clientAuth]] {
            #expect(try rule.isBroken(by: leaf { $0.purposes = purposes }, root.certificate) == 0)
            let authority = try root.intermediate { $0.purposes = purposes }
            #expect(try rule.isBroken(by: leaf(authority), authority.certificate) == 1)
        }
        #expect(
            try rule.isBroken(by: leaf { $0.purposes = gated + [.serverAuth] }, root.certificate) == nil
        )
        #expect(try rule.isBroken(by: leaf { $0.purposes = [] }, root.certificate) == nil)
    }

    /// policyConstraints with requireExplicitPolicy of `skipped`, and a policy or none.
    private func demanding(_ policy: [UInt8]?, after skipped: UInt8 = 0) throws -> TestAuthority {
        try root.intermediate { profile in
            let demand: [UInt8] = [0x30, 0x03, 0x80, 0x01, skipped]
            profile.extensions = [.init("2.5.29.36", critical: true, der: demand)] + policies(policy)
        }
    }

    private func policies(_ identifier: [UInt8]?) -> [CertificateProfile.Extension] {
        guard let identifier else { return [] }
        let name = [0x06, UInt8(identifier.count)] + identifier
        let information = [0x30, UInt8(name.count)] + name
        return [.init("2.5.29.32", der: [0x30, UInt8(information.count)] + information)]
    }

    @Test("The policy that an authority demands is in all certificates below it")
    func demandedPolicyIsThere() throws {
        // 1.3.6.1.4.1.55555.2 and .3, and anyPolicy.
        let own: [UInt8] = [0x2b, 6, 1, 4, 1, 0x83, 0xb2, 3, 2]
        let other: [UInt8] = own.dropLast() + [3]
        let any: [UInt8] = [0x55, 0x1d, 0x20, 0]
        func verdict(_ issuer: TestAuthority, _ policy: [UInt8]?) throws -> Int32? {
            let leaf = try leaf(issuer) { $0.extensions = policies(policy) }
            return try ChainRule.demandedPolicyIsThere.isBroken(
                by: leaf,
                issuer.certificate,
                root.certificate
            )
        }
        let strict = try demanding(own)
        #expect(try verdict(strict, own) == nil)
        #expect(try verdict(strict, any) == nil)
        #expect(try verdict(strict, other) == 0)
        #expect(try verdict(strict, nil) == 0)
        #expect(try verdict(demanding(any), other) == nil)
        #expect(try verdict(demanding(nil), own) == 0)
        #expect(try verdict(demanding(nil, after: 2), nil) == nil)
        // If no authority demands one, none is needed.
        let silent = try root.intermediate { $0.extensions = policies(own) }
        #expect(try verdict(silent, other) == nil)
    }

    @Test("A demand for policies that cannot be read is not met")
    func unreadableDemandIsNotMet() throws {
        let odd = try root.intermediate { profile in
            profile.extensions = [.init("2.5.29.36", critical: true, der: [0x05, 0x00])]
        }
        let verdict = try ChainRule.demandedPolicyIsThere.isBroken(
            by: leaf(odd),
            odd.certificate,
            root.certificate
        )
        #expect(verdict == 0)
    }

    @Test("An authority must have basic constraints; a leaf need not")
    func authoritiesSayThatTheyAreSome() throws {
        let silent = try oddRoot { $0.isAuthority = nil }
        #expect(try ChainRule.caHasBasicConstraints.isBroken(by: leaf(silent), silent.certificate) == 1)
        let leaf = try leaf { $0.isAuthority = nil }
        #expect(try ChainRule.caHasBasicConstraints.isBroken(by: leaf, root.certificate) == nil)
    }

    @Test("A leaf that is an authority is refused")
    func leafIsNotCA() throws {
        let both = try leaf { $0.isAuthority = true }
        #expect(try ChainRule.leafIsNotCA.isBroken(by: both, root.certificate) == 0)
    }

    @Test("A root's authority key identifier is its own or absent")
    func rootsPointToThemselvesOrNowhere() throws {
        let stranger = try root.intermediate("Stranger").certificate
        // The stranger's authorityKeyIdentifier is another's.
        #expect(try ChainRule.rootsPointToThemselves.isBroken(by: leaf(), stranger) == 1)
        #expect(try ChainRule.rootsPointToThemselves.isBroken(by: leaf(), root.certificate) == nil)
        let bare = TestCertificate.authority
        #expect(try RuleChain([leaf().der, bare.der]).depth(breaking: .rootsPointToThemselves) == nil)
    }

    @Test("A root has no extended key usage; an intermediate may")
    func rootHasNoEKU() throws {
        let odd = try oddRoot { $0.purposes = [.serverAuth] }
        #expect(try ChainRule.rootHasNoEKU.isBroken(by: leaf(odd), odd.certificate) == 1)
        let narrow = try root.intermediate { $0.purposes = [.serverAuth] }
        let leaf = try leaf(narrow)
        let verdict = try ChainRule.rootHasNoEKU.isBroken(
            by: leaf,
            narrow.certificate,
            root.certificate
        )
        #expect(verdict == nil)
    }

    @Test("A leaf names the purpose of servers, neither any purpose nor as a critical extension")
    func serversSayThatTheyAreServers() throws {
        let rule = ChainRule.serversHaveServerPurpose
        #expect(try rule.isBroken(by: leaf { $0.purposes = [] }, root.certificate) == 0)
        // "Any", which is 2.5.29.37.0, and servers marked critical.
        let any: [UInt8] = [0x30, 0x06, 0x06, 0x04, 0x55, 0x1d, 0x25, 0x00]
        let server: [UInt8] = [0x30, 0x0a, 0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01]
        for odd in [(false, any), (true, server)] {
            let leaf = try leaf {
                $0.purposes = []
                $0.extensions = [.init("2.5.29.37", critical: odd.0, der: odd.1)]
            }
            #expect(try rule.isBroken(by: leaf, root.certificate) == 0)
        }
        #expect(
            try rule.isBroken(by: leaf { $0.purposes = [.serverAuth, .clientAuth] }, root.certificate) == nil
        )
    }

    @Test("The serial number of a leaf is not zero; that of a root may be")
    func serialNumbersArePositive() throws {
        #expect(
            try ChainRule.positiveSerialNumbers.isBroken(by: leaf { $0.serial = 0 }, root.certificate) == 0
        )
        // Many good roots have it.
        let zero = try oddRoot { $0.serial = 0 }
        #expect(try ChainRule.positiveSerialNumbers.isBroken(by: leaf(zero), zero.certificate) == nil)
    }

    @Test(
        "A serial number is positive and at most 20 bytes long",
        arguments: [(21, 0x01, 0), (20, 0x80, 0), (20, 0x7f, nil)] as [(Int, UInt8, Int32?)]
    )
    func serialNumbersAreAtMost20BytesLong(_ count: Int, _ first: UInt8, _ verdict: Int32?) throws {
        let plan = TestCertificate.Plan(
            names: [.dns("a.test")],
            serial: [first] + [UInt8](repeating: 7, count: count - 1)
        )
        let leaf = TestCertificate(plan, issuer: .authority)
        let chain = try RuleChain([leaf.der, TestCertificate.authority.der])
        #expect(chain.depth(breaking: .positiveSerialNumbers) == verdict)
    }

    @Test(
        "DNS names in a leaf are host names or wildcards",
        arguments: ["under_score.a.test", "-a.test", "a..test", "bücher.test", "a.*.test", "a.test.", ""]
    )
    func dnsNamesAreHostNames(_ name: String) throws {
        let leaf = try leaf { $0.names = [.dns("*.a.test"), .dns("xn--bcher-kva.test"), .dns(name)] }
        #expect(try ChainRule.onlyHostNames.isBroken(by: leaf, root.certificate) == 0)
    }

    @Test(
        "The common name repeats one of the alternative names",
        arguments: [("b.test", 0), ("A.test", 0), ("127.0.0.01", 0), ("127.0.0.1", nil), ("a.test", nil)]
    )
    func commonNameRepeatsAName(_ name: String, _ verdict: Int32?) throws {
        let leaf = try leaf {
            $0.commonName = name
            $0.names = [.dns("a.test"), .ip("127.0.0.1")]
        }
        #expect(try ChainRule.commonNameIsAlternativeName.isBroken(by: leaf, root.certificate) == verdict)
    }

    @Test("Alternative names are critical exactly when the subject is empty")
    func subjectDecidesWhetherAlternativeNamesAreCritical() throws {
        let names: [UInt8] = [0x30, 0x08, 0x82, 0x06] + Array("a.test".utf8)
        func verdict(_ commonName: String?, critical: Bool) throws -> Int32? {
            let leaf = try leaf {
                $0.names = []
                $0.commonName = commonName
                $0.extensions = [.init("2.5.29.17", critical: critical, der: names)]
            }
            return try ChainRule.alternativeNamesCriticality.isBroken(by: leaf, root.certificate)
        }
        #expect(try verdict(nil, critical: false) == 0)
        #expect(try verdict("a.test", critical: true) == 0)
        #expect(try verdict(nil, critical: true) == nil)
        #expect(try verdict("a.test", critical: false) == nil)
    }
}

/// A DSA key of 2048 bits, in DER form and base64.
private let dsaPublicKey = """
    MIIDQjCCAjUGByqGSM44BAEwggIoAoIBAQDXWxQBFv12W0EYPN81o9+ic1xzUfUVpDyEVB+Rl1k4VkG0hBWHn3h0No8NTevD4uPA
    CJ2ZIJYkNGvrS+S91zMnst1SSRfvV4E44RnqoQmWjdTR89czE0bQQIP85fHD2xRiRbpzVkNGWZX8z2YXchvZywvwFqEVX0RzpAPn
    fton0dxuEPmPqKs3/PEG2Ho5aihvu2fGYVi51T8Ap7R6pSiv/I3a6twtC9EfogupiclYsHO6TYESlvxznlqfZCxVDgBBcHhnhPRE
    avtr/mxYZCZR+nCoQf88Sxrznlkd2ZzaF4Xi+pQvxVmoeCFgc435on1KDA4UPWhsyY0ANkcbDcpRAh0AgT1cOEXDjiiqg5Daad5r
    tXCf0J75hE5jYg/0mwKCAQAmVaVRyAIckt8C39pyqyBWnyKSSu9DNf1f3wiGAxQjAkxVhEmmKEMPw1UQcWdu9xRJxgf5HXYkcfnI
    pTfuaO2ddVjSGrt2qO8uYygoUq0T4N3QOQXYH1Lsq8h2q2H8YsKD0np/+GlWGPhO3LJJlqeAMuotclXBfEBcKC89y4tT8wRS1njR
    +nKT97dFbA+lT+JzqALNf+6YIcM69+IfD5OEymM2MwUnuUiq8YhltLu/wkIfoTodLsfIVf1C21qH033tIS6Y4D9RRnXvLniQi9XI
    bUXJ3BMcNoR65cXc1f+/M5rH1lNHUBduSv9UJs2tqi8ij7WJ8FFnUe79TbCCGXjaA4IBBQACggEASpLQDJEqHp8nHyrUTPB/KOXW
    p73fTHMeUl1LMU890ug87WQqGW093QbtiiJc7nGwtSB5XAg+Xvt0LE+PlXbjsQzmOSbpMv0cyjbrrqqiezERq0WCvSg704ZHuqYm
    4CfFKAE8eQm1USzbNMPpjj8tRADuUSkTGcygTYACYAz4MB6MnG++zNDOPi1CzPxye/UkbNicvsSECJEGP7PpFIfff2J4Y2zMsAqn
    z/qnPE9PS0Dg59gpWdBHXqE1Ma5eaTdYKHIAe/v1maBaatvIIk4Vmv8EQZdN1LCJQbYuwUfBN1DdSpjyN2r59Dvr2zFlt2b4laOz
    trx5QsfQkManELHvkg==
    """

/// A key on brainpoolP256r1, in DER form and base64.
private let brainpoolPublicKey = """
    MFowFAYHKoZIzj0CAQYJKyQDAwIIAQEHA0IABFWmHIi38i7Fzv58b17D2db4r3yVyRfVSPXhnPLU6aurJF2mHGA/3PqQhw1N
    ofh58kRK9YnFvTnK1CjAZlH+56s=
    """
