import Foundation
import Testing

@testable import tls_fixtures

@Suite("The vectors of the cache")
struct CacheVectorTests {
    private static let vectors: [CacheVector] = {
        guard let folder = try? VectorFolder(fixtures: checkedInFixtures) else { return [] }
        return folder.vectors(of: [.cache]).compactMap {
            if case .cache(let vector) = $0 { vector } else { nil }
        }
    }()

    @Test("The vectors pass for a cache in memory")
    func memory() async {
        #expect(Self.vectors.count >= 70)
        for vector in Self.vectors {
            let differences = await vector.differences()
            #expect(differences == [], "\(vector.head.name)")
        }
    }

    @Test("The vectors pass for a cache in a folder")
    func folder() async throws {
        for vector in Self.vectors {
            let path = NSTemporaryDirectory() + "cache-" + UUID().uuidString
            defer { try? FileManager.default.removeItem(atPath: path) }
            let differences = await vector.differences(folder: path)
            #expect(differences == [], "\(vector.head.name)")
        }
    }

    @Test("The vectors fail for a cache that behaves differently")
    func failing() async throws {
        let text = """
            [{"name": "a: one", "why": "x", "reference": "RFC 9111 section 4", "right": "must",
            "exchanges": [{"response": {"headers": [["Cache-Control", "max-age=10"]]}}, {"at": 5, "response": {}}],
            "expect": {"answers": [{"use": "miss"}, {"use": "miss", "headers": [["Age", "6"]]}]}}]
            """
        let fixtures = try TemporaryFixtures(["cache/a.json": text])
        let folder = try VectorFolder(fixtures: fixtures.path)
        guard case .cache(let vector)? = folder.vectors.first else { return #expect(Bool(false)) }
        #expect(
            await vector.differences() == [
                Difference(what: "2: use", expected: "miss", got: "hit"),
                Difference(what: "2: header Age", expected: "6", got: "5"),
                Difference(what: "2: origin asked", expected: "true", got: "false"),
            ]
        )
    }

    @Test("Vectors that violate their schema are refused")
    func faults() throws {
        func faults(_ rest: String) throws -> [String] {
            let text = #"[{"name": "a: one", "why": "x", "reference": "RFC 1", "right": "must", \#(rest)}]"#
            return try TemporaryFixtures(["cache/a.json": text]).faults
        }
        #expect(try faults(#""exchanges": [], "expect": {"answers": []}"#) == [])
        let wrong = [
            (#""exchanges": [], "expect": {"answers": [{"use": "hit"}]}"#, "0 exchanges and 1 answers"),
            (
                #""exchanges": [{}], "expect": {"answers": [{"use": "hit"}]}"#,
                #"the field "response" is missing"#
            ),
            (
                #""exchanges": [{"response": "gone"}], "expect": {"answers": [{"use": "hit"}]}"#,
                "expected an object, found a string"
            ),
            (
                #""exchanges": [{"response": {}}], "expect": {"answers": [{"use": "found"}]}"#,
                #""found" is not one of hit, stale"#
            ),
        ]
        for (rest, fault) in wrong {
            let found = try faults(rest)
            #expect(found.count == 1 && found[0].contains(fault), "\(found)")
        }
    }
}
