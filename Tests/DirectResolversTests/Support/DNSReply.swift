import DirectResolvers

/// Writes DNS messages, right or wrong.
struct DNSReply {
    struct Record {
        var name: [UInt8]
        var type: UInt16
        var seconds: UInt32
        var data: [UInt8]
        var dataClass: UInt16 = 1

        static func a(_ name: [UInt8], _ address: String, _ seconds: UInt32 = 300) -> Record {
            let address = IPAddress(address)
            return Record(
                name: name,
                type: address?.family == .v6 ? 28 : 1,
                seconds: seconds,
                data: address?.bytes ?? []
            )
        }

        static func alias(_ name: [UInt8], _ target: [UInt8], _ seconds: UInt32 = 300) -> Record {
            Record(name: name, type: 5, seconds: seconds, data: target)
        }
    }

    var id: UInt16 = 0
    var flags: UInt16 = 0x8180
    var name = DNSReply.name("a.test")
    var type: UInt16 = 1
    var questions: UInt16 = 1
    var answers: [Record] = []
    var authority: [Record] = []
    var additional: [Record] = []
    /// Instead of the true one.
    var answerCount: UInt16?
    var behind: [UInt8] = []

    /// The reply to a question of ours.
    static func reply(to message: [UInt8], _ answers: [Record] = [], code: UInt16 = 0) -> DNSReply {
        let end = message[12...].firstIndex(of: 0) ?? message.endIndex - 1
        return DNSReply(
            flags: 0x8180 | code,
            name: Array(message[12...end]),
            type: UInt16(message[end + 1]) << 8 | UInt16(message[end + 2]),
            answers: answers
        )
    }

    /// A pointer to the question's name.
    static let question: [UInt8] = [0xC0, 12]

    static func name(_ text: String) -> [UInt8] {
        text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for number in [
            id, flags, questions, answerCount ?? UInt16(answers.count), UInt16(authority.count),
            UInt16(additional.count),
        ] { bytes += Self.number(number) }
        for _ in 0..<questions { bytes += name + Self.number(type) + [0, 1] }
        for record in answers + authority + additional {
            bytes += record.name + Self.number(record.type) + Self.number(record.dataClass)
            bytes += Self.number(UInt16(record.seconds >> 16))
            bytes += Self.number(UInt16(truncatingIfNeeded: record.seconds))
            bytes += Self.number(UInt16(record.data.count)) + record.data
        }
        return bytes + behind
    }

    private static func number(_ number: UInt16) -> [UInt8] {
        [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
    }
}

extension DomainName {
    /// A name that is known to be one.
    static func test(_ text: String) -> DomainName {
        guard let name = try? DomainName(text) else { fatalError("\(text) is no name") }
        return name
    }
}
