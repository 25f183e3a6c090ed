internal import DirectCore

/// The version of the command, which is that of the package.
enum Version {
    static let text = PackageVersion.text
    /// The date of the last change to the content of the manual page.
    static let date = "2026-11-21"
}
