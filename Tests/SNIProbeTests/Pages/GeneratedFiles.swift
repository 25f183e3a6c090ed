import DirectTestCommands

@testable import SNIProbe

/// The files that are made from the table of options: the manual page and the completions for three shells.
///
/// They are checked in, so that the program need not contain what writes them.
enum GeneratedFiles {
    /// The paths in the package.
    static let places = CommandPages.places(of: "sni-probe")

    /// Returns the text of a file.
    static func text(_ place: String) -> String {
        pages.text(place, manual: (ManualPage.head, ManualPage.rest))
    }

    private static var pages: CommandPages {
        CommandPages(
            "sni-probe",
            CommandOption.Group.allCases.map { group in
                (group.rawValue, CommandOption.all.filter { $0.group == group }.map(\.page))
            },
            words: .hosts("target or @IP")
        )
    }
}

extension CommandOption {
    fileprivate var page: CommandPages.Option {
        CommandPages.Option(
            short: short,
            long: long,
            value: value,
            summary: help.joined(separator: " "),
            manual: manual,
            completion: completion
        )
    }
}
