internal import DirectCore
internal import DirectHTTP

/// Writes address queries.
package enum DNSQuery {
    /// Returns a query in the form that RFC 8484 recommends: ID 0, so that equal queries are equal for HTTP
    /// caches, recursion desired, and EDNS (RFC 6891).
    ///
    /// - Parameters:
    ///   - host: The name to query.
    ///   - type: The record type: ``DNSType/a`` or ``DNSType/aaaa``.
    ///   - isPadded: Whether the query is padded to a multiple of 128 bytes (RFC 8467), so that its length
    ///     says less about the name.
    package static func message(_ host: DomainName, type: UInt16, isPadded: Bool) -> [UInt8] {
        var message = question(host, type: type, id: 0, hasOptions: true)
        appendOptions(bufferSize, to: &message)
        guard isPadded else {
            append(0, to: &message)
            return message
        }
        let size = message.count + 2 + 4
        let padding = UInt16((block - size % block) % block)
        append(padding + 4, to: &message)
        append(paddingOption, to: &message)
        append(padding, to: &message)
        message += repeatElement(0, count: Int(padding))
        return message
    }

    /// The extensions of a query in a datagram.
    enum Options {
        /// EDNS, with the data of the client subnet option; `nil` sends none.
        case modern(subnet: [UInt8]?)
        /// No EDNS.
        case plain
    }

    /// Returns a query for a datagram, with an identifier.
    static func message(_ host: DomainName, type: UInt16, id: UInt16, _ options: Options) -> [UInt8] {
        guard case .modern(let subnet) = options else {
            return question(host, type: type, id: id, hasOptions: false)
        }
        var message = question(host, type: type, id: id, hasOptions: true)
        appendOptions(datagramSize, to: &message)
        let data = subnet ?? []
        append(UInt16(data.isEmpty ? 0 : data.count + 4), to: &message)
        guard !data.isEmpty else { return message }
        append(subnetOption, to: &message)
        append(UInt16(data.count), to: &message)
        return message + data
    }

    /// The header with the question, recursion desired.
    private static func question(_ host: DomainName, type: UInt16, id: UInt16, hasOptions: Bool) -> [UInt8] {
        var message: [UInt8] = []
        append(id, to: &message)
        message += [0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, hasOptions ? 1 : 0]
        for label in host.bytes.split(separator: UInt8(ascii: ".")) {
            message.append(UInt8(label.count))
            message += label
        }
        message.append(0)
        append(type, to: &message)
        append(DNSMessage.internet, to: &message)
        return message
    }

    /// Appends the EDNS record up to its options.
    private static func appendOptions(_ size: UInt16, to message: inout [UInt8]) {
        message.append(0)
        append(DNSType.options, to: &message)
        append(size, to: &message)
        message += [0, 0, 0, 0]
    }

    private static func append(_ number: UInt16, to message: inout [UInt8]) {
        message.append(UInt8(number >> 8))
        message.append(UInt8(truncatingIfNeeded: number))
    }

    private static let bufferSize: UInt16 = 4096
    /// The size of an answer that is not fragmented on any usual path.
    private static let datagramSize: UInt16 = 1232
    private static let subnetOption: UInt16 = 8
    private static let block = 128
    private static let paddingOption: UInt16 = 12
}
