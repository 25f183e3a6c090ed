#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
internal import DirectCore

/// A file of numbers in a folder of state files, that several processes read and change. Every call blocks.
///
/// Each is read and written by one call of the system, which does or does not take place, whenever a process
/// is killed or stopped. A place that was never written has no number. No caller waits for a lock.
package final class StateNumbers: Sendable {
    private let folder: StateFolder
    private let name: String
    /// The open file, and whether it can be written.
    private let file = Locked<(open: OpenNumbers, isWritable: Bool)?>(nil)

    package init(_ name: String, in folder: StateFolder) {
        (self.name, self.folder) = (name, folder)
    }

    /// Returns the number at this place; `nil` if there is none.
    package func number(at place: Int) throws(SystemError) -> UInt64? {
        guard let open = try opened(toWrite: false) else { return nil }
        return try Self.number(at: place, of: open.descriptor)
    }

    private static func number(at place: Int, of file: Int32) throws(SystemError) -> UInt64? {
        let bytes = try readAll(8, from: file, at: UInt64(place * 8))
        guard bytes.count == 8 else { return nil }
        let number = bytes.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        return number == 0 ? nil : number
    }

    /// Replaces the number at this place. 0 means none.
    ///
    /// - Parameter settles: Whether to return when the number is on disk.
    package func set(_ number: UInt64, at place: Int, settles: Bool = false) throws(SystemError) {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        try change(settles: settles) { file throws(SystemError) in
            try writeAll(bytes, to: file, at: UInt64(place * 8))
        }
    }

    /// Removes all numbers, and returns when that is on disk.
    package func removeAll() throws(SystemError) {
        try change(settles: true) { file throws(SystemError) in
            _ = try checked("ftruncate") { ftruncate(file, 0) }
        }
    }

    /// Changes the file that has the name: also afterwards, since another process may have replaced it.
    private func change(settles: Bool, _ body: (Int32) throws(SystemError) -> Void) throws(SystemError) {
        for _ in 0..<Self.attempts {
            guard let open = try opened(toWrite: true) else { break }
            try body(open.descriptor)
            if settles {
                let (result, code) = retryingInterrupts { fsync(open.descriptor) }
                // Some file systems cannot, and keep the number as well as they keep anything.
                guard result == 0 || code == EINVAL else { throw SystemError("fsync", code: code) }
            }
            if try folder.place(name).holds(open.facts) { return }
        }
        throw SystemError("open", code: ESTALE)
    }

    /// Returns the file; `nil` if there is none and it is only to be read.
    private func opened(toWrite: Bool) throws(SystemError) -> OpenNumbers? {
        try file.withLock { file throws(SystemError) in
            let place = folder.place(name)
            if let known = file, known.isWritable || !toWrite, try place.holds(known.open.facts) {
                return known.open
            }
            file = nil
            var isWritable = true
            var (result, code) = place.open(
                O_RDWR | O_NONBLOCK | (toWrite ? O_CREAT : 0),
                mode: FileDraft.hiddenMode
            )
            if result == -1, !toWrite, code == EACCES || code == EROFS {
                isWritable = false
                (result, code) = place.open(O_RDONLY | O_NONBLOCK)
            }
            if result == -1, code == ENOENT, !toWrite { return nil }
            guard result != -1 else { throw SystemError("open", code: code) }
            let open = try OpenNumbers(result)
            guard open.facts.isPrivate else { throw SystemError("open", code: EPERM) }
            file = (open, isWritable)
            return open
        }
    }

    /// The number of times a file may disappear between two calls before that is an error.
    private static let attempts = 100
}

/// A file that is open.
private final class OpenNumbers: Sendable {
    let descriptor: Int32
    let facts: stat

    init(_ descriptor: Int32) throws(SystemError) {
        self.descriptor = descriptor
        do throws(SystemError) {
            facts = try stat(of: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        close(descriptor)
    }
}
