package import DirectCore
internal import DirectHTTP
internal import DirectIO

/// The addresses or the HTTPS records in a DNS response for the name in its question.
package struct DNSAnswer: Sendable {
    /// An address and its time to live.
    package struct Address: Sendable {
        /// The address.
        package var address: IPAddress
        /// The time to live in seconds: the shortest of all records on the path from the name to this
        /// address.
        package var timeToLive: UInt32
    }

    /// The response code: 0 is success, 3 is "no such name".
    package var code: UInt16
    /// Whether the server knows EDNS.
    var hasOptions = false
    /// The addresses of the requested type, in the order of the message.
    package var addresses: [Address] = []
    /// The HTTPS records, if these were queried.
    package private(set) var https: HTTPSAnswer?
    /// The name at the end of the alias chain. `nil` if there are no aliases, or if the name cannot be in a
    /// URL.
    package var canonicalName: DomainName?

    /// The HTTPS records of a name.
    package struct HTTPSAnswer: Sendable {
        package let bindings: ServiceBindings
        /// The time to live in seconds; `nil` if the message says that there are none, and not for how long.
        package let timeToLive: UInt32?
    }

    /// Parses the response to a query.
    ///
    /// - Parameters:
    ///   - bytes: The whole DNS message.
    ///   - host: The name that was queried; the message's question must have the same.
    ///   - type: The record type that was queried: ``DNSType/a``, ``DNSType/aaaa`` or ``DNSType/https``.
    ///   - id: The identifier of the query.
    /// - Throws: A ``DNSMessageError`` if the message is malformed, truncated, or the response to another
    ///   query.
    package init(
        _ bytes: [UInt8],
        to host: DomainName,
        type: UInt16,
        id: UInt16 = 0
    ) throws(DNSMessageError) {
        let message = try DNSMessage(bytes)
        guard message.isResponse, message.id == id else { throw DNSMessageError(.notTheAnswer, at: 0) }
        // A server that does not understand the query (RFC 6891, section 7), or refuses it (as Unbound does),
        // may answer with a header only.
        if message.questionCount == 0, !Self.conclusiveCodes.contains(message.code) {
            try self.init(message, type: type)
            return
        }
        guard message.questionCount == 1, let question = message.question, question.type == type,
            question.dataClass == DNSMessage.internet,
            bytes.withSpan({ $0.isName(question.name, text: host.bytes) })
        else { throw DNSMessageError(.notTheAnswer, at: 0) }
        guard !message.isTruncated else { throw DNSMessageError(.truncated, at: 2) }
        try self.init(message, type: type)
    }

    /// Follows the alias chain from the name in the question and takes the addresses of the name at its end.
    ///
    /// Address records of other names, including names inside the chain, are ignored: they were not queried.
    package init(_ message: DNSMessage, type: UInt16) throws(DNSMessageError) {
        // A server that only refers to others is of no use, like one that refuses: the next one is asked.
        code = message.isReferral ? Self.refused : message.code
        hasOptions = message.hasOptions
        guard let question = message.question else { return }
        let whole = message.bytes[...]
        let bytes = whole.span
        var name = question.name
        var seconds = UInt32.max
        var steps = 0
        while let alias = try Self.alias(of: name, in: message) {
            steps += 1
            guard steps <= Self.mostAliases else { throw DNSMessageError(.endlessAliases, at: alias.name) }
            name = alias.data
            seconds = min(seconds, alias.timeToLive)
        }
        if steps > 0 {
            canonicalName = bytes.nameText(name).flatMap { try? $0.withSpan(DomainName.init(utf8:)) }
        }
        var services: [(binding: ServiceBinding?, timeToLive: UInt32)] = []
        for record in message.answers where record.type == type && bytes.isSameName(record.name, second: name)
        {
            let time = min(seconds, record.timeToLive)
            if type == DNSType.https {
                services.append((ServiceBinding(message.data(of: record)), time))
            } else {
                let address = Self.address(bytes, record: record)
                addresses.append(Address(address: address, timeToLive: time))
            }
        }
        guard type == DNSType.https else { return }
        let denialTime = message.denialTime.map { min(seconds, $0) }
        https = HTTPSAnswer(
            bindings: ServiceBindings(services.map(\.binding)),
            timeToLive: services.map(\.timeToLive).min() ?? denialTime
        )
    }

    private static func alias(of name: Int, in message: DNSMessage) throws(DNSMessageError) -> DNSMessage
        .Record?
    {
        let whole = message.bytes[...]
        let bytes = whole.span
        var found: DNSMessage.Record?
        for record in message.answers
        where record.type == DNSType.alias && bytes.isSameName(record.name, second: name) {
            guard let known = found else {
                found = record
                continue
            }
            // A name has at most one alias (RFC 2181, section 10.1). The same alias twice is harmless.
            guard bytes.isSameName(known.data, second: record.data) else {
                throw DNSMessageError(.contradiction, at: record.name)
            }
        }
        return found
    }

    private static func address(_ bytes: Span<UInt8>, record: DNSMessage.Record) -> IPAddress {
        let start = record.data
        if record.type == DNSType.a {
            return IPAddress(.v4, high: 0, low: UInt64(bytes.number32(start)))
        }
        let high = UInt64(bytes.number32(start)) << 32 | UInt64(bytes.number32(start + 4))
        let low = UInt64(bytes.number32(start + 8)) << 32 | UInt64(bytes.number32(start + 12))
        return IPAddress(.v6, high: high, low: low)
    }

    /// The response codes of a server that does not understand the query or the kind of it.
    static let formatError: UInt16 = 1
    static let serverFailure: UInt16 = 2
    static let notImplemented: UInt16 = 4
    private static let refused: UInt16 = 5
    /// The codes that say something of the name: success, and "no such name".
    private static let conclusiveCodes: Set<UInt16> = [0, 3]
    /// The longest alias chain that is followed. Resolvers themselves follow fewer.
    private static let mostAliases = 16
}
