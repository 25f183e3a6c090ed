import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

/// A row of Fixtures/certificates/certificates.json.
struct CertificateRow: Decodable, Sendable, CustomTestStringConvertible {
    struct Verdict: Decodable, Sendable {
        let name: String
        let client: String
        /// The verdict of `openssl s_client`, if it differs.
        let opensslClient: String?

        enum CodingKeys: String, CodingKey {
            case name
            case client
            case opensslClient = "s_client"
        }
    }

    let file: String
    let verdicts: [Verdict]

    var name: String { String(file.dropLast(4)) }
    var testDescription: String { name }

    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures/certificates").path

    static let all: [CertificateRow] = {
        let index = FileManager.default.contents(atPath: folder + "/certificates.json") ?? Data()
        return (try? JSONDecoder().decode([CertificateRow].self, from: index)) ?? []
    }()
}

@Suite("The checked-in certificates", .idleLimit)
struct CheckedInCertificateTests {
    private let root = CertificateRow.folder + "/root.pem"

    @Test("All certificates exist, each in the index and in the README")
    func complete() throws {
        let readme = try String(contentsOfFile: CertificateRow.folder + "/README.md", encoding: .utf8)
        let files = try FileManager.default.contentsOfDirectory(atPath: CertificateRow.folder)
        #expect(CertificateRow.all.count > 70)
        #expect(Set(files.filter { $0.hasSuffix(".pem") }) == Set(CertificateRow.all.map(\.file)))
        for row in CertificateRow.all { #expect(readme.contains("| `\(row.file)` |")) }
    }

    @Test(
        "The certificates are as the recipe describes",
        .enabled(if: isInstalled("python3") && isInstalled("openssl"))
    )
    func recipe() async throws {
        let result = try await run(
            "python3",
            [CertificateRow.folder + "/../../scripts/make/certificates", "--check"]
        )
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test(
        "The served certificates are accepted or refused by s_client as the index says",
        .enabled(if: isInstalled("openssl")),
        arguments: CertificateRow.all.filter { $0.verdicts.contains { $0.name != "a client" } }
    )
    func verdicts(row: CertificateRow) async throws {
        let server = try FixtureServer.start(
            .tls(try FixtureCertificate.load(row.name, from: CertificateRow.folder)),
            behaviour: .bytes([.send("hello")])
        )
        for verdict in row.verdicts where verdict.client != "depends" {
            let isAddress = verdict.name.contains(":") || verdict.name.hasPrefix("127.")
            let result = try await openSSLClient(
                server,
                arguments: [
                    "-quiet", "-verify_return_error", "-x509_strict", "-CAfile", root, "-no-CApath",
                    "-no-CAstore",
                    isAddress ? "-verify_ip" : "-verify_hostname", verdict.name,
                ]
            )
            let got = result.output == "hello" ? "accept" : "refuse"
            #expect(got == verdict.opensslClient ?? verdict.client, "\(verdict.name): \(result.errors)")
        }
    }

    @Test(
        "A server that requires client certificates distinguishes the checked-in ones",
        .enabled(if: isInstalled("openssl"))
    )
    func clients() async throws {
        let authority = try FixtureCertificate.load("root", from: CertificateRow.folder)
        let server = try FixtureServer.start(
            .tls(try FixtureCertificate.load("good", from: CertificateRow.folder)) {
                $0.clientCertificates = .required(from: [authority])
            },
            behaviour: .bytes([.send("hello")])
        )
        for (name, isAccepted) in [("client", true), ("client-expired", false), ("client-unknown", false)] {
            let file = CertificateRow.folder + "/\(name).pem"
            let result = try await openSSLClient(
                server,
                "-quiet",
                "-cert",
                file,
                "-cert_chain",
                file,
                "-key",
                file
            )
            #expect((result.output == "hello") == isAccepted, "\(name): \(result.errors)")
        }
    }

    @Test(
        "The revocation list and the OCSP responses have the described contents",
        .enabled(if: isInstalled("openssl"))
    )
    func revocation() async throws {
        let folder = CertificateRow.folder
        for (name, isRevoked) in [("good", false), ("revoked", true)] {
            let response = try await run(
                "openssl",
                [
                    "ocsp", "-respin", "\(folder)/\(name).ocsp", "-issuer", "\(folder)/intermediate.pem",
                    "-cert", "\(folder)/\(name).pem", "-CAfile", root, "-verify_other",
                    "\(folder)/intermediate.pem",
                    "-no_nonce",
                ]
            )
            #expect(response.errors.contains("Response verify OK"))
            #expect(response.output.contains(isRevoked ? ": revoked" : ": good"))
            let check = try await run(
                "openssl",
                [
                    "verify", "-crl_check", "-CAfile", root, "-untrusted", "\(folder)/intermediate.pem",
                    "-CRLfile", "\(folder)/revoked.crl", "\(folder)/\(name).pem",
                ]
            )
            #expect((check.status == 0) == !isRevoked, "\(check.errors)")
        }
    }
}
