import DirectJSON
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("The schema of the JSON output")
struct SchemaTests {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private let schema: JSONValue

    init() throws {
        let file = Self.package.appending(path: "docs/sni-probe.schema.json")
        schema = try JSONReader.read(Array(try Data(contentsOf: file)))
    }

    private func value(_ record: ProbeRecord) throws -> JSONValue {
        try JSONReader.read(JSONRecord(record).line)
    }

    @Test("The recorded output of all fixtures fits the schema")
    func recordedOutput() throws {
        let folder = Self.package.appending(path: "Tests/SNIProbeTests/Golden")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
        #expect(files.count > 15)
        for file in files {
            let value = try JSONReader.read(Array(try Data(contentsOf: file)))
            #expect(SchemaCheck(value, schema: schema).faults == [], "\(file.lastPathComponent)")
        }
    }

    @Test("Output with repeated handshakes, all keys, resolvers and a request fits the schema")
    func otherParts() async throws {
        let root = TestAuthority()
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("hello") }
        let dead = try FixtureServer.refusing()
        let hosts = FileManager.default.temporaryDirectory.appending(path: "hosts-\(UUID())")
        try "127.0.0.1 a.test\n".write(to: hosts, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: hosts) }
        let commands = [
            ["a.test@\(server.authority)", "b.test@\(dead.authority)", "--repeat", "2", "--deep"],
            ["https://a.test/@\(server.authority)", "http://a.test/@\(dead.authority)"],
            ["a.test@\(server.authority)", "--no-sni"],
            ["a.test:\(server.port)", "other.test:\(server.port)", "--resolver", "hosts:\(hosts.path)"],
        ]
        for command in commands {
            for record in try await probe(command, trusting: root.rootPEM).records {
                #expect(SchemaCheck(try value(record), schema: schema).faults == [], "\(command)")
            }
        }
    }

    @Test("The schema names every fault, every warning and every SNI verdict")
    func identifiers() {
        func names(_ value: JSONValue?) -> [String] { value?["enum"]?.elements?.compactMap(\.text) ?? [] }
        let members = schema["properties"]
        let faults = members?["faults"]?["items"]?["properties"]?["id"]
        #expect(names(faults) == Fault.ID.allCases.map(\.rawValue))
        let warnings = members?["warnings"]?["items"]?["properties"]?["id"]
        #expect(names(warnings) == Warning.ID.allCases.map(\.rawValue))
        #expect(Set(names(schema["$defs"]?["verdict"])) == Set(SNIFinding.Verdict.allCases.map(\.rawValue)))
    }

    @Test("The check notices each member that is missing, of another type, or not in the schema")
    func checkCanFail() throws {
        let file = Self.package.appending(path: "Tests/SNIProbeTests/Golden/request.json")
        let value = try JSONReader.read(Array(try Data(contentsOf: file)))
        #expect(SchemaCheck(value, schema: schema).faults == [])
        guard case .object(let members) = value.content else { throw CocoaError(.fileReadCorruptFile) }
        let all = members.map { ($0.name, $0.value) }
        for index in all.indices {
            var less = all
            less.remove(at: index)
            #expect(SchemaCheck(.object(members: less), schema: schema).faults != [])
            var other = all
            other[index].1 = .array([.number(-1)])
            #expect(SchemaCheck(.object(members: other), schema: schema).faults != [])
        }
        #expect(SchemaCheck(.object(members: all + [("more", .null)]), schema: schema).faults != [])
    }
}
