import DirectHTTP
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Numbers, names and lists in the output")
struct SmallNumbersTests {
    private let lab: Lab
    private let host = "www.example.com"
    private let style = Style(usesColor: false, unicode: true, width: 100)

    init() throws { lab = try Lab() }

    private func record(_ profile: CertificateProfile, _ options: String...) async throws -> ProbeRecord {
        let server = try FixtureServer.start(.tls(try lab.issuer.issue(profile))) { _ in .text("") }
        let outcome = try await probe(["\(host)@\(server.authority)"] + options, trusting: lab.root.rootPEM)
        return try #require(outcome.record)
    }

    private func line(_ record: ProbeRecord) -> String {
        var width = 12
        return TableLine(record: record, style: style).text(addressWidth: &width)
    }

    @Test("A certificate without SAN is not called a wrong one for the name that it has as CN")
    func commonNameOnly() async throws {
        let record = try await record(CertificateProfile([], commonName: host))
        #expect(record.faults.first?.brief == "no SAN, only CN=www.example.com")
    }

    @Test("The table and the text agree on the days since the expiry")
    func daysSinceExpiry() async throws {
        var profile = CertificateProfile.publicLeaf(host)
        profile.validity = .init(notBefore: days(-99), notAfter: days(-9) - 43_200)
        let record = try await record(profile)
        #expect(record.faults.first?.text == "expired 9 days ago")
        #expect(line(record).contains(" -9 d "))
        // The number in records is rounded down, as it was.
        #expect(record.daysLeft == -10)
    }

    @Test("On the last day hours are left, not 0 days")
    func hoursLeft() async throws {
        var profile = CertificateProfile.publicLeaf(host)
        profile.validity = .init(notBefore: days(-80), notAfter: days(0) + 5 * 3600 + 60)
        let record = try await record(profile)
        #expect(record.warnings.map(\.text) == ["5 hours left"])
        #expect(line(record).contains(" 5 h "))
        #expect(LongForm(record: record, style: style, verbose: false).text.contains(", 5 hours left"))
        let strict = try await self.record(profile, "--critical-days", "7")
        #expect(strict.faults.first?.text == "5 hours left, fewer than 7 days")
    }

    @Test("More certificates than fit are counted")
    func moreCertificates() async throws {
        var digest = Digest()
        for _ in 0..<12 { digest.add(try await record(.publicLeaf(host))) }
        let text = Summary(digest: digest, style: style, interrupted: false, hints: false).text
        #expect(text.contains("12 certificates: "))
        #expect(text.hasSuffix("and 4 more\n"))
    }

    @Test("A hint for several IPs lists them and names none of them alone")
    func hintsNameTheirIPs() async throws {
        var digest = Digest()
        for last in 1...7 {
            let address = try #require(IPAddress("203.0.113.\(last)"))
            let probe = Probe(
                target: ProbeTarget(host: try HTTPHost(host)),
                address: address,
                port: 443,
                source: .argument
            )
            let handshake = Handshake(serverName: host, outcome: .failure(.alert(.unrecognizedName)))
            let observation = Observation(probe: probe, time: 0, first: handshake)
            digest.add(Judge(settings: ProbeSettings(), now: 0).record(of: observation))
        }
        let text = try #require(digest.hints.first)
        #expect(
            text.hasPrefix(
                "on 7 IPs (203.0.113.1, 203.0.113.2, 203.0.113.3, 203.0.113.4, 203.0.113.5 and 2 more): "
                    + "the IP does not know www.example.com."
            )
        )
    }

    @Test("Two URLs of a host are told apart in lines for a pipe and for Nagios")
    func twoURLs() async throws {
        let server = try FixtureServer.start(.tls(try lab.issuer.issue(.publicLeaf(host)))) { _ in
            .status(500)
        }
        let place = "https://\(host):\(server.port)"
        let outcome = try await probe(
            ["\(place)/a", "\(place)/b", "@127.0.0.1"],
            trusting: lab.root.rootPEM
        )
        let urls = outcome.records.map {
            TableLine(record: $0, style: style).tabSeparated.split(separator: "\t").last.map(String.init)
        }
        #expect(urls == ["\(place)/a", "\(place)/b"])
        var digest = Digest()
        let output = NagiosOutput(style)
        for record in outcome.records {
            digest.add(record)
            output.add(record, isOnlyOne: false)
        }
        let line = output.line(digest, interrupted: false)
        #expect(line.contains("\(host):\(server.port)/a @ 127.0.0.1 HTTP status 500"))
        #expect(line.contains("\(host):\(server.port)/b @ 127.0.0.1 HTTP status 500"))
    }

    @Test("An interrupted run does not say that all passed")
    func interrupted() async throws {
        var digest = Digest()
        digest.add(try await record(.publicLeaf(host)))
        digest.unfinished = 100
        digest.isCutShort = true
        let text = Summary(digest: digest, style: style, interrupted: true, hints: false).text
            .replacing("\n", with: " ")
        #expect(
            text.contains(
                "Interrupted, with 100 not finished and the rest of the input not begun. Of 1 that finished, 1 passed."
            )
        )
    }

    @Test("The column of addresses is wide enough before the first line")
    func addressColumn() throws {
        let target = ProbeTarget(host: try HTTPHost(host))
        let long = try #require(IPAddress("2001:db8:1111:2222:3333:4444:5555:6666"))
        let short = try #require(IPAddress("203.0.113.1"))
        var width = 12
        for address in [short, long] {
            let probe = Probe(target: target, address: address, port: 443, source: .argument)
            width = TableLine.width(for: probe, atLeast: width)
        }
        #expect(width == 38)
    }
}
