/// The version of this package, which is that of its commands. `scripts/release` writes it.
package enum PackageVersion {
    package static let text = "0.1.0"
    /// The date of the last change to the content of the manual page.
    package static let date = "2026-11-21"
}
