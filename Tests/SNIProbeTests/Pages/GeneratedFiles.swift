/// The files that are made from the table of options: the manual page and the completions for three shells.
///
/// They are checked in, so that the program need not contain what writes them.
enum GeneratedFiles {
    /// The paths in the package.
    static let places = [
        "docs/sni-probe.1",
        "scripts/make/completions/sni-probe.bash",
        "scripts/make/completions/_sni-probe",
        "scripts/make/completions/sni-probe.fish",
    ]

    /// Returns the text of a file.
    static func text(_ place: String) -> String {
        switch place {
        case "docs/sni-probe.1": ManualPage.text
        case "scripts/make/completions/sni-probe.bash": Completions.bash
        case "scripts/make/completions/_sni-probe": Completions.zsh
        default: Completions.fish
        }
    }
}
