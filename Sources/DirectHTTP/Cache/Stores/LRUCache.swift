/// An LRU cache of responses in memory, without a lock.
///
/// Responses are evicted, the least recently used first, so that stored bytes, reserved bytes and the number
/// of responses stay within the limits. Reservations are for responses that are still being received. They
/// are never evicted, so `reserve` fails when they alone would exceed the limit.
///
/// Entries lie in the slots of an array, which form a doubly linked list by last use. `slots` finds those of
/// a URL.
struct LRUCache<Entry: LRUEntry> {
    private struct Place {
        var entry: Entry
        var older: Int?
        var newer: Int?
    }

    private let byteLimit: Int
    private let countLimit: Int
    /// The slots of the linked list; `nil` for a free one.
    private var places: [Place?] = []
    private var free: [Int] = []
    private var slots: [CacheKey: [Int]] = [:]
    private var oldest: Int?
    private var newest: Int?
    private(set) var bytes = 0
    private(set) var count = 0
    /// The number of bytes reserved for responses that are still being received.
    private(set) var reserved = 0

    init(byteLimit: Int, countLimit: Int) {
        self.byteLimit = byteLimit
        self.countLimit = countLimit
    }

    /// Returns the latest of a URL's responses that the request selects, and marks it as used.
    mutating func find(_ key: CacheKey, where selects: (Entry) -> Bool) -> Entry? {
        guard let candidates = slots[key] else { return nil }
        var best: Int?
        for slot in candidates {
            guard let entry = places[slot]?.entry, selects(entry) else { continue }
            if let other = best, let rival = places[other]?.entry, !entry.isNewer(than: rival) { continue }
            best = slot
        }
        guard let best, let entry = places[best]?.entry else { return nil }
        unlink(best)
        linkAsNewest(best)
        return entry
    }

    /// Reserves memory for a response that is being received, and evicts stored responses to make room.
    ///
    /// Returns `false` if the reservations alone would exceed the limit.
    mutating func reserve(_ size: Int) -> Bool {
        guard size <= byteLimit - reserved else { return false }
        reserved += size
        makeRoom(for: 0)
        return true
    }

    /// Releases reserved memory.
    mutating func release(_ size: Int) {
        reserved -= size
    }

    /// Adds a response, and replaces the one of the same variant.
    mutating func add(_ entry: Entry) {
        for slot in slots[entry.key] ?? [] where places[slot]?.entry.variant == entry.variant { remove(slot) }
        guard entry.cost <= byteLimit - reserved, countLimit > 0 else { return }
        makeRoom(for: entry.cost)
        while let oldest, count >= countLimit { remove(oldest) }
        let place = Place(entry: entry)
        let slot: Int
        if let reused = free.popLast() {
            slot = reused
            places[slot] = place
        } else {
            slot = places.count
            places.append(place)
        }
        slots[entry.key, default: []].append(slot)
        bytes += entry.cost
        count += 1
        linkAsNewest(slot)
        limitVariants(of: entry.key)
    }

    /// Replaces a response by a newer version of it, unless it has been removed in the meantime.
    mutating func replace(_ old: Entry, with new: Entry) {
        let slot = slots[old.key]?.first { places[$0]?.entry === old }
        if slot != nil { add(new) }
    }

    mutating func remove(_ key: CacheKey) {
        for slot in slots[key] ?? [] { remove(slot) }
    }

    mutating func removeAll() {
        let reserved = reserved
        self = LRUCache(byteLimit: byteLimit, countLimit: countLimit)
        self.reserved = reserved
    }

    private mutating func makeRoom(for size: Int) {
        while let oldest, bytes + reserved + size > byteLimit { remove(oldest) }
    }

    /// A server that creates a variant for every request must not evict everything else.
    private mutating func limitVariants(of key: CacheKey) {
        guard let all = slots[key], all.count > Self.variantLimit, let first = all.first else { return }
        remove(first)
    }

    private mutating func remove(_ slot: Int) {
        guard let entry = places[slot]?.entry else { return }
        unlink(slot)
        places[slot] = nil
        free.append(slot)
        bytes -= entry.cost
        count -= 1
        slots[entry.key]?.removeAll { $0 == slot }
        if slots[entry.key]?.isEmpty == true { slots[entry.key] = nil }
    }

    private mutating func unlink(_ slot: Int) {
        let (older, newer) = (places[slot]?.older, places[slot]?.newer)
        if let older { places[older]?.newer = newer } else { oldest = newer }
        if let newer { places[newer]?.older = older } else { newest = older }
    }

    private mutating func linkAsNewest(_ slot: Int) {
        places[slot]?.older = newest
        places[slot]?.newer = nil
        if let newest { places[newest]?.newer = slot } else { oldest = slot }
        newest = slot
    }

    private static var variantLimit: Int { 32 }
}

/// An entry of the LRU cache.
protocol LRUEntry: AnyObject {
    var key: CacheKey { get }
    var variant: CacheVariant { get }
    var cost: Int { get }

    func isNewer(than other: Self) -> Bool
}
