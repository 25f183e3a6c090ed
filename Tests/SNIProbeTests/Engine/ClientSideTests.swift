import DirectTLS
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

/// What the probe itself shows and offers: a certificate, and protocols.
@Suite("Client certificates and ALPN")
struct ClientSideTests {
    private let root = TestAuthority()

    private func withFiles<Result>(_ texts: [String], _ body: ([String]) async throws -> Result) async throws
        -> Result
    {
        let paths = texts.map { _ in NSTemporaryDirectory() + "identity-\(UUID().uuidString).pem" }
        for (path, text) in zip(paths, texts) {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
        return try await body(paths)
    }

    @Test("A certificate is shown to a server that requires one", arguments: ["1.2", "1.3"])
    func clientCertificate(_ version: String) async throws {
        let client = try root.issue(.client("probe"))
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")) { [root] in
                $0.clientCertificates = .required(from: [root.certificate])
            }
        ) { _ in .text("hello") }
        let place = ["https://a.test:\(server.port)/", "@127.0.0.1", "--tls", version]
        let without = try await probe(place, trusting: root.rootPEM)
        #expect(without.code != 0)
        #expect(
            without.record?.hint?.text
                == "the server wants a client certificate: give one with --cert FILE and --key FILE"
        )
        try await withFiles([client.chainPEM, client.keyPEM]) { paths in
            let with = try await probe(
                place + ["--cert", paths[0], "--key", paths[1]],
                trusting: root.rootPEM
            )
            #expect(with.code == 0)
            #expect(with.record?.served?.facts?.requestsClientCertificate == true)
            #expect(server.records.contains { $0.tls?.clientSubject?.contains("probe") == true })
        }
        // Both in one file.
        try await withFiles([client.chainPEM + client.keyPEM]) { paths in
            let both = try await probe(place + ["--cert", paths[0]], trusting: root.rootPEM)
            #expect(both.code == 0)
        }
    }

    @Test("Files that are no identity are refused with words, and never quoted")
    func badIdentities() async throws {
        let client = try root.issue(.client("probe"))
        let other = try root.issue(.client("other"))
        let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"
        let files = [client.chainPEM, client.keyPEM, encrypted, other.keyPEM, "0\u{1}"]
        try await withFiles(files) { paths in
            let cases: [([String], String)] = [
                (["--cert", paths[0]], "there is no private key in"),
                (["--cert", paths[1]], "there is no certificate in PEM in"),
                (["--cert", paths[0], "--key", paths[2]], "is encrypted"),
                (["--key", paths[1]], "--key needs --cert"),
            ]
            for (options, words) in cases {
                #expect {
                    _ = try Options(options + ["a.test"])
                } throws: { ($0 as? UsageError)?.what.contains(words) == true }
            }
            #expect {
                _ = try Options(["a.test", "--cert", paths[0], "--key", paths[4]])
            } throws: { ($0 as? UsageError)?.hint?.hasPrefix("if it is DER: ") == true }
            let mismatch = try await Program.run([
                "a.test@127.0.0.1:1", "--cert", paths[0], "--key", paths[3],
            ])
            #expect(mismatch.code == 66)
            #expect(mismatch.errors.contains("client key"))
            #expect(!mismatch.errors.contains("PRIVATE"))
        }
    }

    @Test("The protocols of --alpn are offered, and no request is sent in another than HTTP/1.1")
    func protocols() async throws {
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")) { $0.applicationProtocols = ["h2", "http/1.1"] }
        ) { _ in .text("hello") }
        let bare = try await probe(
            ["a.test@\(server.authority)", "--alpn", "h2,http/1.1", "--skip-default"],
            trusting: root.rootPEM
        )
        #expect(bare.record?.served?.facts?.alpn == "h2")
        let request = try await probe(
            ["https://a.test:\(server.port)/", "@127.0.0.1", "--alpn", "h2,http/1.1"],
            trusting: root.rootPEM
        )
        #expect(request.code == 56)
        #expect(request.record?.faults.first?.text == "no request sent: the server chose h2")
        #expect(server.requests.isEmpty)
        let plain = try await probe(
            ["https://a.test:\(server.port)/", "@127.0.0.1", "--alpn", "http/1.1"],
            trusting: root.rootPEM
        )
        #expect(plain.code == 0)
        #expect(throws: UsageError.self) { _ = try Options(["a.test", "--alpn", "h2,"]) }
    }
}
