/// The files that are generated from the option table: the manual page and the completions for three shells.
///
/// They are checked in, so that they can be installed without a build. A test compares them with the
/// generated text.
enum GeneratedFiles {
    /// The names of the files for `--generate`, with their paths in the package.
    static let places = [
        "man": "docs/sni-probe.1",
        "bash": "scripts/make/completions/sni-probe.bash",
        "zsh": "scripts/make/completions/_sni-probe",
        "fish": "scripts/make/completions/sni-probe.fish",
    ]

    /// Returns the text of a file by its name for `--generate`.
    static func text(_ what: String) throws(UsageError) -> String {
        switch what {
        case "man": ManualPage.text
        case "bash": Completions.bash
        case "zsh": Completions.zsh
        case "fish": Completions.fish
        default:
            throw UsageError(
                "\(quoted(what)) cannot be generated",
                hint: places.keys.sorted().joined(separator: ", ")
            )
        }
    }
}
