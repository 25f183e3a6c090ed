import DirectCore
import DirectTestData
import Testing

@testable import SNIProbe

/// Any input, typed or from a file, gives targets or a message: never a crash, and never raw text.
@Suite("Random command lines and lists")
struct CommandFuzzTests {
    /// Parts of command lines and lists, and characters that break them.
    private static let pieces = [
        "a.test", "www.example.com", "203.0.113.7", "2001:db8::7", "[2001:db8::7]", "fe80::1%lo",
        "10.0.0.0/30",
        "::/128", "@", ",", ":", "/", "#", " ", "\t", "\r", ".", "-", "--", "=", "?", "443", "0", "65536",
        "-1",
        "99999999999999999999", "http://", "https://", "ftp://", "user:secret@", "xn--", "bücher", "*.",
        "\u{1B}[2J", "\u{0}", "\u{202E}", "\u{9B}", "\u{FFFD}", "👩‍👩‍👧", "e\u{301}", "%2F", "'", "\"", "\\",
        String(repeating: "a", count: 64), String(repeating: "1.", count: 40),
    ]

    private static let words =
        pieces + CommandOption.all.flatMap { ["--\($0.long)", "--\($0.long)=", "-\($0.short ?? "z")"] }
        + NeighbourOptions.hints.keys.sorted()

    private static func word(_ pieces: [String], upTo count: Int, _ random: inout SplitMix64) -> String {
        (0..<Int.random(in: 0...count, using: &random)).map { _ in
            pieces.randomElement(using: &random) ?? ""
        }.joined()
    }

    private func expectHarmless(_ error: UsageError, _ typed: String) {
        let text = error.what + (error.hint ?? "")
        #expect(
            text.unicodeScalars.allSatisfy { !$0.isDeceptive },
            "\(typed.debugDescription): \(text.debugDescription)"
        )
        #expect(text.utf8.count < 2000, "\(typed.debugDescription)")
        #expect(error.code == 64 || error.code == 66)
    }

    @Test("Any command line is read or refused with a message that is safe to print")
    func anyCommandLineIsReadOrRefusedInHarmlessWords() async {
        var random = SplitMix64(seed: 6)
        var read = 0
        for _ in 0..<20_000 {
            await Task.yield()
            let arguments = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                Self.word(Self.words, upTo: 3, &random)
            }
            do throws(UsageError) {
                _ = try Options(arguments)
                read += 1
            } catch {
                expectHarmless(error, arguments.joined(separator: "\u{2423}"))
            }
        }
        #expect(read > 100)
    }

    @Test("Any line of a file is read or refused with a message that is safe to print")
    func anyLineOfAFileIsReadOrRefusedInHarmlessWords() async {
        var random = SplitMix64(seed: 66)
        var read = 0
        for _ in 0..<30_000 {
            await Task.yield()
            let line = Self.word(Self.pieces, upTo: 6, &random)
            do throws(TargetError) {
                let line = try TargetLine(line)
                read += line.targets.count + line.addresses.count
            } catch {
                expectHarmless(UsageError(error, in: "list\u{1B}.txt", line: 1), line)
            }
        }
        #expect(read > 1000)
    }
}
