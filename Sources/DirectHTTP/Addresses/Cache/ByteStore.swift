/// Very many short pieces of bytes in one piece of memory.
///
/// Each by itself would lie among what has come and gone beside it, and keep that memory from being used for
/// anything else.
struct ByteStore {
    /// Where a piece lies.
    struct Piece {
        fileprivate var start: UInt32 = 0
        fileprivate var count: UInt32 = 0
    }

    private var bytes: [UInt8] = []
    private var deadBytes = 0

    /// Whether it is time to copy all pieces into a new store.
    var isMostlyDead: Bool { deadBytes > 4096 && deadBytes > bytes.count / 2 }

    mutating func add(_ new: Span<UInt8>) -> Piece {
        let piece = Piece(start: UInt32(bytes.count), count: UInt32(new.count))
        for index in new.indices { bytes.append(new[index]) }
        return piece
    }

    mutating func remove(_ piece: Piece) {
        deadBytes += Int(piece.count)
    }

    func withBytes<Result>(of piece: Piece, _ body: (Span<UInt8>) -> Result) -> Result {
        let start = Int(piece.start)
        return bytes.withSpan { body($0.extracting(start..<(start + Int(piece.count)))) }
    }
}
