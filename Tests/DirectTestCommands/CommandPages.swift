import Foundation

/// What the manual page and the completions of a command are made from.
package struct CommandPages {
    /// The command.
    package let name: String
    /// Its options, in groups with their headings.
    package let groups: [(heading: String, options: [Option])]
    /// What completes the words that are no options.
    package let words: Words

    /// An option.
    package struct Option {
        package var short: Character?
        package var long: String
        /// The placeholder for the value, or `nil` for an option without a value.
        package var value: String?
        /// The text of `--help`, on one line.
        package var summary: String
        /// The text in the manual page: full sentences.
        package var manual: String
        package var completion = Completion.nothing

        package init(
            short: Character? = nil,
            long: String,
            value: String?,
            summary: String,
            manual: String,
            completion: Completion
        ) {
            (self.short, self.long, self.value) = (short, long, value)
            (self.summary, self.manual, self.completion) = (summary, manual, completion)
        }

        var takesValue: Bool { value != nil }
        var repeats: Bool { manual.contains("May repeat") }
    }

    /// What completes an option's value in a shell.
    package enum Completion: Hashable {
        case nothing
        case file
        case words([String])
    }

    /// What completes the words that are no options.
    package enum Words {
        /// Hosts, described so.
        case hosts(String)
        /// After `--` a program, and what it takes.
        case program
    }

    package init(_ name: String, _ groups: [(heading: String, options: [Option])], words: Words) {
        (self.name, self.groups, self.words) = (name, groups, words)
    }

    var options: [Option] { groups.flatMap(\.options) }

    /// Where the files are in the package.
    package static func places(of name: String) -> [String] {
        let completions = "scripts/make/completions/"
        return [
            "docs/\(name).1", "\(completions)\(name).bash", "\(completions)_\(name)",
            "\(completions)\(name).fish",
        ]
    }

    /// Returns the text of the file at one of these places.
    ///
    /// - Parameter manual: What the manual page has before and behind the options.
    package func text(_ place: String, manual: (head: String, rest: String)) -> String {
        if place.hasPrefix("docs/") { return manual.head + manualOptions + manual.rest }
        if place.hasSuffix(".bash") { return bash }
        return place.hasSuffix(".fish") ? fish : zsh
    }

    /// Returns the text that is checked in at a place; writes it anew before if UPDATE_GOLDEN is set.
    ///
    /// - Parameter file: A file at the third level of the package's folders.
    package static func checkedIn(_ place: String, made text: String, from file: String) throws -> String {
        var package = URL(filePath: file)
        while package.lastPathComponent != "Tests" { package.deleteLastPathComponent() }
        let path = package.deletingLastPathComponent().appending(path: place)
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            try text.write(to: path, atomically: true, encoding: .utf8)
        }
        return try String(contentsOf: path, encoding: .utf8)
    }

    /// The section of the manual page.
    private var manualOptions: String {
        var text = ".SH OPTIONS\n"
        for (heading, options) in groups {
            text += ".SS \(heading.prefix(1).uppercased() + heading.dropFirst())\n"
            for option in options {
                let names =
                    (option.short.map { "\\fB\\-\($0)\\fR, " } ?? "")
                    + "\\fB\\-\\-\(Self.escaped(option.long))\\fR"
                let value = option.value.map { " \\fI\(Self.escaped($0))\\fR" } ?? ""
                text += ".TP\n\(names)\(value)\n\(Self.escaped(option.manual))\n"
            }
        }
        return text
    }

    /// Text for man(7).
    package static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            // At the start of a line these characters begin a macro.
            case "'" where result.isEmpty, "." where result.isEmpty: result += "\\&\(character)"
            default: result.append(character)
            }
        }
        return result
    }
}
