/// Splits bytes that come in pieces into lines. A line ends with LF, CR or CRLF, as in server-sent events.
///
/// A line is complete at its CR: a splitter that waited for an LF behind it would hold back the last line of
/// a body that pauses there.
struct LineSplitter: Sendable {
    /// A line is longer than the limit.
    struct TooLong: Error {}

    private let limit: Int
    private var piece: ArraySlice<UInt8> = []
    /// The beginning of a line whose end is in a later piece.
    private var beginning: [UInt8] = []
    /// Whether an LF would belong to the CR before it.
    private var skipsLineFeed = false
    private var isFirst = true

    init(limit: Int) {
        self.limit = limit
    }

    /// Adds a piece. The lines of the one before have been taken.
    mutating func feed(_ bytes: [UInt8]) {
        piece = bytes[...]
    }

    /// Returns the next line without its end; `nil` if another piece is needed.
    mutating func next() throws(TooLong) -> [UInt8]? {
        if skipsLineFeed, let byte = piece.first {
            skipsLineFeed = false
            if byte == 0x0A { piece.removeFirst() }
        }
        let end = piece.firstIndex { $0 == 0x0A || $0 == 0x0D }
        let part = piece[..<(end ?? piece.endIndex)]
        guard part.count <= limit - beginning.count else { throw TooLong() }
        beginning += part
        guard let end else {
            piece = []
            return nil
        }
        skipsLineFeed = piece[end] == 0x0D
        piece = piece[(end + 1)...]
        return take()
    }

    /// Returns what follows the last end of a line, when all pieces have been added; `nil` if that is empty.
    mutating func rest() -> [UInt8]? {
        beginning.isEmpty ? nil : take()
    }

    private mutating func take() -> [UInt8] {
        defer { (beginning, isFirst) = ([], false) }
        let hasMark = isFirst && beginning.starts(with: [0xEF, 0xBB, 0xBF])
        return hasMark ? Array(beginning.dropFirst(3)) : beginning
    }
}
