import Foundation
import TLSFixtures
import Testing

@testable import SNIProbe

/// Mistakes on the command line that would otherwise have no effect, or another than the intended one.
@Suite("Mistakes on the command line")
struct MistakesTests {
    private func error(_ arguments: String...) -> UsageError? {
        do throws(UsageError) {
            _ = try ProbeFeed(try Options(arguments))
            return nil
        } catch {
            return error
        }
    }

    private func withFile<Result>(_ text: String, _ body: (String) async throws -> Result) async throws
        -> Result
    {
        let path = NSTemporaryDirectory() + "mistakes-\(UUID().uuidString)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(path)
    }

    @Test(
        "A named pipe in place of an earlier run's results is refused at once, and not waited for",
        arguments: ["--baseline", "--resume"]
    )
    func pipeOfResults(_ option: String) async throws {
        let path = NSTemporaryDirectory() + "mistakes-\(UUID().uuidString)"
        #expect(mkfifo(path, 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let result = try await Program.run(["a.test@127.0.0.1:9", option, path])
        #expect(result.code == 66)
        #expect(result.errors == "sni-probe: \(option) reads a file, and \(quoted(path)) is something else\n")
    }

    @Test(
        "Options for requests are refused if no target is a URL",
        arguments: [["--status", "200"], ["-X", "HEAD"], ["-H", "A: b"], ["-k"]]
    )
    func requestOptions(_ option: [String]) {
        #expect(throws: Never.self) { _ = try Options(option + ["a.test", "http://b.test/"]) }
        #expect {
            _ = try Options(option + ["a.test"])
        } throws: { error in
            let what = (error as? UsageError)?.what ?? ""
            return what.hasSuffix("is for requests, and no target is a URL")
                && (error as? UsageError)?.code == 64
        }
    }

    @Test("URLs in files count, and a file without any is refused before the first probe")
    func requestOptionsWithFiles() async throws {
        try await withFile("a.test@127.0.0.1\n") { path in
            #expect(error("-f", path, "-k")?.what.contains("no target is a URL") == true)
        }
        try await withFile("https://a.test/@127.0.0.1\n") { path in
            #expect(error("-f", path, "-k") == nil)
        }
        let dead = try FixtureServer.refusing()
        let piped = try await Program.run(["-f", "-", "-k"], input: "a.test@\(dead.authority)\n")
        #expect(piped.code == 64)
        #expect(piped.errors.contains("--insecure is for requests, and no target is a URL"))
    }

    @Test("An option is not taken for the value of another")
    func optionAsValue() {
        #expect(
            error("--sni", "--no-sni", "a.test")?.what == "--sni needs a value, and --no-sni is an option"
        )
        #expect(error("-t", "-v", "a.test")?.what == "-t needs a value, and -v is an option")
        // A value that only looks like an option, and standard input.
        #expect(error("-f", "-", "a.test") == nil)
    }

    @Test("An IP beside a host without IPs is taken for a forgotten @")
    func forgottenAt() {
        let found = error("www.example.com", "127.1.0.1:8443")
        #expect(found?.hint == "did you mean @127.1.0.1:8443?")
        #expect(found?.code == 64)
        #expect(error("www.example.com", "@127.1.0.1") == nil)
        #expect(error("www.example.com@127.1.0.1", "127.1.0.2") == nil)
        #expect(error("127.1.0.1", "127.1.0.2") == nil)
    }

    @Test("A fingerprint is accepted as openssl writes it")
    func fingerprint() throws {
        let groups = (0..<32).map { $0 < 16 ? "0" + String($0, radix: 16).uppercased() : "A0" }
        let text = groups.joined(separator: ":")
        let hash = (0..<32).map { UInt8($0 < 16 ? $0 : 0xA0) }
        for spelling in [text, "sha256 Fingerprint=" + text, "SHA256 Fingerprint=" + text] {
            let options = try Options(["--expect", spelling, "a.test"])
            #expect(options.settings.expected == [.certificate(hash)])
        }
    }

    @Test("A file with a key instead of a certificate is said to hold a key")
    func keyAsRoot() async throws {
        let path = CheckedIn.folder + "/root.key"
        for option in ["--ca", "--expect"] {
            let result = try await Program.run(["a.test@127.0.0.1", option, path])
            #expect(result.code == 66)
            #expect(result.errors == "sni-probe: there is no certificate in '\(path)', but a private key\n")
        }
    }

    @Test("Option --skip-bad counts the bad lines at the end")
    func countOfBadLines() async throws {
        let dead = try FixtureServer.refusing()
        let lines = String(repeating: "b.test@nowhere\n", count: 25) + "a.test@\(dead.authority)\n"
        let result = try await Program.run(["-f", "-", "--skip-bad"], input: lines)
        #expect(result.code == 7)
        #expect(
            result.errors.contains("25 lines of the input could not be used; the first 10 are shown above")
        )
        #expect(result.errors.components(separatedBy: "is not an IP address").count == 11)
    }
}
