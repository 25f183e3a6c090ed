import CDirectOpenSSL
import DirectCore
import Foundation
import TLSFixtures
import Testing

@testable import DirectTLS

/// Paths that OpenSSL does not find by itself.
@Suite("The search for a path")
struct PathSearchTests {
    private let root = TestAuthority("Path Root")
    private let stranger = TestAuthority("Stranger Root")

    private func verdict(_ leaf: FixtureCertificate, _ sent: [FixtureCertificate]) throws -> TLSError? {
        var settings = TLSSettings()
        settings.roots = .only([.der(root.rootDER)])
        return try TLSContext(settings).verify(([leaf] + sent).map(\.der), for: .name("a.test"))
    }

    /// The key and name of an authority, certified by another one too.
    private func cross(
        _ authority: TestAuthority,
        by issuer: TestAuthority,
        _ change: (inout CertificateProfile) -> Void = { _ in }
    ) throws -> FixtureCertificate {
        var profile = CertificateProfile.authority("Crossed")
        profile.existingKey = authority.certificate
        change(&profile)
        return try issuer.issue(profile)
    }

    /// Each leads to nothing in a way of its own, and stands before the good one.
    @Test("A good path is found before and behind a useless one", arguments: UselessPath.allCases)
    func goodPathIsFoundBehindAUselessOne(_ path: UselessPath) throws {
        let crossed = try root.intermediate("Crossed")
        let leaf = try crossed.issue(CertificateProfile(for: "a.test"))
        let useless =
            switch path {
            case .unknownRoot: try cross(crossed, by: stranger)
            case .wrongPurpose: try cross(crossed, by: root) { $0.purposes = [.clientAuth] }
            case .noAuthority: try cross(crossed, by: root) { $0.isAuthority = false }
            case .forbiddenName: try cross(crossed, by: root) { $0.nameConstraints = "excluded;DNS:a.test" }
            case .brokenRule:
                try cross(crossed, by: root) {
                    $0.extensions = [.init("1.3.6.1.5.5.7.1.1", der: [0x30, 0x00])]
                }
            // policyConstraints: the fault is the leaf's, which has no policy, and yet the path's.
            case .demandedPolicy:
                try cross(crossed, by: root) {
                    let demand: [UInt8] = [0x30, 0x03, 0x80, 0x01, 0x00]
                    $0.extensions = [.init("2.5.29.36", critical: true, der: demand)]
                }
            }
        #expect(try verdict(leaf, [useless]) != nil)
        #expect(try verdict(leaf, [useless, crossed.certificate]) == nil)
        #expect(try verdict(leaf, [crossed.certificate, useless]) == nil)
    }

    enum UselessPath: CaseIterable {
        case unknownRoot, wrongPurpose, noAuthority, forbiddenName, brokenRule, demandedPolicy
    }

    @Test("A trusted root that has expired does not hide the newer certificate of its key that is sent")
    func expiredRootHidesNoNewerCertificate() throws {
        var profile = CertificateProfile.authority("Crossed")
        profile.validity = .expired
        let expired = try TestAuthority(profile)
        let leaf = try expired.issue(CertificateProfile(for: "a.test"))
        var settings = TLSSettings()
        settings.roots = .only([.der(expired.rootDER), .der(root.rootDER)])
        let context = try TLSContext(settings)
        func verdict(_ sent: FixtureCertificate...) throws -> TLSError? {
            try context.verify(([leaf] + sent).map(\.der), for: .name("a.test"))
        }
        #expect(try verdict() != nil)
        #expect(try verdict(cross(expired, by: stranger)) != nil)
        #expect(try verdict(cross(expired, by: root)) == nil)
    }

