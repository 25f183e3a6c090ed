/// The command line of `sni-probe report FILE...`.
struct ReportOptions {
    /// The formats whose memory does not grow with the number of results.
    private static let formats: [Options.Format] = [.text, .json, .html, .sarif]

    var files: [String] = []
    var format = Options.Format.text
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
            case .json: format = try Options.Format.json.chosen(after: format)
            case .format: format = try Self.format(value).chosen(after: format)
            case .output: output = value
            case .skipBad: skipsBad = true
            case .quiet: quiet = true
            case .color: color = try OptionValue(option, value).color
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

    private static func format(_ name: String) throws(UsageError) -> Options.Format {
        if let format = Options.Format(rawValue: name), formats.contains(format) { return format }
        let names = formats.map(\.rawValue).joined(separator: ", ")
        throw UsageError("a report cannot be written as \(quoted(name))", hint: "its formats are \(names)")
    }
}
