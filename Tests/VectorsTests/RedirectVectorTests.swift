import Testing

@testable import tls_fixtures

@Suite("The vectors of redirects")
struct RedirectVectorTests {
    @Test("The vectors pass for this client with a simulated network")
    func ours() async throws {
        for case .redirect(let vector) in try VectorFolder(fixtures: checkedInFixtures).vectors {
            let differences = await vector.differences()
            #expect(differences == [], "\(vector.head.name)")
        }
    }

    @Test("The vectors fail for a client that behaves differently")
    func failing() async throws {
        let text = """
            [{"name": "a: one", "why": "x", "reference": "RFC 9110 section 15.4", "right": "must",
            "request": {"url": "https://a.test/", "method": "PUT", "body": "new", "headers": [["X", "1"]]},
            "answers": [{"status": 307, "location": "https://b.test/"}, {"status": 303, "location": "/x"}],
            "expect": {"requests": [{"method": "PUT", "url": "https://a.test/"},
            {"method": "PUT", "url": "https://b.test/", "body": "new", "headers": [["X", "1"]]},
            {"method": "PUT", "url": "https://b.test/x"}], "error": "loop"}}]
            """
        let fixtures = try TemporaryFixtures(["redirect/a.json": text])
        let folder = try VectorFolder(fixtures: fixtures.path)
        guard case .redirect(let vector)? = folder.vectors.first else { return #expect(Bool(false)) }
        let found = await vector.differences()
        #expect(found.map(\.what) == ["requests", "1: body", "2: X", "ending"])
        let row = await VectorRunner(
            client: OurClient(),
            folder: folder,
            authority: try WireAuthority(certificates: folder.certificates)
        )
        .runOverNetwork(.redirect(vector))
        let overNetwork = ["requests", "1: body", "2: X", "ending"]
        guard case .failed(let differences) = row.outcome else { return #expect(Bool(false), "\(row)") }
        #expect(differences.map(\.what) == overNetwork)
    }

    @Test("Vectors that violate their schema are refused")
    func faults() throws {
        let whole = #"""
            "request": {"url": "u"}, "answers": [{"status": 302}], "expect": {"requests": [{"url": "u"}]}
            """#
        func faults(_ change: (from: String, to: String)) throws -> [String] {
            let rest = whole.replacing(change.from, with: change.to)
            let text = #"[{"name": "a: one", "why": "x", "reference": "RFC 1", "right": "must", \#(rest)}]"#
            return try TemporaryFixtures(["redirect/a.json": text]).faults
        }
        #expect(try faults(("", "")) == [])
        let wrong = [
            (from: #"{"url": "u"}, "answers""#, to: #"{}, "answers""#, fault: #"the field "url" is missing"#),
            (from: #""status": 302"#, to: #""location": "x""#, fault: #"the field "status" is missing"#),
            (from: #"[{"url": "u"}]"#, to: "[]", fault: "at least one request"),
            (
                from: #"[{"url": "u"}]"#, to: #"[{"url": "u"}], "error": "sad""#,
                fault: #""sad" is not one of tooMany"#
            ),
            (
                from: #"[{"url": "u"}]"#, to: #"[{"url": "u"}], "error": "loop", "status": 200"#,
                fault: "either an error or a response"
            ),
            (from: #""status": 302"#, to: #""status": 302, "headers": [["a"]]"#, fault: "names and values"),
        ]
        for (from, to, fault) in wrong {
            let found = try faults((from, to))
            #expect(found.count == 1 && found[0].contains(fault), "\(found)")
        }
    }
}