    @Test(
        "A limited copy of a trusted root hides no other certificate of its key",
        arguments: LimitedRoot.allCases
    )
    func limitedRootHidesNoOther(_ limit: LimitedRoot) throws {
        var profile = CertificateProfile.authority("Path Root")
        profile.existingKey = root.certificate
        switch limit {
        case .pathLength: profile.pathLength = 0
        case .purpose: profile.purposes = [.clientAuth]
        case .names: profile.nameConstraints = "excluded;DNS:a.test"
        case .unknownExtension: profile.extensions = [.init("1.2.3.4", critical: true, der: [5, 0])]
        case .noAuthority: profile.isAuthority = false
        case .crossSigned: break
        }
        let limited =
            limit == .crossSigned ? try stranger.issue(profile).der : try TestAuthority(profile).rootDER
        let middle = try root.intermediate()
        let sent = try [middle.issue(CertificateProfile(for: "a.test")), middle.certificate].map(\.der)
        for roots in [[limited, root.rootDER], [root.rootDER, limited]] {
            let context = try TLSContext.testing { $0.roots = .only(roots.map { .der($0) }) }
            #expect(try context.verify(sent, for: .name("a.test")) == nil)
        }
        let alone = try TLSContext.testing { $0.roots = .only([.der(limited)]) }
        #expect(try alone.verify(sent, for: .name("a.test")) != nil)
    }

    enum LimitedRoot: CaseIterable {
        case pathLength, purpose, names, unknownExtension, noAuthority, crossSigned
    }

    @Test("An authority that the roots mark as not to be trusted is on no path, whoever sends it")
    func distrustedAuthority() throws {
        let middle = try root.intermediate()
        let sent = try [middle.issue(CertificateProfile(for: "a.test")), middle.certificate].map(\.der)
        func isGood(_ mark: (OpaquePointer) -> Void) throws -> Bool {
            let marked = try marked(middle.certificate.der, mark)
            let context = try TLSContext.testing {
                $0.roots = .only([.der(root.rootDER), .pem(Array(marked.utf8))])
            }
            return try context.verify(sent, for: .name("a.test")) == nil
        }
        #expect(try isGood { _ in })
        #expect(try isGood { X509_add1_reject_object($0, OBJ_nid2obj(NID_client_auth)) })
        #expect(try !isGood { X509_add1_reject_object($0, OBJ_nid2obj(NID_server_auth)) })
        #expect(try !isGood { X509_add1_reject_object($0, OBJ_nid2obj(NID_anyExtendedKeyUsage)) })
        #expect(try !isGood { X509_add1_trust_object($0, OBJ_nid2obj(NID_email_protect)) })
    }

    @Test("A root that one of its copies marks as not to be trusted is none, whichever stands first")
    func markedCopy() throws {
        let rejected = try marked(root.rootDER) {
            X509_add1_reject_object($0, OBJ_nid2obj(NID_server_auth))
        }
        let copies = [CertificateSource.der(root.rootDER), .pem(Array(rejected.utf8))]
        let sent = [try root.issue(CertificateProfile(for: "a.test")).der]
        for roots in [copies, copies.reversed()] {
            let context = try TLSContext.testing { $0.roots = .only(roots) }
            #expect(try context.verify(sent, for: .name("a.test")) != nil)
        }
    }

    /// A certificate with the marks of a list of roots (x509(1), "trusted certificate").
    private func marked(_ der: [UInt8], _ mark: (OpaquePointer) -> Void) throws -> String {
        let certificate = try #require(
            der.withUnsafeBufferPointer { bytes in
                var next = bytes.baseAddress
                return d2i_X509(nil, &next, der.count)
            }
        )
        defer { X509_free(certificate) }
        mark(certificate)
        var written: UnsafeMutablePointer<UInt8>?
        let count = Int(i2d_X509_AUX(certificate, &written))
        let data = Data(bytes: try #require(written), count: count)
        CRYPTO_free(written, nil, 0)
        let text = data.base64EncodedString(options: .lineLength64Characters)
        return "-----BEGIN TRUSTED CERTIFICATE-----\n\(text)\n-----END TRUSTED CERTIFICATE-----\n"
    }

