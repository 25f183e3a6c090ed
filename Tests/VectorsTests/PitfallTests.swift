import Foundation
import Testing

@testable import tls_fixtures

@Suite("The page about pitfalls")
struct PitfallTests {
    private let root = URL(filePath: checkedInFixtures).deletingLastPathComponent()

    @Test("The page names existing tests and vectors, at least one for each danger")
    func evidence() throws {
        let page = try String(contentsOf: root.appending(path: "docs/Pitfalls.md"), encoding: .utf8)
        let vectors = Set(try VectorFolder(fixtures: checkedInFixtures).vectors.map(\.head.name))
        let tests = try functions()
        var rows = 0
        for line in page.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.first != "danger" else { continue }
            let evidence = try #require(cells.last).split(separator: "`").filter { $0 != " " }.map(
                String.init
            )
            #expect(!evidence.isEmpty, "\(line)")
            for name in evidence {
                #expect(tests.contains(name) || vectors.contains(name), "\(name) is neither test nor vector")
            }
            rows += 1
        }
        #expect(rows >= 60)
    }

    /// Every function of every suite, as `Suite.function`.
    private func functions() throws -> Set<String> {
        var names: Set<String> = []
        let folder = root.appending(path: "Tests").path(percentEncoded: false)
        let files = try #require(FileManager.default.enumerator(atPath: folder))
        for case let file as String in files where file.hasSuffix(".swift") {
            let text = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
            var suite = ""
            for line in text.split(separator: "\n") {
                let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
                if let place = words.firstIndex(of: "struct"), place + 1 < words.count, !line.hasPrefix(" ") {
                    suite = String(words[place + 1])
                } else if let place = words.firstIndex(of: "func"), place + 1 < words.count {
                    names.insert("\(suite).\(words[place + 1])")
                }
            }
        }
        return names
    }
}
