internal import DirectCore
internal import DirectHTTP

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Reads small files and directories.
enum Files {
    /// Returns the contents of a file of at most `limit` bytes.
    static func contents(of path: String, upTo limit: Int) throws(UsageError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, code: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let (count, code) = retryingInterrupts { read(descriptor, &buffer, buffer.count) }
            guard count >= 0 else { throw unreadable(path, code: code) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else {
                throw UsageError("\(quoted(path)) is larger than \(limit >> 20) MiB", code: ExitCode.noInput)
            }
        }
    }

    /// Whether the path is a directory.
    static func isDirectory(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns the names in a directory in alphabetical order. Names that begin with a dot are left out.
    static func names(in path: String) throws(UsageError) -> [String] {
        guard let directory = opendir(path) else { throw unreadable(path, code: errno) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns the error for a file that cannot be read.
    static func unreadable(_ path: String, code: Int32) -> UsageError {
        let words = errnoText(code)
        return UsageError(
            "cannot read \(quoted(path)): \(words.prefix(1).lowercased() + words.dropFirst())",
            code: ExitCode.noInput
        )
    }
}