    /// The demands of the settings and the URL apply to each path.
    @Test(
        "A second path does not make a bad leaf acceptable",
        arguments: [
            CertificateProfile(for: "b.test"),
            CertificateProfile.client("a.test"),
            CertificateProfile(for: "127.0.0.1"),
            odd { $0.validity = .expired },
            odd { $0.key = .rsa(1024) },
        ]
    )
    func otherPathDoesNotMakeABadLeafGood(_ bad: CertificateProfile) throws {
        let crossed = try root.intermediate("Crossed")
        let sent = try [cross(crossed, by: stranger), crossed.certificate]
        #expect(try verdict(crossed.issue(bad), sent) != nil)
        #expect(try verdict(crossed.issue(CertificateProfile(for: "a.test")), sent) == nil)
    }

    @Test("The address in a leaf is checked on a second path, too")
    func addressIsCheckedOnOtherPathsToo() throws {
        let crossed = try root.intermediate("Crossed")
        var settings = TLSSettings()
        settings.roots = .only([.der(root.rootDER)])
        let leaf = try crossed.issue(CertificateProfile(for: "127.0.0.1"))
        let sent = try [leaf, cross(crossed, by: stranger), crossed.certificate].map(\.der)
        #expect(try TLSContext(settings).verify(sent, for: .address("127.0.0.1")) == nil)
        #expect(try TLSContext(settings).verify(sent, for: .address("127.0.0.2")) != nil)
    }

    @Test("The error has the fault of the first path if no path is good")
    func firstFaultIsToldWhereNoPathIsGood() throws {
        let crossed = try root.intermediate("Crossed") { $0.purposes = [.clientAuth] }
        let leaf = try crossed.issue(CertificateProfile(for: "a.test"))
        let error = try verdict(leaf, [crossed.certificate, cross(crossed, by: stranger)])
        guard case .certificateRejected(let fault) = error else { throw Unexpected(error as Any) }
        #expect(fault.kind == .wrongPurpose)
        #expect(fault.depth == 1)
    }

    @Test("A fault of the leaf is told, and overruled, wherever a useless certificate stands")
    func orderOfCertificatesDoesNotMatter() throws {
        let crossed = try root.intermediate("Crossed")
        let useless = try cross(crossed, by: stranger)
        for (bad, kind) in [
            (odd { $0.validity = .expired }, .expired), (odd { $0.purposes = [.clientAuth] }, .wrongPurpose),
        ] as [(CertificateProfile, CertificateFault.Kind)] {
            let leaf = try crossed.issue(bad)
            for sent in [[useless, crossed.certificate], [crossed.certificate, useless]] {
                guard case .certificateRejected(let fault) = try verdict(leaf, sent) else {
                    throw Unexpected("accepted")
                }
                #expect(fault.kind == kind)
                let context = try TLSContext.testing {
                    $0.roots = .only([.der(root.rootDER)])
                    $0.insecureOverride = InsecureCertificateOverride { rejected in
                        guard case .certificateRejected(let fault) = rejected.fault else { return false }
                        return fault.kind == kind
                    }
                }
                let pair = try Pair(TestServer(leaf.sent(with: sent)), context, .name("a.test"))
                #expect(pair.shake() == .moved(0) && pair.client.facts.acceptedFaults.count == 1)
                // All of the path are asked about, and a forged one is on each.
                let forged = try leaf.withBrokenSignature().sent(with: sent)
                let other = try Pair(TestServer(forged), context, .name("a.test"))
                guard case .certificateRejected(let worst)? = other.shake().error else {
                    throw Unexpected("accepted")
                }
                #expect(worst.kind == .badSignature)
            }
        }
    }

