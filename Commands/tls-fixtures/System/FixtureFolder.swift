/// The default location of the fixtures.
enum FixtureFolder {
    /// The nearest `Fixtures` folder above the current folder, else above this program, which SwiftPM builds
    /// inside the package. `nil` if there is none.
    static var found: String? {
        above(Files.currentFolder) ?? Files.program.flatMap(above)
    }

    private static func above(_ path: String) -> String? {
        var folder = path[...]
        while true {
            let candidate = "\(folder == "/" ? "" : folder)/Fixtures"
            if Files.isFolder("\(candidate)/vectors") { return candidate }
            guard let slash = folder.lastIndex(of: "/"), folder != "/" else { return nil }
            folder = slash == folder.startIndex ? "/" : folder[..<slash]
        }
    }
}
