/// A line of a file of cookies, or of other things kept, that could not be read. The others were.
public struct LineFault: Hashable, Sendable, CustomStringConvertible {
    /// Counted from 1.
    public let line: Int
    /// What is wrong with it, in words, without what it holds.
    public let reason: String

    /// The line and the reason.
    public var description: String { "line \(line): \(reason)" }
}
