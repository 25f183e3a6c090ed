internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// The answers that a resolver cache holds, positive and negative. The table has no lock and no clock of its
/// own.
///
/// An entry holds addresses, or the fact that the name does not exist or has no address. The failure of a
/// resolver to answer is never an entry. An entry is valid until `expiry`. Entries with addresses may be used
/// for the stale time of `rules` after that, and are then marked as stale. When the table is full, the
/// entries that are past their stale time go first, then those that expire first.
///
/// The addresses are packed into one `ByteStore`, which is copied when most of it is dead.
struct AnswerTable {
    /// The limits on the time to live of answers, in nanoseconds, and on their number.
    struct Rules {
        /// The lower limit for a time to live.
        var shortest: UInt64
        /// The upper limit for a time to live.
        var longest: UInt64
        /// The time to live of an answer whose resolver does not name one.
        var otherwise: UInt64
        /// The time to live of a negative answer; 0 if none are kept.
        var negative: UInt64
        /// The time for which an answer may be used after it has expired.
        var stale: UInt64
        var refreshesAhead: Bool
        var capacity: Int

        /// Returns until when an address may be used that an entry has.
        func end(of endpoint: Endpoint, in entry: Entry) -> Instant {
            if let (family, end) = entry.borrowed, family == endpoint.address.family { return end }
            return entry.expiry.advanced(byNanoseconds: stale)
        }

        /// Whether nothing of an entry may be used any more.
        func isDead(_ entry: Entry, at now: Instant) -> Bool {
            if let https = entry.https, now < https.expiry { return false }
            return now >= entry.expiry.advanced(byNanoseconds: entry.isPositive ? stale : 0)
        }
    }

    /// The result of a look-up in the table.
    enum Finding {
        /// An answer, and whether the next one should be asked for.
        case answer(Resolution, wantsRefresh: Bool)
        /// A valid negative answer.
        case denial(ResolverError.Reason)
        /// No answer that may be used.
        case nothing
    }

    struct Entry {
        /// The packed answer; empty for a negative answer.
        var packed = ByteStore.Piece()
        var expiry: Instant
        /// The time to live that the answer had when it came, in milliseconds.
        var span: UInt32
        /// The author of the addresses; `nil` for a negative answer.
        var author: AddressSource.Author?
        var kind: Kind
        /// The moment before which the same question would get the same answer, or none: it is not asked.
        var quietUntil = Instant(nanoseconds: 0)
        /// The answer after this one, for callers who refuse some of its addresses; `nil` if none was asked
        /// for.
        var next: HeldAnswer?
        /// The missing parts of the answer. A family is asked for when the answer is used.
        var lacks: Resolution.Lack = []
        /// The family whose addresses are those of an earlier answer, as this one lacks them, and until when
        /// they may be used.
        var borrowed: (family: IPAddress.Family, until: Instant)?
        /// The HTTPS records of the answer; `nil` if none were asked for.
        var https: HeldRecords?
        /// The service that gave the addresses; `nil` if none did, or if it is not known.
        var service: ObjectIdentifier?

        /// Whether it has addresses.
        var isPositive: Bool { kind == .addresses || kind == .orderedAddresses }
    }

    /// HTTPS records, which are valid for a time of their own. An object, because few answers have any.
    final class HeldRecords: Sendable {
        let records: HTTPSRecords
        let expiry: Instant

        init(_ records: HTTPSRecords, until expiry: Instant) {
            self.records = records
            self.expiry = expiry
        }

        /// The records with the time for which they are still valid.
        func left(at now: Instant) -> HTTPSRecords {
            var left = records
            let nanoseconds = now < expiry ? expiry.nanoseconds - now.nanoseconds : 0
            left.timeToLive = .nanoseconds(Int64(clamping: nanoseconds))
            return left
        }
    }

    /// An answer that stands beside an entry, for as long as the resolver rests. An object, because few have
    /// one.
    final class HeldAnswer: Sendable {
        let answer: Resolution
        let end: Instant

        init(_ answer: Resolution, until end: Instant) {
            self.answer = answer
            self.end = end
        }
    }

    /// The kind of an answer: addresses, in any or in strict order, or one of the two negative answers.
    enum Kind: UInt8 {
        case addresses
        case orderedAddresses
        case noSuchName
        case noAddresses
    }

