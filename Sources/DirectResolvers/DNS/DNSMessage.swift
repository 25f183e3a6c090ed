/// A DNS message (RFC 1035, section 4).
///
/// The question and the answer section are checked before any of them is used: every name, every length, and
/// the data of the record types that are used here. The counts in the header are not trusted: each record
/// must really be there, and no memory is reserved by a count. The sections behind the answers are read as
/// far as they can be, as by glibc and Go: forwarders count records there that they have left out.
package struct DNSMessage {
    /// An entry of the question section.
    struct Question {
        /// The offset of the name.
        var name: Int
        var type: UInt16
        var dataClass: UInt16
    }

    /// An address, an alias or an HTTPS record.
    struct Record {
        /// The offset of the owner name.
        var name: Int
        var type: UInt16
        /// The time to live in seconds.
        var timeToLive: UInt32
        /// The offset of the data. Its length was checked for addresses and aliases.
        var data: Int
        /// The length of the data.
        var length: Int
    }

    let bytes: [UInt8]
    let id: UInt16
    private(set) var isResponse = false
    private(set) var isTruncated = false
    /// The response code (RFC 6895, section 2.3): 0 is success, 3 is "no such name". EDNS extends it to 12
    /// bits.
    private(set) var code: UInt16 = 0
    /// Whether there is an EDNS record.
    private(set) var hasOptions = false
    private(set) var questionCount = 0
    private(set) var question: Question?
    /// The records of the answer section that are addresses, aliases or HTTPS records.
    private(set) var answers: [Record] = []
    /// The time for which the message says that there are no records, in seconds (RFC 2308, section 5).
    private(set) var denialTime: UInt32?
    /// Whether the server is not responsible for the name and does not ask others: it refers to them, or says
    /// nothing. Not that there are no records, which it would say by an SOA record, or as an authority.
    private(set) var isReferral = false

    /// Parses a whole message.
    ///
    /// - Throws: A ``DNSMessageError`` with the offset of the first error.
    package init(_ bytes: [UInt8]) throws(DNSMessageError) {
        self.bytes = bytes
        let whole = bytes[...]
        let all = whole.span
        guard all.count >= Self.headerSize else { throw DNSMessageError(.cutOff(.header), at: all.count) }
        guard all.count <= 0xFFFF else { throw DNSMessageError(.tooLong, at: 0xFFFF) }
        id = all.number16(0)
        let flags = all.number16(2)
        isResponse = flags & 0x8000 != 0
        isTruncated = flags & 0x0200 != 0
        code = flags & 0xF
        questionCount = Int(all.number16(4))
        var position = Self.headerSize
        for _ in 0..<questionCount { try readQuestion(all, position: &position) }
        let answerCount = all.number16(6)
        for _ in 0..<answerCount { try readRecord(all, position: &position, section: .answer) }
        var authority = all.number16(8)
        for _ in 0..<(Int(authority) + Int(all.number16(10))) {
            let section = authority > 0 ? Section.authority : .additional
            guard (try? readRecord(all, position: &position, section: section)) != nil else { break }
            if authority > 0 { authority -= 1 }
        }
        let isAuthorityOrAsks = flags & (Self.authoritative | Self.recursionAvailable) != 0
        // One that knows EDNS, as our question does, and refers to nobody has answered: glibc counts so, too.
        let refers = all.number16(8) > 0 || !hasOptions
        isReferral = code == 0 && answerCount == 0 && denialTime == nil && !isAuthorityOrAsks && refers
    }

    private enum Section {
        case answer, authority, additional
    }

    private mutating func readQuestion(_ all: Span<UInt8>, position: inout Int) throws(DNSMessageError) {
        let end = try all.endOfName(at: position)
        guard end + 4 <= all.count else { throw DNSMessageError(.cutOff(.question), at: position) }
        if question == nil {
            question = Question(name: position, type: all.number16(end), dataClass: all.number16(end + 2))
        }
        position = end + 4
    }

    private mutating func readRecord(
        _ all: Span<UInt8>,
        position: inout Int,
        section: Section
    ) throws(DNSMessageError) {
        let start = position
        let end = try all.endOfName(at: start)
        guard end + 10 <= all.count else { throw DNSMessageError(.cutOff(.record), at: start) }
        let type = all.number16(end)
        let dataClass = all.number16(end + 2)
        let time = all.number32(end + 4)
        let length = Int(all.number16(end + 8))
        let data = end + 10
        guard data + length <= all.count else { throw DNSMessageError(.cutOff(.data), at: start) }
        position = data + length
        if type == DNSType.options {
            hasOptions = true
            // EDNS keeps the upper bits of the response code in the time-to-live field (RFC 6891, section
            // 6.1.3).
            code |= UInt16(time >> 24) << 4
            return
        }
        // A time to live with the most significant bit set counts as zero (RFC 2181, section 8).
        let seconds = time > UInt32(Int32.max) ? 0 : time
        if section == .authority, type == DNSType.authority, length >= Self.shortestAuthority {
            denialTime = min(seconds, all.number32(position - 4))
        }
        // Other records of other sections and classes are not used, so their data is not checked.
        guard section == .answer, dataClass == Self.internet else { return }
        switch type {
        case DNSType.https: break
        case DNSType.a, DNSType.aaaa:
            guard length == (type == DNSType.a ? 4 : 16) else {
                throw DNSMessageError(.dataLength(type), at: start)
            }
        case DNSType.alias:
            guard try all.endOfName(at: data) == position else {
                throw DNSMessageError(.dataLength(type), at: start)
            }
        default: return
        }
        answers.append(Record(name: start, type: type, timeToLive: seconds, data: data, length: length))
    }

    /// Returns the data of a record.
    func data(of record: Record) -> [UInt8] {
        Array(bytes[record.data..<(record.data + record.length)])
    }

    static let headerSize = 12
    private static let authoritative: UInt16 = 0x0400
    private static let recursionAvailable: UInt16 = 0x0080
    static let internet: UInt16 = 1
    /// Two names of one byte, and five numbers.
    private static let shortestAuthority = 22
}

/// The record types that are used here.
package enum DNSType {
    /// A, an IPv4 address.
    package static let a: UInt16 = 1
    /// CNAME, an alias.
    static let alias: UInt16 = 5
    /// SOA, which says in a negative answer how long that is valid.
    static let authority: UInt16 = 6
    /// AAAA, an IPv6 address.
    package static let aaaa: UInt16 = 28
    /// OPT, the EDNS pseudo-record.
    static let options: UInt16 = 41
    /// HTTPS, how to reach an origin (RFC 9460).
    package static let https: UInt16 = 65
}