    @Test(
        "A renewed authority is found behind its former certificate, also with revocation lists",
        arguments: [RevocationLists.Scope.serverCertificate, .wholeChain]
    )
    func renewedAuthority(_ scope: RevocationLists.Scope) throws {
        func issuer(_ identifier: UInt8) -> TestCertificate {
            let plan = TestCertificate.Plan(commonName: "I", isAuthority: true, identifier: identifier)
            return TestCertificate(plan, issuer: .authority)
        }
        let old = issuer(1), new = issuer(2)
        // The server's names its issuer only. Both authorities count their certificates from 1.
        let leaf = TestCertificate(.init(names: [.dns("a.test")], serial: [5]), issuer: new)
        func isGood(_ lists: [UInt8]...) throws -> Set<Bool> {
            let context = try TLSContext.testing {
                let lists = [TestCertificate.authority.revocationList()] + lists
                $0.revocationLists = RevocationLists(lists.map { .der($0) }, scope: scope)
            }
            return try Set(
                [[leaf, old, new], [leaf, new, old]].map { sent in
                    try context.verify(sent.map(\.der), for: .name("a.test")) == nil
                }
            )
        }
        #expect(try isGood(new.revocationList()) == [true])
        #expect(try isGood(new.revocationList(), old.revocationList(ends: -60)) == [true])
        #expect(try isGood(new.revocationList(), old.revocationList(revoking: leaf)) == [true])
        // What its own issuer has revoked, or has no list for, is good by no other path.
        #expect(try isGood(new.revocationList(revoking: leaf), old.revocationList()) == [false])
        #expect(try isGood(old.revocationList()) == [false])
    }

    @Test("A root counts although its authorityKeyIdentifier is a former one's, if it has signed itself")
    func rootWithForeignIdentifier() throws {
        let root = TestCertificate(.init(commonName: "R", isAuthority: true, serial: [7], issuerSerial: 5))
        // Of the same name, by another key.
        let plan = TestCertificate.Plan(commonName: "R", isAuthority: true, serial: [8], issuerSerial: 7)
        let below = TestCertificate(plan, issuer: root)
        for (anchor, isRoot) in [(root, true), (below, false)] {
            let leaf = TestCertificate(.init(names: [.dns("a.test")]), issuer: anchor)
            let context = try TLSContext.testing { $0.roots = .only([.der(anchor.der)]) }
            #expect((try context.verify([leaf.der], for: .name("a.test")) == nil) == isRoot)
        }
    }

    /// The number of paths that are verified in search of a better one than the worst.
    private func attempts(_ leaf: [UInt8], _ sent: [[UInt8]], roots: [[UInt8]]) throws -> Int {
        let context = try TLSContext.testing { $0.roots = .only(roots.map { .der($0) }) }
        let leaf = try CertificateList(der: leaf), others = try sent.map { try CertificateList(der: $0) }
        defer { withExtendedLifetime((leaf, others)) {} }
        let stack = OPENSSL_sk_new_null()
        defer { OPENSSL_sk_free(stack) }
        for one in others { OPENSSL_sk_push(stack, one.first.map { UnsafeRawPointer($0) }) }
        let check = try #require(X509_STORE_CTX_new())
        defer { X509_STORE_CTX_free(check) }
        defer { ERR_clear_error() }
        let store = SSL_CTX_get_cert_store(context.raw)
        try #require(X509_STORE_CTX_init(check, store, leaf.first, stack) == 1)
        var count = 0
        let worst = PathSearch.Verdict(faults: [], pins: .refused)
        let found = PathSearch.best(after: check, than: worst) { _ in
            count += 1
            return worst
        }
        #expect(found == nil)
        return count
    }

    @Test("However many copies a root has, sixteen paths are verified")
    func mostAttempts() throws {
        let copies = try (1...20).map { number in
            var profile = CertificateProfile.authority("Path Root")
            (profile.existingKey, profile.serial) = (root.certificate, UInt64(number))
            return try TestAuthority(profile).rootDER
        }
        let middle = try root.intermediate("Crossed")
        let leaf = try middle.issue(CertificateProfile(for: "a.test"))
        #expect(try attempts(leaf.der, [middle.rootDER], roots: copies) == 16)
    }

