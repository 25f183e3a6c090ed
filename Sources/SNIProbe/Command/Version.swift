/// The version of the command, which follows that of the package.
enum Version {
    static let text = "0.1.0"
    /// When the manual page was last changed in substance.
    static let date = "2026-11-21"
}
