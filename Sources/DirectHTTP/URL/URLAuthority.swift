internal import DirectIO

/// The authority of a URL, taken apart: user information, host, port.
struct URLAuthority {
    let userinfo: String?
    let host: Host
    let hasTrailingDot: Bool
    let port: UInt16
    /// What `Host` says: no user information, no trailing dot, no zone, no default port.
    let bytes: [UInt8]

    @inline(__always)
    init(
        _ text: Span<UInt8>,
        _ range: Range<Int>,
        atSign: Int?,
        scheme: HTTPURL.Scheme
    ) throws(URLFault) {
        var start = range.lowerBound
        if let atSign {
            userinfo = Self.userinfo(text.extracting(start..<atSign))
            start = atSign + 1
        } else {
            userinfo = nil
        }
        guard start < range.upperBound else { throw .host(.missing) }

        var bytes: [UInt8]
        var end: Int
        if text[start] == UInt8(ascii: "[") {
            end = try Self.closingBracket(in: text, start..<range.upperBound)
            let address = try Self.bracketed(text.extracting((start + 1)..<(end - 1)))
            bytes = []
            address.appendAuthority(to: &bytes)
            host = .address(address)
            hasTrailingDot = false
        } else {
            end = start
            do throws(HostFault) {
                bytes = try [UInt8](capacity: range.upperBound - start) { (output) throws(HostFault) in
                    end = try DomainName.scan(text, from: start, to: range.upperBound, into: &output)
                }
                hasTrailingDot = bytes.last == UInt8(ascii: ".")
                if hasTrailingDot { bytes.removeLast() }
                host = try Self.host(bytes.span, hasTrailingDot: hasTrailingDot)
            } catch {
                throw .host(error)
            }
        }

        port = try Self.port(text.extracting(end..<range.upperBound)) ?? scheme.defaultPort
        if port != scheme.defaultPort {
            bytes.append(UInt8(ascii: ":"))
            bytes += String(port).utf8
        }
        self.bytes = bytes
    }

    private static func host(_ name: Span<UInt8>, hasTrailingDot: Bool) throws(HostFault) -> Host {
        guard !name.isEmpty else { throw .missing }
        guard DomainName.endsInNumber(name) else { return .name(DomainName(scanned: name)) }
        // With a trailing dot, a dotted quad is an address to browsers and a name to resolvers.
        guard !hasTrailingDot, let address = IPAddress(v4: name) else { throw .looksNumeric }
        return .address(address)
    }

    private static func closingBracket(in text: Span<UInt8>, _ range: Range<Int>) throws(URLFault) -> Int {
        var end = range.lowerBound
        while text[end] != UInt8(ascii: "]") {
            end += 1
            guard end < range.upperBound else { throw .host(.unclosedBracket) }
        }
        end += 1
        guard end == range.upperBound || text[end] == UInt8(ascii: ":") else { throw .host(.textAfterBracket) }
        return end
    }

    /// An IPv6 address, with its zone after `%25` (RFC 6874).
    private static func bracketed(_ text: Span<UInt8>) throws(URLFault) -> IPAddress {
        for index in text.indices where text[index] == UInt8(ascii: "%") {
            guard index + 2 < text.count, text[index + 1] == 0x32, text[index + 2] == 0x35,
                let address = IPAddress(
                    v6: text.extracting(..<index),
                    zone: text.extracting((index + 3)...)
                )
            else { throw .host(.notIPv6) }
            return address
        }
        guard let address = IPAddress(v6: text) else { throw .host(.notIPv6) }
        return address
    }

    /// The port behind a colon; leading zeros are allowed (RFC 3986, section 3.2.3), and so is no port.
    private static func port(_ text: Span<UInt8>) throws(URLFault) -> UInt16? {
        guard text.count > 1 else { return nil }
        var port: UInt32 = 0
        for index in 1..<text.count {
            let digit = text[index] &- 0x30
            guard digit <= 9 else { throw .invalidPort }
            port = port * 10 + UInt32(digit)
            guard port <= 65_535 else { throw .invalidPort }
        }
        return UInt16(truncatingIfNeeded: port)
    }

    /// User and password, escaped; `nil` if both are empty.
    private static func userinfo(_ text: Span<UInt8>) -> String? {
        var colon = 0
        while colon < text.count, text[colon] != UInt8(ascii: ":") { colon += 1 }
        var bytes: [UInt8] = []
        bytes.appendEscaped(text.extracting(..<colon), keeping: .userinfo)
        if colon + 1 < text.count {
            bytes.append(UInt8(ascii: ":"))
            bytes.appendEscaped(text.extracting((colon + 1)...), keeping: .userinfo)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
