internal import DirectHTTP

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Small files, read whole.
enum Files {
    /// The bytes of a file, if it has no more than `limit`.
    static func contents(of path: String, upTo limit: Int) throws(UsageError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let (count, code) = retryingInterrupts { read(descriptor, &buffer, buffer.count) }
            guard count >= 0 else { throw unreadable(path, code) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else {
                throw UsageError("\(quoted(path)) is larger than \(limit >> 20) MiB", code: ExitCode.noInput)
            }
        }
    }

    static func isDirectory(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }

    /// The names in a directory, in order.
    static func names(in path: String) throws(UsageError) -> [String] {
        guard let directory = opendir(path) else { throw unreadable(path, errno) }
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

    static func unreadable(_ path: String, _ code: Int32) -> UsageError {
        let words = SystemError.text(of: code)
        return UsageError(
            "cannot read \(quoted(path)): \(words.prefix(1).lowercased() + words.dropFirst())",
            code: ExitCode.noInput
        )
    }
}
