public import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// A store of the names that have to be reached over https (HSTS, RFC 6797). Any number of clients may share
/// one.
///
/// It learns from https responses whose certificate was accepted, for names and never for addresses. It
/// changes http URLs to https before the client decides anything by them. Only observers and interceptors of
/// calls see those as the caller wrote them.
public final class HSTSStore: Sendable {
    /// A name that is reached over https only.
    public struct Entry: Hashable, Sendable {
        /// The name that the entry is for.
        public let name: DomainName
        /// The moment at which the entry expires.
        public let expiry: UnixTime
        /// Whether the entry applies to all names below this one as well.
        public let includesSubdomains: Bool

        /// Creates an entry, for example to fill a new store.
        ///
        /// - Parameters:
        ///   - name: The name that is reached over https only.
        ///   - expiry: The moment at which the entry expires.
        ///   - includesSubdomains: Whether it applies to all names below this one as well.
        public init(_ name: DomainName, until expiry: UnixTime, includesSubdomains: Bool = false) {
            self.name = name
            self.expiry = expiry
            self.includesSubdomains = includesSubdomains
        }
    }

    /// What is known of a name. A file and the store may say different things, and neither is known to be
    /// newer. So the name and the names below it have an expiry each.
    private struct Known: Equatable {
        let name: DomainName
        private(set) var expiry: UnixTime
        /// The earliest possible moment if the names below are not included.
        private(set) var subdomainsExpiry: UnixTime

        init(_ entry: Entry) {
            name = entry.name
            expiry = entry.expiry
            subdomainsExpiry = entry.includesSubdomains ? entry.expiry : UnixTime(seconds: .min)
        }

        /// The entries that say the same: two if the names below are included for a shorter time.
        var entries: [Entry] {
            let below = Entry(name, until: subdomainsExpiry, includesSubdomains: true)
            return subdomainsExpiry == expiry ? [below] : [below, Entry(name, until: expiry)]
        }

        /// What is known if both are right.
        func joined(with other: Known) -> Known {
            var both = self
            both.expiry = max(expiry, other.expiry)
            both.subdomainsExpiry = max(subdomainsExpiry, other.subdomainsExpiry)
            return both
        }
    }

    /// The names, each with the number of the change that added it: a higher `age` is more recent.
    private struct Table {
        var names = NameTable<(known: Known, age: UInt64)>()
        var age: UInt64 = 0
    }

    private let limit: Int
    private let table = Locked(Table())
    let saves = StateSaves()

    /// Creates an empty store.
    ///
    /// - Parameter limit: The maximum number of names. If there are more, expired entries are removed, and
    ///   then those that were added least recently.
    public init(limit: Int = 10_000) {
        self.limit = max(1, limit)
    }

    /// The entries that have not expired, sorted by name. A name has two of them if a file has included the
    /// names below it for a shorter time than the name itself. ``text`` copies both to another store;
    /// ``add(_:)`` would keep the last one.
    public var entries: [Entry] { entries(at: .now) }

    /// Adds an entry; replaces the one for the same name.
    public func add(_ entry: Entry) {
        add(entry, at: .now)
    }

    /// Removes the entry for this name; an entry for a name above it stays.
    public func remove(_ name: DomainName) {
        table.withLock { $0.names[.name(name)] = nil }
    }

    /// Removes all entries.
    public func removeAll() {
        table.withLock { $0.names = NameTable() }
    }

    func entries(at now: UnixTime) -> [Entry] {
        let all = table.withLock { $0.names.values.map(\.known) }.sorted { $0.name.text < $1.name.text }
        return all.flatMap(\.entries).filter { $0.expiry > now }
    }

    func add(_ entry: Entry, at now: UnixTime) {
        table.withLock { add(Known(entry), to: &$0, at: now) }
    }

    /// Adds an entry of a file to what is known of the name: neither takes any time from the other.
    func join(_ entry: Entry, at now: UnixTime) {
        guard entry.expiry > now else { return }
        table.withLock { table in
            let known = table.names[.name(entry.name)]?.known
            let joined = known?.joined(with: Known(entry)) ?? Known(entry)
            if joined != known { add(joined, to: &table, at: now) }
        }
    }

    private func add(_ known: Known, to table: inout Table, at now: UnixTime) {
        table.age += 1
        table.names[.name(known.name)] = (known, table.age)
        guard table.names.count > limit else { return }
        table.names.keep { $0.known.expiry > now }
        guard table.names.count > limit else { return }
        // Removes a twentieth more than necessary, so that the next additions find room.
        let ages = table.names.values.map(\.age).sorted()
        let oldestToStay = ages[ages.count - (limit - limit / 20)]
        table.names.keep { $0.age >= oldestToStay }
    }
}

/// The part that the client uses for each request and response.
extension HSTSStore {
    /// Returns the https URL to request instead of this one; `nil` if this one may be used as it is. Port 80
    /// becomes 443, any other port stays (RFC 6797, section 8.3).
    func upgrades(_ url: HTTPURL, at now: UnixTime) -> HTTPURL? {
        guard url.scheme == .http, let name = url.host.name, isKnown(name, at: now) else { return nil }
        return url.with(scheme: .https)
    }

    /// Applies the policy of a response that came over https from a server whose certificate was accepted.
    func learn(from headers: HTTPHeaders, host: HTTPHost, at now: UnixTime) {
        // Only the first field counts (section 8.1), and addresses are never stored (section 8.1.1).
        guard let index = headers.index(of: "strict-transport-security"), let name = host.name,
            let policy = HSTSPolicy(headers.valueBytes(at: index))
        else { return }
        guard policy.maximumAge > 0 else { return remove(name) }
        let expiry = now.advanced(bySeconds: policy.maximumAge)
        add(Entry(name, until: expiry, includesSubdomains: policy.includesSubdomains), at: now)
    }

    /// Whether a valid entry exists for the name, or for a name above it that includes subdomains (section
    /// 8.2). One entry never changes another (CVE-2024-9681).
    func isKnown(_ name: DomainName, at now: UnixTime) -> Bool {
        var isKnown = false
        table.withLock { table in
            table.names.visit(atOrAbove: .name(name)) { entry in
                let known = entry.known
                let expiry = known.name == name ? known.expiry : known.subdomainsExpiry
                isKnown = isKnown || expiry > now
            }
        }
        return isKnown
    }
}
