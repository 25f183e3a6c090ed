import CommandKit
import Testing

@testable import tls_fixtures

@Suite("A folder of vectors")
struct VectorFolderTests {
    @Test("The checked-in folder is valid and large enough")
    func checkedIn() throws {
        let folder = try VectorFolder(fixtures: checkedInFixtures)
        #expect(folder.vectors.count >= 600)
        let least: [Topic: Int] = [
            .response: 300, .request: 150, .decoding: 150, .names: 60, .handshake: 40, .routes: 160,
            .cookies: 80, .cache: 200, .redirect: 60,
        ]
        for topic in Topic.allCases {
            #expect(folder.vectors(of: [topic]).count >= least[topic, default: 1], "\(topic)")
        }
    }

    @Test("The README explains each word of the vectors")
    func readme() throws {
        let bytes = try Files.contents(of: "\(checkedInFixtures)/vectors/README.md")
        let text = String(decoding: bytes, as: UTF8.self)
        for fault in Ending.Fault.allCases { #expect(text.contains("`\(fault.rawValue)`"), "\(fault)") }
        for topic in Topic.allCases { #expect(text.contains("`\(topic.rawValue)`"), "\(topic)") }
        for right in Right.allCases { #expect(text.contains("`\(right.rawValue)`"), "\(right)") }
    }

    @Test("A valid folder has no fault")
    func faultless() throws {
        let fixtures = try TemporaryFixtures(["names/a.json": "[\(nameVector()), \(nameVector("a: two"))]"])
        #expect(fixtures.faults == [])
    }

    @Test(
        "The report of a fault has its file, line, vector and kind",
        arguments: [
            (nameVector(more: #", "expct": 1"#), #":2: a: one: there is no field "expct""#),
            (
                nameVector(expect: #"{"verdict": "accept", "x": 1}"#),
                #":2: a: one: expect: there is no field "x""#
            ),
            (nameVector(expect: #"{}"#), #":2: a: one: expect: the field "verdict" is missing"#),
            (nameVector(expect: "7"), ":2: a: one: expect: expected an object, found a number"),
            (
                nameVector(expect: #"{"verdict": "maybe"}"#),
                #"expect: verdict: "maybe" is not one of accept, refuse"#
            ),
            (nameVector(expect: #"{"verdict": "refuse"}"#), "a refusal needs a reason, and an"),
            (
                nameVector(expect: #"{"verdict": "refuse", "reason": "sad"}"#),
                #"expect: reason: "sad" is not one of answered, untried, alert N, refused, "#
            ),
            (nameVector(certificate: "nobody"), #":1: a: one: there is no certificate "nobody""#),
            (nameVector("b: one"), #":1: b: one: the name does not begin with "a: ""#),
            (
                nameVector(reference: "hearsay"),
                #"reference: begins with neither "RFC " nor "HTML " nor "CVE-""#
            ),
            (
                nameVector(right: "may"),
                #":1: a: one: right: "may" is not one of attack, must, should, choice"#
            ),
            (
                #"{"name": "a: one", "why": "x", "reference": "RFC 1"}"#,
                #":1: a: one: the field "right" is missing"#
            ),
            (#"{"why": "x"}"#, #":1: the field "name" is missing"#),
            ("7", ":1: expected an object, found a number"),
            (
                nameVector() + "," + nameVector(),
                "a: one: the name is used twice, also in vectors/names/a.json"
            ),
            (nameVector() + ",", ":2: expected a value"),
            (nameVector(more: #", "why": "x""#), #":2: "why" is a duplicate name"#),
        ]
    )
    func fault(_ vectors: String, _ wanted: String) throws {
        let fixtures = try TemporaryFixtures(["names/a.json": "[\(vectors)]"])
        let faults = fixtures.faults
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix("vectors/names/a.json:") == true, "\(faults)")
        #expect(faults.first?.contains(wanted) == true, "\(faults)")
    }

    @Test("A folder with an unknown topic is refused")
    func unknownTopic() throws {
        let fixtures = try TemporaryFixtures(["nonsense/a.json": "[]"])
        let known = Topic.allCases.map(\.rawValue).joined(separator: ", ")
        #expect(fixtures.faults == ["vectors/nonsense: is not a topic; topics are \(known)"])
    }

    @Test("A folder with one name in two topics is refused")
    func nameInTwoTopics() throws {
        let request =
            #"[{"name": "a: one", "why": "x", "reference": "RFC 1", "right": "must", "expect": {"bytes": ""}}]"#
        let fixtures = try TemporaryFixtures(["names/a.json": "[\(nameVector())]", "request/a.json": request])
        #expect(fixtures.faults.count == 1)
        #expect(fixtures.faults.first?.contains("used twice") == true)
    }

    @Test("A folder with several faults reports all of them")
    func severalFaults() throws {
        let fixtures = try TemporaryFixtures([
            "names/a.json": "[\(nameVector(more: #", "x": 1"#)), \(nameVector(certificate: "nobody"))]",
            "routes/b.json": "nonsense",
            "elsewhere/c.json": "[]",
        ])
        #expect(fixtures.faults.count == 4)
    }

    @Test("A folder whose vectors name an unknown server is refused")
    func unknownServer() throws {
        let handshake = """
            [{"name": "a: one", "why": "x", "reference": "RFC 1", "right": "must", "server": "bad", "expect": {"ending": "answered"}}]
            """
        let fixtures = try TemporaryFixtures(["handshake/a.json": handshake])
        #expect(
            fixtures.faults == [
                #"vectors/handshake/a.json:1: a: one: there is no server "bad" in servers.json"#
            ]
        )
    }

    @Test(
        "A folder with malformed servers is refused",
        arguments: [
            (#"{"name": "x", "about": "", "versions": ["1.3", "1.2"]}"#, "the oldest and the newest version"),
            (#"{"name": "x", "about": "", "unknownName": "alert 256"}"#, "is not one of default, alert N"),
            (#"{"name": "x", "about": "", "script": ["dance"]}"#, #"there is no step "dance""#),
            (#"{"name": "x", "about": "", "script": [{"send": "a", "alert": 1}]}"#, "a step has exactly one"),
            (#"{"name": "x", "about": "", "script": [{"send": "\u0100"}]}"#, "U+100 is not a byte"),
            (
                #"{"name": "x", "about": "", "certificates": ["nobody"]}"#,
                #"there is no certificate "nobody.pem""#
            ),
            (#"{"name": "x", "about": ""}, {"name": "x", "about": ""}"#, #"two servers called "x""#),
        ]
    )
    func servers(_ servers: String, _ wanted: String) throws {
        let fixtures = try TemporaryFixtures(["servers.json": "[\(servers)]"])
        #expect(fixtures.faults.count == 1)
        #expect(fixtures.faults.first?.contains(wanted) == true, "\(fixtures.faults)")
    }
}
