internal import CommandKit
internal import Glibc

/// Files of the program itself. These calls are made while no fault is chosen, or by streams, whose calls
/// fail for OpenSSL alone.
extension Files {
    static var temporary: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

    static func write(_ bytes: [UInt8], to path: String) throws {
        guard let file = fopen(path, "w") else { throw StageError("cannot write \(path)") }
        let count = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, count == bytes.count else { throw StageError("cannot write \(path)") }
    }

    /// Returns the bytes of a file; `nil` if there is none.
    static func read(_ path: String) -> [UInt8]? { try? contents(of: path) }

    /// The names in a folder; none if there is no folder.
    static func allNames(in folder: String) -> [String] { (try? names(in: folder, hidden: true)) ?? [] }

    /// Removes a folder with everything in it.
    static func removeFolder(_ folder: String) {
        for name in allNames(in: folder) {
            let path = "\(folder)/\(name)"
            if unlink(path) != 0 { removeFolder(path) }
        }
        rmdir(folder)
    }
}
