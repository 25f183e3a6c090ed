import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Expected certificates")
struct ExpectedCertificateTests {
    private let root = TestAuthority()

    private func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    @Test("The expected certificate is given by its hash, the hash of its key or its file")
    func theExpectedCertificateIsKnownByItsHashItsKeyOrItsFile() async throws {
        let certificate = root.certificate(for: "a.test")
        let server = try FixtureServer.start(.tls(certificate)) { _ in .text("") }
        let file = NSTemporaryDirectory() + "probe-\(UUID().uuidString).pem"
        try certificate.pem.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let right = [
            "sha256:" + hex(certificate.fingerprint),
            "pin-sha256:" + Data(certificate.publicKeyHash).base64EncodedString(),
            file,
        ]
        for expected in right {
            let outcome = try await probe("a.test", at: server, "--expect", expected, trusting: root.rootPEM)
            #expect(outcome.code == 0, "\(expected)")
        }
        let wrong = "sha256:" + String(repeating: "00", count: 32)
        let outcome = try await probe("a.test", at: server, "--expect", wrong, trusting: root.rootPEM)
        #expect(outcome.code == 90)
        #expect(outcome.faults == ["not_expected"])
    }

    @Test("A certificate other than the first address's is a warning, and with --same a fault")
    func withSameEveryAddressHasToShowTheCertificateOfTheFirst() async throws {
        let port = try SharedPort(on: ["127.0.0.2", "127.0.0.3", "127.0.0.4"])
        let common = root.certificate(for: "a.test")
        let other = try root.issue(CertificateProfile(for: "a.test"))
        let servers = try zip(["127.0.0.2", "127.0.0.3", "127.0.0.4"], [common, other, common]).map {
            address,
            certificate in
            try FixtureServer.start(.tls(certificate), on: address, port: port.number) { _ in .text("") }
        }
        defer { for server in servers { server.stop() } }
        let arguments = ["a.test:\(port.number)@127.0.0.2,127.0.0.3,127.0.0.4"]
        let lax = try await probe(arguments, trusting: root.rootPEM)
        #expect(lax.code == 0)
        #expect(lax.records.map { $0.warnings.map(\.id) } == [[], [.otherCertificate], []])
        let strict = try await probe(arguments + ["--same"], trusting: root.rootPEM)
        #expect(strict.code == 90)
        #expect(strict.records.map { $0.faults.map(\.id) } == [[], [.differs], []])
    }

    @Test("With --same, addresses are compared with the most frequent certificate that has no other fault")
    func sameComparesWithAGoodOne() async throws {
        let addresses = (2...5).map { "127.0.0.\($0)" }
        let port = try SharedPort(on: addresses)
        let common = root.certificate(for: "a.test")
        let expired = try root.issue(.publicLeaf("a.test", from: -99, until: -9))
        let stranger = root.certificate(for: "b.test")
        let servers = try zip(addresses, [stranger, expired, common, common]).map { address, certificate in
            try FixtureServer.start(.tls(certificate), on: address, port: port.number) { _ in .text("") }
        }
        defer { for server in servers { server.stop() } }
        func faults(_ order: [String]) async throws -> [[Fault.ID]] {
            let arguments = ["a.test:\(port.number)@\(order.joined(separator: ","))", "--same"]
            return try await probe(arguments, trusting: root.rootPEM).records.map { $0.faults.map(\.id) }
        }
        // The expired one differs as well; that the wrong one does goes without saying.
        #expect(try await faults(addresses) == [[.defaultCertificate], [.expired, .differs], [], []])
        #expect(
            try await faults(addresses.reversed()) == [[], [], [.expired, .differs], [.defaultCertificate]]
        )
    }

    @Test("Faults of different kinds have status 1, and of one kind their own")
    func severalReasonsTogetherHaveACodeOfTheirOwn() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        let dead = try FixtureServer.refusing()
        let mixed = ["b.test@\(server.authority)", "a.test@\(dead.authority)"]
        #expect(try await probe(mixed, trusting: root.rootPEM).code == 1)
        let alike = [
            "b.test@\(server.authority)", "a.test@\(server.authority)", "c.test@\(server.authority)",
        ]
        #expect(try await probe(alike, trusting: root.rootPEM).code == 60)
    }
}
