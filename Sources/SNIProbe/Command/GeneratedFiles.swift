/// The files that are made of the table of options: the manual page and the completions of three shells.
///
/// They are checked in, so that nobody has to build anything to install them; a test compares.
enum GeneratedFiles {
    /// What there is, and where it is kept in the package.
    static let places = [
        "man": "docs/sni-probe.1",
        "bash": "scripts/completions/sni-probe.bash",
        "zsh": "scripts/completions/_sni-probe",
        "fish": "scripts/completions/sni-probe.fish",
    ]

    static func text(_ what: String) throws(UsageError) -> String {
        switch what {
        case "man": ManualPage.text
        case "bash": Completions.bash
        case "zsh": Completions.zsh
        case "fish": Completions.fish
        default:
            throw UsageError(
                "there is nothing called \(quoted(what)) to generate",
                hint: places.keys.sorted().joined(separator: ", ")
            )
        }
    }
}
