public import DirectIO

/// Where to connect for which hosts, fixed by the caller, as with curl's `--resolve`.
///
/// The most specific entry wins, and an exact host is more specific than `*.name`, a longer name than a
/// shorter one, `*` least of all; of two entries for the same hosts the one that names the port wins. An
/// entry for another port does not count: the next less specific one is looked at.
///
/// A look-up hashes the name once or twice, and once or twice per label if the map has `*.name` entries.
public struct StaticMap: Hashable, Sendable {
    private var byName: [Key: [Endpoint]] = [:]
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
        let key = Key(name.bytes, from: 0, isParent: false, scope: .any)
        if byName[key]?.contains(endpoint) != true { byName[key, default: []].append(endpoint) }
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
        if let exact = endpoints(for: name.bytes, from: 0, port: port, isParent: false) { return exact }
        guard subdomainEntries > 0 else { return nil }
        for index in name.bytes.indices where name.bytes[index] == UInt8(ascii: ".") {
            if let below = endpoints(for: name.bytes, from: index + 1, port: port, isParent: true) {
                return below
            }
        }
        return nil
    }

    private func endpoints(for name: [UInt8], from start: Int, port: UInt16, isParent: Bool) -> [Endpoint]? {
        byName[Key(name, from: start, isParent: isParent, scope: .port(port))]
            ?? byName[Key(name, from: start, isParent: isParent, scope: .any)]
    }

    private mutating func store(_ endpoints: [Endpoint]?, for pattern: HostPattern, port: UInt16?) {
        let scope = port.map(PortScope.port) ?? .any
        switch pattern {
        case .host(.name(let name)):
            byName[Key(name.bytes, from: 0, isParent: false, scope: scope)] = endpoints
        case .host(.address(let address)):
            byAddress[AddressKey(address: address, scope: scope)] = endpoints
        case .subdomains(let name):
            let before = byName.count
            byName[Key(name.bytes, from: 0, isParent: true, scope: scope)] = endpoints
            subdomainEntries += byName.count - before
        case .any:
            forAny[scope] = endpoints
        }
    }

    /// A port, or any.
    private enum PortScope: Hashable {
        case port(UInt16)
        case any
    }

    private struct AddressKey: Hashable {
        let address: IPAddress
        let scope: PortScope
    }

    /// The end of a name, from some label on: a look-up for each parent allocates nothing.
    private struct Key: Hashable {
        let name: [UInt8]
        let start: UInt16
        let isParent: Bool
        let scope: PortScope

        init(_ name: [UInt8], from start: Int, isParent: Bool, scope: PortScope) {
            self.name = name
            self.start = UInt16(start)
            self.isParent = isParent
            self.scope = scope
        }

        static func == (left: Key, right: Key) -> Bool {
            guard left.scope == right.scope, left.isParent == right.isParent else { return false }
            let ours = left.name.span.extracting(Int(left.start)...)
            let theirs = right.name.span.extracting(Int(right.start)...)
            guard ours.count == theirs.count else { return false }
            for index in ours.indices where ours[index] != theirs[index] { return false }
            return true
        }

        func hash(into hasher: inout Hasher) {
            var hash = FoldedHash()
            hash.fold(name.span.extracting(Int(start)...))
            hasher.combine(hash.value)
            hasher.combine(scope)
        }
    }
}
