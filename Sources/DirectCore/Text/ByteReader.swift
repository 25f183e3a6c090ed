/// Reads numbers in network byte order, and bytes behind their length, as the messages of TLS (RFC 8446,
/// section 3) and DNS have them. Returns `nil` where the bytes end too early.
package struct ByteReader {
    package private(set) var rest: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    package var isAtEnd: Bool { rest.isEmpty }

    package mutating func number(bytes count: Int) -> Int? {
        take(count)?.reduce(0) { $0 << 8 | Int($1) }
    }

    package mutating func vector(lengthBytes count: Int) -> ArraySlice<UInt8>? {
        number(bytes: count).flatMap { take($0) }
    }

    /// Reads all that is left as pairs of a number and a value, which has its length, of two bytes, in front.
    package mutating func pairs() -> [(number: Int, value: ArraySlice<UInt8>)]? {
        var pairs: [(Int, ArraySlice<UInt8>)] = []
        while !isAtEnd {
            guard let number = number(bytes: 2), let value = vector(lengthBytes: 2) else { return nil }
            pairs.append((number, value))
        }
        return pairs
    }

    package mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

extension UInt16 {
    package var bigEndianBytes: [UInt8] { [UInt8(self >> 8), UInt8(truncatingIfNeeded: self)] }
}
