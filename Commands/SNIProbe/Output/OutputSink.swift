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
    /// Whether what is written is in a file beside at once, where it stays if the process is killed.
    var isKeptBeside = false
    /// The path of that file.
    private var part: String?
    /// The file of an earlier run, all of which is in this one, and whether it is the one to replace.
    private var former: LineSource?
    private(set) var goesOn = false
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

    /// The file of `--output`, or standard output.
    ///
    /// - Throws: ``UsageError`` also if the command reads that file: it would be written over.
    static func open(_ options: Options) throws(UsageError) -> OutputSink {
        guard let path = options.output else { return standardOutput }
        guard !options.readFiles.contains(where: { UserFiles.isRead($0, by: path) }) else {
            let what = "--output would write over \(quoted(path)), which this command reads"
            throw UsageError(what, hint: "write to another file")
        }
        return try file(path)
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

    /// Takes the place of a file, all of whose lines have been written.
    func contains(_ file: LineSource) throws(UsageError) {
        (former, goesOn) = (file, replaces(file.descriptor))
        _ = try commitPart()
    }

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
                if isKeptBeside, part == nil { part = try commitBeside(draft) }
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

    /// Keeps what was written so far, and returns the path; `nil` if nothing was written.
    ///
    /// It is in a new file beside, whose name has `.part` at its end, or `.part-1` and so on. Only the file
    /// of the earlier run is replaced, if it is the file itself or has one of these names.
    func commitPart() throws(UsageError) -> String? {
        guard case .file(let draft, let path) = place, hasWritten else { return nil }
        do throws(SystemError) {
            try draft.settle()
            if part == nil { part = try commitBeside(draft) }
            return part
        } catch {
            throw Self.unwritable(path + Self.ending, error: error)
        }
    }

    private func commitBeside(_ draft: FileDraft) throws(SystemError) -> String? {
        let part = try draft.commit(beside: Self.ending, inPlaceOf: former?.descriptor)
        // No other run is to go on with it meanwhile.
        _ = UserFiles.lock(draft.descriptor)
        return part
    }

    private static let ending = ".part"

    /// Returns the exit code when the place accepts no more, which is an error of a file.
    func endOfOutput() throws(UsageError) -> Int32 {
        if let failure { throw failure }
        return Console.endOfOutput()
    }

    private static func unwritable(_ path: String, error: SystemError) -> UsageError {
        UsageError("cannot write \(quoted(path)): \(Words.system(error.code))", code: ExitCode.unwritable)
    }
}
