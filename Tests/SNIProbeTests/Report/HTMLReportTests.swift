import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("HTML reports")
struct HTMLReportTests {
    private func report(_ lines: [ReportLine], incomplete: String? = nil) throws -> MarkupReader {
        var digest = Digest()
        for line in lines { digest.add(try #require(line.entry)) }
        return MarkupReader(HTMLReport(digest: digest, incomplete: incomplete).bytes)
    }

    @Test("A run of real probes has its IPs, its certificates and its verdicts in the report")
    func realProbes() async throws {
        let root = TestAuthority()
        let good = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("") }
        let dead = try FixtureServer.refusing()
        let records = try await probe(
            ["a.test@\(good.authority)", "b.test@\(good.authority)", "a.test@\(dead.authority)"],
            trusting: root.rootPEM
        ).records
        let sink = OutputSink.memory
        let output = HTMLOutput(to: sink)
        var digest = Digest()
        for record in records { digest.add(record) }
        output.finish(digest, interrupted: true)
        #expect(output.flush())
        let report = MarkupReader(sink.bytes)
        let text = report.texts("body").joined()
        for record in records {
            #expect(text.contains(record.target.name))
            for fault in record.faults {
                #expect(text.contains(fault.text) && text.contains(fault.id.rawValue))
            }
            guard let hash = ReportEntry(record).certificate?.hash else { continue }
            #expect(hash.count == 64 && text.contains(hash.prefix(8)))
        }
        #expect(text.contains("127.0.0.1 port \(good.port)"))
        #expect(report.texts("title").first == "sni-probe: 2 of 3 failed")
        #expect(text.contains("The run was interrupted"))
    }

    @Test("Text of servers, resolvers and users cannot become markup")
    func hostileText() throws {
        let evil = "\"'><script>alert(1)</script><img src=x onerror=a()>&amp;</style></title>]]>\u{202E}\u{0}"
        let line = ReportLine(
            host: evil,
            ip: evil,
            url: evil,
            faults: [(evil, evil)],
            warnings: [(evil, evil)],
            hint: evil,
            verdict: evil,
            defaultName: evil,
            hash: evil,
            name: evil,
            issuer: evil,
            resolvers: [(evil, [evil]), ("other", ["203.0.113.9"])]
        )
        let report = try report([line, ReportLine(host: evil)])
        let allowed: Set = [
            "html", "head", "meta", "title", "style", "body", "main", "section", "h1", "h2", "h3", "p", "ul",
            "li",
            "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "b", "figure", "figcaption", "svg",
            "desc",
            "path", "circle", "rect", "line", "text",
        ]
        #expect(Set(report.elements.map(\.name)).isSubset(of: allowed))
        #expect(report.texts("td").contains { $0.contains("<script>alert(1)</script>") })
        #expect(report.texts("h2").contains { $0.hasPrefix("\"'><script>") })
        #expect(!report.texts("body").joined().unicodeScalars.contains("\u{202E}"))
    }

    @Test("The report loads nothing, has no script, and forbids both")
    func isSelfContained() throws {
        let report = try report([ReportLine()])
        for element in report.elements {
            for name in ["src", "href", "style", "srcset", "action", "data"] {
                #expect(element.attributes[name] == nil, "\(element.name) has \(name)")
            }
            #expect(!element.attributes.keys.contains { $0.hasPrefix("on") })
        }
        #expect(!HTMLStyle.text.contains("url(") && !HTMLStyle.text.contains("@import"))
        let policy = report.named("meta").first { $0["http-equiv"] == "Content-Security-Policy" }
        #expect(policy?["content"] == "default-src 'none'; style-src 'unsafe-inline'")
    }

    @Test("Pictures have a title, a description and the same in words beside them; tables have headings")
    func isAccessible() throws {
        let report = try report([
            ReportLine(),
            ReportLine(ip: "203.0.113.2", faults: [("refused", "connection refused")], hash: nil),
        ])
        #expect(report.named("html").first?["lang"] == "en")
        let names = Set(report.elements.compactMap { $0.attributes["id"] })
        let pictures = report.named("svg")
        #expect(pictures.count == 2 && report.texts("figcaption") == report.texts("desc"))
        for picture in pictures {
            #expect(picture["role"] == "img")
            let labels = picture["aria-labelledby"]?.split(separator: " ").map(String.init) ?? []
            #expect(labels.count == 2 && names.isSuperset(of: labels))
        }
        #expect(report.named("table").count == report.texts("caption").count)
        #expect(report.named("th").allSatisfy { $0["scope"] == "col" || $0["scope"] == "row" })
        let levels = report.elements.compactMap { $0.name.wholeMatch(of: /h([1-6])/).flatMap { Int($0.1) } }
        #expect(levels.first == 1 && levels.filter { $0 == 1 }.count == 1)
        #expect(zip(levels, levels.dropFirst()).allSatisfy { $1 <= $0 + 1 })
        #expect(
            report.texts("figcaption").first?.contains("1 IP with no certificate (connection refused; FAIL)")
                == true
        )
    }

