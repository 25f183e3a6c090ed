internal import DirectCore
internal import DirectIO

/// Reads state files, which hold one item per line. The work is done on threads that may block, not on the
/// caller's.
enum StateText {
    /// The size limit; larger files are refused.
    private static let largestFile = 64 * 1024 * 1024

    /// Returns the bytes of the file, or none if the file does not exist.
    ///
    /// - Throws: A ``SystemError`` if the file cannot be read, `CancellationError` if the task was cancelled.
    static func load(_ path: String) async throws -> [UInt8] {
        try await BlockingWork.forFile(path).run(on: .shared) { () throws(SystemError) in
            try StateFile.read(path, limit: largestFile) ?? []
        }
    }

    /// Calls `body` for each line that is not empty, and returns the errors that it throws, with their line
    /// numbers.
    static func readLines(
        of bytes: [UInt8],
        _ body: (ArraySlice<UInt8>) throws(LineError) -> Void
    ) -> [LineFault] {
        var faults: [LineFault] = []
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard !text.isEmpty else { continue }
            do throws(LineError) {
                try body(text)
            } catch {
                faults.append(LineFault(line: number, reason: error.reason))
            }
        }
        return faults
    }
}

/// The reason why a line cannot be read.
struct LineError: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// A line of a state file, such as a cookie file, that could not be read. It was skipped; the other lines
/// were read.
public struct LineFault: Hashable, Sendable, CustomStringConvertible {
    /// The number of the line, counted from 1.
    public let line: Int
    /// The reason in words, without the contents of the line.
    public let reason: String

    /// The number of the line and the reason.
    public var description: String { "line \(line): \(reason)" }
}
