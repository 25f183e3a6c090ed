/// The version of the command, which is that of the package.
enum Version {
    static let text = "0.1.0"
}