    let rules: Rules
    private(set) var entries = NameTable<Entry>()
    private var store = ByteStore()

    init(_ rules: Rules) {
        self.rules = rules
    }

    /// Looks for an answer that may be used at the given moment.
    func find(_ key: AnswerKey, at now: Instant) -> Finding {
        guard let entry = entries[key] else { return .nothing }
        switch entry.kind {
        case .noSuchName: return now < entry.expiry ? .denial(.noSuchName) : .nothing
        case .noAddresses: return now < entry.expiry ? .denial(.noAddresses) : .nothing
        case .addresses, .orderedAddresses: break
        }
        let isStale = now >= entry.expiry
        guard !isStale || now < entry.expiry.advanced(byNanoseconds: rules.stale) else { return .nothing }
        let left = isStale ? 0 : entry.expiry.nanoseconds - now.nanoseconds
        // In the last tenth of its time to live the next answer is asked for, so that callers who ask often
        // never wait.
        let isDue = rules.refreshesAhead && left < UInt64(entry.span) * 100_000
        var answer = Resolution(
            contents(of: entry, at: now),
            timeToLive: .nanoseconds(Int64(clamping: left)),
            source: AddressSource(entry.author ?? .system, isStale ? .stale : .cached),
            canonicalName: contents(of: entry).canonicalName
        )
        answer.isStrictlyOrdered = entry.kind == .orderedAddresses
        answer.https = entry.https?.left(at: now)
        answer.lacks = entry.lacks
        let isWorn = isStale || isDue || entry.lacks.contains(.family)
        return .answer(answer, wantsRefresh: isWorn && now >= entry.quietUntil)
    }

    /// Whether to ask the resolver for this name: there is no answer, or it is worn, or its endpoints
    /// are known to be of no use, and not all of it has been asked for.
    ///
    /// - Parameter useless: Endpoints to which no connection could be made, however fresh the answer is.
    func wantsQuestion(for key: AnswerKey, besides useless: Set<Endpoint>, at now: Instant) -> Bool {
        switch find(key, at: now) {
        case .nothing: return true
        case .denial: return false
        case .answer(let answer, let wantsRefresh):
            if useless.isEmpty { return wantsRefresh }
            if answer.hasOthers(than: useless) { return false }
            return answer.lacks.contains(.family) || (entries[key].map { now >= $0.quietUntil } ?? true)
        }
    }

    /// Lets the resolver rest, which has failed to give the next answer or all of this one, however many
    /// callers want that (RFC 9520, section 3.2, recommends five seconds).
    mutating func pause(_ key: AnswerKey, at now: Instant) {
        let end = now.advanced(byNanoseconds: Self.shortestRepeat)
        _ = key.host.bytes.withSpan { entries.update($0, tag: key.tag) { $0.quietUntil = end } }
    }

    /// Keeps the answer that comes after the one of a name, for those who refuse some addresses of that, and
    /// lets the resolver rest.
    mutating func keep(_ answer: Resolution, after key: AnswerKey, at now: Instant) {
        pause(key, at: now)
        let held = HeldAnswer(answer, until: now.advanced(byNanoseconds: Self.shortestRepeat))
        _ = key.host.bytes.withSpan { entries.update($0, tag: key.tag) { $0.next = held } }
    }

    /// Returns the answer that comes after the one of a name; `nil` if it is not known any more.
    func next(after key: AnswerKey, at now: Instant) -> Resolution? {
        guard let held = entries[key]?.next, now < held.end else { return nil }
        return held.answer
    }

    /// The shortest time between two questions for a name that has an answer, in nanoseconds.
    private static let shortestRepeat: UInt64 = 5_000_000_000

