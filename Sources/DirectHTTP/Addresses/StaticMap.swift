public import DirectIO

/// Where to connect for which hosts, fixed by the caller, as with curl's `--resolve`.
///
/// The most specific entry wins, and an exact host is more specific than `*.name`, a longer name than a
/// shorter one, `*` least of all; of two entries for the same hosts the one that names the port wins. An
/// entry for another port does not count: the next less specific one is looked at.
///
/// A look-up hashes the name once or twice, and once or twice per label if the map has `*.name` entries.
public struct StaticMap: Hashable, Sendable {
    private var byName = NameTable<[Endpoint]>()
    private var byAddress: [AddressKey: [Endpoint]] = [:]
    private var forAny: [PortScope: [Endpoint]] = [:]
    /// How many keys of `byName` stand for subdomains.
    private var subdomainEntries = 0

    /// Makes an empty map.
    public init() {}

    /// Whether there is no entry.
    public var isEmpty: Bool { count == 0 }

    /// How many entries there are.
    public var count: Int { byName.count + byAddress.count + forAny.count }

    /// Says where to connect for these hosts, on one port or on any; replaces what was said before.
    ///
    /// An empty list is an error, and so is a literal that is no address.
    public mutating func set(
        _ endpoints: [Endpoint],
        for pattern: HostPattern,
        port: UInt16? = nil
    ) throws(StaticMapFault) {
        guard !endpoints.isEmpty else { throw .noAddresses }
        for endpoint in endpoints {
            if let fault = endpoint.fault { throw .address(fault) }
        }
        store(endpoints, for: pattern, port: port)
    }

    /// Takes the entry for exactly these hosts and this port away, if there is one.
    public mutating func remove(_ pattern: HostPattern, port: UInt16? = nil) {
        store(nil, for: pattern, port: port)
    }

    /// Adds one more endpoint for the name on any port, unless it is there.
    mutating func add(_ endpoint: Endpoint, for name: DomainName) {
        let tag = PortScope.any.tag(isParent: false)
        name.bytes.withSpan { name in
            let isThere = byName.update(name, tag: tag) { endpoints in
                if !endpoints.contains(endpoint) { endpoints.append(endpoint) }
            }
            if !isThere { byName.set([endpoint], name, tag: tag) }
        }
    }

    /// Where to connect for this host and port of a URL; `nil` if the map does not say.
    public func endpoints(for host: Host, port: UInt16) -> [Endpoint]? {
        let found =
            switch host {
            case .name(let name): endpoints(for: name, port: port)
            case .address(let address):
                byAddress.isEmpty
                    ? nil
                    : byAddress[AddressKey(address: address, scope: .port(port))]
                        ?? byAddress[AddressKey(address: address, scope: .any)]
            }
        return found ?? (forAny.isEmpty ? nil : forAny[.port(port)] ?? forAny[.any])
    }

    private func endpoints(for name: DomainName, port: UInt16) -> [Endpoint]? {
        let name = name.bytes[...]
        let bytes = name.span
        if let exact = endpoints(for: bytes, port: port, isParent: false) { return exact }
        guard subdomainEntries > 0 else { return nil }
        for index in bytes.indices where bytes[index] == UInt8(ascii: ".") {
            let parent = bytes.extracting((index + 1)...)
            if let below = endpoints(for: parent, port: port, isParent: true) { return below }
        }
        return nil
    }

    private func endpoints(for name: Span<UInt8>, port: UInt16, isParent: Bool) -> [Endpoint]? {
        byName.value(name, tag: PortScope.port(port).tag(isParent: isParent))
            ?? byName.value(name, tag: PortScope.any.tag(isParent: isParent))
    }

    private mutating func store(_ endpoints: [Endpoint]?, for pattern: HostPattern, port: UInt16?) {
        let scope = port.map(PortScope.port) ?? .any
        switch pattern {
        case .host(.name(let name)):
            name.bytes.withSpan { byName.set(endpoints, $0, tag: scope.tag(isParent: false)) }
        case .host(.address(let address)):
            byAddress[AddressKey(address: address, scope: scope)] = endpoints
        case .subdomains(let name):
            let before = byName.count
            name.bytes.withSpan { byName.set(endpoints, $0, tag: scope.tag(isParent: true)) }
            subdomainEntries += byName.count - before
        case .any:
            forAny[scope] = endpoints
        }
    }

    /// A port, or any.
    private enum PortScope: Hashable {
        case port(UInt16)
        case any

        /// The same as a number, with whether it is for the names below.
        func tag(isParent: Bool) -> UInt32 {
            let parent: UInt32 = isParent ? 1 << 17 : 0
            return switch self {
            case .port(let port): parent | 1 << 16 | UInt32(port)
            case .any: parent
            }
        }
    }

    private struct AddressKey: Hashable {
        let address: IPAddress
        let scope: PortScope
    }
}
