import DirectHTTP
import TLSFixtures
import Testing

@testable import SNIProbe

/// The output for people and programs, word by word: a change shows in the diff of a file.
@Suite("Recorded output")
struct GoldenTests {
    private let style = Style(usesColor: false, unicode: true, width: 80)

    /// The record of a server with these certificates.
    private func record(
        _ words: [String],
        _ security: FixtureSecurity,
        _ behaviour: FixtureBehaviour = .http { _ in .text("hello") }
    ) async throws -> ProbeRecord {
        var security = security
        if case .tls(var settings) = security {
            // Newer libraries prefer newer groups.
            settings.groups = "X25519"
            security = .tls(settings)
        }
        let server = try FixtureServer.start(security, behaviour: behaviour)
        let arguments = words.map { $0.hasPrefix("-") ? $0 : $0.replacing("PLACE", with: server.authority) }
        let outcome = try await probe(arguments, trusting: try CheckedIn.rootPEM())
        let settings = try Options(arguments).settings
        return steady(try #require(outcome.record), settings)
    }

    private func check(_ record: ProbeRecord, _ name: String) throws {
        try expectGolden(LongForm(record: record, style: style, verbose: false).text, name + ".txt")
        try expectGolden(TableLine(record: record, style: style).tabSeparated + "\n", name + ".tsv")
        try expectGolden(String(decoding: JSONRecord(record).line, as: UTF8.self), name + ".json")
    }

    @Test(
        "Each kind of certificate has the recorded verdict",
        arguments: [
            "good", "expired", "not-yet-valid", "self-signed", "unknown-root", "missing-intermediate",
            "rsa-1024",
            "nul",
            "wrong-order", "expired-intermediate", "client-purpose", "common-name", "broken-signature",
        ]
    )
    func eachCertificateHasItsVerdict(_ name: String) async throws {
        let record = try await record(
            ["\(name).test@PLACE"],
            .tls(certificates: [], default: try CheckedIn.certificate("default")) { settings in
                settings.certificatesByName["\(name).test"] = try? CheckedIn.certificate(name)
            }
        )
        try check(record, name)
    }

    @Test("A request is printed with its response")
    func aRequestIsShownWithItsAnswer() async throws {
        let record = try await record(
            ["https://good.test/@PLACE"],
            .tls(try CheckedIn.certificate("good")),
            .http { _ in
                .status(301, ["Strict-Transport-Security": "max-age=31536000", "Location": "/home"])
            }
        )
        try check(record, "request")
    }

    @Test("A server that does not know the host has the recorded output")
    func theServerDoesNotKnowTheHost() async throws {
        try check(
            try await record(["www.example.com@PLACE"], .tls(try CheckedIn.certificate("default"))),
            "stranger"
        )
    }

    @Test("A probe without a server name has the recorded output")
    func noNameWasSent() async throws {
        let security = FixtureSecurity.tls(
            certificates: [try CheckedIn.certificate("good")],
            default: try CheckedIn.certificate("default")
        )
        try check(try await record(["good.test@PLACE", "--no-sni"], security), "no-sni")
    }

    @Test("A wildcard that nearly matches is explained")
    func aNearMissIsExplained() async throws {
        let wildcard = try CheckedIn.certificate("wildcard")
        try check(try await record(["a.b.wildcard.test@PLACE"], .tls(wildcard)), "near-miss")
    }

    @Test("A server that refuses the name has the recorded output")
    func theServerRefusesTheName() async throws {
        try check(
            try await record(
                ["www.example.com@PLACE"],
                .plain,
                .bytes([.awaitArrival, .alert(112), .awaitClose])
            ),
            "refused-name"
        )
    }

    @Test("A server that speaks plain HTTP has the recorded output")
    func theServerSpeaksPlainHTTP() async throws {
        try check(
            try await record(
                ["www.example.com@PLACE"],
                .plain,
                .bytes([.awaitArrival, .send("HTTP/1.1 400 Bad Request\r\n\r\n"), .awaitClose])
            ),
            "plain-http"
        )
    }

    @Test("A silent server has the recorded output")
    func theServerIsSilent() async throws {
        let server = try FixtureServer.start(behaviour: .bytes(.silent))
        let words = ["www.example.com@\(server.authority)"]
        let outcome = try await probe(words, trusting: try CheckedIn.rootPEM(), at: server) { $0.count == 2 }
        let settings = try Options(words + ["-t", "300ms"]).settings
        try check(steady(try #require(outcome.record), settings), "silent")
    }

    @Test("Several results are a table of at most 80 columns with a summary")
    func manyResultsAreATable() throws {
        // Made by hand: the table's own text is what is looked at.
        var digest = Digest()
        var text = ""
        var width = 12
        for record in try TableSamples.records() {
            digest.add(record)
            text += TableLine(record: record, style: style).text(addressWidth: &width) + "\n"
        }
        text += Summary(digest: digest, style: style, interrupted: false, hints: true).text
        try expectGolden(text, "table.txt")
        for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }
}

/// Results of a pool that needs no server.
private enum TableSamples {
    static func records() throws -> [ProbeRecord] {
        let judge = Judge(settings: ProbeSettings(), now: 1_795_000_000)
        let failures: [HandshakeFailure] = [
            .notConnected(SystemError("connect", code: 111)), .silentTCP, .silentTLS,
            .alert(.unrecognizedName),
            .alert(.handshakeFailure),
            .reset,
            .closed, .notTLS(.http), .notTLS(.ssh), .broken(.noCommonVersion, reason: "unsupported protocol"),
        ]
        return failures.enumerated().compactMap { index, failure in
            guard let address = IPAddress("203.0.113.\(index + 1)"),
                let host = try? HTTPHost("www.example.com")
            else {
                return nil
            }
            let probe = Probe(target: ProbeTarget(host: host), address: address, port: 443, source: .argument)
            let handshake = Handshake(serverName: "www.example.com", outcome: .failure(failure))
            return judge.record(
                of: Observation(probe: probe, time: 0, first: handshake, total: .milliseconds(10 + index))
            )
        }
    }
}
