/// The names in a DNS message (RFC 1035, sections 3.1 and 4.1.4).
///
/// A compression pointer must point to before the start of the part of the name that it ends. So every jump
/// goes further back, and a loop is impossible. The number of jumps is limited as well: each costs time, and
/// no legitimate name needs many.
///
/// Only ``endOfName(at:)`` checks a name. The other functions require a name that it has accepted.
extension Span<UInt8> {
    /// Checks the name at `start` and returns the offset of the first byte after it.
    func endOfName(at start: Int) throws(DNSMessageError) -> Int {
        var position = start
        var partStart = start
        var end: Int?
        var length = 1
        var jumps = 0
        while true {
            guard position < count else { throw DNSMessageError(.cutOff(.name), at: start) }
            let size = self[position]
            switch size >> 6 {
            case 0:
                if size == 0 { return end ?? position + 1 }
                length += Int(size) + 1
                guard length <= 255 else { throw DNSMessageError(.longName, at: start) }
                position += Int(size) + 1
            case 3:
                guard position + 1 < count else { throw DNSMessageError(.cutOff(.name), at: start) }
                let target = Int(size & 0x3F) << 8 | Int(self[position + 1])
                jumps += 1
                guard target >= DNSMessage.headerSize, target < partStart, jumps <= Self.mostJumps else {
                    throw DNSMessageError(.badPointer, at: position)
                }
                if end == nil { end = position + 2 }
                position = target
                partStart = target
            default: throw DNSMessageError(.reservedLabel, at: position)
            }
        }
    }

    /// Returns the offset of a name's next label, or of the zero byte at its end, after following all
    /// pointers.
    func label(from position: Int) -> Int {
        var position = position
        while self[position] >= 0xC0 {
            position = Int(self[position] & 0x3F) << 8 | Int(self[position + 1])
        }
        return position
    }

    /// Whether two names are equal, ignoring case.
    func isSameName(_ first: Int, second: Int) -> Bool {
        var (a, b) = (label(from: first), label(from: second))
        while a != b {
            guard self[a] == self[b] else { return false }
            let size = Int(self[a])
            guard size > 0 else { return true }
            for index in 1...size where self[a + index].lowered != self[b + index].lowered { return false }
            (a, b) = (label(from: a + size + 1), label(from: b + size + 1))
        }
        return true
    }

    /// Whether a name is equal to `text`, which is in lower case with dots between its labels. One with a dot
    /// in a label is not: it is another name.
    func isName(_ start: Int, text: [UInt8]) -> Bool {
        var position = label(from: start)
        var matched = 0
        while self[position] > 0 {
            let size = Int(self[position])
            if matched > 0 {
                guard matched < text.count, text[matched] == UInt8(ascii: ".") else { return false }
                matched += 1
            }
            guard matched + size <= text.count else { return false }
            for index in 0..<size {
                let byte = self[position + 1 + index].lowered
                guard byte == text[matched + index], byte != UInt8(ascii: ".") else { return false }
            }
            matched += size
            position = label(from: position + size + 1)
        }
        return matched == text.count
    }

    /// Returns a name with dots between its labels; `nil` if there is a dot in a label, since the text would
    /// be another name. The case of the letters is kept.
    func nameText(_ start: Int) -> [UInt8]? {
        var text: [UInt8] = []
        var position = label(from: start)
        while self[position] > 0 {
            let size = Int(self[position])
            if !text.isEmpty { text.append(UInt8(ascii: ".")) }
            for index in 0..<size {
                guard self[position + 1 + index] != UInt8(ascii: ".") else { return nil }
                text.append(self[position + 1 + index])
            }
            position = label(from: position + size + 1)
        }
        return text
    }

    /// Returns the 16-bit number in network byte order at this offset.
    func number16(_ offset: Int) -> UInt16 {
        UInt16(self[offset]) << 8 | UInt16(self[offset + 1])
    }

    /// Returns the 32-bit number in network byte order at this offset.
    func number32(_ offset: Int) -> UInt32 {
        UInt32(number16(offset)) << 16 | UInt32(number16(offset + 2))
    }

    private static var mostJumps: Int { 32 }
}

extension UInt8 {
    fileprivate var lowered: UInt8 {
        self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
    }
}
