import DirectJSON
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("JSON output")
struct JSONTests {
    @Test("A record with a request has its URL, and one without has null")
    func aRequestIsToldFromAnotherByItsURL() async throws {
        let dead = try FixtureServer.refusing()
        let url = "http://a.test:\(dead.port)/x?y"
        let outcome = try await probe([url, "@127.0.0.1", "a.test:\(dead.port)"])
        let texts = outcome.records.map { String(decoding: JSONRecord($0).line, as: UTF8.self) }
        #expect(texts.first?.contains(#""url":"\#(url)","source""#) == true)
        #expect(texts.last?.contains(#""url":null,"source""#) == true)
        #expect(outcome.records.map(\.target.heading) == ["a.test:\(dead.port)/x", "a.test:\(dead.port)"])
    }

    /// The names of all members of an object, in order.
    private func keys(_ value: JSONValue) -> [String] {
        guard case .object(let members) = value.content else { return [] }
        return members.map(\.name)
    }

    @Test("All records have the same keys, whatever the outcome")
    func allRecordsHaveTheSameKeysWhateverHappened() async throws {
        let root = TestAuthority()
        let good = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("hello") }
        let dead = try FixtureServer.refusing()
        let outcome = try await probe(
            [
                "a.test@\(good.authority)", "b.test@\(good.authority)", "a.test@\(dead.authority)",
                "https://a.test/@\(good.authority)", "http://a.test/@\(dead.authority)", "no.invalid",
            ],
            trusting: root.rootPEM
        )
        #expect(outcome.records.count == 6)
        let values = try outcome.records.map { try JSONReader.read(JSONRecord($0).line) }
        for value in values { #expect(keys(value) == keys(values[0])) }
        #expect(
            keys(values[0]) == [
                "v", "time", "host", "ip", "port", "url", "source", "ok", "faults", "warnings", "hint",
                "advice", "sni", "tls", "certificate", "answers", "other_keys", "ech", "hellos",
                "chain", "verify", "http", "ms", "resolver", "resolvers", "baseline", "attempts",
                "options",
            ]
        )
    }

    @Test("Each line of the output is a JSON object by itself")
    func everyLineIsAnObjectOfItsOwnWhereverTheOutputIsCut() async throws {
        let root = TestAuthority()
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in .text("hello") }
        let outcome = try await probe(
            (0..<5).map { "n\($0).test@\(server.authority)" },
            trusting: root.rootPEM
        )
        let text = outcome.records.flatMap { JSONRecord($0).line }
        for cut in stride(from: 0, through: text.count, by: 97) {
            for piece in text[..<cut].split(separator: UInt8(ascii: "\n")).dropLast() {
                #expect(throws: Never.self) { try JSONReader.read(Array(piece)) }
            }
        }
    }

    @Test("Control and direction characters are escaped, and others are not")
    func controlAndDirectionCharactersAreEscapedAndOthersAreNot() throws {
        let text = JSONText { $0.field("a", value: "\u{1B}[2J\u{202E}\u{9B}\"\\ü\u{1F600}\u{E0001}\n") }
        #expect(
            String(decoding: text.bytes, as: UTF8.self)
                == #"{"a":"\u001b[2J\u202e\u009b\"\\ü😀\udb40\udc01\n"}"#
        )
        let value = try JSONReader.read(text.bytes)
        guard case .object(let members) = value.content,
            case .string(let read)? = members.first?.value.content
        else {
            Issue.record("no text")
            return
        }
        #expect(read == "\u{1B}[2J\u{202E}\u{9B}\"\\ü\u{1F600}\u{E0001}\n")
    }
}
