import Testing

@testable import SNIProbe

@Suite("Digests of results")
struct DigestTests {
    @Test("The list of certificates has those that end first, with exact counts, in any order of arrival")
    func certificates() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20 {
            let numbers = (0..<400).map { _ in Int.random(in: 10..<90, using: &random) }
            var list = CertificateList(most: 20)
            for number in numbers {
                let line = ReportLine(
                    hash: "\(number)",
                    dates: ("2026-01-01T00:00:00Z", "20\(number / 2 + 20)-01-01T00:00:00Z")
                )
                let entry = try #require(line.entry)
                list.add(try #require(entry.certificate), of: entry)
            }
            let first = Set(numbers).sorted().prefix(20)
            #expect(list.sorted.map(\.certificate.hash) == first.map(String.init))
            #expect(list.sorted.map(\.count) == first.map { number in numbers.count { $0 == number } })
            #expect(list.isCut == (Set(numbers).count > 20))
        }
    }

    @Test("Hints with the same advice are one, with their IPs")
    func hints() throws {
        var digest = Digest()
        for number in 1...3 {
            let ip = "203.0.113.\(number)"
            let line = ReportLine(
                ip: ip,
                faults: [("expired", "expired")],
                hint: "\(ip) does not know www.example.com.",
                advice: "{ip} does not know {host}."
            )
            digest.add(try #require(line.entry))
        }
        #expect(
            digest.hints == [
                "on 3 IPs (203.0.113.1, 203.0.113.2, 203.0.113.3): the IP does not know www.example.com."
            ]
        )
    }

    @Test("The exit code is that of the failed results, or that for several reasons")
    func exitCodes() throws {
        func code(_ faults: [String]) throws -> Int32 {
            var digest = Digest()
            digest.add(try #require(ReportLine().entry))
            for fault in faults { digest.add(try #require(ReportLine(faults: [(fault, "")]).entry)) }
            return digest.exitCode
        }
        #expect(try code([]) == 0)
        #expect(try code(["expired", "name_mismatch"]) == 60)
        #expect(try code(["expired", "refused"]) == 1)
        #expect(try code(["a_fault_of_a_later_version"]) == 1)
    }

    @Test(
        "Lines that are not of the JSON output are refused",
        arguments: [
            "", "{}", "[]", "null", #"{"v":2}"#, #"{"v":1,"host":"a"}"#,
            String(repeating: "[", count: 10_000),
        ]
    )
    func foreignLines(_ text: String) { #expect(ReportEntry(Array(text.utf8)) == nil) }

    @Test("A line that is cut anywhere, or contradicts itself, is refused")
    func damagedLines() throws {
        let line = ReportLine(faults: [("expired", "x")]).bytes
        #expect(ReportEntry(line) != nil)
        for count in 0..<line.count { #expect(ReportEntry(Array(line.prefix(count))) == nil) }
        let text = String(decoding: line, as: UTF8.self)
        #expect(ReportEntry(Array(text.replacing(#""ok":false"#, with: #""ok":true"#).utf8)) == nil)
        #expect(ReportEntry(Array(text.replacing("2026-11-21T", with: "2026-13-21T").utf8)) == nil)
    }

    @Test("Distinct texts are counted up to a limit")
    func distinct() {
        var count = DistinctCount()
        for number in 0..<100_000 { count.add("\(number % 50_000)") }
        #expect(count.text("host") == "50,000 hosts")
        for number in 0..<100_002 { count.add("\(number)") }
        #expect(count.text("host") == "more than 100,000 hosts")
    }
}