    @Test("Every text colour has enough contrast in light and in dark")
    func contrast() throws {
        func luminance(_ color: String) throws -> Double {
            let number = try #require(Int(color.dropFirst(), radix: 16))
            let parts = [16, 8, 0].map { shift in
                let part = Double(number >> shift & 0xFF) / 255
                return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
        }
        func ratio(_ one: String, _ other: String) throws -> Double {
            let both = [try luminance(one), try luminance(other)].sorted()
            return (both[1] + 0.05) / (both[0] + 0.05)
        }
        let back = try #require(HTMLStyle.colors.first { $0.name == "back" })
        #expect(abs(try ratio("#ffffff", "#000000") - 21) < 0.01)
        for color in HTMLStyle.colors where !["back", "line"].contains(color.name) {
            #expect(try ratio(color.light, back.light) >= 4.5, "\(color.name) in light")
            #expect(try ratio(color.dark, back.dark) >= 4.5, "\(color.name) in dark")
        }
    }

    @Test("Where resolvers differ the report says so, and whose users get the bad address")
    func resolvers() throws {
        let resolvers = [("system", ["203.0.113.1"]), ("dns@192.0.2.53", ["203.0.113.2"])]
        let report = try report([
            ReportLine(resolvers: resolvers),
            ReportLine(ip: "203.0.113.2", faults: [("expired", "expired 9 days ago")], resolvers: resolvers),
        ])
        let text = report.texts("p")
        #expect(text.contains("The resolvers differ."))
        #expect(text.contains("203.0.113.2 is given by dns@192.0.2.53 only, and fails: expired 9 days ago"))
        #expect(report.texts("td").contains("203.0.113.2"))
    }

    @Test("Results beyond the limit are counted, and failed ones are listed first")
    func manyResults() throws {
        var lines = (0..<3000).map { ReportLine(host: "h\($0 % 7).test", ip: "10.0.\($0 / 250).\($0 % 250)") }
        lines.append(ReportLine(host: "bad.test", faults: [("expired", "expired")]))
        let report = try report(lines)
        let hosts = report.elements.filter { $0.attributes["id"]?.hasPrefix("host-") == true }.map(\.text)
        #expect(hosts.first == "bad.test" && hosts.count == 8)
        #expect(report.texts("p").contains { $0.hasPrefix("2,500 more results are counted above") })
        #expect(report.texts("title").first == "sni-probe: 1 of 3,001 failed")
    }

    @Test("Many IPs with the same certificate are one line of the picture")
    func grouping() throws {
        let entries = try (1...40).map { number in
            let hash = number > 37 ? "ab" : "cd"
            return try #require(ReportLine(ip: "10.0.0.\(number)", hash: hash).entry)
        }
        let picture = PoolPicture("a.test", entries)
        #expect(picture.sources.map(\.label) == ["37 IPs: 10.0.0.1, …", "3 IPs: 10.0.0.38, …"])
        #expect(picture.targets.map(\.count) == [37, 3])
        #expect(PoolPicture("a.test", Array(entries.prefix(24))).sources.count == 24)
    }

    @Test("The time line marks what has ended, what ends soon and what has not begun")
    func timeLine() throws {
        let ends = [
            "2026-11-20T00:00:00Z", "2026-11-25T00:00:00Z", "2027-06-01T00:00:00Z", "9999-12-31T23:59:59Z",
        ]
        var lines = ends.enumerated().map { index, end in
            ReportLine(hash: "0\(index)", dates: ("2026-10-01T00:00:00Z", end))
        }
        lines.append(ReportLine(hash: "09", dates: ("2026-12-01T00:00:00Z", "2027-06-02T00:00:00Z")))
        let report = try report(lines)
        let bars = report.named("rect").filter { $0["rx"] != nil }
        #expect(bars.map { $0["class"] } == ["fail", "warn", "ok", "fail", "ok"])
        for bar in bars {
            let place = try #require(bar["x"].flatMap { Int($0) })
            let width = try #require(bar["width"].flatMap { Int($0) })
            #expect(place >= 330 && width > 0 && place + width <= 853)
        }
        #expect(
            report.texts("td").contains("ended 1 day ago") && report.texts("td").contains("not valid yet")
        )
        #expect(
            report.texts("figcaption").last?.contains("1 ended before 2026-11-21; 1 not valid yet") == true
        )
    }
}
