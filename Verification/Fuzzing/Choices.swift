/// The input of one run: texts at its start, numbers at its end.
///
/// Numbers are taken from the last byte backwards, so that an input can be made from a vector by appending
/// them, and a longer text does not change them. When no bytes are left, every number is 0. Several texts are
/// separated by the byte 0x1F, which is a control character that no format here gives a meaning.
struct Choices {
    /// The byte between two texts.
    static let separator: UInt8 = 0x1F

    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    /// The next number below `limit`, which is at most 65536.
    mutating func number(below limit: Int) -> Int {
        let low = Int(bytes.popLast() ?? 0)
        guard limit > 256 else { return low % limit }
        return (low | Int(bytes.popLast() ?? 0) << 8) % limit
    }

    mutating func flag() -> Bool { number(below: 2) == 1 }

    /// The next 64 bits.
    mutating func word() -> UInt64 {
        (0..<8).reduce(0) { word, _ in word << 8 | UInt64(bytes.popLast() ?? 0) }
    }

    /// One of the elements.
    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[number(below: elements.count)]
    }

    /// All bytes that are left.
    mutating func rest() -> [UInt8] {
        defer { bytes = [] }
        return Array(bytes)
    }

    /// The texts in all bytes that are left; at least one, which may be empty.
    mutating func texts() -> [[UInt8]] {
        rest().split(separator: Self.separator, omittingEmptySubsequences: false).map(Array.init)
    }

    /// Up to `limit` places between 0 and `count`, in ascending order.
    mutating func cuts(of count: Int, atMost limit: Int = 6) -> [Int] {
        (0..<number(below: limit + 1)).map { _ in number(below: min(count + 1, 65536)) }.sorted()
    }
}

extension String {
    /// Whether it has no control character.
    var isOneLine: Bool { unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } }
}

extension [UInt8] {
    /// The bytes as text; invalid UTF-8 is replaced.
    var text: String { String(decoding: self, as: UTF8.self) }

    /// The bytes with ASCII letters in lower case.
    var lowered: [UInt8] { map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 } }

    /// The bytes in pieces that end at these places, none of them empty.
    func pieces(cutAt cuts: [Int]) -> [[UInt8]] {
        var (pieces, start) = ([[UInt8]](), 0)
        for end in cuts.filter({ $0 < count }) + [count] where end > start {
            pieces.append(Array(self[start..<end]))
            start = end
        }
        return pieces
    }

    /// The bytes as a quoted string (RFC 9110, section 5.6.4).
    ///
    /// - Parameter escapingAll: Whether characters are escaped that need not be.
    func quoted(escapingAll: Bool) -> [UInt8] {
        let inner = flatMap { byte -> [UInt8] in
            byte == 0x22 || byte == 0x5C || escapingAll && byte < 0x80 ? [0x5C, byte] : [byte]
        }
        return [0x22] + inner + [0x22]
    }
}
