// Swift 6.2 passes nothing to the process of a test.
#if canImport(Glibc) && compiler(>=6.3)
import CDirectOpenSSL
import DirectTestCommands
import Glibc
import TLSFixtures
import Testing

@testable import DirectTLS

@Suite("The end of a process that has used OpenSSL", .idleLimit)
struct ProcessEndTests {
    @Test(
        "OpenSSL still works for other threads when a process ends, whatever has used it first",
        .ownProcess,
        arguments: FirstUse.allCases
    )
    func end(_ first: FirstUse) async {
        await #expect(processExitsWith: .exitCode(FirstUse.stillWorks)) { [first] in
            // Called last, since it is registered first. OpenSSL refuses all work behind its own clean-up.
            atexit { _exit(OPENSSL_init_crypto(0, nil) == 1 ? FirstUse.stillWorks : FirstUse.isGone) }
            first.use()
            exit(0)
        }
    }
}

/// Code that may be the first in a process to use OpenSSL.
enum FirstUse: String, CaseIterable, Codable {
    case authority, certificateFile
    case connection, digest, runningDigest, mac, certificate, certificates, archive, roots

    static let stillWorks: Int32 = 71
    static let isGone: Int32 = 72

    func use() {
        switch self {
        case .authority: _ = TestAuthority()
        case .certificateFile: _ = try? FixtureCertificate(pem: "none", key: "none")
        case .connection: try? OpenSSLLibrary.start()
        case .digest: _ = MessageDigest.sha256.digest(of: [1])
        case .runningDigest: _ = RunningSHA256()
        case .mac: _ = MessageDigest.hmacSHA256([1], key: [2])
        case .certificate: _ = try? CertificateList(der: [0x30, 0])
        case .certificates: _ = CertificateList(beginningOf: Array("none".utf8))
        case .archive: _ = try? IdentityArchive([0x30, 0], passphrase: nil)
        case .roots: _ = try? TrustStore.make(.only([.pem(Array("none".utf8))]))
        }
        // Whatever the use was: this fetches an algorithm, as each handshake does.
        _ = sha256([1])
    }
}
#endif
