internal import DirectHTTP1
public import DirectIO

/// The names that asked to be reached over https only (HSTS, RFC 6797). Any number of clients may share one store.
///
/// It learns from responses over https whose certificate was accepted, of names and never of addresses, and turns
/// http URLs into https ones before anything else looks at them.
public final class HSTSStore: Sendable {
    /// A name that is reached over https only.
    public struct Entry: Hashable, Sendable {
        /// The name.
        public let name: DomainName
        /// Until when.
        public let expiry: UnixTime
        /// Whether the same goes for all names below it.
        public let includesSubdomains: Bool

        /// An entry of the caller's own, such as one to begin with.
        public init(_ name: DomainName, until expiry: UnixTime, includesSubdomains: Bool = false) {
            self.name = name
            self.expiry = expiry
            self.includesSubdomains = includesSubdomains
        }
    }

    private struct Table {
        var entries = HostTable<(entry: Entry, age: UInt64)>()
        var age: UInt64 = 0
    }

    private let limit: Int
    private let table = Locked(Table())

    /// An empty store for at most so many names; those that were heard from last stay.
    public init(limit: Int = 10_000) {
        self.limit = max(1, limit)
    }

    /// What is in force, by name.
    public var entries: [Entry] { entries(at: .now) }

    /// Puts an entry in, in place of one for the same name.
    public func add(_ entry: Entry) {
        add(entry, at: .now)
    }

    /// Takes out the entry for this name itself.
    public func remove(_ name: DomainName) {
        table.withLock { $0.entries[.name(name)] = nil }
    }

    /// Takes out all entries.
    public func removeAll() {
        table.withLock { $0.entries = HostTable() }
    }

    func entries(at now: UnixTime) -> [Entry] {
        let all = table.withLock { $0.entries.values.map(\.entry) }
        return all.filter { $0.expiry > now }.sorted { $0.name.text < $1.name.text }
    }

    /// Of the name's own entry; the beginning of time without one.
    func expiry(of name: DomainName) -> UnixTime {
        table.withLock { $0.entries[.name(name)]?.entry.expiry } ?? UnixTime(seconds: .min)
    }

    func add(_ entry: Entry, at now: UnixTime) {
        table.withLock { table in
            table.age += 1
            table.entries[.name(entry.name)] = (entry, table.age)
            guard table.entries.count > limit else { return }
            table.entries.removeAll { $0.entry.expiry <= now }
            guard table.entries.count > limit else { return }
            // A few more than needed, so that the next ones find room.
            let ages = table.entries.values.map(\.age).sorted()
            let oldestToStay = ages[ages.count - (limit - limit / 20)]
            table.entries.removeAll { $0.age < oldestToStay }
        }
    }
}

/// What the client asks of a store for each request and response.
extension HSTSStore {
    /// The URL to ask for instead of this one; nothing if this one is fine. Port 80 becomes 443, another port stays
    /// (RFC 6797, section 8.3).
    func upgrades(_ url: HTTPURL, at now: UnixTime) -> HTTPURL? {
        guard url.scheme == .http, let name = url.host.name, isKnown(name, at: now) else { return nil }
        return url.with(scheme: .https)
    }

    /// Takes what a response says that came over https from a server whose certificate was accepted.
    func learn(from headers: Headers, host: Host, at now: UnixTime) {
        // Only the first field counts (section 8.1), and only for names (section 8.1.1).
        guard let index = headers.index(of: "strict-transport-security"), let name = host.name,
            let policy = HSTSPolicy(headers.valueBytes(at: index))
        else { return }
        guard policy.maximumAge > 0 else { return remove(name) }
        let expiry = now.advanced(bySeconds: policy.maximumAge)
        add(Entry(name, until: expiry, includesSubdomains: policy.includesSubdomains), at: now)
    }

    /// Whether the name, or one above it with all below, is in force (section 8.2). One entry never changes
    /// another (CVE-2024-9681).
    func isKnown(_ name: DomainName, at now: UnixTime) -> Bool {
        var isKnown = false
        table.withLock { table in
            table.entries.visit(atOrAbove: .name(name)) { known in
                guard known.entry.expiry > now else { return }
                isKnown = isKnown || known.entry.includesSubdomains || known.entry.name == name
            }
        }
        return isKnown
    }
}
