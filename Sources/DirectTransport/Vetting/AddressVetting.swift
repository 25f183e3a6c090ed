public import DirectCore
internal import DirectIO

/// Checks every address of every hop before it is dialled, and may refuse it.
///
/// The address that is checked is the address that is dialled: there is no second look-up in between that
/// could return another one (DNS rebinding). The source of the address makes no difference: the request, a
/// map, a resolver or the URL.
public struct AddressVetting: Sendable {
    private let judge: @Sendable (IPAddress, HTTPHost, UInt16) -> AddressRefusal?

    /// Creates a rule from a closure.
    ///
    /// - Parameter judge: Returns the reason not to connect to this address and port for this host; `nil`
    ///   allows it. It is called often, on any thread, and must not block.
    public init(_ judge: @escaping @Sendable (IPAddress, HTTPHost, UInt16) -> AddressRefusal?) {
        self.judge = judge
    }

    /// Refuses all addresses outside the public internet: the protection for programs that fetch URLs given
    /// by untrusted users (SSRF).
    public static var publicInternetOnly: AddressVetting { publicInternetOnly() }

    /// Refuses all addresses outside the public internet, with exceptions.
    ///
    /// An IPv6 address that embeds an IPv4 address, to which a host or router on the way forwards the bytes,
    /// is checked by both. The embedded address is known for IPv4-mapped addresses, NAT64's well-known prefix
    /// and ISATAP. Other prefixes of a NAT64 translator (RFC 6052, section 2.2) have to be named in
    /// `translators`.
    ///
    /// - Parameters:
    ///   - allowed: Ranges that are allowed although they are not part of the public internet.
    ///   - denied: Ranges that are refused. They take precedence over `allowed`.
    ///   - translators: The prefixes under which a translator of this network embeds IPv4 addresses, which
    ///     alone count there. Under one of a length that RFC 6052 does not define every address is refused.
    public static func publicInternetOnly(
        allowing allowed: [AddressRange] = [],
        denying denied: [AddressRange] = [],
        translators: [AddressRange] = []
    ) -> AddressVetting {
        let rule = PublicInternet(allowed: allowed, denied: denied, translators: translators)
        return AddressVetting { address, _, _ in
            rule.refusalReason(for: address).map { AddressRefusal(address, $0) }
        }
    }

    /// Returns a rule that refuses an address if either of the two rules refuses it.
    public func and(_ other: AddressVetting) -> AddressVetting {
        AddressVetting { address, host, port in
            refusal(of: address, for: host, port: port) ?? other.refusal(of: address, for: host, port: port)
        }
    }

    /// Returns the reason not to connect to this address and port for this host; `nil` if there is no
    /// objection.
    public func refusal(of address: IPAddress, for host: HTTPHost, port: UInt16) -> AddressRefusal? {
        judge(address, host, port)
    }
}

/// The reason why an address must not be dialled.
public struct AddressRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The address that is refused.
    public var address: IPAddress
    /// The kind of address, such as `loopback (RFC 1122)`.
    public var reason: String

    /// Creates a refusal of this address.
    public init(_ address: IPAddress, _ reason: String) {
        self.address = address
        self.reason = reason
    }

    /// The address and the reason.
    public var description: String { "\(address) may not be dialled: \(reason)" }
}
