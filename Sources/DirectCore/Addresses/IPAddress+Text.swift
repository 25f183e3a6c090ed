extension IPAddress {
    /// Parses an address, with its zone after a percent sign, from all of these bytes.
    package init?(utf8 text: Span<UInt8>) {
        var hasColon = false
        for index in text.indices {
            if text[index] == UInt8(ascii: ":") { hasColon = true }
            guard text[index] == UInt8(ascii: "%") else { continue }
            self.init(v6: text.extracting(..<index), zone: text.extracting((index + 1)...))
            return
        }
        if hasColon {
            self.init(v6: text)
        } else {
            self.init(v4: text)
        }
    }

    /// Parses an IPv6 address and its zone from separate texts (in a URL they are separated by `%25`).
    ///
    /// An IPv4-mapped address with a zone is refused, since the zone would be lost by ``unmapped``.
    init?(v6 text: Span<UInt8>, zone: Span<UInt8>) {
        guard let address = IPAddress(v6: text), !address.isIPv4Mapped, let name = ZoneName(zone) else {
            return nil
        }
        self.init(family: .v6, high: address.high, low: address.low, zoneName: name)
    }

    /// Parses an IPv4 address in strict dotted-quad form.
    init?(v4 text: Span<UInt8>) {
        guard let number = Self.dottedQuad(text) else { return nil }
        self.init(family: .v4, high: 0, low: UInt64(number))
    }

    /// Parses an IPv6 address without a zone.
    init?(v6 text: Span<UInt8>) {
        guard let number = Self.groups(text) else { return nil }
        self.init(
            family: .v6,
            high: UInt64(truncatingIfNeeded: number >> 64),
            low: UInt64(truncatingIfNeeded: number)
        )
    }

    private static func dottedQuad(_ text: Span<UInt8>) -> UInt32? {
        guard text.count >= 7, text.count <= 15 else { return nil }
        var number: UInt32 = 0
        var octet: UInt32 = 0
        var digits = 0
        var dots = 0
        for index in text.indices {
            let byte = text[index]
            if byte == UInt8(ascii: ".") {
                guard digits > 0, dots < 3 else { return nil }
                number = number << 8 | octet
                (octet, digits, dots) = (0, 0, dots + 1)
            } else {
                // inet_aton takes a number with a leading zero as octal, other parsers as decimal, so it is
                // refused.
                guard byte >= 0x30, byte <= 0x39, !(digits > 0 && octet == 0) else { return nil }
                octet = octet * 10 + UInt32(byte - 0x30)
                digits += 1
                guard octet <= 255 else { return nil }
            }
        }
        return dots == 3 && digits > 0 ? number << 8 | octet : nil
    }

    /// Parses the form of RFC 4291, section 2.2: eight groups, of which one run may be replaced by `::`. The
    /// last two groups may be a dotted quad.
    private static func groups(_ text: Span<UInt8>) -> UInt128? {
        // 45 bytes: eight full groups with a dotted quad at the end.
        guard text.count >= 2, text.count <= 45 else { return nil }
        var before: UInt128 = 0
        var after: UInt128 = 0
        var countBefore = 0
        var countAfter = 0
        var hasGap = false
        var position = 0

        func append(_ value: UInt128, groups: Int) {
            if hasGap {
                after = after << UInt128(16 * groups) | value
                countAfter += groups
            } else {
                before = before << UInt128(16 * groups) | value
                countBefore += groups
            }
        }

        if text[0] == UInt8(ascii: ":") {
            guard text[1] == UInt8(ascii: ":") else { return nil }
            hasGap = true
            position = 2
        }
        while position < text.count {
            let start = position
            var group: UInt128 = 0
            while position < text.count, let digit = Hex.value(of: text[position]) {
                guard position - start < 4 else { return nil }
                group = group << 4 | UInt128(digit)
                position += 1
            }
            guard position > start else { return nil }
            if position < text.count, text[position] == UInt8(ascii: ".") {
                guard let quad = dottedQuad(text.extracting(start...)) else { return nil }
                append(UInt128(quad), groups: 2)
                position = text.count
                break
            }
            append(group, groups: 1)
            guard countBefore + countAfter <= 8 else { return nil }
            guard position < text.count else { break }
            guard text[position] == UInt8(ascii: ":"), position + 1 < text.count else { return nil }
            position += 1
            if text[position] == UInt8(ascii: ":") {
                guard !hasGap else { return nil }
                hasGap = true
                position += 1
            }
        }
        guard hasGap ? countBefore + countAfter <= 7 : countBefore == 8 else { return nil }
        return before << UInt128(16 * (8 - countBefore)) | after
    }
}

extension IPAddress: LosslessStringConvertible {
    /// The canonical text (RFC 5952), with the zone after a percent sign.
    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(61)
        appendText(to: &text)
        if !zoneName.isEmpty {
            text.append(UInt8(ascii: "%"))
            text += zoneName.bytes
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the canonical text without the zone, which means nothing to the peer and must not be in `Host`
    /// (RFC 6874, section 4).
    @inline(never)
    func appendText(to text: inout [UInt8]) {
        if family == .v4 {
            appendQuad(to: &text)
        } else if isIPv4Mapped {
            text += "::ffff:".utf8
            appendQuad(to: &text)
        } else {
            appendGroups(to: &text)
        }
    }

    private func appendQuad(to text: inout [UInt8]) {
        for shift in [24, 16, 8, 0] as [UInt64] {
            if shift < 24 { text.append(UInt8(ascii: ".")) }
            text += String((low >> shift) & 0xFF).utf8
        }
    }

    private func appendGroups(to text: inout [UInt8]) {
        let gap = longestRunOfZeroGroups
        var index = 0
        while index < 8 {
            if index == gap.lowerBound, !gap.isEmpty {
                text += "::".utf8
                index = gap.upperBound
                continue
            }
            if index > 0, index != gap.upperBound || gap.isEmpty { text.append(UInt8(ascii: ":")) }
            text += String(group(index), radix: 16).utf8
            index += 1
        }
    }

    private func group(_ index: Int) -> UInt64 {
        let half = index < 4 ? high : low
        return (half >> UInt64(48 - 16 * (index & 3))) & 0xFFFF
    }

    /// The groups to replace by `::` (RFC 5952, section 4.2): the longest run of zeros, the first of equal
    /// ones, never a single group.
    private var longestRunOfZeroGroups: Range<Int> {
        var longest = 0..<0
        var start = 0
        for index in 0..<8 {
            if group(index) != 0 {
                start = index + 1
            } else if index + 1 - start > max(longest.count, 1) {
                longest = start..<(index + 1)
            }
        }
        return longest
    }
}
