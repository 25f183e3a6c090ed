import CDirectOpenSSL
import Foundation
import Testing

@testable import DirectTLS

@Suite("The system's roots")
struct SystemRootsTests {
    private func find(
        _ environment: [String: String] = [:],
        directories: [String] = [],
        bundles: [String] = []
    ) throws -> SystemRoots {
        try SystemRoots.find(environment: { environment[$0] }, directories: directories, bundles: bundles)
    }

    /// A directory with this many links named by hash, removed with the test.
    private func directory(links: Int, _ use: (String) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "direct-roots-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        for index in 0..<links {
            try Data().write(to: url.appending(path: String(format: "%08x.0", index)))
        }
        for other in ["readme.txt", "00000000.r0", "0000000g.0", "00000000.01", "000000001.0"] {
            try Data().write(to: url.appending(path: other))
        }
        try use(url.path)
    }

    @Test("Places named in the environment come first")
    func environmentComesFirst() throws {
        let both = ["SSL_CERT_DIR": "/one:/two", "SSL_CERT_FILE": "/three"]
        #expect(
            try find(both, bundles: ["/dev/null"]) == SystemRoots(directories: "/one:/two", bundle: "/three")
        )
        #expect(try find(["SSL_CERT_FILE": "/three"]) == SystemRoots(bundle: "/three"))
        #expect(try find(["SSL_CERT_DIR": "/one"]) == SystemRoots(directories: "/one"))
    }

    @Test("A hashed directory is preferred to a bundle")
    func hashedDirectoryComesBeforeTheBundle() throws {
        try directory(links: 20) { path in
            let found = try find(directories: ["/no/such", path], bundles: ["/dev/null"])
            #expect(found == SystemRoots(directories: path))
        }
    }

    @Test("A directory with fewer than 20 hashed links is not used")
    func directoryWithAHandfulOfLinksIsNotTheSystems() throws {
        try directory(links: 19) { path in
            let found = try find(directories: [path], bundles: ["/no/such", "/dev/null"])
            #expect(found == SystemRoots(bundle: "/dev/null"))
        }
    }

    @Test("A bundle that could not be read is read again when a chain needs it next")
    func unreadableBundle() throws {
        let leaf = TestCertificate.leaf("a.test")
        let file = FileManager.default.temporaryDirectory.appending(path: "roots-\(UUID().uuidString).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        let store = try TrustStore.filled { store throws(TLSError) in
            try DeferredBundle.attach(file.path, to: store)
        }
        defer { X509_STORE_free(store) }
        #expect(!vouches(store, for: leaf))
        try Data(TestCertificate.authority.pem).write(to: file)
        #expect(vouches(store, for: leaf))
    }

    @Test("A bundle in which a root cannot be parsed is read once more, and the roots before it count")
    func brokenBundle() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "roots-\(UUID().uuidString).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        let damage = Array("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n".utf8)
        let other = TestCertificate(.init(commonName: "Other Root", isAuthority: true))
        let known = TestCertificate.leaf("a.test"), unknown = TestCertificate(.init(), issuer: other)
        for isMended in [true, false] {
            try Data(TestCertificate.authority.pem + damage + other.pem).write(to: file)
            let store = try TrustStore.filled { store throws(TLSError) in
                try DeferredBundle.attach(file.path, to: store)
            }
            defer { X509_STORE_free(store) }
            #expect(vouches(store, for: known))
            // Memory may have been what was missing, so the bundle has a second attempt, and no third.
            if !isMended { #expect(!vouches(store, for: unknown)) }
            try Data(other.pem).write(to: file)
            #expect(vouches(store, for: unknown) == isMended)
        }
    }

    /// Whether a chain from the certificate to a root in the store is good.
    private func vouches(_ store: OpaquePointer, for leaf: TestCertificate) -> Bool {
        guard let check = X509_STORE_CTX_new() else { return false }
        defer { X509_STORE_CTX_free(check) }
        guard X509_STORE_CTX_init(check, store, leaf.x509, nil) == 1 else { return false }
        defer { ERR_clear_error() }
        return X509_verify_cert(check) == 1
    }

    @Test("A system without roots is an error")
    func systemWithoutRootsIsAnError() {
        #expect(throws: TLSError.self) { try find(directories: ["/no/such"], bundles: ["/no/such"]) }
    }

    @Test("The error for a place that cannot be read names it")
    func namedPlaceThatCannotBeReadIsAnErrorThatNamesIt() throws {
        for roots in [SystemRoots(directories: "/no/such"), SystemRoots(bundle: "/no/such")] {
            do throws(TLSError) {
                X509_STORE_free(try TrustStore.filled { store throws(TLSError) in try roots.add(to: store) })
                Issue.record("read")
            } catch {
                #expect(error.description.contains("/no/such"))
            }
        }
    }

    @Test("A hashed directory is read only when an issuer is looked up")
    func directoryIsNotReadUntilAnIssuerIsLookedFor() throws {
        let root = TestCertificate.authority
        let leaf = TestCertificate.leaf("a.test")
        try directory(links: 20) { path in
            let hash = String(
                format: "%08lx",
                X509_NAME_hash_ex(X509_get_subject_name(root.x509), nil, nil, nil)
            )
            try Data(root.pem).write(to: URL(filePath: "\(path)/\(hash).0"))
            let store = try TrustStore.filled { store throws(TLSError) in
                try SystemRoots(directories: path).add(to: store)
            }
            #expect(certificates(in: store) == 0)
            let context = try TLSContext.testing()
            SSL_CTX_set1_cert_store(context.raw, store)
            let pair = try Pair(TestServer(leaf), context, .name("a.test"))
            #expect(pair.shake() == .moved(0))
            #expect(certificates(in: store) == 1)
            X509_STORE_free(store)
        }
    }

    @Test("A bundle beside a hashed directory is read once, when the directory lacks an issuer")
    func bundleBesideAHashedDirectory() throws {
        let roots = (0..<3).map { TestCertificate(.init(commonName: "Root \($0)", isAuthority: true)) }
        let leaf = TestCertificate(.init(names: [.dns("a.test")]), issuer: roots[1])
        try directory(links: 20) { path in
            try Data(roots.flatMap(\.pem)).write(to: URL(filePath: "\(path)/bundle.pem"))
            let store = try TrustStore.filled { store throws(TLSError) in
                try SystemRoots(directories: path, bundle: "\(path)/bundle.pem").add(to: store)
            }
            #expect(certificates(in: store) == 0)
            let context = try TLSContext.testing()
            SSL_CTX_set1_cert_store(context.raw, store)
            #expect(try Pair(TestServer(leaf), context, .name("a.test")).shake() == .moved(0))
            #expect(certificates(in: store) == 3)
            #expect(try Pair(TestServer(leaf), context, .name("a.test")).shake() == .moved(0))
            #expect(try Pair(TestServer(.leaf("a.test")), context, .name("a.test")).shake().error != nil)
            #expect(certificates(in: store) == 3)
            X509_STORE_free(store)
        }
    }

    @Test("A bundle beside a directory without hashed links is read at once")
    func bundleBesideADirectoryWithoutHashesIsReadAtOnce() throws {
        try directory(links: 1) { path in
            try Data(TestCertificate.authority.pem).write(to: URL(filePath: "\(path)/bundle.pem"))
            let store = try TrustStore.filled { store throws(TLSError) in
                try SystemRoots(directories: path, bundle: "\(path)/bundle.pem").add(to: store)
            }
            #expect(certificates(in: store) == 1)
            X509_STORE_free(store)
        }
    }

    @Test(
        "On a system with a hashed directory the bundle is not parsed",
        .enabled(if: FileManager.default.fileExists(atPath: "/etc/ssl/certs/002c0b4f.0"))
    )
    func systemWithAHashedDirectoryDoesNotParseTheBundle() throws {
        let roots = try SystemRoots.find(environment: { _ in nil })
        #expect(roots.directories != nil)
        #expect(roots.bundle == nil)
        let store = try TrustStore.filled { store throws(TLSError) in try roots.add(to: store) }
        #expect(certificates(in: store) == 0)
        X509_STORE_free(store)
    }

    @Test("Contexts that trust the system share one store")
    func contextsThatTrustTheSystemShareOneStore() throws {
        let first = try TLSContext(TLSSettings()), second = try TLSContext(TLSSettings())
        withExtendedLifetime((first, second)) {
            #expect(SSL_CTX_get_cert_store(first.raw) == SSL_CTX_get_cert_store(second.raw))
        }
    }

    @Test("Additional roots do not enter the system's shared store")
    func ownRootsBesideTheSystemsStayOutOfTheSharedStore() throws {
        let root = TestCertificate.authority
        let both = try TLSContext.testing { $0.roots = .systemAnd([.der(root.der)]) }
        #expect(try Pair(TestServer(.leaf("a.test")), both, .name("a.test")).shake() == .moved(0))
        let system = try TLSContext(TLSSettings())
        #expect(try Pair(TestServer(.leaf("a.test")), system, .name("a.test")).shake().error != nil)
    }

    private func certificates(in store: OpaquePointer?) -> Int32 {
        OPENSSL_sk_num(X509_STORE_get0_objects(store))
    }
}
