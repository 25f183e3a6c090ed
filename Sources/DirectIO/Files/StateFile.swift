#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A file that keeps a client's state from one run to the next: cookies, a cache, resolver answers.
///
/// It is readable only by its owner (mode 0600). A reader that opens it during a replacement finds either the
/// old file or the whole new one. A file that another user may have put there, that others can write to, or
/// that has a second name, is an error (`EPERM`). Symbolic links are followed unless another user may have
/// put them there. A file that is mounted by itself, and one in a folder that is not writable, cannot be
/// replaced (`EBUSY`, `EACCES`): written in place it could be lost. Every call blocks.
package enum StateFile {
    /// The size of the largest file that is written, and read without another limit: more than all cookies of
    /// a jar with the default limits.
    package static let largest = 256 << 20

    /// Returns the bytes of the file, or `nil` if there is no such file.
    ///
    /// - Parameter limit: The maximum size. A larger file is an error (`EFBIG`).
    package static func read(_ path: String, limit: Int = StateFile.largest) throws(SystemError) -> [UInt8]? {
        let place: FilePlace
        do throws(SystemError) {
            place = try FilePlace(path)
        } catch {
            if error.meansNoFile { return nil }
            throw error
        }
        return try read(place, limit: limit)
    }

    static func read(_ place: FilePlace, limit: Int) throws(SystemError) -> [UInt8]? {
        guard let file = try StateReader(place) else { return nil }
        guard file.size <= limit else { throw SystemError("read", code: EFBIG, path: place.path) }
        let bytes = try file.bytes(at: 0, count: file.size)
        // The file is only ever replaced as a whole, so something else has cut it off.
        guard bytes.count == file.size else { throw SystemError("read", code: EIO, path: place.path) }
        return bytes
    }

    /// Replaces the contents of the file, which need not exist. The bytes and the name are on disk when this
    /// returns; of a folder that this process cannot read, only the bytes.
    ///
    /// - Parameter limit: The size up to which it will be read. More is an error now (`EFBIG`), and the file
    ///   stays as it was.
    package static func replace(
        _ path: String,
        with bytes: [UInt8],
        limit: Int = StateFile.largest
    ) throws(SystemError) {
        guard bytes.count <= limit else { throw SystemError("write", code: EFBIG, path: path) }
        try replace(try FilePlace(replaceable: path), with: bytes)
    }

    /// - Parameters:
    ///   - former: The file that must still be there. Otherwise none is replaced, and the result is `false`.
    ///   - mayHaveGrown: Whether it may be larger than it was.
    @discardableResult
    static func replace(
        _ place: FilePlace,
        with bytes: [UInt8],
        instead former: stat? = nil,
        mayHaveGrown: Bool = false
    ) throws(SystemError) -> Bool {
        let draft = try FileDraft(place, mode: 0o600)
        // Has no effect on a complete one.
        defer { draft.discard() }
        try draft.write(bytes)
        try draft.settle()
        if let former {
            guard try place.holds(former) else { return false }
            if !mayHaveGrown, try place.facts()?.st_size != former.st_size { return false }
        }
        try draft.commit()
        try place.settleNames()
        return true
    }
}
