internal import DirectCore
internal import DirectIO

/// One address or all addresses of a network, with an optional port that replaces the target's.
struct ProbeAddresses: Hashable, Sendable {
    let first: IPAddress
    /// The number of consecutive addresses, beginning with `first`.
    let count: Int
    let port: UInt16?

    /// The maximum size of a network. A larger one is a mistake or a scan, which this tool is not meant for.
    static let mostAddresses = 4096

    init(_ address: IPAddress, port: UInt16? = nil) {
        first = address
        count = 1
        self.port = port
    }

    /// Parses `203.0.113.7`, `203.0.113.7:8443`, `2001:db8::7`, `[2001:db8::7]:8443` or `203.0.113.0/28`.
    init(_ text: some StringProtocol) throws(TargetError) {
        if let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) {
            try self.init(network: text[..<slash], length: text[text.utf8.index(after: slash)...])
            return
        }
        do throws(AddressError) {
            let endpoint = try Endpoint(String(text))
            self.init(endpoint.address, port: endpoint.port)
        } catch {
            throw .notAnAddress(String(text))
        }
    }

    private init(network: some StringProtocol, length: some StringProtocol) throws(TargetError) {
        let whole = "\(network)/\(length)"
        guard let address = IPAddress(String(network)), address.zone == nil else {
            throw .notAnAddress(whole)
        }
        let width = address.family == .v4 ? 32 : 128
        guard let bits = Int(length), (0...width).contains(bits), length.allSatisfy(\.isNumber) else {
            throw .badPrefix(whole, width)
        }
        let free = width - bits
        guard free <= 12 else { throw .tooManyAddresses(whole, Self.mostAddresses) }
        count = 1 << free
        port = nil
        let mask = UInt64(count - 1)
        first = IPAddress(address.family, high: address.words.high, low: address.words.low & ~mask)
    }

    /// Returns the address at this distance from the first.
    subscript(index: Int) -> IPAddress {
        guard count > 1 else { return first }
        return IPAddress(first.family, high: first.words.high, low: first.words.low + UInt64(index))
    }
}
