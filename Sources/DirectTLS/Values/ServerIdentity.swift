#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The identity that the server's certificate must prove: a DNS name, or an IP address if the URL has an IP literal.
///
/// It comes from the URL alone. The address of the connection has no influence on it.
package struct ServerIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The kind of identity.
    package enum Kind: Hashable, Sendable {
        /// Matched against dNSName entries, and sent as SNI.
        case name
        /// Matched against iPAddress entries, and never sent as SNI (RFC 6066, section 3).
        case address
    }

    /// Whether this is a name or an address.
    package let kind: Kind
    /// A name of A-labels in lower case, or an address in canonical form.
    package let text: String

    /// The name or address.
    package var description: String { text }

    /// Creates the identity of a DNS name in ASCII, without a trailing dot. Letters are converted to lower case.
    ///
    /// This is strict because OpenSSL is not: an empty name turns OpenSSL's check off, and one with a leading dot
    /// matches any subdomain.
    package static func name(_ text: String) throws(TLSError) -> ServerIdentity {
        guard isHostName(text.utf8) else { throw .badIdentity("not a DNS name: \"\(printable(text))\"") }
        return ServerIdentity(kind: .name, text: text.lowercased())
    }

    /// A placeholder for judging a chain without regard to a name. It is never compared.
    static let nobody = ServerIdentity(kind: .name, text: "")

    /// Creates the identity of an IPv4 or IPv6 address in text, without brackets and without a zone.
    package static func address(_ text: String) throws(TLSError) -> ServerIdentity {
        guard let canonical = canonicalAddress(text) else {
            throw .badIdentity("not an IP address: \"\(printable(text))\"")
        }
        return ServerIdentity(kind: .address, text: canonical)
    }
}

/// Whether the name has labels as in RFC 1123, or with the underscore that real names use, at most 253 bytes in all,
/// and does not end in a number: that would be an IPv4 address in one of its spellings.
private func isHostName(_ bytes: String.UTF8View) -> Bool {
    guard bytes.count <= 253 else { return false }
    let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.allSatisfy(isLabel), let last = labels.last else { return false }
    return !isNumber(last)
}

private func isLabel(_ label: Substring.UTF8View) -> Bool {
    guard (1...63).contains(label.count) else { return false }
    let hyphen = UInt8(ascii: "-")
    guard label.first != hyphen, label.last != hyphen else { return false }
    return label.allSatisfy { byte in
        isDigit(byte) || isLetter(byte) || byte == hyphen || byte == UInt8(ascii: "_")
    }
}

private func isNumber(_ label: Substring.UTF8View) -> Bool {
    if label.allSatisfy(isDigit) { return true }
    guard label.first == UInt8(ascii: "0"), let mark = label.dropFirst().first else { return false }
    guard mark | 0x20 == UInt8(ascii: "x") else { return false }
    return label.dropFirst(2).allSatisfy { byte in
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}

private func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
}

private func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
}

/// Returns the canonical spelling of an address, or `nil`. Accepts what `inet_pton` accepts, but not the octal and
/// short forms of `inet_aton`.
private func canonicalAddress(_ text: String) -> String? {
    guard !text.utf8.contains(0) else { return nil }
    var bytes = [UInt8](repeating: 0, count: 16)
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] where inet_pton(family, text, &bytes) == 1 {
        return addressText(Array(bytes.prefix(count)))
    }
    return nil
}

/// Returns the text of an address of 4 or 16 bytes, or `nil` for any other length.
func addressText(_ bytes: [UInt8]) -> String? {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}
