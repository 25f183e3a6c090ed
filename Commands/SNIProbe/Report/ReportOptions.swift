/// The command line of `sni-probe report FILE...`.
struct ReportOptions {
    /// The formats whose memory does not grow with the number of results.
    enum Format: String, CaseIterable {
        case text, json, html, sarif
    }

    var files: [String] = []
    var format = Format.text
    var output: String?
    var skipsBad = false
    var quiet = false
    var color = ColorChoice.auto
    var wantsHelp = false

    /// Parses the arguments after the word `report`.
    init(_ arguments: [String]) throws(UsageError) {
        let arguments = try Arguments(arguments)
        for (option, value) in arguments.options {
            switch option.key {
            case .help: wantsHelp = true
            case .json: try choose(.json)
            case .format: try choose(Self.format(value))
            case .output: output = value
            case .skipBad: skipsBad = true
            case .quiet: quiet = true
            case .color: color = try Self.color(value)
            default:
                throw UsageError(
                    "--\(option.long) has no effect on a report",
                    hint: "a report takes --format, --json, --output, --skip-bad, --quiet and --color"
                )
            }
        }
        files = arguments.words
        guard !wantsHelp else { return }
        if quiet, output != nil { throw UsageError("--quiet and --output contradict each other") }
        guard !files.isEmpty else {
            throw UsageError(
                "report needs the JSON lines of earlier runs: sni-probe report FILE...",
                hint: "- is standard input. To probe a host of this name: sni-probe report:443"
            )
        }
        if let word = files.first(where: { $0.hasPrefix("@") }) {
            throw UsageError(
                "report reads files, and \(quoted(word)) is an IP",
                hint:
                    "to probe a host of this name: sni-probe report:443 \(PlainText.harmless(word, unicode: true))"
            )
        }
    }

    private mutating func choose(_ wanted: Format) throws(UsageError) {
        guard format == .text || format == wanted else {
            throw UsageError(
                "\(format.rawValue) and \(wanted.rawValue) contradict each other: one form at a time"
            )
        }
        format = wanted
    }

    private static func format(_ name: String) throws(UsageError) -> Format {
        if let format = Format(rawValue: name) { return format }
        let names = Format.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError("a report cannot be written as \(quoted(name))", hint: "its formats are \(names)")
    }

    private static func color(_ name: String) throws(UsageError) -> ColorChoice {
        if let choice = ColorChoice(rawValue: name) { return choice }
        throw UsageError("--color takes auto, always or never, not \(quoted(name))")
    }
}
