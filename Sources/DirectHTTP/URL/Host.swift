public import DirectIO

/// Whom a URL names: a name, which DNS or the caller turns into addresses, or an address literal.
public enum Host: Hashable, Sendable {
    /// A name, in lower case and without trailing dot.
    case name(DomainName)
    /// An IPv4 or IPv6 address written where a name could be.
    case address(IPAddress)

    /// Reads a name, an IPv4 address, or an IPv6 address with or without brackets.
    public init(_ text: String) throws(HostFault) {
        self = try withUTF8Result(of: text) { utf8 throws(HostFault) in
            try Host(utf8: utf8)
        }
    }

    package init(utf8 text: Span<UInt8>) throws(HostFault) {
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

    /// The name, if this is one.
    public var name: DomainName? {
        if case .name(let name) = self { name } else { nil }
    }

    /// The address, if this is one.
    public var address: IPAddress? {
        if case .address(let address) = self { address } else { nil }
    }
}

extension Host: CustomStringConvertible {
    /// The name or the address, an IPv6 address without brackets.
    public var description: String {
        switch self {
        case .name(let name): name.description
        case .address(let address): address.description
        }
    }
}
