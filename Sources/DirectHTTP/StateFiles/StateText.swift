internal import DirectCore
internal import DirectIO

/// Reads state files, which hold one item per line. The work is done on threads that may block, not on the
/// caller's.
enum StateText {
    /// Reads the bytes of the file, or none if the file does not exist, and returns what `use` makes of them.
    ///
    /// - Throws: A ``SystemError`` if the file cannot be read, `CancellationError` if the task was cancelled.
    static func load(
        _ path: String,
        _ use: @escaping @Sendable ([UInt8]) -> [LineFault]
    ) async throws -> [LineFault] {
        try await BlockingWork.forFile(path).run(on: .shared) { () throws(SystemError) in
            use(try StateFile.read(path) ?? [])
        }
    }

    /// Calls `body` for each line that is not empty, and returns the errors that it throws, with their line
    /// numbers: the first thousand, so that a file of nothing else takes no more memory than one of use.
    ///
    /// - Parameter isWhole: Whether a last line without an end counts as well. That of a file may have been
    ///   cut off anywhere.
    static func readLines(
        of bytes: [UInt8],
        isWhole: Bool = true,
        _ body: (ArraySlice<UInt8>) throws(LineError) -> Void
    ) -> [LineFault] {
        var faults: [LineFault] = []
        var (number, start) = (0, 0)
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n"))
            let line = bytes[start..<(end ?? bytes.count)]
            (number, start) = (number + 1, line.endIndex + 1)
            let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard !text.isEmpty else { continue }
            do throws(LineError) {
                guard text.count <= longestLine else { throw LineError("it is too long") }
                guard isWhole || end != nil else {
                    throw LineError("it has no end, and may have been cut off")
                }
                try body(text)
            } catch {
                if faults.count < mostFaults { faults.append(LineFault(line: number, reason: error.reason)) }
                if error.isOfHeading, number == 1 { return faults }
            }
        }
        return faults
    }

    private static let mostFaults = 1000
    /// Far more than any item is long: parsing takes many times the memory.
    private static let longestLine = 256 << 10
}

/// The reason why a line cannot be read.
struct LineError: Error {
    let reason: String
    /// Whether it is about a line that says what all others mean.
    let isOfHeading: Bool

    init(_ reason: String, isOfHeading: Bool = false) {
        (self.reason, self.isOfHeading) = (reason, isOfHeading)
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
