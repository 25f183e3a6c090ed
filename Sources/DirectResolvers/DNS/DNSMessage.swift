/// A DNS message, read to its last byte (RFC 1035, section 4).
///
/// Everything is checked before anything is used: each name, each length, and that nothing follows the end; of
/// data, what is read here.
/// The counts of the header are promises, and only the bytes that are there are believed.
package struct DNSMessage {
    struct Question {
        var name: Int
        var type: UInt16
        var dataClass: UInt16
    }

    struct Record {
        /// Where its owner's name begins.
        var name: Int
        var type: UInt16
        /// In seconds.
        var timeToLive: UInt32
        /// Where its data begins; its length follows from its type, as far as the type is known here.
        var data: Int
    }

    let bytes: [UInt8]
    let id: UInt16
    private(set) var isResponse = false
    private(set) var isTruncated = false
    /// What came of the question (RFC 6895, section 2.3): 0 is success, 3 is "no such name".
    private(set) var code: UInt16 = 0
    private(set) var questionCount = 0
    private(set) var question: Question?
    /// The records of the answer section that are addresses or aliases.
    private(set) var answers: [Record] = []

    package init(_ bytes: [UInt8]) throws(DNSFault) {
        self.bytes = bytes
        let whole = bytes[...]
        let all = whole.span
        guard all.count >= Self.headerSize else { throw DNSFault(.cutOff(.header), at: all.count) }
        guard all.count <= 0xFFFF else { throw DNSFault(.tooLong, at: 0xFFFF) }
        id = all.number16(0)
        let flags = all.number16(2)
        isResponse = flags & 0x8000 != 0
        isTruncated = flags & 0x0200 != 0
        code = flags & 0xF
        questionCount = Int(all.number16(4))
        var position = Self.headerSize
        for _ in 0..<questionCount { try readQuestion(all, &position) }
        for _ in 0..<all.number16(6) { try readRecord(all, &position, isAnswer: true) }
        for _ in 0..<(Int(all.number16(8)) + Int(all.number16(10))) {
            try readRecord(all, &position, isAnswer: false)
        }
        guard position == all.count else { throw DNSFault(.bytesBehind, at: position) }
    }

    private mutating func readQuestion(_ all: Span<UInt8>, _ position: inout Int) throws(DNSFault) {
        let end = try all.endOfName(at: position)
        guard end + 4 <= all.count else { throw DNSFault(.cutOff(.question), at: position) }
        if question == nil {
            question = Question(name: position, type: all.number16(end), dataClass: all.number16(end + 2))
        }
        position = end + 4
    }

    private mutating func readRecord(
        _ all: Span<UInt8>,
        _ position: inout Int,
        isAnswer: Bool
    ) throws(DNSFault) {
        let start = position
        let end = try all.endOfName(at: start)
        guard end + 10 <= all.count else { throw DNSFault(.cutOff(.record), at: start) }
        let type = all.number16(end)
        let dataClass = all.number16(end + 2)
        let time = all.number32(end + 4)
        let length = Int(all.number16(end + 8))
        let data = end + 10
        guard data + length <= all.count else { throw DNSFault(.cutOff(.data), at: start) }
        position = data + length
        if type == DNSType.options {
            // EDNS: the upper bits of the code stand where other records have their time (RFC 6891).
            code |= UInt16(time >> 24) << 4
            return
        }
        // What stands in the other sections is not used, so its data may be what it likes.
        guard isAnswer, dataClass == Self.internet else { return }
        switch type {
        case DNSType.a, DNSType.aaaa:
            guard length == (type == DNSType.a ? 4 : 16) else {
                throw DNSFault(.dataLength(type), at: start)
            }
        case DNSType.alias:
            guard try all.endOfName(at: data) == position else {
                throw DNSFault(.dataLength(type), at: start)
            }
        default: return
        }
        // A time with the highest bit set counts as none (RFC 2181, section 8).
        let seconds = time > UInt32(Int32.max) ? 0 : time
        answers.append(Record(name: start, type: type, timeToLive: seconds, data: data))
    }

    static let headerSize = 12
    static let internet: UInt16 = 1
}

/// The types of records that lead to addresses.
package enum DNSType {
    package static let a: UInt16 = 1
    static let alias: UInt16 = 5
    package static let aaaa: UInt16 = 28
    static let options: UInt16 = 41
}
