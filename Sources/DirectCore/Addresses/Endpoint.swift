/// The address to connect to, with a port if it differs from the URL's.
///
/// Its text is `203.0.113.7`, `203.0.113.7:8443`, `2001:db8::7`, `[2001:db8::7]:8443` or
/// `[fe80::1%eth0]:443`. Ports are 1 to 65535, without leading zeros.
///
/// An endpoint can be written as a string literal: `request.addresses = ["203.0.113.7",
/// "[2001:db8::7]:8443"]`. A literal cannot throw, and a typing error should not crash the program, so an
/// invalid literal keeps its error. Connecting to it throws that error before any attempt. `Endpoint("…")`
/// with a literal behaves in the same way. For text from outside, use `try Endpoint(text)`, which throws
/// immediately.
public struct Endpoint: Hashable, Sendable {
    /// The address to connect to. For an invalid literal, an address at which nothing can answer.
    public let address: IPAddress

    /// The port to connect to. `nil` uses the port of the URL.
    public let port: UInt16?

    private let faultyLiteral: FaultyLiteral?

    /// Creates an endpoint.
    ///
    /// - Parameter port: The port to connect to. `nil` uses the port of the URL.
    public init(_ address: IPAddress, port: UInt16? = nil) {
        self.address = address
        self.port = port
        faultyLiteral = nil
    }

    /// Parses an endpoint.
    ///
    /// - Throws: ``AddressError``, which names the part that is wrong.
    public init(_ text: String) throws(AddressError) {
        self = try withUTF8Result(of: text) { bytes throws(AddressError) in try Endpoint(utf8: bytes) }
    }

    /// The error in the literal from which this endpoint was created, or `nil`.
    package var fault: AddressError? { faultyLiteral?.error }
}

extension Endpoint: ExpressibleByStringLiteral {
    /// Parses a literal. An error is kept and thrown when the endpoint is used to connect.
    public init(stringLiteral text: String) {
        do throws(AddressError) {
            try self.init(text)
        } catch {
            self.init(faulty: FaultyLiteral(text: text, error: error))
        }
    }

    /// `100::` is in the discard prefix of RFC 6666, so nothing answers even if a caller overlooks the error.
    /// (`0.0.0.0` and `::` would reach this machine.)
    private init(faulty literal: FaultyLiteral) {
        address = IPAddress(family: .v6, high: 0x0100_0000_0000_0000, low: 0)
        port = nil
        faultyLiteral = literal
    }
}

extension Endpoint: CustomStringConvertible {
    /// The text that ``init(_:)`` accepts. For an invalid literal, the literal itself.
    public var description: String {
        if let faultyLiteral { return faultyLiteral.text }
        guard let port else { return address.description }
        return address.family == .v4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    }
}

extension Endpoint {
    /// Parses an endpoint from all of these bytes.
    package init(utf8 text: Span<UInt8>) throws(AddressError) {
        guard !text.isEmpty else { throw .empty }
        if text[0] == UInt8(ascii: "[") {
            try self.init(bracketed: text)
            return
        }
        if let address = IPAddress(utf8: text) {
            self.init(address)
            return
        }
        // An IPv4 address has one colon before its port; an IPv6 address has two or more.
        guard let colon = text.onlyIndex(of: UInt8(ascii: ":")),
            let address = IPAddress(v4: text.extracting(..<colon))
        else { throw .notAnAddress(String(copying: text)) }
        self.init(address, port: try Self.port(text.extracting((colon + 1)...)))
    }

    private init(bracketed text: Span<UInt8>) throws(AddressError) {
        guard let close = text.onlyIndex(of: UInt8(ascii: "]")) else { throw .unclosedBracket }
        let inside = text.extracting(1..<close)
        guard let address = IPAddress(utf8: inside), address.family == .v6 else {
            throw .notIPv6(String(copying: inside))
        }
        let rest = text.extracting((close + 1)...)
        if rest.isEmpty {
            self.init(address)
            return
        }
        guard rest[0] == UInt8(ascii: ":") else { throw .textAfterBracket(String(copying: rest)) }
        self.init(address, port: try Self.port(rest.extracting(1...)))
    }

    private static func port(_ text: Span<UInt8>) throws(AddressError) -> UInt16 {
        var port: UInt32 = 0
        for index in text.indices {
            let digit = text[index] &- 0x30
            guard digit <= 9, index < 5, !(port == 0 && digit == 0) else {
                throw .invalidPort(String(copying: text))
            }
            port = port * 10 + UInt32(digit)
        }
        guard let port = UInt16(exactly: port), port > 0 else { throw .invalidPort(String(copying: text)) }
        return port
    }
}

/// An invalid literal with its error. It is a class so that the endpoints of a large map do not contain space
/// for it.
private final class FaultyLiteral: Hashable, Sendable {
    let text: String
    let error: AddressError

    init(text: String, error: AddressError) {
        self.text = text
        self.error = error
    }

    static func == (left: FaultyLiteral, right: FaultyLiteral) -> Bool { left.text == right.text }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension Span<UInt8> {
    /// Returns the index of this byte if it occurs exactly once.
    fileprivate func onlyIndex(of byte: UInt8) -> Int? {
        var found: Int?
        for index in indices where self[index] == byte {
            guard found == nil else { return nil }
            found = index
        }
        return found
    }
}
