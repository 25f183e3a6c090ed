import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("The program on a terminal", .idleLimit)
struct TerminalTests {
    @Test("A table is as wide as the window", arguments: [70, 80, 200] as [UInt16])
    func width(_ columns: UInt16) async throws {
        let name = "another.name-that-needs-much-room.in-the-last-column.test"
        let server = try FixtureServer.start(.tls(TestAuthority().certificate(for: name))) { _ in .text("") }
        let text = try await onOwnThread {
            let words = ["a.test", "b.test"].map { "\($0)@\(server.authority)" }
            return try TerminalProgram(words, columns: columns).finish().output
        }
        let lines = text.split(separator: "\n").filter { $0.contains("FAIL") }
        #expect(lines.count == 2, "\(text)")
        #expect(lines.allSatisfy { $0.count <= columns }, "\(text)")
        #expect(lines.allSatisfy { $0.contains(name) } == (columns > 100), "\(text)")
    }

    @Test("The progress of a run that takes long has a line, which is erased before results are printed")
    func progress() async throws {
        let silent = try FixtureServer.start(behaviour: .bytes(.silent))
        let dead = try FixtureServer.refusing()
        let (shown, rest, code) = try await onOwnThread {
            let program = try TerminalProgram([
                "a.test@\(silent.authority)", "b.test@\(dead.authority)", "-t", "1h", "--skip-default",
            ])
            let shown = try program.read(until: "1 of 2, 1 failed")
            program.interrupt()
            let (rest, code) = program.finish()
            return (shown, rest, code)
        }
        // The result of the second one waits for that of the first one, and counts already.
        // A busy machine may show a line before that.
        #expect(shown.hasSuffix("\r\u{1B}[K1 of 2, 1 failed"), "\(shown)")
        let erased = try #require(rest.range(of: "\r\u{1B}[K", options: .backwards))
        #expect(rest[erased.upperBound...].hasPrefix("b.test\nFAIL"), "\(rest)")
        #expect(rest.contains("Interrupted, with 1 not finished. Of 1 that finished, 0 passed."), "\(rest)")
        #expect(code == 130)
    }

    @Test("The progress of --wait says how many are tried again, also for a single one")
    func waiting() async throws {
        let dead = try FixtureServer.refusing()
        let code = try await onOwnThread {
            let program = try TerminalProgram(["a.test@\(dead.authority)", "--wait", "1h"])
            _ = try program.read(until: "\r\u{1B}[K0 of 1, 0 failed, waiting for 1")
            program.interrupt()
            return program.finish().code
        }
        #expect(code == 130)
    }
}
