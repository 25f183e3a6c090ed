/// Where the fixtures are if nobody says.
enum FixtureFolder {
    /// The nearest folder `Fixtures` above the current folder, else above this program, which SwiftPM builds
    /// inside of the package.
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
