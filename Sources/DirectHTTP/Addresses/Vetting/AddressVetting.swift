public import DirectIO

/// Sees every address of every hop before it is dialled, and may refuse it.
///
/// The address that is looked at is the one that is dialled: there is no second look-up in between that could
/// give another one. It makes no difference who named the address: the request, a map, a resolver, or the URL.
public struct AddressVetting: Sendable {
    private let judge: @Sendable (IPAddress, Host, UInt16) -> AddressRefusal?

    /// A rule of one's own: why not to connect to this address and port for this host, or nothing. It is
    /// called often, on any thread, and must not block.
    public init(_ judge: @escaping @Sendable (IPAddress, Host, UInt16) -> AddressRefusal?) {
        self.judge = judge
    }

    /// Refuses all but the addresses of the public internet: the guard of programs that fetch what strangers
    /// ask for.
    public static var publicInternetOnly: AddressVetting { publicInternetOnly() }

    /// Refuses all but the addresses of the public internet and those allowed here, and also those denied here,
    /// which counts more than leave.
    ///
    /// An IPv6 address that carries an IPv4 address to where it will be unpacked is judged by both. That is
    /// known of mapped addresses, NAT64's well-known prefix and ISATAP; prefixes of a translator of one's own
    /// (RFC 6052, section 2.2) are to be named in `translators`.
    public static func publicInternetOnly(
        allowing allowed: [AddressRange] = [],
        denying denied: [AddressRange] = [],
        translators: [AddressRange] = []
    ) -> AddressVetting {
        let rule = PublicInternet(allowed: allowed, denied: denied, translators: translators)
        return AddressVetting { address, _, _ in
            rule.objection(to: address).map { AddressRefusal(address, $0) }
        }
    }

    /// Refuses what either of the two refuses.
    public func and(_ other: AddressVetting) -> AddressVetting {
        AddressVetting { address, host, port in
            refusal(of: address, for: host, port: port) ?? other.refusal(of: address, for: host, port: port)
        }
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

    public var description: String { "\(address) may not be dialled: \(reason)" }
}
