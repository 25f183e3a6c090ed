public import DirectIO

/// Sees every address of every hop before it is dialled, and may refuse it.
///
/// The address that is looked at is the one that is dialled: there is no second look-up in between that could
/// give another one.
public struct AddressVetting: Sendable {
    private let judge: @Sendable (IPAddress, Host, UInt16) -> AddressRefusal?

    /// A rule of one's own: why not to connect to this address and port for this host, or nothing. It is
    /// called often, on any thread, and must not block.
    public init(_ judge: @escaping @Sendable (IPAddress, Host, UInt16) -> AddressRefusal?) {
        self.judge = judge
    }

    /// Why not to connect to this address and port for this host; nothing if there is no objection.
    public func refusal(of address: IPAddress, for host: Host, port: UInt16) -> AddressRefusal? {
        judge(address, host, port)
    }
}

/// Why an address is not dialled.
public struct AddressRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    public var address: IPAddress
    /// What the address is, such as `loopback`.
    public var reason: String

    public init(_ address: IPAddress, _ reason: String) {
        self.address = address
        self.reason = reason
    }

    public var description: String { "\(address) is not to be dialled: \(reason)" }
}
