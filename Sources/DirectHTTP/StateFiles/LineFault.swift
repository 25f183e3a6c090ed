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
