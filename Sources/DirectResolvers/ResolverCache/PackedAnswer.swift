internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// A resolver's answer in a compact encoding: a few bytes for each endpoint, because the cache holds many
/// more answers than are in use at any time.
///
/// The first two bytes are the number of endpoints. Each endpoint is a byte of flags (`Flag`), two bytes for
/// the port if it has one, and 4 or 16 bytes for the address. The canonical name, if any, takes the remaining
/// bytes. Numbers are big-endian. A zone has a meaning on this machine only and has no encoding: an answer
/// with one cannot be packed.
struct PackedAnswer {
    private(set) var bytes: [UInt8] = []

    /// Packs an answer. Fails if it has more than 65,535 endpoints, an endpoint with a zone, or an invalid
    /// endpoint.
    init?(_ endpoints: [Endpoint], canonicalName: DomainName?) {
        bytes.reserveCapacity(
            2 + endpoints.reduce(0) { $0 + ($1.address.family == .v4 ? 5 : 17) + ($1.port == nil ? 0 : 2) }
                + (canonicalName?.bytes.count ?? 0)
        )
        guard let count = UInt16(exactly: endpoints.count) else { return nil }
        append(UInt64(count), count: 2)
        for endpoint in endpoints {
            guard endpoint.address.zone == nil, endpoint.fault == nil else { return nil }
            append(endpoint)
        }
        if let canonicalName { bytes += canonicalName.bytes }
    }

    private mutating func append(_ endpoint: Endpoint) {
        let isV6 = endpoint.address.family == .v6
        bytes.append((isV6 ? Flag.v6 : 0) | (endpoint.port == nil ? 0 : Flag.port))
        if let port = endpoint.port {
            bytes.append(UInt8(port >> 8))
            bytes.append(UInt8(truncatingIfNeeded: port))
        }
        let (high, low) = endpoint.address.words
        if isV6 { append(high, count: 8) }
        append(low, count: isV6 ? 8 : 4)
    }

    private mutating func append(_ number: UInt64, count: Int) {
        for index in 0..<count {
            bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - index))))
        }
    }

    /// Returns the endpoints and the canonical name of a packed answer.
    ///
    /// The bytes must come from ``init(_:canonicalName:)``: they are not validated, and a truncated answer
    /// stops the process at the bounds check of `Span`.
    static func unpack(_ bytes: Span<UInt8>) -> (endpoints: [Endpoint], canonicalName: DomainName?) {
        guard bytes.count > 0 else { return ([], nil) }
        let count = Int(number(bytes, start: 0, count: 2))
        var position = 2
        var endpoints: [Endpoint] = []
        endpoints.reserveCapacity(count)
        for _ in 0..<count {
            let flags = bytes[position]
            position += 1
            var port: UInt16?
            if flags & Flag.port != 0 {
                port = UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
                position += 2
            }
            if flags & Flag.v6 != 0 {
                let (high, low) = (
                    number(bytes, start: position, count: 8), number(bytes, start: position + 8, count: 8)
                )
                endpoints.append(Endpoint(IPAddress(.v6, high: high, low: low), port: port))
                position += 16
            } else {
                endpoints.append(
                    Endpoint(
                        IPAddress(.v4, high: 0, low: number(bytes, start: position, count: 4)),
                        port: port
                    )
                )
                position += 4
            }
        }
        let rest = bytes.extracting(position...)
        return (endpoints, rest.isEmpty ? nil : DomainName(checked: [UInt8](copying: rest)))
    }

    private static func number(_ bytes: Span<UInt8>, start: Int, count: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in start..<(start + count) { number = number << 8 | UInt64(bytes[index]) }
        return number
    }

    /// The bits of an endpoint's first byte.
    private enum Flag {
        static let v6: UInt8 = 1
        static let port: UInt8 = 2
    }
}
