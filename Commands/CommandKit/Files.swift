internal import DirectCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Reads files and folders as a whole.
///
/// By streams of the C library: while calls of the system are made to fail, those of streams fail for OpenSSL
/// alone.
package enum Files {
    /// A file or folder that could not be read.
    package struct Unreadable: Error, Equatable, CustomStringConvertible {
        package var path: String
        /// The value of `errno`.
        package var code: Int32

        package init(path: String, code: Int32) { (self.path, self.code) = (path, code) }

        /// The system's error text.
        package var why: String { errnoText(code) }
        package var description: String { "\(path): \(why)" }
    }

    /// Returns the contents of a file. Of a file that has more bytes than the limit, at least one more is
    /// returned, but not all.
    package static func contents(of path: String, upTo limit: Int = .max) throws(Unreadable) -> [UInt8] {
        guard let file = fopen(path, "re") else { throw Unreadable(path: path, code: errno) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= limit {
            let count = fread(&piece, 1, piece.count, file)
            let code = errno
            bytes += piece[..<count]
            guard count < piece.count else { continue }
            if ferror(file) != 0 { throw Unreadable(path: path, code: code) }
            break
        }
        return bytes
    }

    /// Returns the names in a folder, sorted.
    ///
    /// - Parameter hidden: Whether names that begin with a dot are among them.
    package static func names(in folder: String, hidden: Bool = false) throws(Unreadable) -> [String] {
        guard let stream = opendir(folder) else { throw Unreadable(path: folder, code: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if hidden ? ![".", ".."].contains(name) : !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// Whether there is a folder at the path.
    package static func isFolder(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }
}
