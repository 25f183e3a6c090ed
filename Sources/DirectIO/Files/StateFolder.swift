#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
package import DirectCore

/// A private folder of state files, such as a cache's. Every call blocks.
///
/// Files are written under temporary names and then renamed, so that a reader finds either the old file or
/// the whole new one, even if the writer crashes. Symbolic links are never followed.
package final class StateFolder: Sendable {
    /// The attributes of a file that are known without opening it.
    package struct Facts: Sendable {
        /// The name in the folder.
        package let name: String
        /// Whether it is a regular file.
        package let isRegularFile: Bool
        /// The size in bytes.
        package var size: Int
        /// The time at which it was written or last touched, in nanoseconds since 1970.
        package var time: Int64
    }

    /// Tells a folder that is open from every other, by whatever path it was opened.
    package struct Identity: Hashable, Sendable {
        let device: UInt64
        let number: UInt64
    }

    package let identity: Identity
    private let folder: OpenFolder

    /// Opens the folder and creates it if necessary. Its parent must exist.
    ///
    /// A folder that belongs to another user or that others can write to is refused, since they could plant
    /// files in it, and so is a link that another user may have made.
    package init(_ path: String) throws(SystemError) {
        let trimmed = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        let found = try FilePlace(named: trimmed)
        var (file, code) = found.open(O_RDONLY | O_DIRECTORY)
        if file == -1, code == ENOENT {
            try found.makeFolder()
            (file, code) = found.open(O_RDONLY | O_DIRECTORY)
        }
        guard file != -1 else { throw SystemError("open", code: code) }
        folder = OpenFolder(file)
        let facts = try stat(of: file)
        guard facts.st_uid == geteuid(), facts.st_mode & 0o022 == 0 else {
            throw SystemError("open", code: EPERM)
        }
        identity = Identity(device: UInt64(truncatingIfNeeded: facts.st_dev), number: UInt64(facts.st_ino))
    }

    /// Opens a file for reading. Returns `nil` if there is none.
    package func file(_ name: String) throws(SystemError) -> StateReader? {
        try StateReader(place(name))
    }

    /// Opens the file that is to be replaced; `nil` if there is none. What is no file of this user's, such as
    /// a link, is removed, and not what it leads to.
    package func fileToReplace(_ name: String) throws(SystemError) -> StateReader? {
        do throws(SystemError) {
            return try file(name)
        } catch {
            // A link, a folder or a pipe, a file of others, a socket, one that cannot be read.
            guard [ELOOP, EINVAL, EPERM, ENXIO, EACCES].contains(error.code) else { throw error }
            try remove(name)
            return nil
        }
    }

    /// Creates a file that is to have this name.
    package func draft(_ name: String) throws(SystemError) -> FileDraft {
        try FileDraft(place(name), mode: FileDraft.hiddenMode)
    }

    /// A name in the folder.
    func place(_ name: String) -> FilePlace { FilePlace(folder: folder, name: name) }

    /// Whether this name still refers to the file of this reader.
    package func holds(_ reader: StateReader, as name: String) -> Bool {
        (try? place(name).facts()).map { UInt64($0.st_ino) == reader.number } ?? false
    }

    /// Removes a file, and returns whether it existed. A reader of the file can continue.
    @discardableResult
    package func remove(_ name: String) throws(SystemError) -> Bool {
        try place(name).remove()
    }

    /// Whether a name is a temporary one.
    package static func isDraft(_ name: String) -> Bool { FilePlace.isDraft(name) }

    /// Removes a file that a killed process has left under a temporary name. Returns whether it was one.
    package func removeIfAbandoned(_ name: String) -> Bool { place(name).removeIfAbandoned() }

    /// Returns the attributes of all files, in no particular order, and the names of what could not be
    /// examined.
    package func contents() throws(SystemError) -> (files: [Facts], unknown: [String]) {
        var (files, unknown): ([Facts], [String]) = ([], [])
        for name in try names() {
            do throws(SystemError) {
                if let facts = try facts(of: name) { files.append(facts) }
            } catch {
                unknown.append(name)
            }
        }
        return (files, unknown)
    }

    /// Returns the names of all files, in no particular order. One that is no UTF-8 is repaired, and leads to
    /// nothing.
    package func names() throws(SystemError) -> [String] {
        let copy = try checked("open") { openat(folder.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let listing = fdopendir(copy) else {
            close(copy)
            throw SystemError("fdopendir", code: errno)
        }
        defer { closedir(listing) }
        var all: [String] = []
        while true {
            // Only errno tells a failure from the end (readdir(3)).
            errno = 0
            guard let entry = readdir(listing) else {
                let code = errno
                guard code == 0 else { throw SystemError("readdir", code: code) }
                return all
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { all.append(name) }
        }
    }

    private func facts(of name: String) throws(SystemError) -> Facts? {
        // The file may have been removed since it was listed.
        guard let facts = try place(name).facts() else { return nil }
        return Facts(
            name: name,
            isRegularFile: facts.isRegularFile,
            size: Int(facts.st_size),
            time: facts.changeTime
        )
    }
}

/// A file that is being read. It remains readable after its name has been removed.
package final class StateReader: Sendable {
    /// The size in bytes.
    package let size: Int
    /// The time at which the file was written or last touched.
    package let time: UnixTime
    fileprivate let number: UInt64
    private let descriptor: Int32

    /// Opens a file; `nil` if there is none.
    ///
    /// - Throws: `EINVAL` if it is no regular file, `EPERM` if another user may have written it.
    init?(_ place: FilePlace) throws(SystemError) {
        // O_NONBLOCK: the name may be that of a pipe, which would have to wait for a writer.
        let (file, code) = place.open(O_RDONLY | O_NONBLOCK)
        if file == -1, code == ENOENT { return nil }
        guard file != -1 else { throw SystemError("open", code: code, path: place.path) }
        var facts: stat
        do throws(SystemError) {
            facts = try stat(of: file)
            if facts.st_nlink == 2 {
                // The second name may be one that a killed writer has left.
                place.removeLeftovers()
                facts = try stat(of: file)
            }
            guard facts.isRegularFile else { throw SystemError("open", code: EINVAL, path: place.path) }
            guard facts.isPrivate, try place.isTrusted(facts) else {
                throw SystemError("open", code: EPERM, path: place.path)
            }
        } catch {
            close(file)
            throw error
        }
        descriptor = file
        size = Int(facts.st_size)
        time = UnixTime(seconds: facts.changeTime / 1_000_000_000)
        number = UInt64(facts.st_ino)
    }

    deinit {
        Closing.close(descriptor)
    }

    /// Returns `count` bytes from this offset, or fewer at the end of the file.
    package func bytes(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
        try readAll(count, from: descriptor, at: UInt64(offset))
    }

    /// Sets the file's time to the current time.
    package func touch() {
        futimens(descriptor, nil)
    }
}

extension stat {
    /// In nanoseconds since 1970.
    fileprivate var changeTime: Int64 {
        #if canImport(Darwin)
        let time = st_mtimespec
        #else
        let time = st_mtim
        #endif
        // A file may have any time.
        let seconds = min(max(Int64(time.tv_sec), -Self.mostSeconds), Self.mostSeconds)
        return seconds * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static var mostSeconds: Int64 { Int64.max / 1_000_000_000 - 1 }
}
