import TLSFixtures
import Testing

@testable import SNIProbe

/// A hint is for the fault that is there: what it takes for granted has to be true.
@Suite struct HintTests {
    private let root = TestAuthority()

    private func record(_ arguments: [String]) async throws -> ProbeRecord {
        try #require(try await probe(arguments, trusting: root.rootPEM).record)
    }

    private func hint(_ arguments: [String]) async throws -> String? {
        try await record(arguments).hint?.text
    }

    @Test func aRequestWithoutTLSIsNotToldThatTLSIsFine() async throws {
        let answers = ["HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n\r\n"]
        for answer in answers {
            let server = try FixtureServer.start(
                behaviour: .bytes([.awaitArrival, .send(answer), .awaitClose])
            )
            let text = try await hint(["http://a.test:\(server.port)/@127.0.0.1"]) ?? ""
            #expect(!text.contains("TLS is fine"))
            #expect(!text.contains("certificate"))
        }
    }

    @Test func aPortForTLSIsRecognisedAlsoWithoutTLS() async throws {
        let server = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .alert(10), .awaitClose]))
        let record = try await record(["http://a.test:\(server.port)/@127.0.0.1"])
        #expect(record.exitCode == 56)
        #expect(record.faults.map(\.text) == ["not plain HTTP: the server speaks TLS"])
        #expect(record.hint?.text == "the port may be one for TLS: try https://a.test:\(server.port)/")
    }

    @Test func versionsThatAreTooOldAreToldFromTheOneThatWasAskedFor() async throws {
        let server = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .alert(70), .awaitClose]))
        let place = "a.test@\(server.authority)"
        #expect(try await hint([place])?.contains("too old") == true)
        #expect(
            try await hint([place, "--tls", "1.3"])
                == "the server does not speak that version of TLS: leave out --tls"
        )
    }

    @Test(arguments: ["1.2", "1.3"])
    func aServerThatWantsToKnowWhoWeAreIsNoPuzzle(_ version: String) async throws {
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")) { $0.clientCertificates = .required(from: []) }
        ) { _ in .text("") }
        let record = try await record(
            ["https://a.test:\(server.port)/", "@127.0.0.1", "--tls", version, "--skip-default"]
        )
        #expect(!record.passed)
        #expect(record.hint?.text == "the server wants a client certificate, which sni-probe does not have")
    }

    @Test func whereNobodyComparedTheNameIsNotBlamed() async throws {
        let server = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .alert(40), .awaitClose]))
        let place = "a.test@\(server.authority)"
        #expect(try await hint([place, "--skip-default"])?.contains("without --skip-default") == true)
        let both = "it refuses with the name and without"
        #expect(try await hint([place])?.hasPrefix(both) == true)
        #expect(try await hint([place, "--no-sni"])?.hasPrefix(both) == true)
    }

    @Test func thePortIsPartOfWhatToTypeNext() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "b.test"))) { _ in .text("") }
        let text = try await hint(["a.test:\(server.port)", "@127.0.0.1"])
        #expect(text?.contains("sni-probe a.test:\(server.port) probes all that DNS gives") == true)
        let resolved = try await hint(["localhost:\(server.port)", "-4"])
        #expect(resolved?.hasSuffix("or take the IP out of its DNS records") == true)
    }

    @Test func whatAServerSaidThatSpeaksSomethingElseIsShownHarmless() async throws {
        let server = try FixtureServer.start(
            behaviour: .bytes([.awaitArrival, .send("RFB 003\u{1B}[2J\u{9B}\r\n"), .awaitClose])
        )
        let record = try await record(["a.test@\(server.authority)"])
        let text = LongForm(record: record, style: Style(), verbose: false).text
        #expect(text.contains("answered     RFB 003\\x1b[2J\\xc2\\x9b\\r\\n\n"))
    }
}
