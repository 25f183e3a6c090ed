// Swift 6.2 passes nothing to the process of a test.
#if canImport(Glibc) && compiler(>=6.3)
import CDirectOpenSSL
import DirectTestCommands
import Foundation
import Testing

@testable import DirectTLS

/// State that remains after OpenSSL found no memory. Each test has a process of its own.
@Suite("Failed allocations", .idleLimit)
struct AllocationFailureTests {
    @Test(
        "Without memory for the table of BIOs the connection fails, and the next one makes the table",
        .ownProcess,
        arguments: [
            true, false,
        ]
    )
    func table(hasIndex: Bool) async {
        await #expect(processExitsWith: .success) { [hasIndex] in
            try FailingMemory.install()
            try OpenSSLLibrary.start()
            // The first number is allocated for good: without it, the table itself is the first to find no
            // memory.
            if hasIndex { _ = BIO_get_new_index() }
            let transport = StuckTransport(.ended(clean: true))
            defer { withExtendedLifetime(transport) {} }
            var state = TransportState(transport: transport)
            var count = 0
            while FailingMemory.withFailure(after: count, { BIO_free(makeTransportBIO(&state)) }) {
                count += 1
            }
            try #require(count > 0)
            let bio = try #require(makeTransportBIO(&state))
            BIO_free(bio)
        }
    }

    @Test(
        "Without memory while roots are read, no store refuses good certificates",
        .ownProcess,
        arguments: RootSource.allCases
    )
    func roots(_ source: RootSource) async {
        await #expect(processExitsWith: .success) { [source] in
            try FailingMemory.install()
            let leaf = TestCertificate.leaf("a.test")
            let file = FileManager.default.temporaryDirectory.appending(
                path: "roots-\(UUID().uuidString).pem"
            )
            try Data(TestCertificate.authority.pem).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let root = (pem: TestCertificate.authority.pem, der: TestCertificate.authority.der)
            // The first one is with all memory: it fetches what OpenSSL keeps for good.
            try #require(vouches(try source.store(root, file.path), for: leaf))
            var (count, kept) = (0, 0)
            var store: OpaquePointer?
            while FailingMemory.withFailure(
                after: count,
                { store = try? source.store(root, file.path) }
            ) {
                count += 1
                guard let whole = store else { continue }
                kept += 1
                // The next call must not see the errors of this one.
                ErrorQueue.clear()
                try #require(vouches(whole, for: leaf), "allocation \(count)")
            }
            // The last call had all memory.
            X509_STORE_free(store)
            try #require(count > 5 && kept < count)
        }
    }

    @Test(
        "Roots whose reading in a handshake lacked memory are read again in the next one",
        .ownProcess,
        arguments: LateSource.allCases
    )
    func lateRoots(_ source: LateSource) async {
        await #expect(processExitsWith: .success) { [source] in
            try FailingMemory.install()
            let leaf = TestCertificate.leaf("a.test")
            let folder = FileManager.default.temporaryDirectory.appending(
                path: "roots-\(UUID().uuidString)"
            )
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let hash = X509_NAME_hash_ex(X509_get_issuer_name(leaf.x509), nil, nil, nil)
            let file = folder.appending(path: String(format: "%08lx.0", hash))
            // As many as make the store's list grow, the one that is needed at the end.
            let others = (0..<4).map {
                TestCertificate(.init(commonName: "root \($0)", isAuthority: true))
            }
            try Data(others.flatMap(\.pem) + TestCertificate.authority.pem).write(to: file)
            // The first one is with all memory: it fetches what OpenSSL keeps for good.
            try #require(vouches(try source.store(folder.path, file.path), for: leaf))
            var (count, isFailing) = (0, true)
            while isFailing {
                let store = try source.store(folder.path, file.path)
                // Only the roots are read here, as a chain has them read; what else a chain takes is not to
                // fail.
                isFailing = FailingMemory.withFailure(after: count) {
                    guard let check = X509_STORE_CTX_new() else { return }
                    if X509_STORE_CTX_init(check, store, leaf.x509, nil) == 1 {
                        var issuer: OpaquePointer?
                        _ = X509_STORE_CTX_get_get_issuer(check)?(&issuer, check, leaf.x509)
                        X509_free(issuer)
                    }
                    X509_STORE_CTX_free(check)
                }
                ErrorQueue.clear()
                try #require(vouches(store, for: leaf), "allocation \(count)")
                count += 1
            }
            try #require(count > 10)
        }
    }
}

/// Whether a chain from the certificate to a root in the store is good. Takes the store.
private func vouches(_ store: OpaquePointer, for leaf: TestCertificate) -> Bool {
    defer { X509_STORE_free(store) }
    guard let check = X509_STORE_CTX_new() else { return false }
    defer { X509_STORE_CTX_free(check) }
    guard X509_STORE_CTX_init(check, store, leaf.x509, nil) == 1 else { return false }
    return X509_verify_cert(check) == 1
}

/// The ways in which roots are read when a context is made.
enum RootSource: String, CaseIterable, Codable {
    case pem, der, pemFile, bundle

    func store(_ root: (pem: [UInt8], der: [UInt8]), _ file: String) throws(TLSError)
        -> OpaquePointer
    {
        switch self {
        case .pem: try TrustStore.make(.only([.pem(root.pem)]))
        case .der: try TrustStore.make(.only([.der(root.der)]))
        case .pemFile: try TrustStore.make(.only([.pemFile(file)]))
        case .bundle: try TrustStore.make([try SystemRoots(bundle: file).read()])
        }
    }
}

/// The places whose roots are read when a chain needs them.
enum LateSource: String, CaseIterable, Codable {
    case directory, bundle

    func store(_ folder: String, _ file: String) throws(TLSError) -> OpaquePointer {
        switch self {
        case .directory: try TrustStore.make([try SystemRoots(directories: folder).read()])
        case .bundle: try TrustStore.make([try SystemRoots(bundle: file).read()])
        }
    }
}
#endif
