/// The elements of a comma-separated list, without empty ones (RFC 9110, section 5.6.1.2).
///
/// Quoted strings are not recognised: the lists that determine framing have none.
@safe struct ListElements {
    private let bytes: UnsafePointer<UInt8>?
    private let count: Int
    private var position = 0

    init(_ value: UnsafeBufferPointer<UInt8>) {
        unsafe bytes = value.baseAddress
        count = value.count
    }

    init(_ bytes: UnsafePointer<UInt8>, count: Int) {
        unsafe self.bytes = bytes
        self.count = count
    }

    /// Returns the next element without surrounding blanks, or `nil` at the end of the list.
    mutating func next() -> (bytes: UnsafePointer<UInt8>, count: Int)? {
        guard let bytes = unsafe bytes else { return nil }
        while position < count {
            var start = position
            while position < count, unsafe bytes[position] != .comma { position += 1 }
            var end = position
            position += 1
            while start < end, unsafe bytes[start].isBlank { start += 1 }
            while end > start, unsafe bytes[end - 1].isBlank { end -= 1 }
            if start < end { return unsafe (bytes + start, end - start) }
        }
        return nil
    }
}
