#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
internal import DirectCore

/// A file that is written under a temporary name and renamed to its final one when it is complete. Readers of
/// that name find either the old file or the whole new one. Every file that the package writes is one of
/// these. Every call blocks.
///
/// The temporary name is random and says nothing of the final one, which may be as long as the file system
/// allows. Until the file gets its final name it is accessible to its owner only. A draft that is released
/// before that deletes it.
package final class FileDraft: @unchecked Sendable {
    /// What may be at a path and is written to directly, since nothing can take its place.
    package enum DirectOutput: Sendable {
        /// Nothing: what is no regular file is an error.
        case none
        /// Terminals, disks, `/dev/null`, and regular files that are open already, under a name such as
        /// `/dev/stdout`.
        case devices
        /// These, and pipes, where a write without a reader raises SIGPIPE.
        case devicesAndPipes
    }

    /// Whether the bytes go to their destination at once.
    package let isDirect: Bool
    /// The open file.
    package let descriptor: Int32
    /// The temporary file.
    let place: FilePlace
    /// The file to replace; `nil` if the name is not known yet, or if nothing is replaced.
    private let target: FilePlace?
    /// The permissions of a new file.
    private let mode: UInt16
    /// Keeps a folder open.
    private let folder: StateFolder?
    /// Whether the file goes with this object.
    private var isPending = false

    /// Creates a temporary file beside the one that this path leads to, or opens that for direct output.
    ///
    /// - Parameter mode: The permissions of a new file, from which the process's umask is subtracted.
    /// - Parameter direct: What is written to directly.
    package convenience init(
        _ path: String,
        mode: UInt16,
        direct: DirectOutput = .none
    ) throws(SystemError) {
        let target = try FilePlace(named: path)
        if let number = target.ownDescriptor {
            let copy = try checked("dup", path: path) { fcntl(number, F_DUPFD_CLOEXEC, 0) }
            try self.init(direct: target, copy, kinds: direct)
        } else if let facts = try target.facts(), !facts.isRegularFile {
            try target.check(facts, kinds: direct)
            let (file, code) = target.open(O_WRONLY | O_NOCTTY)
            guard file != -1 else { throw SystemError("open", code: code, path: path) }
            try self.init(direct: target, file, kinds: direct)
        } else {
            try self.init(target, mode: mode)
        }
    }

    /// Creates a temporary file beside a file that is to be replaced.
    convenience init(_ target: FilePlace, mode: UInt16) throws(SystemError) {
        let place = target.sibling(Self.temporaryName)
        let file = try place.create(mode: Self.hiddenMode, for: target.path)
        self.init(place, file, target: target, mode: mode)
        isPending = true
    }

    /// Creates a temporary file in a folder, for ``place(as:)``.
    convenience init(in folder: StateFolder) throws(SystemError) {
        let place = folder.place(Self.temporaryName)
        let file = try place.create(mode: Self.hiddenMode, for: nil)
        self.init(place, file, mode: Self.hiddenMode, folder: folder)
        isPending = true
    }

    /// Takes an open file, which stays if it gets no final name.
    convenience init(continuing place: FilePlace, _ descriptor: Int32, target: FilePlace, mode: UInt16) {
        self.init(place, descriptor, target: target, mode: mode)
    }

    private convenience init(direct place: FilePlace, _ file: Int32, kinds: DirectOutput) throws(SystemError)
    {
        do throws(SystemError) {
            try place.check(try stat(of: file), kinds: kinds)
        } catch {
            close(file)
            throw error
        }
        self.init(place, file, mode: 0, isDirect: true)
    }

    private init(
        _ place: FilePlace,
        _ descriptor: Int32,
        target: FilePlace? = nil,
        mode: UInt16,
        folder: StateFolder? = nil,
        isDirect: Bool = false
    ) {
        (self.place, self.descriptor, self.target, self.mode) = (place, descriptor, target, mode)
        (self.folder, self.isDirect) = (folder, isDirect)
    }

    deinit {
        close(descriptor)
        if isPending { discard() }
    }

    /// Appends these bytes.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        try writeAll(bytes, to: descriptor, at: nil)
    }

    /// Writes all bytes at this offset. Not for direct output. Only one task at a time may call this.
    package func write(_ bytes: [UInt8], at offset: UInt64) throws(SystemError) {
        try writeAll(bytes, to: descriptor, at: offset)
    }

    /// Returns when all bytes are on disk, still under the temporary name. Has no effect on direct output.
    package func settle() throws(SystemError) {
        if isDirect { return }
        #if canImport(Darwin)
        // On Darwin, fsync returns when the disk's own cache has the data. Some file systems support nothing
        // better.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        _ = try checked("fsync") { fsync(descriptor) }
    }

    /// Renames the file to its final name. Call ``settle()`` first. Has no effect on direct output.
    ///
    /// A file that is replaced passes its owner and its permissions on.
    package func commit() throws(SystemError) {
        guard let target else { return }
        try setAttributes(replacing: target)
        try place.rename(to: target)
        isPending = false
    }

    /// Renames a file of a folder to this name in it.
    package func place(as name: String) throws(SystemError) {
        try place.rename(to: place.sibling(name))
        isPending = false
    }

    /// Deletes the temporary file unless it has been committed. Deletes it now rather than when the last
    /// reference is released.
    package func discard() {
        // The temporary name is unique, so deleting it twice does no harm.
        if !isDirect { _ = try? place.remove() }
    }

    /// A name that no other file has.
    private static var temporaryName: String {
        Hex.encode(padded: SystemRandom.word()) + StateFolder.draftSuffix
    }

    /// The permissions of a file that has not got its final name.
    static let hiddenMode: UInt16 = 0o600
}

