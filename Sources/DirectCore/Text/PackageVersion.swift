/// The version of the package: the one place that has it. `scripts/release` writes it here and into the
/// pages.
package enum PackageVersion {
    package static let text = "0.1.0"
    /// The `User-Agent` of requests that set none.
    package static let userAgent = "direct-http/\(text)"
}
