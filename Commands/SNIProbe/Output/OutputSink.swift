internal import DirectCore
internal import DirectIO

/// The place that results are written to: standard output, a file that is replaced as a whole, what is no
/// regular file, or memory.
///
/// Only the main thread uses it.
final class OutputSink {
    private enum Place {
        case standardOutput
        case file(FileDraft, path: String)
        /// A device, a pipe, or a file that is open already, such as `/dev/stdout`.
        case direct(FileDraft)
        case memory
    }

    private let place: Place
    private var hasWritten = false
    /// The file of an earlier run, all of which is in this one.
    private var former: LineSource?
    /// The bytes that were written to memory.
    private(set) var bytes: [UInt8] = []
    /// The reason why the file cannot be written.
    private(set) var failure: UsageError?

    private init(_ place: Place) {
        self.place = place
    }

    deinit {
        // At once: the process may end before the draft's own release has removed the file.
        if case .file(let draft, _) = place { draft.discard() }
    }

    /// Standard output.
    static var standardOutput: OutputSink { OutputSink(.standardOutput) }

    /// Memory, for output that is printed in one piece.
    static var memory: OutputSink { OutputSink(.memory) }

    /// The file that an option names, or standard output.
    static func open(_ path: String?) throws(UsageError) -> OutputSink {
        try path.map { (path) throws(UsageError) in try file(path) } ?? standardOutput
    }

    /// A file. Until `commit` its old contents stay as they are. What is no regular file is written at once,
    /// like standard output.
    ///
    /// - Throws: ``UsageError`` if the path is that of a folder, or no file can be created beside it.
    static func file(_ path: String) throws(UsageError) -> OutputSink {
        do throws(SystemError) {
            let draft = try FileDraft(path, mode: 0o666, direct: .devicesAndPipes)
            return OutputSink(draft.isDirect ? .direct(draft) : .file(draft, path: path))
        } catch {
            throw unwritable(path, error: error)
        }
    }

    /// Whether nothing changes until `commit`.
    var replacesFile: Bool { if case .file = place { true } else { false } }

    /// Whether `commit` replaces this open file.
    func replaces(_ descriptor: Int32) -> Bool {
        guard case .file(let draft, _) = place else { return false }
        return draft.replaces(descriptor)
    }

    /// Whether the file of the earlier run is the one to replace.
    var goesOn: Bool { former.map { replaces($0.descriptor) } ?? false }

    /// Notes that what was written so far has all of that file's lines, so that it may be replaced.
    func contains(_ file: LineSource) { former = file }

    /// Writes all bytes. Returns `false` if the place accepts no more.
    func write(_ bytes: [UInt8]) -> Bool {
        switch place {
        case .standardOutput: return Console.write(bytes, to: 1)
        case .direct(let draft): return Console.write(bytes, to: draft.descriptor)
        case .memory:
            self.bytes += bytes
            return true
        case .file(let draft, let path):
            do throws(SystemError) {
                try draft.write(bytes)
                hasWritten = true
                return true
            } catch {
                failure = Self.unwritable(path, error: error)
                return false
            }
        }
    }

    /// Puts a file in the place of the old one. Has no effect on other places.
    func commit() throws(UsageError) {
        guard case .file(let draft, let path) = place else { return }
        do throws(SystemError) {
            try draft.settle()
            try draft.commit()
        } catch {
            throw Self.unwritable(path, error: error)
        }
    }

    /// Keeps what was written so far, and returns the path; `nil` if nothing was written. Nothing can be
    /// written afterwards.
    ///
    /// It is in a new file beside, whose name has `.part` at its end, or `.part-1` and so on. Only the file
    /// of the earlier run is replaced, if it is the file itself or has one of these names.
    func commitPart() throws(UsageError) -> String? {
        guard case .file(let draft, let path) = place, hasWritten else { return nil }
        do throws(SystemError) {
            try draft.settle()
            return try draft.commit(beside: ".part", inPlaceOf: former?.descriptor)
        } catch {
            throw Self.unwritable(path + ".part", error: error)
        }
    }

    /// Returns the exit code when the place accepts no more, which is an error of a file.
    func endOfOutput() throws(UsageError) -> Int32 {
        if let failure { throw failure }
        return Console.endOfOutput()
    }

    private static func unwritable(_ path: String, error: SystemError) -> UsageError {
        UsageError("cannot write \(quoted(path)): \(Words.system(error.code))", code: ExitCode.unwritable)
    }
}
