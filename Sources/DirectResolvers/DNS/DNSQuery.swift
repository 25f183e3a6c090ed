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
    ///   - isPadded: Whether the query is padded to a multiple of 128 bytes (RFC 8467), so that its length says
    ///     less about the name.
    package static func message(_ host: DomainName, type: UInt16, isPadded: Bool) -> [UInt8] {
        var message: [UInt8] = [0, 0, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 1]
        for label in host.bytes.split(separator: UInt8(ascii: ".")) {
            message.append(UInt8(label.count))
            message += label
        }
        message.append(0)
        append(type, to: &message)
        append(DNSMessage.internet, to: &message)
        message.append(0)
        append(DNSType.options, to: &message)
        append(bufferSize, to: &message)
        message += [0, 0, 0, 0]
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

    private static func append(_ number: UInt16, to message: inout [UInt8]) {
        message.append(UInt8(number >> 8))
        message.append(UInt8(truncatingIfNeeded: number))
    }

    private static let bufferSize: UInt16 = 4096
    private static let block = 128
    private static let paddingOption: UInt16 = 12
}
