// Runs the programs of docs/Cookbook.md, against servers inside this process, and compares what each prints with the page.
//
//   cookbook              all of them
//   cookbook cookies      those with this word in their heading

import Foundation
import Synchronization

/// A program of the page, and what it is to print.
struct Recipe: Sendable {
    let title: String
    let output: String
    let run: @Sendable () async throws -> Void

    init(_ title: String, prints output: String, _ run: @escaping @Sendable () async throws -> Void) {
        self.title = title
        self.output = output
        self.run = run
    }
}

/// What the recipe that runs has printed.
private let printed = Mutex("")

/// Takes the place of Swift's function of this name in the recipes.
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
    let line = items.map { "\($0)" }.joined(separator: separator) + terminator
    printed.withLock { $0 += line }
}

@main
struct Cookbook {
    static func main() async {
        let words = CommandLine.arguments.dropFirst().map { $0.lowercased() }
        let wanted = recipes.filter { recipe in words.allSatisfy { recipe.title.lowercased().contains($0) } }
        var failed = 0
        for recipe in wanted {
            printed.withLock { $0 = "" }
            do { try await recipe.run() } catch { print("error:", error) }
            let output = printed.withLock { $0 }
            Swift.print("\n\(recipe.title)\n\n\(output)", terminator: "")
            if output != recipe.output {
                failed += 1
                Swift.print("\nThe page says:\n\n\(recipe.output)", terminator: "")
            }
        }
        Swift.print("\n\(wanted.count) recipes, \(failed) of them unlike the page")
        exit(failed == 0 && !wanted.isEmpty ? 0 : 1)
    }
}
