#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Files of lines to which several processes append.
///
/// Nobody waits for a lock, since a process may be stopped at any call. After a line has been appended the
/// file must still have its name, or the line is appended to the one that has it by now. Only who has locked
/// the file puts another one in its place, and carries over what was appended to the former one at the last
/// moment: no system exchanges a file on the condition that it is as it was.
extension StateFile {
    /// Appends lines to the file, and returns its size.
    ///
    /// A line that a killed process has left half written is ended first. A file begins by being replaced, on
    /// disk: a heading that a power failure has damaged would be that of a foreign file for ever.
    ///
    /// - Returns: `nil`, without a write, if the file has not this heading, or would be larger than `limit`.
    package static func append(
        _ lines: [UInt8],
        to path: String,
        heading: [UInt8],
        limit: Int
    ) throws(SystemError) -> Int? {
        try append(lines, to: path, heading: heading, limit: limit, beginsFile: false)
    }

    private static func append(
        _ lines: [UInt8],
        to path: String,
        heading: [UInt8],
        limit: Int,
        beginsFile: Bool
    ) throws(SystemError) -> Int? {
        try withFile(path) { file, place, facts throws(SystemError) in
            let size = Int(facts.st_size)
            var text = lines
            if size == 0, beginsFile {
                text = heading + lines
            } else {
                guard try readAll(heading.count, from: file, at: 0) == heading else { return .done(nil) }
                let last = try readAll(1, from: file, at: UInt64(size - 1))
                if last != [UInt8(ascii: "\n")] { text.insert(UInt8(ascii: "\n"), at: 0) }
            }
            guard size + text.count <= limit else { return .done(nil) }
            try writeAll(text, to: file, at: nil)
            return try place.holds(facts) ? .done(size + text.count) : .replaced
        }
    }

    /// Returns the heading and the last lines of the file, of which the first one may be cut off; `nil` if
    /// there is no file.
    ///
    /// - Parameter limit: The number of bytes that are read behind the heading of a larger file.
    package static func readLines(_ path: String, heading: [UInt8], limit: Int) throws(SystemError)
        -> [UInt8]?
    {
        guard let file = try StateReader(try FilePlace(path)) else { return nil }
        let first = try file.bytes(at: 0, count: heading.count)
        let start = max(first.count, file.size - limit)
        return try first + file.bytes(at: start, count: max(0, file.size - start))
    }

    /// Replaces the file by the heading and what `change` makes of its contents: nothing is lost that another
    /// process has appended meanwhile. Of more than `limit` bytes the first lines are left out. Returns its
    /// size; `nil` if another process does the same, and `news` were appended.
    ///
    /// - Parameter news: What to append then; `nil` to replace the file all the same.
    /// - Throws: `EEXIST` if the file has another heading: it may be one of a newer version.
    package static func rewrite(
        _ path: String,
        heading: [UInt8],
        limit: Int,
        orAppend news: [UInt8]?,
        _ change: ([UInt8]) -> [UInt8]
    ) throws(SystemError) -> Int? {
        var turns = 0
        return try withFile(path) { file, place, facts throws(SystemError) in
            turns += 1
            if let news, FileLock.take(file) == .inUse {
                let size = try append(news, to: path, heading: heading, limit: limit, beginsFile: true)
                guard size != nil else { throw SystemError("write", code: EFBIG, path: path) }
                return .done(nil)
            }
            // A copy of the descriptor, in a process that is being started, would keep the lock.
            defer { _ = flock(file, LOCK_UN) }
            let old = try readLines(path, heading: heading, limit: limit) ?? []
            // A killed process may have left the heading half written.
            guard old.starts(with: heading) || heading.starts(with: old) else {
                throw SystemError("write", code: EEXIST, path: path)
            }
            let lines = change(old)
            // With room for what is appended.
            let last = lines.suffix(max(0, limit - limit / 8 - heading.count))
            let cut = last.count < lines.count ? last.firstIndex(of: UInt8(ascii: "\n")) : nil
            let text = heading + last[(cut.map { $0 + 1 } ?? last.startIndex)...]
            // Lines that others append meanwhile are read in their order; if they append without end, carried
            // over.
            guard try replace(place, with: text, instead: facts, mayHaveGrown: turns > 2) else {
                return .replaced
            }
            let (size, now) = (facts.st_size, try stat(of: file).st_size)
            let late = try readAll(min(Int(max(0, now - size)), limit), from: file, at: UInt64(size))
            guard !late.isEmpty else { return .done(text.count) }
            let whole = try append(late, to: path, heading: heading, limit: limit)
            return .done(whole ?? text.count)
        }
    }

    private enum Outcome<Value> {
        case done(Value)
        /// Another file has got the name before that.
        case replaced
    }

    /// Calls `body` with the open file and what is known of it, again if another one has got its name.
    private static func withFile<Value>(
        _ path: String,
        _ body: (Int32, FilePlace, stat) throws(SystemError) -> Outcome<Value>
    ) throws(SystemError) -> Value {
        let place = try FilePlace(replaceable: path)
        for _ in 0..<attempts {
            let (file, code) = place.open(O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK, mode: 0o600)
            guard file != -1 else { throw SystemError("open", code: code, path: path) }
            defer { close(file) }
            let facts = try stat(of: file)
            guard facts.isPrivate, try place.isTrusted(facts) else {
                throw SystemError("open", code: EPERM, path: path)
            }
            if case .done(let value) = try body(file, place, facts) { return value }
        }
        throw SystemError("open", code: ESTALE, path: path)
    }

    /// The number of times a file may be replaced between two calls before that is an error.
    private static var attempts: Int { 100 }
}
