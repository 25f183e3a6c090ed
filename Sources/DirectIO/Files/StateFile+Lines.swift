#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Files of lines to which several processes append.
///
/// A writer locks the file (flock(2)), and then looks whether it is still the one of that name:
/// ``rewrite(_:heading:limit:_:)`` puts another one in its place. Readers lock nothing.
extension StateFile {
    /// Appends lines to the file, which is created with the heading if there is none. Returns its size.
    ///
    /// A line that a killed process has left half written is ended first.
    ///
    /// - Returns: `nil`, without a write, if the file has another heading, or would be larger than `limit`.
    package static func append(
        _ lines: [UInt8],
        to path: String,
        heading: [UInt8],
        limit: Int
    ) throws(SystemError) -> Int? {
        try withLock(path) { file, place, size throws(SystemError) in
            var text = lines
            if size == 0 {
                text = heading + lines
            } else {
                guard try readAll(heading.count, from: file, at: 0) == heading else { return nil }
                let last = try readAll(1, from: file, at: UInt64(size - 1))
                if last != [UInt8(ascii: "\n")] { text.insert(UInt8(ascii: "\n"), at: 0) }
            }
            guard size + text.count <= limit else { return nil }
            try writeAll(text, to: file, at: nil)
            return size + text.count
        }
    }

    /// Replaces the file by the heading and what `change` makes of its contents: nothing is lost that another
    /// process has written meanwhile. Of more than `limit` bytes the first lines are left out. Returns its
    /// size.
    ///
    /// - Throws: `EEXIST` if the file has another heading: it may be one of a newer version.
    package static func rewrite(
        _ path: String,
        heading: [UInt8],
        limit: Int,
        _ change: ([UInt8]) -> [UInt8]
    ) throws(SystemError) -> Int {
        try withLock(path) { file, place, size throws(SystemError) in
            guard size <= limit else { throw SystemError("read", code: EFBIG, path: path) }
            let old = try readAll(size, from: file, at: 0)
            guard old.isEmpty || old.starts(with: heading) else {
                throw SystemError("write", code: EEXIST, path: path)
            }
            let lines = change(old)
            // With room for what is appended.
            let last = lines.suffix(max(0, limit - limit / 8 - heading.count))
            let cut = last.count < lines.count ? last.firstIndex(of: UInt8(ascii: "\n")) : nil
            let text = heading + last[(cut.map { $0 + 1 } ?? last.startIndex)...]
            try replace(place, with: text)
            return text.count
        }
    }

    /// Calls `body` with the open file, which is locked and has its name, and its size.
    private static func withLock<Value>(
        _ path: String,
        _ body: (Int32, FilePlace, Int) throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        let place = try FilePlace(replaceable: path)
        while true {
            let (file, code) = place.open(O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK, mode: 0o600)
            guard file != -1 else { throw SystemError("open", code: code, path: path) }
            defer { close(file) }
            let facts = try stat(of: file)
            guard facts.isPrivate, try place.isTrusted(facts) else {
                throw SystemError("open", code: EPERM, path: path)
            }
            // On a file system without locks one process has the file, as before.
            _ = retryingInterrupts { flock(file, LOCK_EX) }
            let now = try stat(of: file)
            guard try place.holds(now) else { continue }
            return try body(file, place, Int(now.st_size))
        }
    }
}
