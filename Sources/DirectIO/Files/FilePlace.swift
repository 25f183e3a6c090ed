#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
internal import DirectCore

/// A name in a folder, by which a file is opened, examined, renamed and removed. None of these follows a
/// symbolic link of that name. Every call blocks.
package struct FilePlace: Sendable {
    /// An open folder, or `AT_FDCWD`.
    private let folder: Int32
    /// The path of the folder, with its last slash; empty for the folder itself.
    private let prefix: String
    /// The name in the folder.
    package let name: String

    /// A name in an open folder, which has to stay open.
    init(folder: Int32, name: String) {
        (self.folder, prefix, self.name) = (folder, "", name)
    }

    /// The file that this path leads to. Symbolic links are followed, also to a file that does not exist yet,
    /// so the folder is that of the file itself.
    ///
    /// - Throws: `EACCES` for a link that another user may have planted, as Linux does (``isTrusted(_:)``).
    init(_ path: String) throws(SystemError) {
        // A C string would end at the NUL and name another file.
        guard !path.utf8.contains(0) else { throw SystemError("open", code: EINVAL, path: path) }
        var place = FilePlace(unresolved: path)
        // The number of links after which Linux gives up (path_resolution(7)).
        for _ in 0..<40 {
            guard place.ownDescriptor == nil, let facts = try place.facts(), facts.st_mode & S_IFMT == S_IFLNK
            else {
                self = place
                return
            }
            guard try place.isTrusted(facts) else { throw SystemError("open", code: EACCES, path: path) }
            let target = try place.linkTarget()
            place = FilePlace(unresolved: target.hasPrefix("/") ? target : place.prefix + target)
        }
        throw SystemError("open", code: ELOOP, path: path)
    }

    /// The regular file that this path leads to, or will: what else is there is an error, since no file can
    /// replace it.
    init(replaceable path: String) throws(SystemError) {
        try self.init(named: path)
        let isOwn = ownDescriptor != nil
        guard let facts = try facts(), isOwn || !facts.isRegularFile else { return }
        throw SystemError("open", code: facts.isFolder ? EISDIR : EINVAL, path: path)
    }

    /// The file that this path leads to, for writing. A path without a name is an error now, and not when the
    /// file is complete.
    init(named path: String) throws(SystemError) {
        guard !path.isEmpty else { throw SystemError("open", code: ENOENT, path: path) }
        try self.init(path)
    }

    private init(unresolved path: String) {
        let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) }
        folder = AT_FDCWD
        prefix = String(path[..<(start ?? path.startIndex)])
        name = String(path[(start ?? path.startIndex)...])
    }

    /// Another name in the same folder.
    func sibling(_ name: String) -> FilePlace { FilePlace(self, name: name) }

    private init(_ other: FilePlace, name: String) {
        (folder, prefix, self.name) = (other.folder, other.prefix, name)
    }

    /// The path, for errors; `nil` in an open folder, whose path is unknown.
    var path: String? { folder == AT_FDCWD ? prefix + name : nil }

    /// The number, if this is one of the process's own descriptors, as `/dev/stdout` is. The system follows
    /// such a name to what is open, and not to what the name says.
    var ownDescriptor: Int32? {
        guard prefix == "/proc/self/fd/" || prefix == "/dev/fd/" else { return nil }
        // Such as `+1` and `01` are the names of nothing there.
        return Int32(name).flatMap { "\($0)" == name ? $0 : nil }
    }

    private func linkTarget() throws(SystemError) -> String {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.longestLink) { buffer, filled in
            guard let base = buffer.baseAddress else { return }
            let (count, code) = retryingInterrupts { readlinkat(folder, prefix + name, base, buffer.count) }
            if count == -1 { failure = SystemError("readlink", code: code, path: path) }
            filled = max(0, count)
        }
        if let failure { throw failure }
        guard bytes.count < Self.longestLink, let text = String(validating: bytes, as: UTF8.self) else {
            throw SystemError("readlink", code: ENAMETOOLONG, path: path)
        }
        return text
    }

    /// `PATH_MAX` of Linux; that of Darwin is smaller.
    private static let longestLink = 4096
}

/// The system's calls.
extension FilePlace {
    /// Opens the file. It is closed in programs that the process starts.
    func open(_ flags: Int32, mode: UInt16 = 0) -> (descriptor: Int32, code: Int32) {
        let (result, code) = retryingInterrupts {
            openat(folder, prefix + name, flags | O_NOFOLLOW | O_CLOEXEC, mode_t(mode))
        }
        return (result, code)
    }

    /// Creates a file that did not exist, for reading and writing.
    ///
    /// - Parameter target: The path that an error names.
    func create(mode: UInt16, for target: String?) throws(SystemError) -> Int32 {
        let (file, code) = open(O_RDWR | O_CREAT | O_EXCL, mode: mode)
        guard file != -1 else { throw SystemError("open", code: code, path: target) }
        return file
    }

    /// What is known of the file; `nil` if there is none.
    func facts() throws(SystemError) -> stat? {
        var facts = stat()
        let (result, code) = retryingInterrupts {
            fstatat(folder, prefix + name, &facts, AT_SYMLINK_NOFOLLOW)
        }
        if result == -1, code == ENOENT { return nil }
        guard result != -1 else { throw SystemError("lstat", code: code, path: path) }
        return facts
    }

    /// Renames the file. It replaces a file at the other place, which must be on the same file system.
    func rename(to other: FilePlace) throws(SystemError) {
        _ = try checked("rename", path: other.path) {
            renameat(folder, prefix + name, other.folder, other.prefix + other.name)
        }
    }

    /// Removes the file, and returns whether it existed.
    @discardableResult
    func remove() throws(SystemError) -> Bool {
        let (result, code) = retryingInterrupts { unlinkat(folder, prefix + name, 0) }
        guard result == -1 else { return true }
        guard code == ENOENT else { throw SystemError("unlink", code: code, path: path) }
        return false
    }

    /// Whether a file or a link here was made by a user who may decide what is here: this process's, or the
    /// owner of the folder. In a folder that is not writable by all users, that is the case for every file.
    ///
    /// It is the rule of Linux's `fs.protected_symlinks` and `fs.protected_regular` (proc_sys_fs(5)). These
    /// can be off, other systems have no such rule, and none applies to a link that a program reads by
    /// itself.
    func isTrusted(_ facts: stat) throws(SystemError) -> Bool {
        if facts.st_uid == geteuid() { return true }
        var own = stat()
        _ = try checked("stat", path: path) { fstatat(folder, prefix.isEmpty ? "." : prefix, &own, 0) }
        return own.st_mode & 0o002 == 0 || own.st_uid == facts.st_uid
    }
}

/// What the attributes of a file say of its origin.
extension stat {
    var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
    /// Only its owner can have written to it, also under another name.
    var isPrivate: Bool { isRegularFile && st_mode & 0o022 == 0 && st_nlink <= 1 }

    /// The facts of an open file. Those of its name could be of another file by now.
    init(of descriptor: Int32) throws(SystemError) {
        self.init()
        let (result, code) = retryingInterrupts { fstat(descriptor, &self) }
        guard result != -1 else { throw SystemError("fstat", code: code) }
    }
}