    /// Keeps an answer, and returns it as it is kept. An answer with a zone or with too many endpoints cannot
    /// be kept: the old answer is removed then.
    ///
    /// An answer is valid no longer than its HTTPS records. If the records did not come in time for it, it
    /// gets those of the old answer, for the time that is left to them.
    @discardableResult
    mutating func keep(_ answer: Resolution, for key: AnswerKey, at now: Instant) -> Resolution {
        var answer = answer
        if answer.https == nil, let old = entries[key], let held = old.https, now < held.expiry {
            answer.add(held.left(at: now), of: key.host, from: contents(of: old).endpoints)
        }
        let borrowed = completeFamily(of: &answer, for: key, at: now)
        guard !answer.endpoints.isEmpty,
            let packed = PackedAnswer(answer.endpoints, canonicalName: answer.canonicalName)
        else {
            forget(key)
            return answer
        }
        let told = answer.timeToLive?.clampedNanoseconds ?? rules.otherwise
        let toldOfRecords = answer.https?.timeToLive?.clampedNanoseconds ?? told
        let span = span(min(told, toldOfRecords))
        let kind: Kind = answer.isStrictlyOrdered ? .orderedAddresses : .addresses
        var entry = Entry(
            expiry: .never,
            span: 0,
            author: answer.source.author,
            kind: kind,
            lacks: answer.lacks,
            borrowed: borrowed,
            service: answer.service
        )
        // An answer with a fallback has something to ask for at once.
        if answer.fallback == nil || answer.lacks.contains(.family) {
            let time = min(Self.shortestRepeat, span - span / 10)
            entry.quietUntil = now.advanced(byNanoseconds: time)
        }
        if let records = answer.https {
            entry.https = HeldRecords(records, until: now.advanced(byNanoseconds: self.span(toldOfRecords)))
        }
        put(packed.bytes, entry: entry, key: key, for: span, now: now)
        return answer
    }

    /// Adds the addresses of the family that an answer lacks, as the same resolver's answer before had them:
    /// a family that could not be asked for has not lost them. Returns that family, and until when they may
    /// be used.
    private func completeFamily(of answer: inout Resolution, for key: AnswerKey, at now: Instant)
        -> (IPAddress.Family, until: Instant)?
    {
        guard answer.lacks.contains(.family), let old = entries[key],
            (old.author, old.service) == (answer.source.author, answer.service)
        else { return nil }
        let known = Set(answer.endpoints.map(\.address.family))
        let others = contents(of: old).endpoints.filter {
            !known.contains($0.address.family) && now < rules.end(of: $0, in: old)
        }
        guard let first = others.first, known.count == 1 else { return nil }
        answer.endpoints += others
        return (first.address.family, until: rules.end(of: first, in: old))
    }

    /// Returns a time to live within the limits.
    private func span(_ told: UInt64) -> UInt64 { max(rules.shortest, min(told, rules.longest)) }

    /// Keeps the failure if it is a negative answer, which replaces an older answer in any case (RFC 8767,
    /// section 5). A failure to answer is not kept, so the resolver is asked again.
    mutating func keep(_ failure: ResolverError, for key: AnswerKey, at now: Instant) {
        guard let kind = failure.denial else { return }
        guard rules.negative > 0 else { return forget(key) }
        put(
            [],
            entry: Entry(expiry: .never, span: 0, kind: kind),
            key: key,
            for: rules.negative,
            now: now
        )
    }

    /// Moves an endpoint that could not be reached behind the others, unless their order is strict.
    mutating func demote(_ endpoint: Endpoint, for key: AnswerKey, port: UInt16) {
        guard let entry = entries[key], entry.kind == .addresses else { return }
        var (endpoints, canonicalName) = contents(of: entry)
        guard
            let index = endpoints.firstIndex(where: {
                $0.address == endpoint.address && ($0.port ?? port) == (endpoint.port ?? port)
            }),
            index < endpoints.count - 1
        else { return }
        endpoints.append(endpoints.remove(at: index))
        guard let packed = PackedAnswer(endpoints, canonicalName: canonicalName) else { return }
        set(entry, bytes: packed.bytes, for: key)
    }

    /// Removes all entries.
    mutating func forgetAll() {
        entries = NameTable()
        store = ByteStore()
    }

    /// Returns the endpoints and the canonical name of an entry of this table.
    func contents(of entry: Entry) -> (endpoints: [Endpoint], canonicalName: DomainName?) {
        store.withBytes(of: entry.packed) { PackedAnswer.unpack($0) }
    }

