/// The authority of a URL, parsed into user information, host and port.
struct URLAuthority: Sendable {
    /// The scheme of the URL, with the host and the port.
    let origin: Origin
    /// The value of `Host`: no user information, no trailing dot, no zone, no default port.
    let bytes: [UInt8]
    /// The user information, escaped; `nil` rather than empty.
    let userinfo: String?
    /// Whether the URL writes the name with a trailing dot.
    let hasTrailingDot: Bool

    /// Parses the authority in this range of the text. `atSign` is the index at which the user information
    /// ends.
    init(
        _ text: Span<UInt8>,
        _ range: Range<Int>,
        atSign: Int?,
        scheme: HTTPURL.Scheme
    ) throws(HTTPURLError) {
        let start = atSign.map { $0 + 1 } ?? range.lowerBound
        var (host, bytes, end, hasTrailingDot) = try Self.readHost(text, range: start..<range.upperBound)
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

    /// Creates the authority of an origin.
    init(_ origin: Origin) {
        self.origin = origin
        bytes = origin.authorityBytes
        userinfo = nil
        hasTrailingDot = false
    }

    /// Creates a copy without user information.
    init(withoutUserinfo other: URLAuthority) {
        origin = other.origin
        bytes = other.bytes
        userinfo = nil
        hasTrailingDot = other.hasTrailingDot
    }

    /// Creates a copy without trailing dot.
    init(withoutTrailingDot other: URLAuthority) {
        origin = other.origin
        bytes = other.bytes
        userinfo = other.userinfo
        hasTrailingDot = false
    }

    /// Creates a copy for another scheme. The default port becomes the default port of that scheme, any other
    /// port stays.
    init(_ other: URLAuthority, scheme: HTTPURL.Scheme) {
        let old = other.origin
        let port = old.port == old.scheme.defaultPort ? scheme.defaultPort : old.port
        origin = Origin(scheme: scheme, host: old.host, port: port)
        bytes = origin.authorityBytes
        userinfo = other.userinfo
        hasTrailingDot = other.hasTrailingDot
    }

    private typealias ReadHost = (host: HTTPHost, bytes: [UInt8], end: Int, hasTrailingDot: Bool)

    /// Parses the host at the start of the range; returns it with the bytes for `Host` and the index after
    /// it.
    @inline(__always)
    private static func readHost(_ text: Span<UInt8>, range: Range<Int>) throws(HTTPURLError) -> ReadHost {
        guard !range.isEmpty else { throw .host(.missing) }
        if text[range.lowerBound] == UInt8(ascii: "[") {
            let end = try closingBracket(in: text, range)
            let address = try bracketed(text.extracting((range.lowerBound + 1)..<(end - 1)))
            var bytes: [UInt8] = []
            address.appendAuthority(to: &bytes)
            return (.address(address), bytes, end, false)
        }
        do throws(HTTPHostError) {
            let scan = try NameScan(text, range)
            let bytes = scan.lowerCased(text)
            guard scan.endsInNumber else {
                return (.name(DomainName(checked: bytes)), bytes, scan.end, scan.hasTrailingDot)
            }
            // A dotted quad with a trailing dot is an address to browsers and a name to resolvers, so it is
            // refused.
            guard !scan.hasTrailingDot, let address = bytes.withSpan(IPAddress.init(v4:)) else {
                throw .looksNumeric
            }
            return (.address(address), bytes, scan.end, false)
        } catch {
            throw .host(error)
        }
    }

    /// Returns the index after the closing bracket.
    private static func closingBracket(in text: Span<UInt8>, _ range: Range<Int>) throws(HTTPURLError) -> Int
    {
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

    /// Parses an IPv6 address, with its zone after `%25` (RFC 6874).
    private static func bracketed(_ text: Span<UInt8>) throws(HTTPURLError) -> IPAddress {
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

    /// Parses the port after a colon. Leading zeros are allowed, and the port may be empty (RFC 3986, section
    /// 3.2.3).
    private static func port(_ text: Span<UInt8>) throws(HTTPURLError) -> UInt16? {
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

    /// Returns user and password, escaped; `nil` if both are empty.
    private static func userinfo(_ text: Span<UInt8>) -> String? {
        var colon = 0
        while colon < text.count, text[colon] != UInt8(ascii: ":") { colon += 1 }
        var bytes: [UInt8] = []
        bytes.appendEscaped(text.extracting(..<colon), where: \.isAllowedInUserinfo)
        if colon + 1 < text.count {
            bytes.append(UInt8(ascii: ":"))
            bytes.appendEscaped(text.extracting((colon + 1)...), where: \.isAllowedInUserinfo)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}

extension IPAddress {
    /// Appends the address in the form of an authority: IPv6 in brackets, and without its zone, which has no
    /// meaning to the server (RFC 6874, section 4).
    package func appendAuthority(to bytes: inout [UInt8]) {
        guard family == .v6 else { return appendText(to: &bytes) }
        bytes.append(UInt8(ascii: "["))
        appendText(to: &bytes)
        bytes.append(UInt8(ascii: "]"))
    }
}
