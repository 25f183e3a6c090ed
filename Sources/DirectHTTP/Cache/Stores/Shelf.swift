/// What lies in memory, in the order of its use, and never more than it may be, with what is still coming.
struct Shelf<Entry: ShelfEntry> {
    private struct Place {
        var entry: Entry
        var older: Int?
        var newer: Int?
    }

    private let byteLimit: Int
    private let countLimit: Int
    /// A list that is linked both ways, in the slots of an array.
    private var places: [Place?] = []
    private var free: [Int] = []
    private var slots: [CacheKey: [Int]] = [:]
    private var oldest: Int?
    private var newest: Int?
    private(set) var bytes = 0
    private(set) var count = 0
    /// Room that is taken by contents that are still coming.
    private(set) var reserved = 0

    init(byteLimit: Int, countLimit: Int) {
        self.byteLimit = byteLimit
        self.countLimit = countLimit
    }

    /// The newest of a URL's responses that a request selects; it counts as used.
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

    /// Takes room for so many bytes of a content that is coming, at the cost of what lies there; false where all that is
    /// coming would be more than may lie there.
    mutating func reserve(_ size: Int) -> Bool {
        guard size <= byteLimit - reserved else { return false }
        reserved += size
        makeRoom(for: 0)
        return true
    }

    /// Gives back room that was taken.
    mutating func release(_ size: Int) {
        reserved -= size
    }

    /// Adds an entry in place of one for the same requests.
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

    /// Puts a new entry where the old one is; nowhere if that has gone.
    mutating func replace(_ old: Entry, with new: Entry) {
        let slot = slots[old.key]?.first { places[$0]?.entry === old }
        if slot != nil { add(new) }
    }

    mutating func remove(_ key: CacheKey) {
        for slot in slots[key] ?? [] { remove(slot) }
    }

    mutating func removeAll() {
        let reserved = reserved
        self = Shelf(byteLimit: byteLimit, countLimit: countLimit)
        self.reserved = reserved
    }

    private mutating func makeRoom(for size: Int) {
        while let oldest, bytes + reserved + size > byteLimit { remove(oldest) }
    }

    /// A server that makes up a variant for every request must not crowd out everything else.
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

/// Something that lies on a shelf.
protocol ShelfEntry: AnyObject {
    var key: CacheKey { get }
    var variant: CacheVariant { get }
    var cost: Int { get }

    func isNewer(than other: Self) -> Bool
}
