internal import DirectIO

/// The authority of a URL, taken apart: user information, host, port.
struct URLAuthority: Sendable {
    let origin: Origin
    /// What `Host` says: no user information, no trailing dot, no zone, no default port.
    let bytes: [UInt8]
    /// Escaped; `nil` rather than empty.
    let userinfo: String?
    let hasTrailingDot: Bool

    init(
        _ text: Span<UInt8>,
        _ range: Range<Int>,
        atSign: Int?,
        scheme: HTTPURL.Scheme
    ) throws(URLFault) {
        let start = atSign.map { $0 + 1 } ?? range.lowerBound
        var (host, bytes, end, hasTrailingDot) = try Self.readHost(text, start..<range.upperBound)
        let port = try Self.port(text.extracting(end..<range.upperBound)) ?? scheme.defaultPort
        if port != scheme.defaultPort {
            bytes.append(UInt8(ascii: ":"))
            bytes += String(port).utf8
        }
        self.bytes = consume bytes
        origin = Origin(scheme: scheme, host: consume host, port: port)
        self.hasTrailingDot = hasTrailingDot
        userinfo = atSign.flatMap { Self.userinfo(text.extracting(range.lowerBound..<$0)) }
    }

    /// The same without user information.
    init(withoutUserinfo other: URLAuthority) {
        origin = other.origin
        bytes = other.bytes
        userinfo = nil
        hasTrailingDot = other.hasTrailingDot
    }

    /// The same for another scheme. The default port becomes the other default port, another port stays.
    init(_ other: URLAuthority, scheme: HTTPURL.Scheme) {
        let old = other.origin
        let port = old.port == old.scheme.defaultPort ? scheme.defaultPort : old.port
        origin = Origin(scheme: scheme, host: old.host, port: port)
        bytes = origin.authorityBytes
        userinfo = other.userinfo
        hasTrailingDot = other.hasTrailingDot
    }

    private typealias ReadHost = (host: Host, bytes: [UInt8], end: Int, hasTrailingDot: Bool)

    @inline(__always)
    private static func readHost(_ text: Span<UInt8>, _ range: Range<Int>) throws(URLFault) -> ReadHost {
        guard !range.isEmpty else { throw .host(.missing) }
        if text[range.lowerBound] == UInt8(ascii: "[") {
            let end = try closingBracket(in: text, range)
            let address = try bracketed(text.extracting((range.lowerBound + 1)..<(end - 1)))
            var bytes: [UInt8] = []
            address.appendAuthority(to: &bytes)
            return (.address(address), bytes, end, false)
        }
        do throws(HostFault) {
            let scan = try NameScan(text, range)
            let bytes = scan.lowerCased(text)
            guard scan.endsInNumber else {
                return (.name(DomainName(checked: bytes)), bytes, scan.end, scan.hasTrailingDot)
            }
            // With a trailing dot, a dotted quad is an address to browsers and a name to resolvers.
            guard !scan.hasTrailingDot, let address = bytes.withSpan(IPAddress.init(v4:)) else {
                throw .looksNumeric
            }
            return (.address(address), bytes, scan.end, false)
        } catch {
            throw .host(error)
        }
    }

    private static func closingBracket(in text: Span<UInt8>, _ range: Range<Int>) throws(URLFault) -> Int {
        var end = range.lowerBound
        while text[end] != UInt8(ascii: "]") {
            end += 1
            guard end < range.upperBound else { throw .host(.unclosedBracket) }
        }
        end += 1
        guard end == range.upperBound || text[end] == UInt8(ascii: ":") else {
            throw .host(.textAfterBracket)
        }
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
        bytes.appendEscaped(text.extracting(..<colon), where: \.standsInUserinfo)
        if colon + 1 < text.count {
            bytes.append(UInt8(ascii: ":"))
            bytes.appendEscaped(text.extracting((colon + 1)...), where: \.standsInUserinfo)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}

extension IPAddress {
    /// Appends the address as it stands in an authority: IPv6 in brackets, and without zone, which
    /// means nothing to the server (RFC 6874, section 4).
    func appendAuthority(to bytes: inout [UInt8]) {
        guard family == .v6 else { return appendText(to: &bytes) }
        bytes.append(UInt8(ascii: "["))
        appendText(to: &bytes)
        bytes.append(UInt8(ascii: "]"))
    }
}
