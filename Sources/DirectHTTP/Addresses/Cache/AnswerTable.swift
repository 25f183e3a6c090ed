internal import DirectIO

/// The answers a cache holds: a table without lock and clock.
struct AnswerTable {
    /// How long answers are believed, and how many of them are kept.
    struct Rules {
        var shortest: UInt64
        var longest: UInt64
        /// Where the resolver does not say.
        var otherwise: UInt64
        /// For "there is none".
        var negative: UInt64
        /// How long an answer may be used once its time is over.
        var stale: UInt64
        var refreshesAhead: Bool
        var capacity: Int
    }

    /// What the table says to a question.
    enum Finding {
        /// An answer, and whether it is time to ask for the next one.
        case answer(Resolution, wantsRefresh: Bool)
        case denial(ResolverError.Reason)
        case nothing
    }

    struct Entry {
        /// A packed answer; of no bytes if there is none.
        var packed = ByteStore.Piece()
        var expiry: Instant
        /// How long it was to hold when it came, in milliseconds.
        var span: UInt32
        /// Where its author stands in `authors`.
        var author: UInt16
        var kind: Kind
    }

    enum Kind: UInt8 {
        case addresses
        case orderedAddresses
        case noSuchName
        case noAddresses
    }

    let rules: Rules
    private(set) var entries = NameTable<Entry>()
    private(set) var authors: [AddressSource.Author] = []
    private var store = ByteStore()

    init(_ rules: Rules) {
        self.rules = rules
    }

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
        // In the last tenth of its time: who asks often never waits.
        let isDue = rules.refreshesAhead && left < UInt64(entry.span) * 100_000
        let (endpoints, canonicalName) = contents(of: entry)
        var answer = Resolution(
            endpoints,
            timeToLive: .nanoseconds(Int64(clamping: left)),
            source: AddressSource(authors[Int(entry.author)], isStale ? .stale : .cached),
            canonicalName: canonicalName
        )
        answer.isStrictlyOrdered = entry.kind == .orderedAddresses
        return .answer(answer, wantsRefresh: isStale || isDue)
    }

    /// Whether there is an answer, good or bad, whose time is not over.
    func holds(_ key: AnswerKey, at now: Instant) -> Bool {
        entries[key].map { now < $0.expiry } ?? false
    }

    /// Keeps an answer; one with a zone or too many endpoints is passed on and not kept.
    mutating func keep(_ answer: Resolution, for key: AnswerKey, at now: Instant) {
        guard !answer.endpoints.isEmpty,
            let packed = PackedAnswer(answer.endpoints, canonicalName: answer.canonicalName),
            let author = index(of: answer.source.author)
        else { return forget(key) }
        let told = answer.timeToLive?.clampedNanoseconds ?? rules.otherwise
        let span = max(rules.shortest, min(told, rules.longest))
        let kind: Kind = answer.isStrictlyOrdered ? .orderedAddresses : .addresses
        put(packed.bytes, Entry(expiry: .never, span: 0, author: author, kind: kind), key, for: span, now)
    }

    /// Keeps that there is none, if that is what the failure says: whoever could not answer is asked again.
    mutating func keep(_ failure: ResolverError, for key: AnswerKey, at now: Instant) {
        guard let kind = failure.denial, rules.negative > 0 else { return }
        put([], Entry(expiry: .never, span: 0, author: 0, kind: kind), key, for: rules.negative, now)
    }

    /// Puts an endpoint that did not do behind the others.
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
        set(entry, packed.bytes, for: key)
    }

    mutating func forgetAll() {
        entries = NameTable()
        store = ByteStore()
    }

    /// The endpoints and the canonical name of an entry of this table.
    func contents(of entry: Entry) -> (endpoints: [Endpoint], canonicalName: DomainName?) {
        store.withBytes(of: entry.packed) { PackedAnswer.contents(of: $0) }
    }

    /// Puts back what was kept in a file.
    mutating func restore(_ answer: Resolution, for key: AnswerKey, expiry: Instant, span: UInt64) {
        guard entries.count < rules.capacity,
            let packed = PackedAnswer(answer.endpoints, canonicalName: answer.canonicalName),
            let author = index(of: answer.source.author)
        else { return }
        let kind: Kind = answer.isStrictlyOrdered ? .orderedAddresses : .addresses
        let milliseconds = UInt32(clamping: span / 1_000_000)
        let entry = Entry(expiry: expiry, span: milliseconds, author: author, kind: kind)
        set(entry, packed.bytes, for: key)
    }

    private mutating func put(
        _ bytes: [UInt8],
        _ entry: Entry,
        _ key: AnswerKey,
        for span: UInt64,
        _ now: Instant
    ) {
        if entries.count >= rules.capacity, entries[key] == nil { makeRoom(at: now) }
        var entry = entry
        entry.expiry = now.advanced(byNanoseconds: span)
        entry.span = UInt32(clamping: span / 1_000_000)
        set(entry, bytes, for: key)
    }

    private mutating func set(_ entry: Entry, _ bytes: [UInt8], for key: AnswerKey) {
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

    private mutating func tidyStore() {
        guard store.isMostlyDead else { return }
        var tidy = ByteStore()
        entries.updateAll { entry in
            entry.packed = store.withBytes(of: entry.packed) { tidy.add($0) }
        }
        store = tidy
    }

    /// Lets go of what is over, and of a sixteenth at least: the next time is a while off.
    private mutating func makeRoom(at now: Instant) {
        let stale = rules.stale
        keep { now < $0.expiry.advanced(byNanoseconds: stale) }
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

    private mutating func index(of author: AddressSource.Author) -> UInt16? {
        if let known = authors.firstIndex(of: author) { return UInt16(known) }
        guard authors.count < 1000 else { return nil }
        authors.append(author)
        return UInt16(authors.count - 1)
    }
}

extension NameTable {
    subscript(key: AnswerKey) -> Value? {
        get { key.host.bytes.withSpan { value($0, tag: UInt32(key.port)) } }
        set { key.host.bytes.withSpan { set(newValue, $0, tag: UInt32(key.port)) } }
    }
}

extension ResolverError {
    /// What kind of "there is none" this is; nothing if it is a failure to answer.
    ///
    /// Where another resolver could not answer before, the word of the last is not everything.
    var denial: AnswerTable.Kind? {
        guard earlier.allSatisfy({ $0.denial != nil || $0.isNotListed }) else { return nil }
        switch reason {
        case .noSuchName: return .noSuchName
        case .noAddresses: return .noAddresses
        case .lookup(let error): return error.saysNone ? .noSuchName : nil
        default: return nil
        }
    }

    private var isNotListed: Bool { if case .notListed = reason { true } else { false } }
}
