#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
internal import CDirectLinux
internal import DirectCore

/// A folder that stays open. What happens in it happens there, wherever its path leads by now.
final class OpenFolder: Sendable {
    let descriptor: Int32

    /// Takes an open folder.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        Closing.close(descriptor)
    }
}

/// A name in an open folder, by which a file is opened, examined, renamed and removed. None of these follows
/// a symbolic link of that name. Every call blocks.
package struct FilePlace: Sendable {
    private let folder: OpenFolder
    /// The path of the folder, with its last slash, for errors; `nil` if it is unknown.
    private let prefix: String?
    /// The name in the folder.
    package let name: String

    /// A name in an open folder.
    init(folder: OpenFolder, name: String) {
        (self.folder, prefix, self.name) = (folder, nil, name)
    }

    /// The file that this path leads to. Symbolic links are followed, also to a file that does not exist yet,
    /// so the folder is that of the file itself.
    ///
    /// - Throws: `EACCES` for a link that another user may have planted, as Linux does (``isTrusted(_:)``).
    init(_ path: String) throws(SystemError) {
        // A C string would end at the NUL and name another file.
        guard !path.utf8.contains(0) else { throw SystemError("open", code: EINVAL, path: path) }
        var place = try FilePlace(unresolved: path, from: nil)
        // The number of links after which Linux gives up (path_resolution(7)).
        for _ in 0..<40 {
            guard place.ownDescriptor == nil, let facts = try place.facts(), facts.st_mode & S_IFMT == S_IFLNK
            else {
                self = place
                return
            }
            guard try place.isTrusted(facts) else { throw SystemError("open", code: EACCES, path: path) }
            place = try FilePlace(unresolved: try place.linkTarget(), from: place)
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

    /// Opens the folder of a path, which may start in the folder of another place.
    private init(unresolved text: String, from start: FilePlace?) throws(SystemError) {
        let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")).map { text.utf8.index(after: $0) }
        let parent = String(text[..<(slash ?? text.startIndex)])
        let name = String(text[(slash ?? text.startIndex)...])
        let base = text.hasPrefix("/") ? nil : start
        prefix = (base?.prefix ?? "") + parent
        // A path that ends in a slash is that of the folder.
        self.name = name.isEmpty && !parent.isEmpty ? "." : name
        if parent.isEmpty, let base {
            folder = base.folder
            return
        }
        folder = OpenFolder(
            try checked("open", path: (base?.prefix ?? "") + text) {
                openat(base?.folder.descriptor ?? AT_FDCWD, parent.isEmpty ? "." : parent, Self.folderFlags)
            }
        )
    }

    /// A folder need not be readable for its files to be opened, except on Darwin.
    private static var folderFlags: Int32 {
        #if canImport(Darwin)
        O_RDONLY | O_DIRECTORY | O_CLOEXEC
        #else
        direct_open_path | O_DIRECTORY | O_CLOEXEC
        #endif
    }

    /// Another name in the same folder.
    func sibling(_ name: String) -> FilePlace { FilePlace(self, name: name) }

    private init(_ other: FilePlace, name: String) {
        (folder, prefix, self.name) = (other.folder, other.prefix, name)
    }

    /// The path, for errors.
    var path: String? { prefix.map { $0 + name } }

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
            let (count, code) = retryingInterrupts { readlinkat(folder.descriptor, name, base, buffer.count) }
            if count == -1 { failure = SystemError("readlink", code: code, path: path) }
            filled = max(0, count)
        }
        if let failure { throw failure }
        guard bytes.count < Self.longestLink else {
            throw SystemError("readlink", code: ENAMETOOLONG, path: path)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SystemError("readlink", code: EILSEQ, path: path)
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
            openat(folder.descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, mode_t(mode))
        }
        return (result, code)
    }

    /// Creates a folder that only its owner can use. There may be one already.
    func makeFolder() throws(SystemError) {
        let (result, code) = retryingInterrupts { mkdirat(folder.descriptor, name, mode_t(0o700)) }
        guard result == -1, code != EEXIST else { return }
        throw SystemError("mkdir", code: code)
    }

    /// What is known of the file; `nil` if there is none.
    func facts() throws(SystemError) -> stat? {
        var facts = stat()
        let (result, code) = retryingInterrupts {
            fstatat(folder.descriptor, name, &facts, AT_SYMLINK_NOFOLLOW)
        }
        if result == -1, code == ENOENT { return nil }
        guard result != -1 else { throw SystemError("lstat", code: code, path: path) }
        return facts
    }

    /// Creates a file without a name for reading and writing, in the folder; `nil` where that is impossible,
    /// or where such a file could not get a name later.
    func createUnnamed(mode: UInt16) throws(SystemError) -> Int32? {
        #if canImport(Darwin)
        return nil
        #else
        let (file, code) = retryingInterrupts {
            openat(folder.descriptor, ".", direct_open_unnamed | O_RDWR | O_CLOEXEC, mode_t(mode))
        }
        // A file system without such files says so in several ways: a kernel without them opens the folder.
        if file == -1, [EOPNOTSUPP, EISDIR, EINVAL, ENOENT, ENOSYS].contains(code) { return nil }
        guard file != -1 else { throw SystemError("open", code: code, path: path) }
        if access(Self.link(to: file), F_OK) == 0 { return file }
        close(file)
        return nil
        #endif
    }

    /// Gives an open file this name, which must not exist, and returns the error's code, or 0.
    ///
    /// It is the file itself that gets the name, whatever its former names lead to by now. A file that has
    /// been removed gets none (`ENOENT`).
    func link(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        return ENOTSUP
        #else
        return retryingInterrupts {
            // AT_EMPTY_PATH would need CAP_DAC_READ_SEARCH before Linux 6.10; this way needs no privilege.
            linkat(AT_FDCWD, Self.link(to: descriptor), folder.descriptor, name, AT_SYMLINK_FOLLOW)
        }.code
        #endif
    }

    private static func link(to descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }

    /// Whether this is the name of that file.
    func holds(_ facts: stat) throws(SystemError) -> Bool {
        try self.facts().map { $0.st_ino == facts.st_ino && $0.st_dev == facts.st_dev } ?? false
    }

    /// Returns when the disk keeps the names in the folder. One that cannot be read cannot be told.
    func settleNames() throws(SystemError) {
        let (file, _) = retryingInterrupts {
            openat(folder.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard file != -1 else { return }
        defer { close(file) }
        let (result, code) = retryingInterrupts { fsync(file) }
        guard result == -1, code != EINVAL, code != EBADF else { return }
        throw SystemError("fsync", code: code, path: path)
    }

    /// Renames the file. It replaces a file at the other place, which must be on the same file system.
    func rename(to other: FilePlace) throws(SystemError) {
        _ = try checked("rename", path: other.path) {
            renameat(folder.descriptor, name, other.folder.descriptor, other.name)
        }
    }

    /// Removes the file, and returns whether it existed.
    @discardableResult
    func remove() throws(SystemError) -> Bool {
        let (result, code) = retryingInterrupts { unlinkat(folder.descriptor, name, 0) }
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
        let own = try stat(of: folder.descriptor)
        return own.st_mode & 0o002 == 0 || own.st_uid == facts.st_uid
    }
}

/// The origin of a file by its attributes.
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
