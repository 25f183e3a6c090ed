import CDirectOpenSSL
import TLSFixtures
import Testing

@testable import DirectTLS

@Suite("Judges of chains")
struct ChainJudgeTests {
    private let root = TestAuthority("System Root")

    private func shake(
        _ leaf: FixtureCertificate,
        _ context: TLSContext,
        for name: String = "a.test",
        version: TLSVersion? = nil
    ) throws -> (step: TLSStep, client: TLSConnection) {
        let pair = try Pair(TestServer(leaf, version), context, .name(name))
        return (pair.shake(), pair.client)
    }

    /// The error of a handshake with a server that sends the certificate, if the judge says this.
    private func error(_ leaf: FixtureCertificate, _ verdict: ChainJudge.Verdict) throws -> TLSError? {
        try shake(leaf, TestJudge { _ in verdict }.context()).step.error
    }

    private func fault(_ leaf: FixtureCertificate, _ verdict: ChainJudge.Verdict) throws -> CertificateFault?
    {
        if case .certificateRejected(let fault) = try error(leaf, verdict) { fault } else { nil }
    }

    @Test(
        "A judge is asked with the certificates as sent and the name, and what it trusts is accepted",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func accepted(version: TLSVersion) throws {
        let issuer = try root.intermediate()
        let leaf = issuer.certificate(for: "a.test")
        let judge = TestJudge(root: root.rootDER)
        let (step, client) = try shake(leaf, judge.context(), version: version)
        #expect(step == .moved(0))
        let sent = [leaf.der, issuer.rootDER]
        #expect(judge.questions == [.init(certificates: sent, name: "a.test", mayFetch: false)])
        #expect(client.facts.certificates.map(\.der) == sent + [root.rootDER])
        #expect(client.facts.version == version && client.trial == nil)
    }

    @Test("An address in the URL is no name for a judge, and is checked by us")
    func address() throws {
        let leaf = root.certificate(for: "127.0.0.1")
        let judge = TestJudge(root: root.rootDER)
        let context = try judge.context { $0.systemFetchesIssuers = true }
        for (address, isGood) in [("127.0.0.1", true), ("127.0.0.2", false)] {
            let pair = try Pair(TestServer(leaf), context, .address(address))
            #expect((pair.shake() == .moved(0)) == isGood)
        }
        let question = ChainJudge.Question(certificates: [leaf.der], name: nil, mayFetch: true)
        #expect(judge.questions == [question, question])
    }

    @Test("What a judge refuses is refused, with its reason in one line and with the certificates as sent")
    func refused() throws {
        let leaf = root.certificate(for: "a.test")
        let verdict = ChainJudge.Verdict.refused(code: X509_V_ERR_CERT_REVOKED, reason: "not\nnow")
        let (step, client) = try shake(leaf, TestJudge { _ in verdict }.context())
        guard case .failed(.certificateRejected(let fault)) = step else { throw Unexpected(step) }
        #expect(fault.kind == .revoked && fault.reason == "not\\u{a}now" && fault.expected == "a.test")
        #expect(client.presentedChain?.summaries.map(\.der) == [leaf.der])
        let accepting = try TestJudge { _ in verdict }.context {
            $0.insecureOverride = .init { $0.fault == .certificateRejected(fault) }
        }
        let (accepted, other) = try shake(leaf, accepting)
        #expect(accepted == .moved(0) && other.facts.acceptedFaults == [.certificateRejected(fault)])
    }

    @Test("Another name is refused by us, although the judge trusts the chain, and is not told to it")
    func otherName() throws {
        let judge = TestJudge(root: root.rootDER)
        let leaf = root.certificate(for: "b.test")
        let mismatch = TLSError.nameMismatch(expected: "a.test", served: ["b.test"])
        #expect(try shake(leaf, judge.context()).step.error == mismatch)
        #expect(judge.questions == [.init(certificates: [leaf.der], name: nil, mayFetch: false)])
        // An override that accepts other names accepts no other roots with them.
        let override = InsecureCertificateOverride { $0.fault == mismatch }
        #expect(try shake(leaf, judge.context { $0.insecureOverride = override }).step == .moved(0))
        let refusing = TestJudge { _ in .refused(code: X509_V_ERR_CERT_REJECTED, reason: "no") }
        #expect(try shake(leaf, refusing.context { $0.insecureOverride = override }).step.isFailure)
    }

    @Test("The chain that a judge returns has its facts, pins and expiry, not the one that was sent")
    func otherChain() throws {
        let other = TestAuthority("Other Root")
        let issuer = try root.intermediate("Crossed")
        let crossed = try other.intermediate("Crossed") {
            $0.existingKey = issuer.certificate
            $0.validity.notAfter = 3_000_000_000
        }
        let leaf = issuer.certificate(for: "a.test")
        let judge = TestJudge(trusting: [leaf.der, crossed.rootDER, other.rootDER])
        func pinned(_ certificate: FixtureCertificate) throws -> TLSStep {
            let pin = try #require(KeyPin(sha256: certificate.publicKeyHash))
            let pins = try KeyPins(["a.test": ["\(pin)"]])
            return try shake(leaf, judge.context { $0.pins = pins }).step
        }
        #expect(try pinned(other.certificate) == .moved(0))
        #expect(try pinned(root.certificate).isFailure)
        let sessions = SessionCache()
        let pair = try Pair(TestServer(leaf), judge.context(), .name("a.test"), sessions: sessions)
        #expect(pair.shake() == .moved(0))
        #expect(pair.client.facts.certificates.map(\.der) == [leaf.der, crossed.rootDER, other.rootDER])
        #expect(pair.client.proof.chainExpiry == 3_000_000_000)
    }

    @Test(
        "A resumed session has the chain of the judge, which is not asked again",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func resumed(version: TLSVersion) throws {
        let leaf = root.certificate(for: "a.test")
        let judge = TestJudge(root: root.rootDER)
        let context = try judge.context(), sessions = SessionCache()
        let server = try TestServer(leaf, version)
        for isResumed in [false, true] {
            let pair = try Pair(server, context, .name("a.test"), sessions: sessions)
            #expect(pair.shake() == .moved(0))
            pair.server.send("pong")
            #expect(pair.read() == .moved(4))
            #expect(pair.client.facts.resumed == isResumed)
            #expect(pair.client.facts.certificates.map(\.der) == [leaf.der, root.rootDER])
            pair.client.close()
        }
        #expect(judge.questions.count == 1)
    }

    @Test("A handshake that was refused leaves no session", arguments: [TLSVersion.tls12, .tls13])
    func noSession(version: TLSVersion) throws {
        let judge = TestJudge { _ in .refused(code: X509_V_ERR_CERT_REJECTED, reason: "no") }
        let sessions = SessionCache()
        let server = try TestServer(root.certificate(for: "a.test"), version)
        let pair = try Pair(server, judge.context(), .name("a.test"), sessions: sessions)
        #expect(pair.shake().isFailure && sessions.count == 0)
    }

    @Test("Roots of the settings are enough without the judge, and their absence is not")
    func ownRoots() throws {
        let judge = TestJudge { _ in .refused(code: X509_V_ERR_CERT_REJECTED, reason: "no") }
        let own = TestAuthority("Own Root")
        let context = try judge.context { $0.roots = .systemAnd([.der(own.rootDER)]) }
        #expect(try shake(own.certificate(for: "a.test"), context).step == .moved(0))
        #expect(judge.questions.isEmpty)
        #expect(try shake(root.certificate(for: "a.test"), context).step.isFailure)
        #expect(judge.questions.count == 1)
        let alone = try judge.context { $0.roots = .only([.der(own.rootDER)]) }
        #expect(try shake(root.certificate(for: "a.test"), alone).step.isFailure)
        #expect(judge.questions.count == 1)
    }

    @Test("A certificate that has signed itself is the system's to judge, also beside roots of the settings")
    func selfSigned() throws {
        var profile = CertificateProfile(for: "a.test")
        profile.isSelfSigned = true
        let leaf = try root.issue(profile)
        for roots in [.system, .systemAnd([.der(TestAuthority("Own Root").rootDER)])] as [TrustRoots] {
            let trusting = TestJudge(trusting: [leaf.der])
            #expect(try shake(leaf, trusting.context { $0.roots = roots }).step == .moved(0))
            // An override of that fault hears what the system refuses.
            let refusing = TestJudge { _ in .refused(code: X509_V_ERR_CERT_REJECTED, reason: "no") }
            let context = try refusing.context {
                $0.roots = roots
                $0.insecureOverride = InsecureCertificateOverride { rejected in
                    guard case .certificateRejected(let fault) = rejected.fault else { return false }
                    return fault.kind == .selfSigned
                }
            }
            #expect(try shake(leaf, context).step.isFailure && refusing.questions.count == 1)
        }
    }

    @Test("Until there is a verdict a handshake waits, and one that comes too late is harmless")
    func undecided() throws {
        let judge = TestJudge(root: root.rootDER)
        var pair: Pair? = try Pair(
            TestServer(root.certificate(for: "a.test")),
            judge.context(),
            .name("a.test")
        )
        let trial = try #require(pair?.shake(holdsTrials: false) == .wantsVerdict ? pair?.client.trial : nil)
        #expect(pair?.client.handshake() == .wantsVerdict && pair?.write("early").isFailure == true)
        #expect(judge.questions.isEmpty)
        pair = nil
        trial.hold()
        #expect(judge.questions.count == 1)
    }
}

extension ChainJudgeTests {
    @Test("A chain that does not begin with the server's certificate is refused, and so is none")
    func otherLeaf() throws {
        let leaf = root.certificate(for: "a.test"), other = try root.issue(.init(for: "a.test"))
        for chain in [[], [other.der, root.rootDER], [root.rootDER]] {
            let fault = try fault(leaf, .trusted(chain))
            #expect(fault?.kind == .other(code: Int(X509_V_ERR_UNSPECIFIED)))
            #expect(fault?.reason.contains("another certificate") == true)
        }
    }

    @Test("What a judge trusts must still have good signatures, dates, purposes and keys")
    func oursToCheck() throws {
        let leaf = root.certificate(for: "a.test")
        func chain(below root: TestAuthority, _ change: (inout CertificateProfile) -> Void) throws
            -> (FixtureCertificate, [[UInt8]])
        {
            var profile = CertificateProfile(for: "a.test")
            change(&profile)
            let leaf = try root.issue(profile)
            return (leaf, [leaf.der, root.rootDER])
        }
        // Not signed by this root, whose name and key identifier are those of the issuer.
        let forged = TestAuthority("System Root")
        #expect(try error(leaf, .trusted([leaf.der, forged.rootDER])) != nil)
        #expect(try error(leaf, .trusted([leaf.der, TestAuthority("Other").rootDER])) != nil)
        let (expired, chainOfExpired) = try chain(below: root) { $0.validity = .expired }
        #expect(try fault(expired, .trusted(chainOfExpired))?.kind == .expired)
        let (client, chainOfClient) = try chain(below: root) { $0.purposes = [.clientAuth] }
        #expect(try fault(client, .trusted(chainOfClient))?.kind == .wrongPurpose)
        let old = try root.intermediate("Old") { $0.validity = .expired }
        let below = old.certificate(for: "a.test")
        #expect(try fault(below, .trusted([below.der, old.rootDER, root.rootDER]))?.kind == .expired)
        // One that is trusted although it is no authority.
        let noCA = try root.intermediate("Leaf") { $0.isAuthority = false }
        let child = noCA.certificate(for: "a.test")
        #expect(try error(child, .trusted([child.der, noCA.rootDER, root.rootDER])) != nil)
        #expect(try error(leaf, .trusted([leaf.der, root.rootDER])) == nil)
    }

    @Test("An error behind the judge's verdict has the certificates as sent, not those of the judge")
    func presented() throws {
        let issuer = try root.intermediate("Old") { $0.validity = .expired }
        let leaf = issuer.certificate(for: "a.test")
        let judge = TestJudge(root: root.rootDER)
        let (step, client) = try shake(leaf, judge.context())
        #expect(step.isFailure)
        #expect(client.presentedChain?.summaries.map(\.der) == [leaf.der, issuer.rootDER])
    }

    @Test("Bytes that are no certificate, and a key that OpenSSL cannot read, are refused")
    func unreadable() throws {
        let leaf = root.certificate(for: "a.test")
        for junk in [[], [0x30], Array(root.rootDER.dropLast())] as [[UInt8]] {
            #expect(try fault(leaf, .trusted([leaf.der, junk]))?.reason.contains("cannot be read") == true)
        }
        // The curve's name, 1.2.840.10045.3.1.7, with another last number.
        var strange = root.rootDER
        let curve: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        let place = try #require(strange.indices.first { strange[$0...].starts(with: curve) })
        strange[place + 9] = 0x7F
        #expect(try error(leaf, .trusted([leaf.der, strange])) != nil)
    }

    @Test("A chain that is larger than servers may send is refused, and its root does not count")
    func tooLarge() throws {
        let issuer = try root.intermediate()
        let leaf = issuer.certificate(for: "a.test")
        for (limit, isGood) in [(2 * smallestCertificate, true), (2 * smallestCertificate - 1, false)] {
            let judge = TestJudge(trusting: [leaf.der, issuer.rootDER, root.rootDER])
            let context = try judge.context { $0.maximumCertificateBytes = limit }
            // The server sends its own certificate alone.
            let step = try shake(leaf.sent(with: []), context).step
            #expect((step == .moved(0)) == isGood)
            guard !isGood, case .certificateRejected(let fault)? = step.error else { continue }
            #expect(fault.kind == .chainTooLong)
        }
        let long = [leaf.der] + Array(repeating: issuer.rootDER, count: 100_000) + [root.rootDER]
        #expect(try fault(leaf, .trusted(long))?.kind == .chainTooLong)
    }

    @Test("A fault of a certificate below roots of the program's own is told, whatever the judge says")
    func faultBelowOwnRoots() throws {
        var profile = CertificateProfile(for: "a.test")
        profile.validity = .expired
        let leaf = try root.issue(profile)
        let judge = TestJudge { _ in .refused(code: X509_V_ERR_CERT_REJECTED, reason: "no") }
        func error(accepting isAccepting: Bool) throws -> TLSError? {
            try shake(
                leaf,
                judge.context {
                    $0.roots = .systemAnd([.der(root.rootDER)])
                    guard isAccepting else { return }
                    $0.insecureOverride = InsecureCertificateOverride { rejected in
                        guard case .certificateRejected(let fault) = rejected.fault else { return false }
                        return fault.kind == .expired
                    }
                }
            ).step.error
        }
        guard case .certificateRejected(let fault)? = try error(accepting: false) else {
            throw Unexpected("accepted")
        }
        #expect(fault.kind == .expired && judge.questions.isEmpty)
        #expect(try error(accepting: true) == nil)
    }

    @Test("A chain with a certificate that OpenSSL does not use is refused, for the facts would differ")
    func detour() throws {
        let leaf = root.certificate(for: "a.test"), other = try root.intermediate("Beside")
        let fault = try fault(leaf, .trusted([leaf.der, other.rootDER, root.rootDER]))
        #expect(fault?.reason.contains("OpenSSL") == true)
    }

    @Test("A user may trust a certificate below a root, or the server's own")
    func lowAnchors() throws {
        let issuer = try root.intermediate()
        let leaf = issuer.certificate(for: "a.test")
        #expect(try error(leaf, .trusted([leaf.der, issuer.rootDER])) == nil)
        #expect(try error(leaf, .trusted([leaf.der])) == nil)
        var profile = CertificateProfile(for: "a.test")
        profile.isSelfSigned = true
        let own = try root.issue(profile)
        #expect(try error(own, .trusted([own.der])) == nil)
    }

    @Test("Revocation lists of the settings are asked about the judge's chain")
    func revocationLists() throws {
        let judge = TestJudge(root: root.rootDER)
        let leaf = root.certificate(for: "a.test")
        func step(revoking certificates: [FixtureCertificate]) throws -> TLSStep {
            let list = try root.revocationListPEM(certificates)
            let context = try judge.context { $0.revocationLists = .init([.pem(Array(list.utf8))]) }
            return try shake(leaf, context).step
        }
        #expect(try step(revoking: []) == .moved(0))
        guard case .certificateRejected(let fault)? = try step(revoking: [leaf]).error else {
            throw Unexpected("accepted")
        }
        #expect(fault.kind == .revoked)
    }
}

@Suite("Judges of chains in surveys")
struct SurveyJudgeTests {
    private let root = TestAuthority("System Root")

    private func served(_ leaf: FixtureCertificate, _ judge: TestJudge) throws -> ServedChain {
        let context = try SurveyContext(judge: judge.judge)
        return try #require(ServedChain(der: [leaf.der], context: context))
    }

    @Test("A chain is judged by the roots of the judge, with other faults besides")
    func trusted() throws {
        let issuer = try root.intermediate("Unsent")
        var profile = CertificateProfile(for: "a.test")
        for isExpired in [false, true] {
            profile.validity = isExpired ? .expired : .decades
            let leaf = try issuer.issue(profile)
            let chain = try served(leaf, TestJudge(trusting: [leaf.der, issuer.rootDER, root.rootDER]))
            chain.trial?.hold()
            #expect(chain.judged().faults.map(\.kind) == (isExpired ? [.expired] : []))
            #expect(chain.judged().anchor?.short == "System Root")
            let staple = try issuer.ocspResponse(for: leaf)
            #expect(chain.judge(staple: staple)?.status == .good)
        }
    }

    @Test("The reason of a judge that refuses, and its silence, are faults")
    func refused() throws {
        let leaf = root.certificate(for: "a.test")
        let judge = TestJudge { _ in .refused(code: X509_V_ERR_CERT_REVOKED, reason: "so\tit is") }
        let chain = try served(leaf, judge)
        #expect(chain.judged().faults.map(\.reason) == ["the system's trust store did not answer"])
        chain.trial?.hold()
        #expect(chain.judged().faults.map(\.kind) == [.revoked])
        #expect(chain.judged().faults.map(\.reason) == ["so\\u{9}it is"])
        #expect(judge.questions == [.init(certificates: [leaf.der], name: nil, mayFetch: false)])
    }

    @Test("A chain for another certificate, and one that cannot be read, are no trust")
    func strange() throws {
        let leaf = root.certificate(for: "a.test")
        for chain in [[], [root.rootDER], [leaf.der, [0x30]]] as [[[UInt8]]] {
            let served = try served(leaf, TestJudge(trusting: chain))
            served.trial?.hold()
            #expect(!served.judged().isTrusted)
        }
    }
}
