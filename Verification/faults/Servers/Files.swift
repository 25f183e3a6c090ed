internal import Glibc

/// Files of the program itself. These calls are made while no fault is chosen.
enum Files {
    static var temporary: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

    static func write(_ bytes: [UInt8], to path: String) throws {
        guard let file = fopen(path, "w") else { throw StageError("cannot write \(path)") }
        let count = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, count == bytes.count else { throw StageError("cannot write \(path)") }
    }

    /// Returns the bytes of a file; `nil` if there is none.
    static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
        return bytes
    }

    /// The names in a folder.
    static func names(in folder: String) -> [String] {
        guard let listing = opendir(folder) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a folder with everything in it.
    static func removeFolder(_ folder: String) {
        for name in names(in: folder) {
            let path = "\(folder)/\(name)"
            if unlink(path) != 0 { removeFolder(path) }
        }
        rmdir(folder)
    }
}