    @Test("A path is verified only if its signatures lead to a root, at each place of a forged one")
    func forgedPaths() throws {
        func authority(_ name: String, _ issuer: TestCertificate? = nil) -> TestCertificate {
            TestCertificate(.init(commonName: name, isAuthority: true), issuer: issuer)
        }
        // All without key identifiers, so that by their names each may have issued the one below.
        let roots = [authority("R"), authority("R")], stranger = authority("R")
        let good = authority("I", roots[1]), other = authority("I", roots[0])
        let forged = (0..<8).map { _ in authority("I", stranger) }
        let leaf = TestCertificate(.init(names: [.dns("a.test")]), issuer: good)
        func attempts(_ sent: [TestCertificate]) throws -> Int {
            try self.attempts(leaf.der, sent.map(\.der), roots: roots.map(\.der))
        }
        #expect(try attempts(forged) == 0)
        #expect(try attempts(forged + [other]) == 0)
        #expect(try attempts(forged + [other, good]) == 1)
    }

    @Test("An override makes nobody verify with keys that take long, and they hide no good path")
    func costlyKeys() throws {
        let costly = (0..<2).map { number in
            let plan = TestCertificate.Plan(
                commonName: "I",
                isAuthority: true,
                publicKey: costlyKey,
                serial: [UInt8(number + 1)]
            )
            return TestCertificate(plan, issuer: .authority)
        }
        let issuer = TestCertificate(.init(commonName: "I", isAuthority: true))
        for (leaf, isGood) in [
            (TestCertificate(.init(names: [.dns("a.test")]), issuer: issuer), false),
            (TestCertificate.leaf("a.test"), true),
        ] {
            let server = TestServer(leaf, .init(chain: costly))
            let context = try TLSContext.testing { $0.insecureOverride = .init { _ in true } }
            let pair = try Pair(server, context, .name("a.test"))
            let step = pair.shake()
            guard !isGood else {
                #expect(step == .moved(0) && pair.client.facts.acceptedFaults.isEmpty)
                continue
            }
            guard case .certificateRejected(let fault)? = step.error else { throw Unexpected(step) }
            #expect(!fault.isNamed && fault.reason.contains("too long"))
        }
    }

    /// Authorities that all certify each other: more paths than anyone may walk.
    @Test("The search ends in a mesh of authorities that certify each other")
    func meshOfAuthoritiesEnds() throws {
        let mesh = (0..<12).map { TestAuthority("Mesh \($0)") }
        var sent: [FixtureCertificate] = []
        for one in mesh {
            for other in mesh where other !== one {
                var profile = CertificateProfile.authority(String(one.certificate.subject.dropFirst(3)))
                profile.existingKey = one.certificate
                sent.append(try other.issue(profile))
            }
        }
        let leaf = try mesh[0].issue(CertificateProfile(for: "a.test"))
        #expect(try verdict(leaf, sent) != nil)
    }

    @Test("A handshake succeeds over a second path, and reports this path")
    func handshakeSucceedsOverAnotherPath() throws {
        let crossed = try root.intermediate("Crossed")
        let leaf = try crossed.issue(CertificateProfile(for: "a.test"))
        let useless = try cross(crossed, by: stranger)
        let server = try TestServer(leaf.sent(with: [useless, crossed.certificate]))
        var settings = TLSSettings()
        settings.roots = .only([.der(root.rootDER)])
        let pair = try Pair(server, TLSContext(settings), .name("a.test"))
        #expect(pair.shake() == .moved(0))
        #expect(
            pair.client.facts.certificates.map(\.subject) == ["CN=a.test", "CN=Crossed", "CN=Path Root"]
        )
        #expect(pair.write("hello") == .moved(5))
    }
}

/// A chain that leads to two trusted roots, of which one has a pinned key.
@Suite("The search for a pinned key")
struct PinnedPathTests {
    private let one = TestAuthority("Root One")
    private let two = TestAuthority("Root Two")

