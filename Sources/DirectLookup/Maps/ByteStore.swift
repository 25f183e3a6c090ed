internal import DirectCore

/// A store for very many short byte strings in one array.
///
/// As allocations of their own they would lie between short-lived ones, and keep that memory from being
/// reused for anything else (fragmentation). Removed bytes stay until the owner copies the live pieces into a
/// new store.
package struct ByteStore {
    /// The position of a byte string in the store.
    package struct Piece {
        fileprivate var start: UInt32 = 0
        fileprivate var count: UInt32 = 0

        package init() {}

        fileprivate init(start: UInt32, count: UInt32) {
            (self.start, self.count) = (start, count)
        }
    }

    private var bytes: [UInt8] = []
    /// The number of bytes of removed pieces.
    private var deadBytes = 0

    package init() {}

    /// Whether it is time to copy the live pieces into a new store.
    package var isMostlyDead: Bool { deadBytes > 4096 && deadBytes > bytes.count / 2 }

    /// Appends a byte string.
    package mutating func add(_ new: Span<UInt8>) -> Piece {
        let piece = Piece(start: UInt32(bytes.count), count: UInt32(new.count))
        for index in new.indices { bytes.append(new[index]) }
        return piece
    }

    /// Marks the bytes of a piece as dead.
    package mutating func remove(_ piece: Piece) {
        deadBytes += Int(piece.count)
    }

    /// Whether a piece has exactly these bytes.
    package func holds(_ other: Span<UInt8>, at piece: Piece) -> Bool {
        guard piece.count == other.count else { return false }
        let (all, start) = (bytes[...], Int(piece.start))
        return all.span.extracting(start..<(start + other.count)).hasSameBytes(as: other)
    }

    /// Calls `body` with the bytes of a piece.
    package func withBytes<Result>(of piece: Piece, _ body: (Span<UInt8>) -> Result) -> Result {
        let start = Int(piece.start)
        return bytes.withSpan { body($0.extracting(start..<(start + Int(piece.count)))) }
    }
}

extension Span<UInt8> {
    /// Whether this has the same bytes as a span of the same length. Compares eight bytes at a time.
    fileprivate func hasSameBytes(as other: Span<UInt8>) -> Bool {
        guard count >= 8 else {
            for index in indices where self[index] != other[index] { return false }
            return true
        }
        let (own, others) = unsafe (bytes, other.bytes)
        func isSame(at offset: Int) -> Bool {
            unsafe own.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
                == others.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        for offset in stride(from: 0, to: count - 8, by: 8) where !isSame(at: offset) { return false }
        // The last eight bytes, some of which may be compared for the second time.
        return isSame(at: count - 8)
    }
}
