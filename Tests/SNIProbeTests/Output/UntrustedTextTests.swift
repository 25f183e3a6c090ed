import DirectCore
import DirectHTTP
import DirectJSON
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

/// Certificates are written by the server's operator, or by an attacker.
@Suite("Untrusted text")
struct UntrustedTextTests {
    private let root = TestAuthority()
    private let style = Style(usesColor: false, unicode: true, width: 80)

    private func outputs(_ record: ProbeRecord) throws -> [String] {
        let json = JSONRecord(record).line
        _ = try JSONReader.read(json)
        return [
            LongForm(record: record, style: style, verbose: true).text,
            TableLine(record: record, style: style).tabSeparated.replacing("\t", with: " "),
            String(decoding: json, as: UTF8.self),
        ]
    }

    private func isHarmless(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0 == "\n" || !$0.isDeceptive }
    }

    private func record(_ certificate: FixtureCertificate) async throws -> ProbeRecord {
        let server = try FixtureServer.start(.tls(certificate)) { _ in .text("") }
        let outcome = try await probe("a.test", at: server, trusting: root.rootPEM)
        return try #require(outcome.record)
    }

    @Test("Control characters in a certificate's names are never printed raw")
    func controlCharactersInNamesNeverReachTheTerminal() async throws {
        var profile = CertificateProfile(
            [
                .dnsBytes(Array("\u{1B}]0;owned\u{7}.test".utf8)), .dnsBytes([0x61, 0, 0x9B, 0xFF, 0x0A]),
                .dns("\u{202E}tset.b"),
            ],
            commonName: "bad\u{1B}[2J\r\nok    a.test\u{202E}"
        )
        profile.isSelfSigned = true
        let record = try await record(try root.issue(profile))
        #expect(record.exitCode == 60)
        for text in try outputs(record) { #expect(isHarmless(text)) }
    }

    @Test("Of ten thousand names the output shows few and says how many more there are")
    func tenThousandNamesAreCountedAndFewAreShown() async throws {
        let names = (0..<10_000).map { CertificateProfile.Name.dns("n\($0).example") } + [.dns("a.test")]
        let record = try await record(try root.issue(CertificateProfile(names, commonName: "many")))
        #expect(record.faults.map(\.id) == [.chainSize])
        let texts = try outputs(record)
        #expect(texts[0].contains("a.test, n0.example"))
        #expect(texts[0].contains(" more"))
        #expect(texts.allSatisfy { $0.utf8.count < 40_000 })
    }

    @Test("A chain of 16 large certificates is judged, and its report is short")
    func aChainOfAMebibyteIsJudgedAndItsReportIsShort() async throws {
        var profile = CertificateProfile([], commonName: "padding")
        profile.extensions = [
            .init(
                "1.3.6.1.4.1.55555.1",
                der: [0x04, 0x82, 0xFF, 0x00] + [UInt8](repeating: 7, count: 0xFF00)
            )
        ]
        let padding = try root.issue(profile)
        let certificate = root.certificate(for: "a.test").sent(with: Array(repeating: padding, count: 15))
        let record = try await record(certificate)
        #expect(record.served?.chain.count == 16)
        #expect(record.faults.map(\.id) == [.chainSize])
        #expect(try outputs(record).allSatisfy { $0.utf8.count < 40_000 })
    }

    @Test("A chain beyond the size limit is a fault of the handshake")
    func aChainBeyondTheLimitIsAFaultAndNoMemory() async throws {
        var profile = CertificateProfile([], commonName: "padding")
        profile.extensions = [
            .init(
                "1.3.6.1.4.1.55555.1",
                der: [0x04, 0x82, 0xFF, 0x00] + [UInt8](repeating: 7, count: 0xFF00)
            )
        ]
        let padding = try root.issue(profile)
        let record = try await record(
            root.certificate(for: "a.test").sent(with: Array(repeating: padding, count: 40))
        )
        #expect(record.faults.map(\.id) == [.handshakeBroken])
        #expect(record.exitCode == 35)
    }

    /// The same certificate with other bytes: no authority signs it, but a server may send it.
    private func damaged(_ name: String, _ old: String, _ new: String) throws -> FixtureCertificate {
        let pem = try String(contentsOfFile: "\(CheckedIn.folder)/\(name).pem", encoding: .utf8)
        let end = "-----END CERTIFICATE-----"
        let lines = pem.split(separator: "\n")
        let first = try #require(lines.firstIndex { $0.contains("BEGIN CERTIFICATE") })
        let last = try #require(lines.firstIndex { $0.contains(end) })
        var der = try #require(Data(base64Encoded: lines[(first + 1)..<last].joined()))
        let place = try #require(der.firstRange(of: Data(old.utf8)))
        der.replaceSubrange(place, with: Data(new.utf8))
        let certificate =
            "-----BEGIN CERTIFICATE-----\n\(der.base64EncodedString(options: .lineLength64Characters))\n\(end)\n"
        return try FixtureCertificate(pem: certificate, key: pem)
    }

    @Test(
        "A date that cannot be read is reported as invalid",
        arguments: ["21001399999999Z", "2100ABCDEFGHIJZ", "21000101000000+"]
    )
    func aDateThatIsNoneIsSaidToBeNone(_ date: String) async throws {
        let server = try FixtureServer.start(.tls(try damaged("good", "21000101000000Z", date))) { _ in
            .text("")
        }
        let outcome = try await probe("good.test", at: server, trusting: try CheckedIn.rootPEM())
        let record = try #require(outcome.record)
        #expect(outcome.code == 60 || outcome.code == 35)
        for text in try outputs(record) { #expect(isHarmless(text)) }
        if record.leaf != nil {
            #expect(record.daysLeft == nil)
            #expect(try outputs(record)[0].contains("with an invalid date"))
            #expect(try outputs(record)[2].contains("\"not_after\":null,\"days_left\":null"))
        }
    }

    @Test("Dates far in the past and in the year 9999 are valid")
    func datesAtTheEndsOfTimeAreDates() async throws {
        var profile = CertificateProfile(for: "a.test")
        profile.validity = .init(notBefore: -2_000_000_000, notAfter: 253_402_300_799)
        let record = try await record(try root.issue(profile))
        #expect(record.passed)
        #expect(try outputs(record)[0].contains("until 9999-12-31"))
    }

    @Test("Text from an HTTP server is never printed raw")
    func whatAnHTTPServerWritesNeverReachesTheTerminalRaw() async throws {
        let answer =
            "HTTP/1.1 301 \u{9B}Moved\r\nLocation: /\u{202E}\u{9B}2J\r\nX-\u{85}: y\r\nServer: \u{9D}0;owned\u{9C}\r\n"
            + "Content-Length: 0\r\n\r\n"
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in
            .raw(answer, then: .close)
        }
        let outcome = try await probe(
            ["https://a.test:\(server.port)/", "@127.0.0.1"],
            trusting: root.rootPEM
        )
        for text in try outputs(try #require(outcome.record)) { #expect(isHarmless(text)) }
    }

    @Test("Text is escaped and cut to its limit, with and without Unicode")
    func textIsCutToItsLimitsAlsoWithoutUnicode() {
        #expect(PlainText.harmless("ü\u{1B}", unicode: false) == "\\u{fc}\\u{1b}")
        #expect(PlainText.harmless("ü\u{200B}", unicode: true) == "ü\\u{200b}")
        #expect(Style(unicode: false).safe("abcdefghij", upTo: 6) == "abc...")
        #expect(Style(unicode: true).safe("abcdefghij", upTo: 6) == "abcde…")
    }
}