    /// Returns the endpoints of an entry without those whose time is over before its own.
    func contents(of entry: Entry, at now: Instant) -> [Endpoint] {
        let all = contents(of: entry).endpoints
        guard let (family, end) = entry.borrowed, end <= now else { return all }
        return all.filter { $0.address.family != family }
    }

    /// Adds an answer that was read from a file, unless the table is full.
    mutating func restore(_ answer: Resolution, for key: AnswerKey, expiry: Instant, span: UInt64) {
        guard entries.count < rules.capacity,
            let packed = PackedAnswer(answer.endpoints, canonicalName: answer.canonicalName)
        else { return }
        let kind: Kind = answer.isStrictlyOrdered ? .orderedAddresses : .addresses
        let milliseconds = UInt32(clamping: span / 1_000_000)
        let entry = Entry(expiry: expiry, span: milliseconds, author: answer.source.author, kind: kind)
        set(entry, bytes: packed.bytes, for: key)
    }

    /// Stores an entry that is valid from now on for `span`; makes room for it if the table is full.
    private mutating func put(
        _ bytes: [UInt8],
        entry: Entry,
        key: AnswerKey,
        for span: UInt64,
        now: Instant
    ) {
        if entries.count >= rules.capacity, entries[key] == nil { makeRoom(at: now) }
        var entry = entry
        entry.expiry = now.advanced(byNanoseconds: span)
        entry.span = UInt32(clamping: span / 1_000_000)
        set(entry, bytes: bytes, for: key)
    }

    /// Stores an entry with its packed bytes, in place of the one for the same key.
    private mutating func set(_ entry: Entry, bytes: [UInt8], for key: AnswerKey) {
        if let old = entries[key] { store.remove(old.packed) }
        var entry = entry
        entry.packed = bytes.withSpan { store.add($0) }
        entries[key] = entry
        tidyStore()
    }

    private mutating func forget(_ key: AnswerKey) {
        guard let old = entries[key] else { return }
        store.remove(old.packed)
        entries[key] = nil
        tidyStore()
    }

    /// Copies the live bytes into a new store when most of the old one is dead.
    private mutating func tidyStore() {
        guard store.isMostlyDead else { return }
        var tidy = ByteStore()
        entries.updateAll { entry in
            entry.packed = store.withBytes(of: entry.packed) { tidy.add($0) }
        }
        store = tidy
    }

    /// Removes the entries of which nothing may be used any more.
    mutating func forgetDead(at now: Instant) {
        let rules = rules
        keep { !rules.isDead($0, at: now) }
    }

    /// Removes the entries that may not be used any more, and then more of them until a sixteenth of the
    /// capacity is free, so that this rarely has to be done.
    private mutating func makeRoom(at now: Instant) {
        forgetDead(at: now)
        var surplus = entries.count - (rules.capacity - max(1, rules.capacity / 16))
        guard surplus > 0 else { return }
        let limit = entries.values.map(\.expiry).sorted()[surplus - 1]
        keep { entry in
            guard entry.expiry <= limit, surplus > 0 else { return true }
            surplus -= 1
            return false
        }
    }

    private mutating func keep(where isKept: (Entry) -> Bool) {
        entries.keep { entry in
            let isKept = isKept(entry)
            if !isKept { store.remove(entry.packed) }
            return isKept
        }
        tidyStore()
    }
}

extension NameTable {
    subscript(key: AnswerKey) -> Value? {
        get { key.host.bytes.withSpan { value($0, tag: key.tag) } }
        set { key.host.bytes.withSpan { set(newValue, name: $0, tag: key.tag) } }
    }
}

extension ResolverError {
    /// The kind of negative answer that this is; `nil` if it is a failure to answer.
    ///
    /// If another resolver failed to answer before, a negative answer of the last one is not conclusive.
    var denial: AnswerTable.Kind? {
        guard earlier.allSatisfy({ $0.denial != nil || $0.isNotListed }) else { return nil }
        switch reason {
        case .noSuchName: return .noSuchName
        case .noAddresses: return .noAddresses
        case .lookup(let error): return error.saysNone ? .noSuchName : nil
        default: return nil
        }
    }
}

extension Resolution {
    /// Whether there is an endpoint that is not one of these.
    func hasOthers(than tried: Set<Endpoint>) -> Bool { endpoints.contains { !tried.contains($0) } }
}
