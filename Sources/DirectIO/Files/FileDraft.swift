#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
internal import DirectCore

/// A file that is written without a name, or under a temporary one, and gets its final name when it is
/// complete. Readers of that name find either the old file or the whole new one. Every file that the package
/// writes is one of these. Every call blocks.
///
/// On Linux it has no name before, and it is the open file itself that gets one (linkat(2)): a temporary one
/// for a moment, which is renamed. Elsewhere, and on file systems without files that have no name
/// (O_TMPFILE), it has a temporary name from the start, is accessible to its owner only until it gets its
/// final one, and is compared with what has the name immediately before the renaming, and again after it.
/// It never has two names then: on some file systems it would seem to have them long after (FUSE).
/// ``FilePlace/draftPlaces`` has the temporary names. A draft that is released before it is complete goes
/// soon.
package final class FileDraft: @unchecked Sendable {
    /// The kinds of files at a path that are written to directly, since no file can take their place.
    package enum DirectOutput: Sendable {
        /// Nothing: what is no regular file is an error.
        case none
        /// Terminals, disks, `/dev/null`, and regular files that are open already, under a name such as
        /// `/dev/stdout`.
        case devices
        /// These, and pipes, where a write without a reader raises SIGPIPE.
        case devicesAndPipes
    }

    /// The open file.
    package let descriptor: Int32
    /// The name that the file has until it is complete; `nil` for none.
    private(set) var place: FilePlace?
    /// The file to replace; `nil` for direct output.
    private let target: FilePlace?
    /// The permissions of a new file, and those that the system gave this one for them: `nil` if it is not
    /// known.
    private let mode: UInt16, granted: UInt16?
    /// Whether the temporary name goes with this object.
    private var isPending = false
    /// Whether the file already has the name that ``commit(beside:inPlaceOf:)`` gives.
    private var isBeside = false

    /// Whether the bytes go to their destination at once.
    package var isDirect: Bool { target == nil }

    /// Creates a file that is to replace the one that this path leads to, or opens that for direct output.
    ///
    /// - Parameter mode: The permissions of a new file, from which the process's umask is subtracted.
    /// - Parameter direct: What is written to directly.
    package convenience init(
        _ path: String,
        mode: UInt16,
        direct: DirectOutput = .none
    ) throws(SystemError) {
        let target = try FilePlace(named: path)
        if let file = try target.openDirectly(direct) {
            self.init(file, for: nil, mode: mode)
        } else {
            try self.init(target, mode: mode)
        }
    }

    /// Creates a file that is to replace another one.
    convenience init(_ target: FilePlace, mode: UInt16) throws(SystemError) {
        target.removeLeftovers()
        if let file = try target.createUnnamed(mode: mode) {
            self.init(file, for: target, mode: mode, granted: (try? stat(of: file))?.permissions)
            return
        }
        let isNew = try target.facts() == nil
        let (place, file) = try target.createDraft(mode: isNew ? mode : Self.hiddenMode)
        let granted = isNew ? (try? stat(of: file))?.permissions : nil
        // Nothing has been written yet. Some file systems refuse to change permissions.
        _ = fchmod(file, mode_t(Self.hiddenMode))
        self.init(file, at: place, for: target, mode: mode, granted: granted)
        isPending = true
    }

    /// Takes an open file. What is at `place` stays if the file does not get its final name.
    init(
        _ descriptor: Int32,
        at place: FilePlace? = nil,
        for target: FilePlace?,
        mode: UInt16,
        granted: UInt16? = nil
    ) {
        (self.descriptor, self.place, self.target) = (descriptor, place, target)
        (self.mode, self.granted) = (mode, granted)
    }

    deinit {
        let (descriptor, place) = (descriptor, isPending ? place : nil)
        Closing.close(descriptor) {
            if let place { Self.remove(place, of: descriptor) }
        }
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

    /// Gives the file its final name. Call ``settle()`` first. Has no effect on direct output.
    ///
    /// A file that is replaced passes its owner and its permissions on. A name that
    /// ``commit(beside:inPlaceOf:)`` gave is taken away, unless it is the final one.
    ///
    /// - Throws: `ESTALE` if another file has got the temporary name meanwhile.
    package func commit() throws(SystemError) {
        guard let target else { return }
        if isBeside, try isAt(target) { return }
        try commit(to: target)
    }

    /// Returns another file that is to get the same name.
    func another() throws(SystemError) -> FileDraft {
        guard let target else { throw SystemError("open", code: EINVAL) }
        return try FileDraft(target, mode: mode)
    }

    /// Whether ``commit()`` replaces this open file.
    package func replaces(_ descriptor: Int32) -> Bool {
        guard let target, let facts = try? stat(of: descriptor) else { return false }
        return (try? target.holds(facts)) ?? false
    }

    /// Gives the file a name that is longer by this suffix, or by that and a number, and leaves the one that
    /// it was to replace. Returns the path of the file; `nil` for direct output. More can be written to it
    /// there, and ``commit()`` still gives it the final name.
    ///
    /// No file is replaced but the one that is open as `former`, which may be the one that this was to
    /// replace.
    package func commit(beside suffix: String, inPlaceOf former: Int32? = nil) throws(SystemError) -> String?
    {
        guard let target else { return nil }
        var places = [target.sibling(target.name + suffix)]
        places += (1..<Self.mostBeside).map { target.sibling("\(target.name)\(suffix)-\($0)") }
        if let former {
            let facts = try stat(of: former)
            for place in [target] + places where try place.holds(facts) {
                try commit(to: place)
                (self.place, isBeside) = (place, true)
                return place.path
            }
        }
        for place in places {
            // Its own from here on, so that the renaming destroys nothing.
            let (file, code) = place.open(O_WRONLY | O_CREAT | O_EXCL, mode: mode)
            if code == EEXIST { continue }
            guard file != -1 else { throw SystemError("open", code: code, path: place.path) }
            close(file)
            do throws(SystemError) {
                try commit(to: place)
            } catch {
                _ = try? place.remove()
                throw error
            }
            (self.place, isBeside) = (place, true)
            return place.path
        }
        throw SystemError("open", code: EEXIST, path: places[0].path)
    }

    /// The number of files beside that are left alone before that is an error.
    private static let mostBeside = 1000

    private func commit(to target: FilePlace) throws(SystemError) {
        // Before the file has another name, which the sample of a new file's permissions would remove where
        // that does not seem to be a name of the locked file.
        let attributes = try attributes(at: target)
        // Others may take the name of a file that stays. It is the file itself that gets the final one, and
        // before that one of a draft: what is left of a killed process tells that it was about to get it.
        let linked = isPending ? nil : try linkBeside(target)
        guard let name = linked ?? place else { return }
        let fresh = try linked == nil && !isPending ? moveBeside(target, from: name) : name
        do throws(SystemError) {
            try take(attributes, for: target)
            if place != nil, try !isAt(fresh) { throw SystemError("rename", code: ESTALE, path: target.path) }
            try fresh.rename(to: target)
            if linked == nil { try confirm(as: target) }
        } catch {
            // A file that keeps its name is readable by its owner only again.
            hide()
            if linked != nil { Self.remove(fresh, of: descriptor) }
            if let place, linked == nil, !isPending { _ = try? fresh.rename(to: place) }
            throw error
        }
        // As complete as the file is, this is one of its names.
        if let place, linked != nil { Self.remove(place, of: descriptor) }
        // A file of one run is in use no more, long before its descriptor is closed.
        if place == nil { _ = flock(descriptor, LOCK_UN) }
        isPending = false
    }

    /// Takes back what a killed process has given the file for its final name, if anything.
    func takeBackName() throws(SystemError) {
        guard let name = try target?.draftName(of: try stat(of: descriptor)) else { return }
        try name.remove()
        hide()
    }

    /// Takes back what ``commit()`` gives a file.
    private func hide() {
        _ = fchown(descriptor, geteuid(), gid_t.max)
        _ = fchmod(descriptor, mode_t(Self.hiddenMode))
    }

    /// Throws `ESTALE` unless the final name is that of this file.
    func confirm() throws(SystemError) {
        if let target { try confirm(as: target) }
    }

    private func confirm(as target: FilePlace) throws(SystemError) {
        guard try !isAt(target) else { return }
        throw SystemError("rename", code: ESTALE, path: target.path)
    }

    /// Gives the open file a temporary name of the target; `nil` where it cannot get one.
    private func linkBeside(_ target: FilePlace) throws(SystemError) -> FilePlace? {
        // The lock says that a file of a temporary name is not one that was left behind.
        _ = FileLock.take(descriptor)
        for fresh in target.draftPlaces {
            let code = fresh.link(descriptor)
            if code == EEXIST { continue }
            if code == 0 {
                if place == nil || (try? isAt(fresh)) == true { return fresh }
                // A file system that shows two names as two files (sshfs).
                _ = try? fresh.remove()
                return nil
            }
            // A file without a name has no other way to one.
            guard place != nil else { throw SystemError("link", code: code, path: target.path) }
            return nil
        }
        throw SystemError("link", code: EEXIST, path: target.path)
    }

    /// Gives the file a temporary name of the target instead of its own, where it cannot have both.
    private func moveBeside(_ target: FilePlace, from place: FilePlace) throws(SystemError) -> FilePlace {
        guard try isAt(place) else { throw SystemError("rename", code: ESTALE, path: target.path) }
        let (fresh, file) = try target.createDraft(mode: Self.hiddenMode)
        defer { close(file) }
        try place.rename(to: fresh)
        return fresh
    }

    /// Whether this is the name of the open file.
    private func isAt(_ place: FilePlace) throws(SystemError) -> Bool {
        try place.holds(try stat(of: descriptor))
    }

    /// Removes the temporary name unless the file is complete. Does so now rather than when the last
    /// reference is released.
    package func discard() {
        guard isPending, let place else { return }
        isPending = false
        Self.remove(place, of: descriptor)
    }

    /// Removes a name if it is that of an open file: another writer may have got it since.
    private static func remove(_ place: FilePlace, of descriptor: Int32) {
        guard let facts = try? stat(of: descriptor), (try? place.holds(facts)) == true else { return }
        _ = try? place.remove()
    }

    /// Whether the temporary name is still that of this file: `.part` names can be taken by others.
    var hasItsName: Bool {
        get throws(SystemError) {
            guard let place else { return false }
            return try isAt(place)
        }
    }

    /// Removes the file's name, if it is still that of this file.
    func removeName() throws(SystemError) {
        guard let place, try isAt(place) else { return }
        isPending = false
        try place.remove()
    }

    /// The permissions of a file that has not got its final name.
    static let hiddenMode: UInt16 = 0o600
}

/// The attributes that the file gets with its final name.
extension FileDraft {
    /// Those of the file that is replaced, or the permissions of a new one.
    private enum Attributes {
        case old(stat)
        case new(UInt16)
    }

    private func attributes(at target: FilePlace) throws(SystemError) -> Attributes {
        // A planted file passes nothing on: its owner would own the new file.
        if let old = try target.facts(), try target.check(old, kinds: .none), try target.isTrusted(old) {
            return .old(old)
        }
        return .new(try modeOfNewFile(target))
    }

    private func take(_ attributes: Attributes, for target: FilePlace) throws(SystemError) {
        let own = try stat(of: descriptor)
        let wanted: UInt16
        switch attributes {
        case .old(let old): wanted = takeOwner(of: old, from: own)
        case .new(let mode): wanted = mode
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
    /// that was just made has to show them.
    private func modeOfNewFile(_ target: FilePlace) throws(SystemError) -> UInt16 {
        if mode & 0o077 == 0 { return mode }
        if let granted { return granted }
        return try FileDraft(target, mode: mode).granted ?? Self.hiddenMode
    }
}

extension FilePlace {
    /// Opens what is written to directly; `nil` for what is replaced.
    fileprivate func openDirectly(_ kinds: FileDraft.DirectOutput) throws(SystemError) -> Int32? {
        let file: Int32
        if let number = ownDescriptor {
            file = try checked("dup", path: path) { fcntl(number, F_DUPFD_CLOEXEC, 0) }
        } else if let facts = try facts(), !facts.isRegularFile {
            try check(facts, kinds: kinds)
            let (opened, code) = open(O_WRONLY | O_NOCTTY)
            guard opened != -1 else { throw SystemError("open", code: code, path: path) }
            file = opened
        } else {
            return nil
        }
        do throws(SystemError) {
            try check(try stat(of: file), kinds: kinds)
        } catch {
            close(file)
            throw error
        }
        return file
    }

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
    var permissions: UInt16 { UInt16(st_mode & 0o777) }
}
