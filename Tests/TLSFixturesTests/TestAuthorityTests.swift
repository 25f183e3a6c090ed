import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@Suite("A test authority", .idleLimit)
struct TestAuthorityTests {
    private let authority = TestAuthority()

    @Test("The same names give the same certificate, and others another")
    func cache() {
        #expect(authority.certificate(for: "a.test") === authority.certificate(for: "a.test"))
        #expect(authority.certificate(for: "a.test") !== authority.certificate(for: "a.test", "b.test"))
        #expect(authority.certificate(for: "a.test").der != TestAuthority().certificate(for: "a.test").der)
    }

    @Test(
        "A root from files issues certificates with numbers that none in a file has",
        .enabled(if: isInstalled("openssl"))
    )
    func serialNumbers() async throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/certificates").path(percentEncoded: false)
        let loaded = try TestAuthority.load("root", from: folder)
        var numbers: [String] = []
        for certificate in [loaded.certificate(for: "a.test"), try loaded.issue(.client("me"))] {
            let file = try TemporaryFile(certificate.pem)
            let result = try await run("openssl", ["x509", "-noout", "-serial", "-in", file.path])
            numbers.append(result.output)
        }
        #expect(numbers == ["serial=010000000001\n", "serial=010000000002\n"])
    }

    @Test(
        "Issued certificates verify under the root, and odd ones fail as expected",
        .enabled(if: isInstalled("openssl"))
    )
    func verification() async throws {
        func verify(_ certificate: FixtureCertificate, _ arguments: String...) async throws -> String {
            let root = try TemporaryFile(authority.rootPEM)
            let file = try TemporaryFile(certificate.chainPEM)
            let result = try await run(
                "openssl",
                ["verify", "-x509_strict", "-no-CApath", "-CAfile", root.path, "-untrusted", file.path]
                    + arguments
                    + [file.path]
            )
            return result.status == 0 ? "OK" : result.output + result.errors
        }
        #expect(try await verify(authority.certificate(for: "a.test"), "-verify_hostname", "a.test") == "OK")
        #expect(try await verify(authority.certificate(for: "::1"), "-verify_ip", "::1") == "OK")
        #expect(
            try await verify(authority.certificate(for: "a.test"), "-verify_hostname", "b.test").contains(
                "mismatch"
            )
        )
        #expect(try await verify(authority.issue(.client("me")), "-purpose", "sslclient") == "OK")

        var profile = CertificateProfile(for: "a.test")
        profile.validity = .expired
        #expect(try await verify(authority.issue(profile)).contains("expired"))
        profile.validity = .notYet
        #expect(try await verify(authority.issue(profile)).contains("not yet valid"))
        profile.validity = .decades
        profile.isSelfSigned = true
        #expect(try await verify(authority.issue(profile)).contains("self-signed"))
        profile.isSelfSigned = false
        profile.purposes = [.clientAuth]
        #expect(try await verify(authority.issue(profile), "-purpose", "sslserver").contains("purpose"))
        profile.purposes = [.serverAuth]
        profile.extensions = [.init("1.2.3.4", critical: true, der: [5, 0])]
        #expect(try await verify(authority.issue(profile)).contains("unhandled critical extension"))
        #expect(
            try await verify(authority.certificate(for: "c.test").withBrokenSignature()).contains("signature")
        )
    }

    @Test(
        "An intermediate sends its chain, and constrains names and path length",
        .enabled(if: isInstalled("openssl"))
    )
    func intermediates() async throws {
        let root = try TemporaryFile(authority.rootPEM)
        func verify(_ certificate: FixtureCertificate) async throws -> String {
            let file = try TemporaryFile(certificate.chainPEM)
            let arguments = [
                "verify", "-no-CApath", "-CAfile", root.path, "-untrusted", file.path, file.path,
            ]
            let result = try await run("openssl", arguments)
            return result.status == 0 ? "OK" : result.output + result.errors
        }
        let intermediate = try authority.intermediate(pathLength: 0) {
            $0.nameConstraints = "permitted;DNS:in.test"
        }
        #expect(try await verify(intermediate.certificate(for: "a.in.test")) == "OK")
        #expect(
            try await verify(intermediate.certificate(for: "a.out.test")).contains(
                "permitted subtree violation"
            )
        )
        #expect(
            try await verify(intermediate.certificate(for: "a.in.test").sent(with: [])).contains(
                "unable to get local issuer"
            )
        )
        let tooDeep = try intermediate.intermediate("Too deep")
        #expect(try await verify(tooDeep.certificate(for: "a.in.test")).contains("path length"))
    }

    @Test("A revocation list names the revoked certificates", .enabled(if: isInstalled("openssl")))
    func revocationList() async throws {
        let (good, bad) = (authority.certificate(for: "good.test"), authority.certificate(for: "bad.test"))
        let root = try TemporaryFile(authority.rootPEM + (try authority.revocationListPEM([bad])))
        for (certificate, status) in [(good, Int32(0)), (bad, 2)] {
            let file = try TemporaryFile(certificate.pem)
            let result = try await run(
                "openssl",
                ["verify", "-crl_check", "-no-CApath", "-CAfile", root.path, file.path]
            )
            #expect(result.status == status, "\(result.errors)")
        }
    }

    @Test(
        "A name may have any bytes, and each kind of key is available",
        .enabled(if: isInstalled("openssl"))
    )
    func oddities() async throws {
        var profile = CertificateProfile([.dnsBytes(Array("a.test\u{0}.evil.test".utf8))])
        for key in [CertificateProfile.Key.p256, .p384, .ed25519, .rsa(1024)] {
            profile.key = key
            let certificate = try authority.issue(profile)
            let check = try await run("openssl", ["x509", "-noout", "-subject"], input: certificate.pem)
            #expect(check.status == 0)
            #expect(certificate.der.firstRange(of: Array("a.test\u{0}.evil.test".utf8)) != nil)
        }
        #expect(throws: FixtureError.notAnAddress("127.1")) {
            try authority.issue(CertificateProfile([.ip("127.1")]))
        }
    }

    @Test("A renewed certificate keeps its key, and so its pin")
    func renewal() throws {
        let first = authority.certificate(for: "a.test")
        var profile = CertificateProfile(for: "a.test")
        profile.existingKey = first
        let second = try authority.issue(profile)
        #expect(second.publicKeyHash == first.publicKeyHash)
        #expect(second.fingerprint != first.fingerprint)
    }

    @Test("An authority is restored from PEM files, and the error for other files says what is wrong")
    func files() throws {
        let certificate = try authority.intermediate().certificate(for: "a.test")
        let (pem, key) = (try TemporaryFile(certificate.chainPEM), try TemporaryFile(certificate.keyPEM))
        let loaded = try FixtureCertificate.load(certificate: pem.path, key: key.path)
        #expect(loaded.chainPEM == certificate.chainPEM)
        #expect(loaded.keyPEM == certificate.keyPEM)
        #expect(throws: FixtureError.badFile(path: key.path, why: "no certificate")) {
            try FixtureCertificate.load(certificate: key.path, key: key.path)
        }
        let other = try TemporaryFile(authority.certificate(for: "b.test").keyPEM)
        #expect(throws: FixtureError.badFile(path: pem.path, why: "the key is not the certificate's")) {
            try FixtureCertificate.load(certificate: pem.path, key: other.path)
        }
        #expect(throws: FixtureError.self) { try FixtureCertificate.load("none", from: "/nowhere") }
    }

    @Test(
        "An authority that is read from files issues certificates below the root that clients have",
        .enabled(if: isInstalled("openssl"))
    )
    func loaded() async throws {
        let made = TestAuthority("Kept Root")
        let folder = NSTemporaryDirectory() + "authority-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try made.rootPEM.write(toFile: folder + "/root.pem", atomically: true, encoding: .utf8)
        try made.certificate.keyPEM.write(toFile: folder + "/root.key", atomically: true, encoding: .utf8)

        let authority = try TestAuthority.load("root", from: folder)
        #expect(authority.rootDER == made.rootDER)
        let leaf = try TemporaryFile(authority.certificate(for: "a.test").chainPEM)
        let result = try await run(
            "openssl",
            ["verify", "-no-CApath", "-CAfile", folder + "/root.pem", leaf.path]
        )
        #expect(result.status == 0, "\(result.errors)")
    }
}