/// The attributes that the file gets with its final name.
extension FileDraft {
    private func setAttributes(replacing target: FilePlace) throws(SystemError) {
        let own = try stat(of: descriptor)
        let wanted: UInt16
        // What was planted passes nothing on: its owner would own the new file.
        if let old = try target.facts(), try target.check(old, kinds: .none), try target.isTrusted(old) {
            wanted = takeOwner(of: old, from: own)
        } else {
            wanted = try modeOfNewFile()
        }
        // A file system without permissions shows the same ones for every file, and refuses to change them.
        guard wanted != own.permissions else { return }
        _ = try checked("fchmod", path: target.path) { fchmod(descriptor, mode_t(wanted)) }
    }

    /// Gives the file the owner and the group of the old one, as far as the system allows, and returns the
    /// permissions that it may have then.
    private func takeOwner(of old: stat, from own: stat) -> UInt16 {
        // The caller may ask for less than the old file allowed, as far as reading and writing are concerned.
        let kept = old.permissions & (mode | (mode & 0o444) >> 2)
        if old.st_uid == own.st_uid, old.st_gid == own.st_gid { return kept }
        if fchown(descriptor, old.st_uid, old.st_gid) == 0 { return kept }
        // Only root may give a file to another user (chown(2)). What the old group could do, no other group
        // may.
        return fchown(descriptor, uid_t.max, old.st_gid) == 0 ? kept : kept & 0o707
    }

    /// The permissions that the system gives a new file here. They depend on the umask, which cannot be read
    /// without changing it for all threads (umask(2)), and on the folder's default ACL (acl(5)). So a file
    /// has to show it.
    private func modeOfNewFile() throws(SystemError) -> UInt16 {
        if mode & 0o077 == 0 { return mode }
        let sample = place.sibling(Self.temporaryName)
        let file = try sample.create(mode: mode, for: target?.path)
        defer {
            close(file)
            _ = try? sample.remove()
        }
        return try stat(of: file).permissions
    }
}

extension FilePlace {
    /// Throws unless what is here is a regular file, or of these kinds.
    @discardableResult
    fileprivate func check(_ facts: stat, kinds: FileDraft.DirectOutput) throws(SystemError) -> Bool {
        let isAllowed =
            switch facts.st_mode & S_IFMT {
            case S_IFREG: true
            case S_IFCHR, S_IFBLK: kinds != .none
            case S_IFIFO, S_IFSOCK: kinds == .devicesAndPipes
            default: false
            }
        guard !isAllowed else { return true }
        throw SystemError("open", code: facts.isFolder ? EISDIR : EINVAL, path: path)
    }
}

extension stat {
    fileprivate var permissions: UInt16 { UInt16(st_mode & 0o777) }
}
