import DirectJSON
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Several stores of roots")
struct TrustStoreTests {
    private let root = TestAuthority("One")
    private let other = TestAuthority("Two")

    private func probe(_ options: (String, String) -> [String]) async throws -> Outcome {
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        let files = [root, other].map { ($0, NSTemporaryDirectory() + "store-\(UUID().uuidString)=x.pem") }
        defer { for (_, file) in files { try? FileManager.default.removeItem(atPath: file) } }
        for (authority, file) in files {
            try authority.rootPEM.write(toFile: file, atomically: true, encoding: .utf8)
        }
        let arguments = ["a.test@\(server.authority)", "--skip-default"]
        return try await SNIProbeTests.probe(arguments + options(files[0].1, files[1].1))
    }

    @Test("Files without a label are one store, whose names may have an equals sign")
    func files() async throws {
        let outcome = try await probe { ["--ca", $1, "--ca", $0] }
        #expect(outcome.code == 0 && outcome.record?.warnings.isEmpty == true)
        #expect(outcome.record?.served?.chain.otherStores.isEmpty == true)
    }

    @Test("The first store decides, and that another does not trust the chain is a warning")
    func warning() async throws {
        let outcome = try await probe {
            ["--ca", "mine=\($0)", "--ca", "old=\($1)", "--ca", "new=\($1)", "--ca", "new=\($0)"]
        }
        #expect(outcome.code == 0)
        #expect(outcome.record?.warnings.map(\.text) == ["not trusted by old"])
        #expect(outcome.record?.served?.chain.otherStores.map(\.isTrusted) == [false, true])
        let strict = try await probe { ["--ca", "mine=\($0)", "--ca", "old=\($1)", "--strict"] }
        #expect(strict.code == 90)
        let wrong = try await probe { ["--ca", "old=\($1)", "--ca", "mine=\($0)"] }
        #expect(wrong.faults == ["unknown_issuer"])
    }

    @Test("The system's roots and files cannot have one label")
    func mixture() async throws {
        await #expect(throws: UsageError.self) {
            _ = try await probe { one, _ in ["--ca", "a=\(one)", "--ca", "a=system"] }
        }
    }

    @Test("The authorities of which a server wants client certificates are named, the first twenty of them")
    func clientAuthorities() async throws {
        let wanted = (1...22).map { TestAuthority("Client CA \($0)").certificate }
        for version in ["1.2", "1.3"] {
            let server = try FixtureServer.start(
                .tls(root.certificate(for: "a.test")) { $0.clientCertificates = .required(from: wanted) }
            ) { _ in .text("") }
            let outcome = try await SNIProbeTests.probe(
                "a.test",
                at: server,
                "--skip-default",
                "--tls",
                version,
                trusting: root.rootPEM
            )
            // In TLS 1.2 the handshake fails without the certificate.
            let found = try #require(outcome.record?.observation.first?.clientAuthorities)
            #expect(found.count == 22 && found.names.count == 20 && found.names.first == "CN=Client CA 1")
        }
    }
}