    private struct Result {
        let step: TLSStep
        /// The subject of the root to which the chain leads.
        let root: String?
        let reports: [KeyMismatch]
    }

    /// Connects to a server whose authority both roots have certified, the first one in front.
    private func connect(
        _ pins: (root: TestAuthority, isReportOnly: Bool)...,
        first: TestAuthority,
        version: TLSVersion = .tls13,
        _ change: (inout CertificateProfile) -> Void = { _ in }
    ) throws -> Result {
        let crossed = try first.intermediate("Crossed", change)
        var profile = CertificateProfile.authority("Crossed")
        profile.existingKey = crossed.certificate
        let other = try (first === one ? two : one).issue(profile)
        let leaf = try crossed.issue(CertificateProfile(for: "a.test"))
        let server = try TestServer(leaf.sent(with: [crossed.certificate, other]), version)
        let seen = Locked<[KeyMismatch]>([])
        var settings = TLSSettings()
        settings.roots = .only([.der(one.rootDER), .der(two.rootDER)])
        settings.pins.observer = KeyPinObserver { mismatch in seen.withLock { $0.append(mismatch) } }
        for pin in pins {
            let text = try #require(KeyPin(sha256: pin.root.certificate.publicKeyHash)).description
            try settings.pins.add([text], for: "a.test", isReportOnly: pin.isReportOnly)
        }
        let pair = try Pair(server, TLSContext(settings), .name("a.test"))
        let step = pair.shake()
        return Result(
            step: step,
            root: pair.client.facts.certificates.last?.subject,
            reports: seen.withLock { $0 }
        )
    }

    @Test(
        "The path to a pinned root counts, whichever comes first",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func pinned(version: TLSVersion) throws {
        for first in [one, two] {
            let result = try connect((two, false), first: first, version: version)
            #expect(result.step == .moved(0))
            #expect(result.root == "CN=Root Two" && result.reports.isEmpty)
        }
        #expect(try connect(first: one, version: version).root == "CN=Root One")
    }

    @Test("Without such a path the chain is refused, and the keys are those of the first one")
    func unpinned() throws {
        let result = try connect((TestAuthority("Other"), false), first: one)
        guard case .keyNotPinned(let mismatch) = result.step.error else { throw Unexpected(result.step) }
        #expect(mismatch.seen.last == KeyPin(sha256: one.certificate.publicKeyHash))
        #expect(result.reports == [mismatch])
    }

    @Test("Where the first path is refused, a good one without a pin is no reason to stop")
    func refusedPath() throws {
        let result = try connect((one, false), first: one) { $0.nameConstraints = "excluded;DNS:a.test" }
        guard case .keyNotPinned(let mismatch) = result.step.error else { throw Unexpected(result.step) }
        #expect(mismatch.seen.last == KeyPin(sha256: two.certificate.publicKeyHash))
    }

    @Test("A key that is only watched is looked for, too, and gives way to one that is demanded")
    func watched() throws {
        let alone = try connect((two, true), first: one)
        #expect(alone.root == "CN=Root Two" && alone.reports.isEmpty)
        let both = try connect((one, true), (two, false), first: one)
        #expect(both.step == .moved(0) && both.root == "CN=Root Two")
        #expect(both.reports.map(\.wasReportOnly) == [true])
    }
}

private func odd(_ change: (inout CertificateProfile) -> Void) -> CertificateProfile {
    var profile = CertificateProfile(for: "a.test")
    change(&profile)
    return profile
}

/// An RSA key of 3,072 bits with an exponent of as many, made up, in base64.
private let costlyKey: String = {
    func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 255)] + content
    }
    let number = [UInt8](repeating: 0xFF, count: 383)
    let key = element(0x30, element(2, [0, 0xFF] + number) + element(2, [0, 0xBF] + number))
    let rsa: [UInt8] = [0x30, 13, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 13, 1, 1, 1, 5, 0]
    return Data(element(0x30, rsa + element(3, [0] + key))).base64EncodedString()
}()
