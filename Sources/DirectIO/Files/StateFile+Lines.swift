#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Files of lines to which several processes append.
///
/// Nothing is locked, since a process may be stopped at any call. After a line has been appended the file
/// must still have its name, or the line is appended to the one that has it by now. Where another file is put
/// in its place (``rewrite(_:heading:limit:_:)``), what was appended to the former one meanwhile is carried
/// over.
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
        try withFile(path) { file, place, facts throws(SystemError) in
            let size = Int(facts.st_size)
            var text = lines
            if size == 0 {
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

    /// Replaces the file by the heading and what `change` makes of its contents: nothing is lost that another
    /// process has appended meanwhile. Of two that do this at the same moment one may win. Of more than
    /// `limit` bytes the first lines are left out. Returns its size.
    ///
    /// - Throws: `EEXIST` if the file has another heading: it may be one of a newer version.
    package static func rewrite(
        _ path: String,
        heading: [UInt8],
        limit: Int,
        _ change: ([UInt8]) -> [UInt8]
    ) throws(SystemError) -> Int {
        try withFile(path) { file, place, facts throws(SystemError) in
            let size = Int(facts.st_size)
            guard size <= limit else { throw SystemError("read", code: EFBIG, path: path) }
            let old = try readAll(size, from: file, at: 0)
            // A killed process may have left the heading half written.
            guard old.starts(with: heading) || heading.starts(with: old) else {
                throw SystemError("write", code: EEXIST, path: path)
            }
            let lines = change(old)
            // With room for what is appended.
            let last = lines.suffix(max(0, limit - limit / 8 - heading.count))
            let cut = last.count < lines.count ? last.firstIndex(of: UInt8(ascii: "\n")) : nil
            let text = heading + last[(cut.map { $0 + 1 } ?? last.startIndex)...]
            guard try replace(place, with: text, instead: facts) else { return .replaced }
            let more = Int(try stat(of: file).st_size) - old.count
            let news = try readAll(min(max(0, more), limit), from: file, at: UInt64(old.count))
            guard !news.isEmpty else { return .done(text.count) }
            return .done(try append(news, to: path, heading: heading, limit: limit) ?? text.count)
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
