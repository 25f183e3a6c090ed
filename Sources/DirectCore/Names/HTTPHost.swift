/// The host of a URL: a name, which has to be resolved to addresses, or an address literal.
public enum HTTPHost: Hashable, Sendable {
    /// A name, in lower case and without trailing dot.
    case name(DomainName)
    /// An IPv4 or IPv6 address in place of a name.
    case address(IPAddress)

    /// Parses a name, an IPv4 address, or an IPv6 address with or without brackets.
    ///
    /// - Throws: The ``HTTPHostError`` of a text that is none of these.
    public init(_ text: String) throws(HTTPHostError) {
        self = try withUTF8Result(of: text) { utf8 throws(HTTPHostError) in
            try HTTPHost(utf8: utf8)
        }
    }

    /// Parses a host from the whole of the given bytes.
    package init(utf8 text: Span<UInt8>) throws(HTTPHostError) {
        if let address = IPAddress(utf8: text) {
            self = .address(address)
        } else if !text.isEmpty, text[0] == UInt8(ascii: "[") {
            guard text[text.count - 1] == UInt8(ascii: "]") else { throw .unclosedBracket }
            guard let address = IPAddress(utf8: text.extracting(1..<(text.count - 1))), address.family == .v6
            else { throw .notIPv6 }
            self = .address(address)
        } else {
            self = .name(try DomainName(utf8: text))
        }
    }

    /// The name; `nil` if the host is an address.
    public var name: DomainName? {
        if case .name(let name) = self { name } else { nil }
    }

    /// The address; `nil` if the host is a name.
    public var address: IPAddress? {
        if case .address(let address) = self { address } else { nil }
    }
}

extension HTTPHost: CustomStringConvertible {
    /// The name or the address; an IPv6 address without brackets.
    @inline(never)
    public var description: String {
        switch self {
        case .name(let name): name.description
        case .address(let address): address.description
        }
    }
}

extension FoldedHash {
    /// Hashes the bytes of a name, or the words of an address.
    mutating func fold(_ host: borrowing HTTPHost) {
        switch host {
        case .name(let name):
            name.bytes.withSpan { fold($0) }
        case .address(let address):
            fold(address.words.high)
            fold(address.words.low)
        }
    }
}
