internal import CommandKit

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The default location of the fixtures.
enum FixtureFolder {
    /// The nearest `Fixtures` folder above the current folder, else above this program, which SwiftPM builds
    /// inside the package, else where an installed package has it. `nil` if there is none.
    static var found: String? {
        above(currentFolder) ?? program.flatMap { above($0) ?? beside($0) }
    }

    /// The one of an installed package: below `share`, beside the folder of the program.
    private static func beside(_ program: String) -> String? {
        let prefix = program.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        let candidate = prefix.joined(separator: "/") + "/share/tls-fixtures/Fixtures"
        return Files.isFolder("\(candidate)/vectors") ? candidate : nil
    }

    private static var currentFolder: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }

    /// The path of this program, or `nil` if the system does not provide it.
    static var program: String? {
        guard let path = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
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
