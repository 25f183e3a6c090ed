import CDirectOpenSSL
import TLSFixtures
import Testing

@testable import DirectTLS

@Suite("Settings of TLS")
struct SettingsTests {
    private func problem(_ change: (inout TLSSettings) -> Void) -> String {
        do {
            _ = try TLSContext.testing(change)
            return ""
        } catch {
            return String(describing: error)
        }
    }

    @Test("Settings are equal if their values are equal")
    func equalSettingsAreEqualByValue() {
        var first = TLSSettings(), second = TLSSettings()
        #expect(first == second)
        first.clientIdentity = ClientIdentity(certificateChain: [1], privateKey: [2])
        #expect(first != second)
        second.clientIdentity = ClientIdentity(certificateChain: [1], privateKey: [3])
        #expect(first != second)
        second.clientIdentity = ClientIdentity(certificateChain: [1], privateKey: [2])
        #expect(first == second)
        #expect(first.hashValue == second.hashValue)
        second.roots = .only([.pemFile("A.pem")])
        first.roots = .only([.pemFile("a.pem")])
        #expect(first != second)
    }

    @Test("Neither description nor dump shows the private key")
    func privateKeyIsNeverShown() {
        var settings = TLSSettings()
        settings.clientIdentity = ClientIdentity(certificateChain: [1], privateKey: [211, 212])
        var dumped = ""
        dump(settings, to: &dumped)
        for text in ["\(settings)", String(reflecting: settings), dumped] { #expect(!text.contains("21")) }
    }

    @Test("The error for roots that cannot be read names the source or the fault")
    func rootsThatCannotBeReadAreNamed() {
        #expect(problem { $0.roots = .only([.pemFile("/no/such/file")]) }.contains("/no/such/file"))
        #expect(problem { $0.roots = .only([.pem(Array("nonsense".utf8))]) }.contains("no certificate"))
        #expect(problem { $0.roots = .only([.der([1, 2, 3])]) }.contains("DER"))
        #expect(problem { $0.roots = .only([]) }.contains("list of trusted roots is empty"))
        let broken = TestCertificate.authority.pem + Array("-----BEGIN CERTIFICATE-----\nMIIB\n".utf8)
        #expect(problem { $0.roots = .only([.pem(broken)]) }.contains("certificate 2"))
    }

    @Test("The description of a source has its kind, its size or its path, and no byte of it")
    func sourcesAreDescribed() {
        #expect("\(CertificateSource.pem([77, 88]))" == "PEM (2 bytes)")
        #expect("\(CertificateSource.der([77, 88, 99]))" == "DER (3 bytes)")
        // A path may come from outside, and a log is made of lines.
        #expect("\(CertificateSource.pemFile("/a\nb.pem"))" == "PEM file /a\\u{a}b.pem")
        var settings = TLSSettings()
        settings.roots = .only([.der([77, 88])])
        #expect(!"\(settings)".contains("77") && "\(settings)".contains("DER (2 bytes)"))
    }

    @Test("The same root may be given twice")
    func sameRootTwiceIsFine() {
        let root = TestCertificate.authority
        #expect(problem { $0.roots = .only([.pem(root.pem + root.pem), .der(root.der)]) } == "")
    }

    @Test("A text that is cut within a line of dashes lacks a root, and is refused", arguments: [3, 12, 26])
    func cutLine(length: Int) {
        let root = TestCertificate.authority, line = Array("-----BEGIN CERTIFICATE-----".utf8)
        let cut = root.pem + line.prefix(length)
        #expect(problem { $0.roots = .only([.pem(cut)]) }.contains("line of dashes"))
        #expect(problem { $0.roots = .only([.pem(Array(root.pem.dropLast(3)))]) }.contains("line of dashes"))
        #expect(problem { $0.roots = .only([.pem(root.pem + Array("\n \n".utf8))]) } == "")
    }

    @Test("A byte order mark before an item, in a file or between joined ones, hides none")
    func byteOrderMark() throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let (one, two) = (TestAuthority("One"), TestAuthority("Two"))
        let roots = mark + Array(one.rootPEM.utf8) + mark + Array(two.rootPEM.utf8)
        let lists = try mark + Array(one.revocationListPEM([]).utf8)
        for authority in [one, two] {
            let context = try TLSContext.testing { $0.roots = .only([.pem(roots)]) }
            let leaf = authority.certificate(for: "a.test")
            #expect(try context.verify([leaf.der], for: .name("a.test")) == nil)
            let checked = try TLSContext.testing {
                $0.roots = .only([.pem(roots)])
                $0.revocationLists = RevocationLists([.pem(lists)])
            }
            #expect((try checked.verify([leaf.der], for: .name("a.test")) == nil) == (authority === one))
        }
        let mine = TestCertificate.leaf("me")
        #expect(
            problem {
                $0.clientIdentity = ClientIdentity(
                    certificateChain: mark + mine.pem,
                    privateKey: mark + mine.keyPEM
                )
            } == ""
        )
    }

    @Test("A minimum version above the maximum is refused")
    func versionsInTheWrongOrderAreRefused() {
        let text = problem {
            $0.minimumVersion = .tls13
            $0.maximumVersion = .tls12
        }
        #expect(text.contains("TLS 1.3 is newer than TLS 1.2"))
    }

    @Test("A private key that is not its certificate's is refused, also one of another kind")
    func keyThatDoesNotFitIsRefused() throws {
        let mine = TestCertificate.leaf("me")
        var profile = CertificateProfile.client("me")
        profile.key = .rsa(2048)
        let strange = try TestAuthority("Client Root").issue(profile)
        for key in [TestCertificate.leaf("other").keyPEM, Array(strange.keyPEM.utf8)] {
            let text = problem {
                $0.clientIdentity = ClientIdentity(certificateChain: mine.pem, privateKey: key)
            }
            #expect(text.contains("client key: it is not that of the first certificate"))
        }
    }

    @Test("An encrypted key is refused without a prompt for its password")
    func encryptedKeyIsRefusedWithoutAQuestionOnTheTerminal() {
        let key = Array(
            """
            -----BEGIN RSA PRIVATE KEY-----
            Proc-Type: 4,ENCRYPTED
            DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF

            AAAAAAAAAAAAAAAAAAAAAA==
            -----END RSA PRIVATE KEY-----

            """.utf8
        )
        let text = problem {
            $0.clientIdentity = ClientIdentity(
                certificateChain: TestCertificate.leaf("me").pem,
                privateKey: key
            )
        }
        #expect(text.contains("client key: it is encrypted"))
    }

    @Test("The client's certificate is sent to a server that requests it")
    func clientIdentityIsShownToAServerThatAsks() throws {
        let middle = TestCertificate(.init(commonName: "Client CA", isAuthority: true), issuer: .authority)
        let mine = TestCertificate(.init(commonName: "me", usage: "clientAuth"), issuer: middle)
        let context = try TLSContext.testing {
            $0.clientIdentity = ClientIdentity(
                certificateChain: mine.pem + middle.pem,
                privateKey: mine.keyPEM
            )
        }
        for version in [TLS1_2_VERSION, TLS1_3_VERSION] {
            let pair = try Pair(asking(version), context, .name("a.test"))
            #expect(pair.shake() == .moved(0))
            #expect(pair.write("ping") == .moved(4))
            #expect(pair.server.received == Array("ping".utf8))
            let shown = try #require(SSL_get0_peer_certificate(pair.server.ssl))
            #expect(CertificateSummary(shown).subject == "CN=me")
        }
    }

    @Test("A missing client certificate is an alert of the server")
    func missingClientCertificateIsTheServersAlert() throws {
        let older = try Pair(asking(TLS1_2_VERSION), .testing(), .name("a.test"))
        #expect(older.shake() == .failed(.alertReceived(.handshakeFailure)))
        let newer = try Pair(asking(TLS1_3_VERSION), .testing(), .name("a.test"))
        #expect(newer.shake() == .moved(0))
        #expect(newer.read() == .failed(.alertReceived(.certificateRequired)))
    }

    @Test("Settings with another verifier or override are other settings, though the closure may be the same")
    func closures() {
        let accept: @Sendable (VerifiedServer) -> CertificateVerifier.Verdict = { _ in .accept }
        let override: @Sendable (RejectedServer) -> Bool = { _ in false }
        var settings = TLSSettings()
        settings.verifier = CertificateVerifier(accept)
        settings.insecureOverride = InsecureCertificateOverride(override)
        let same = settings
        #expect(settings == same && settings.hashValue == same.hashValue)
        settings.verifier = CertificateVerifier(accept)
        #expect(settings != same)
        settings = same
        settings.insecureOverride = InsecureCertificateOverride(override)
        #expect(settings != same)
    }

    private func asking(_ version: Int32) -> TestServer {
        TestServer(
            .leaf("a.test"),
            .init(
                versions: version...version,
                verifyMode: SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                trusts: .authority
            )
        )
    }
}
