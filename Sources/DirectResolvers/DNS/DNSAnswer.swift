package import DirectHTTP
package import DirectIO

/// The addresses that a DNS message has for the name in its question.
package struct DNSAnswer: Sendable {
    package struct Address: Sendable {
        package var address: IPAddress
        /// In seconds: the shortest time of all records that lead to it.
        package var timeToLive: UInt32
    }

    /// 0 is success, 3 is "no such name".
    package var code: UInt16
    package var addresses: [Address] = []
    /// The name at the end of the aliases, if there are any and a URL could have it.
    package var canonicalName: DomainName?

    /// Reads the answer to a question for addresses of one type.
    package init(
        _ bytes: [UInt8],
        to host: DomainName,
        type: UInt16
    ) throws(DNSFault) {
        let message = try DNSMessage(bytes)
        guard message.isResponse, message.id == 0, message.questionCount == 1,
            let question = message.question, question.type == type,
            question.dataClass == DNSMessage.internet,
            bytes.withSpan({ $0.isName(question.name, host.bytes) })
        else { throw DNSFault(.notTheAnswer, at: 0) }
        guard !message.isTruncated else { throw DNSFault(.truncated, at: 2) }
        try self.init(message, type: type)
    }

    /// Follows the aliases from the name in the question. Records of names on the way, or beside it, do not
    /// count: they are not what was asked for.
    package init(_ message: DNSMessage, type: UInt16) throws(DNSFault) {
        code = message.code
        guard let question = message.question else { return }
        let whole = message.bytes[...]
        let bytes = whole.span
        var name = question.name
        var seconds = UInt32.max
        var steps = 0
        while let alias = try Self.alias(of: name, in: message) {
            steps += 1
            guard steps <= Self.mostAliases else { throw DNSFault(.endlessAliases, at: alias.name) }
            name = alias.data
            seconds = min(seconds, alias.timeToLive)
        }
        if steps > 0 {
            canonicalName = String(validating: bytes.nameText(name), as: UTF8.self).flatMap {
                try? DomainName($0)
            }
        }
        for record in message.answers where record.type == type && bytes.isSameName(record.name, name) {
            addresses.append(
                Address(
                    address: Self.address(bytes, record),
                    timeToLive: min(seconds, record.timeToLive)
                )
            )
        }
    }

    private static func alias(of name: Int, in message: DNSMessage) throws(DNSFault) -> DNSMessage.Record? {
        let whole = message.bytes[...]
        let bytes = whole.span
        var found: DNSMessage.Record?
        for record in message.answers
        where record.type == DNSType.alias && bytes.isSameName(record.name, name) {
            guard let known = found else {
                found = record
                continue
            }
            // A name has one alias (RFC 2181, section 10.1); the same one twice does no harm.
            guard bytes.isSameName(known.data, record.data) else {
                throw DNSFault(.contradiction, at: record.name)
            }
        }
        return found
    }

    private static func address(_ bytes: Span<UInt8>, _ record: DNSMessage.Record) -> IPAddress {
        let start = record.data
        if record.type == DNSType.a {
            return IPAddress(.v4, high: 0, low: UInt64(bytes.number32(start)))
        }
        let high = UInt64(bytes.number32(start)) << 32 | UInt64(bytes.number32(start + 4))
        let low = UInt64(bytes.number32(start + 8)) << 32 | UInt64(bytes.number32(start + 12))
        return IPAddress(.v6, high: high, low: low)
    }

    /// More than any resolver follows itself.
    private static let mostAliases = 16
}
