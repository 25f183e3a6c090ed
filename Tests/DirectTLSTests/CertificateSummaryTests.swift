import CDirectOpenSSL
import Testing

import DirectCore
@testable import DirectTLS

@Suite("Summaries of certificates")
struct CertificateSummaryTests {
    private func summary(_ change: (inout TestCertificate.Plan) -> Void) -> CertificateSummary {
        var plan = TestCertificate.Plan()
        change(&plan)
        let certificate = TestCertificate(plan, issuer: .authority)
        return withExtendedLifetime(certificate) { CertificateSummary(certificate.x509) }
    }

    @Test("A summary has the names, addresses, hashes and serial number of its certificate")
    func itSaysWhatTheCertificateSays() {
        let certificate = TestCertificate(
            .init(names: [.dns("a.test"), .address([127, 0, 0, 1]), .dns("*.b.test")], commonName: "Büro"),
            issuer: .authority
        )
        let summary = CertificateSummary(certificate.x509)
        #expect(summary.subject == "CN=Büro")
        #expect(summary.issuer == "CN=Test Root")
        #expect(summary.dnsNames == ["a.test", "*.b.test"])
        #expect(summary.ipAddresses == ["127.0.0.1"])
        #expect(summary.omittedNames == 0)
        #expect(summary.der == certificate.der)
        #expect(summary.sha256 == sha256(certificate.der))
        #expect(summary.spkiSHA256.count == 32)
        #expect(summary.spkiSHA256 != summary.sha256)
        #expect(!summary.serial.isEmpty)
    }

    @Test("A summary has the URIs of its certificate, which take no place from the names")
    func uris() {
        let uris = (0..<10_001).map { "spiffe://a.test/\($0)\n" }
        let summary = summary { $0.names = uris.map { .uri($0) } + [.dns("a.test")] }
        #expect(summary.uris == uris.dropLast() && summary.dnsNames == ["a.test"])
        #expect(summary.omittedNames == 1)
        #expect(summary.description.contains("for a.test, spiffe://a.test/0\\u{a}, "))
    }

    @Test("Hashes are those of SHA-256")
    func hashesAreThoseOfTheStandard() {
        #expect(
            Hex.encode(sha256(Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
    }

    @Test(
        "Dates are seconds since 1970",
        arguments: [
            ("19700101000000Z", 0), ("700101000000Z", 0), ("20000229120000Z", 951_825_600),
            ("20380119031408Z", 2_147_483_648),
            ("19491231235959Z", -631_152_001), ("99991231235959Z", 253_402_300_799),
        ]
    )
    func datesAreSecondsSince1970(_ text: String, _ seconds: Int) {
        #expect(summary { $0.rawDate = text }.notAfter == seconds)
    }

    @Test(
        "A date that cannot be read is nil",
        arguments: ["", "nonsense", "20261399999999Z", "2026010100", String(repeating: "9", count: 500)]
    )
    func dateThatIsNoDateIsNil(_ text: String) {
        #expect(summary { $0.rawDate = text }.notAfter == nil)
    }

    @Test("Unusual names are kept as they are, and escaped in the description")
    func oddNamesAreKeptAndEscapedInWords() {
        let summary = summary {
            $0.names = [.dns("a.test\0.evil"), .dns("x\ny"), .dns("\u{202e}z"), .address([1, 2, 3])]
        }
        #expect(summary.dnsNames == ["a.test\0.evil", "x\ny", "\u{202e}z"])
        #expect(summary.ipAddresses == ["invalid address 010203"])
        #expect(summary.description.contains("a.test\\u{0}.evil, x\\u{a}y, \\u{202e}z"))
    }

    @Test("A common name cannot add lines or control characters to the description")
    func commonNameCannotBreakALine() {
        let summary = summary { $0.commonName = "a\nb\u{1b}[2J\u{2028}c" }
        #expect(!summary.description.unicodeScalars.contains { $0.value < 32 || $0.value == 0x2028 })
    }

    @Test("At most 10,000 names are kept, and the others are counted")
    func tenThousandNamesAreTheMost() {
        let summary = summary { $0.names = (0..<10_500).map { .dns("\($0).test") } }
        #expect(summary.dnsNames.count == 10_000)
        #expect(summary.omittedNames == 500)
        #expect(summary.der.count > 100_000)
        #expect(summary.description.contains("and 10480 more"))
    }

    @Test("A certificate with 9,000 other names is refused")
    func broadChainIsRefusedOrReadWithoutHarm() throws {
        let names = (0..<9_000).map { TestCertificate.Name.dns("\($0).test") }
        let leaf = TestCertificate(.init(names: names), issuer: .authority)
        let pair = try Pair(TestServer(leaf), .testing(), .name("a.test"))
        #expect(pair.shake().error != nil)
    }
}
