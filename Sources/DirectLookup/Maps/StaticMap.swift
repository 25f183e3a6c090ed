public import DirectCore
internal import DirectIO

/// A table of the endpoints to connect to, by host and port, like curl's `--resolve`.
///
/// The most specific entry wins. An exact host is more specific than `*.name`, a longer `*.name` than a
/// shorter one, and `*` is the least specific. Of two entries for the same hosts, the one with a port wins
/// over the one for any port. An entry for another port does not count: the next less specific entry is
/// taken.
///
/// A look-up hashes the name once or twice, and once or twice more for each parent name if the map has
/// `*.name` entries.
public struct StaticMap: Hashable, Sendable {
    private var byName = NameTable<[Endpoint]>()
    private var byAddress: [AddressKey: [Endpoint]] = [:]
    private var forAny: [PortScope: [Endpoint]] = [:]
    private var echConfigs: [DomainName: ECHConfigList] = [:]
    /// The number of keys of `byName` that stand for subdomains.
    private var subdomainEntries = 0
    /// The number of entries for one port.
    private(set) var portEntries = 0

    /// Creates an empty map.
    public init() {}

    /// Whether the map has no entries.
    public var isEmpty: Bool { count == 0 }

    /// The number of entries.
    public var count: Int { byName.count + byAddress.count + forAny.count }

    /// Sets the endpoints for these hosts, on one port or on any; replaces the entry that was there.
    ///
    /// - Parameters:
    ///   - endpoints: The endpoints, in order of preference. A port in an endpoint changes only the port that
    ///     is dialled.
    ///   - pattern: The hosts that the entry applies to.
    ///   - port: The port of the URL that the entry applies to; `nil` means any port.
    /// - Throws: ``StaticMapError/noAddresses`` if the list is empty, ``StaticMapError/address(_:)`` if an
    ///   endpoint holds a literal that is not an address.
    public mutating func set(
        _ endpoints: [Endpoint],
        for pattern: HostPattern,
        port: UInt16? = nil
    ) throws(StaticMapError) {
        guard !endpoints.isEmpty else { throw .noAddresses }
        for endpoint in endpoints {
            if let fault = endpoint.fault { throw .address(fault) }
        }
        store(endpoints, for: pattern, port: port)
    }

    /// Removes the entry for exactly these hosts and this port, if there is one.
    public mutating func remove(_ pattern: HostPattern, port: UInt16? = nil) {
        store(nil, for: pattern, port: port)
    }

    /// Sets the configurations for Encrypted Client Hello of the server with this name, whatever its
    /// addresses; `nil` removes them. They are used by requests that ask for it, and before those of a
    /// resolver.
    public mutating func setEncryptedClientHello(_ config: ECHConfigList?, for name: DomainName) {
        echConfigs[name] = config
    }

    /// Whether the map has configurations for Encrypted Client Hello.
    package var hasECHConfigs: Bool { !echConfigs.isEmpty }

    /// Returns the configurations for a host; `nil` if there are none.
    package func echConfig(for host: HTTPHost) -> ECHConfigList? {
        echConfigs.isEmpty ? nil : host.name.flatMap { echConfigs[$0] }
    }

    /// Adds an endpoint for the name on any port, unless the entry has it already.
    mutating func add(_ endpoint: Endpoint, for name: DomainName) {
        let tag = PortScope.any.tag(isParent: false)
        name.bytes.withSpan { name in
            let isThere = byName.update(name, tag: tag) { endpoints in
                if !endpoints.contains(endpoint) { endpoints.append(endpoint) }
            }
            if !isThere { byName.set([endpoint], name: name, tag: tag) }
        }
    }

    /// Returns the endpoints for this host and port of a URL; `nil` if the map has no entry for them.
    public func endpoints(for host: HTTPHost, port: UInt16) -> [Endpoint]? {
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
        let before = count
        defer { if port != nil { portEntries += count - before } }
        switch pattern {
        case .host(.name(let name)):
            name.bytes.withSpan { byName.set(endpoints, name: $0, tag: scope.tag(isParent: false)) }
        case .host(.address(let address)):
            byAddress[AddressKey(address: address, scope: scope)] = endpoints
        case .subdomains(let name):
            name.bytes.withSpan { byName.set(endpoints, name: $0, tag: scope.tag(isParent: true)) }
            subdomainEntries += count - before
        case .any:
            forAny[scope] = endpoints
        }
    }

    /// A port, or any port.
    private enum PortScope: Hashable {
        case port(UInt16)
        case any

        /// The scope as a number that also says whether the entry is for the names below the host.
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
