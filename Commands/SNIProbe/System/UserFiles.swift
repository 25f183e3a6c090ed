internal import CommandKit
internal import DirectCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The small files and the folders that the command line names.
enum UserFiles {
    /// Returns the contents of a file of at most `limit` bytes.
    static func contents(of path: String, upTo limit: Int) throws(UsageError) -> [UInt8] {
        let bytes = try reading { () throws(Files.Unreadable) in
            try Files.contents(of: path, upTo: limit)
        }
        guard bytes.count <= limit else {
            throw UsageError("\(quoted(path)) is larger than \(limit >> 20) MiB", code: ExitCode.noInput)
        }
        return bytes
    }

    /// Returns the first line of a file with a secret.
    static func secret(at path: String) throws(UsageError) -> String {
        let text = String(decoding: try contents(of: path, upTo: 64 << 10), as: UTF8.self)
        return String(text.prefix { $0 != "\n" && $0 != "\r\n" })
    }

    /// Returns the names in a folder in alphabetical order. Names that begin with a dot are left out.
    static func names(in path: String) throws(UsageError) -> [String] {
        try reading { () throws(Files.Unreadable) in try Files.names(in: path) }
    }

    /// Whether a path, or what follows a label or a kind in it, is that of the regular file at another path,
    /// or of the folder that it is in.
    static func isRead(_ path: String, by other: String) -> Bool {
        let rest = path.firstIndex { $0 == "=" || $0 == ":" }.map { String(path[path.index(after: $0)...]) }
        let folder = other.lastIndex(of: "/").map { String(other[...$0]) } ?? "."
        return [path, rest].contains { path in
            guard let path else { return false }
            return areOne(path, other, of: S_IFREG) || areOne(path, folder, of: S_IFDIR)
        }
    }

    /// Locks an open file until it is closed. Returns `false` if another process has it.
    static func lock(_ descriptor: Int32) -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    }

    private static func areOne(_ path: String, _ other: String, of kind: mode_t) -> Bool {
        var (facts, others) = (stat(), stat())
        return stat(path, &facts) == 0 && stat(other, &others) == 0 && facts.st_mode & S_IFMT == kind
            && facts.st_ino == others.st_ino && facts.st_dev == others.st_dev
    }

    private static func reading<Value>(
        _ read: () throws(Files.Unreadable) -> Value
    ) throws(UsageError) -> Value {
        do throws(Files.Unreadable) {
            return try read()
        } catch {
            throw unreadable(error.path, code: error.code)
        }
    }

    /// Returns the error for a file that cannot be read.
    static func unreadable(_ path: String, code: Int32) -> UsageError {
        UsageError("cannot read \(quoted(path)): \(Words.system(code))", code: ExitCode.noInput)
    }
}

extension [UInt8] {
    /// Whether the bytes contain this text.
    func contain(_ text: String) -> Bool {
        let mark = Array(text.utf8)
        return indices.contains { self[$0] == mark[0] && self[$0...].starts(with: mark) }
    }
}
