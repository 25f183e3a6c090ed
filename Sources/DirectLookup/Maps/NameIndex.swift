internal import DirectCore

/// A hash table that numbers names, made for very many of them.
///
/// Not generic: a generic type of another module is compiled once for all types, which costs a look-up 1,000
/// instructions more.
///
/// All names lie in one `ByteStore`, and a look-up does not allocate, not even for the tail of a longer name.
/// Collisions are resolved by linear probing; a removal moves the following slots up, so there are no
/// tombstones. When most of the bytes belong to removed names, it is rebuilt.
package struct NameIndex {
    private struct Record {
        var hash: UInt32
        var tag: UInt32
        var name: ByteStore.Piece
    }

    /// Numbers of records, counted from 1; 0 is an empty slot. A record's number stands in the slot that its
    /// hash selects, or in one of the slots after it. The count is a power of two.
    private var slots: [UInt32] = []
    private var records: [Record] = []
    private var names = ByteStore()

    init() {}

    /// The number of names. They have the numbers below it.
    package var count: Int { records.count }

    /// Returns the number of a name; `nil` if it has none.
    package func find(_ name: Span<UInt8>, tag: UInt32) -> Int? {
        guard let slot = slot(of: name, tag, hash: Self.hash(name, tag: tag)) else { return nil }
        return Int(slots[slot]) - 1
    }

    /// Adds a name that has no number. It gets the next one.
    package mutating func append(_ name: Span<UInt8>, tag: UInt32) {
        append(name, tag: tag, hash: Self.hash(name, tag: tag))
    }

    /// Removes the name with this number, which the name with the last number gets.
    package mutating func remove(_ record: Int) {
        names.remove(records[record].name)
        closeGap(slot(of: record))
        let last = records.count - 1
        if record != last {
            slots[slot(of: last)] = UInt32(record + 1)
            records[record] = records[last]
        }
        records.removeLast()
        if names.isMostlyDead { keep { _ in true } }
    }

    /// Keeps the names whose number satisfies the predicate, in their order, and drops the bytes of all
    /// others.
    @inline(never)
    package mutating func keep(where isKept: (Int) -> Bool) {
        var kept = NameIndex()
        for index in records.indices where isKept(index) {
            let record = records[index]
            names.withBytes(of: record.name) { kept.append($0, tag: record.tag, hash: record.hash) }
        }
        self = kept
    }

    /// Calls `body` with the name that has this number, and its tag.
    package func withName<Result>(_ record: Int, _ body: (Span<UInt8>, UInt32) -> Result) -> Result {
        names.withBytes(of: records[record].name) { body($0, records[record].tag) }
    }

    /// The hash of the name with this number.
    package func hash(_ record: Int) -> UInt32 { records[record].hash }

    private static func hash(_ name: Span<UInt8>, tag: UInt32) -> UInt32 {
        var hash = FoldedHash()
        hash.fold(name)
        hash.fold(UInt64(tag))
        return UInt32(truncatingIfNeeded: hash.value ^ hash.value >> 32)
    }

    /// Returns the slot that holds the name's record.
    private func slot(of name: Span<UInt8>, _ tag: UInt32, hash: UInt32) -> Int? {
        guard !slots.isEmpty else { return nil }
        var slot = Int(hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let record = records[Int(slots[slot]) - 1]
            if record.hash == hash, record.tag == tag, names.holds(name, at: record.name) { return slot }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Returns the slot that holds this record.
    private func slot(of record: Int) -> Int {
        var slot = Int(records[record].hash) & (slots.count - 1)
        while slots[slot] != UInt32(record + 1) { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    /// Adds a record. At most half of the slots are in use afterwards.
    private mutating func append(_ name: Span<UInt8>, tag: UInt32, hash: UInt32) {
        if (records.count + 1) * 2 > slots.count { growSlots() }
        records.append(Record(hash: hash, tag: tag, name: names.add(name)))
        place(records.count - 1)
    }

    /// Puts a record's number in the first free slot from the one that its hash selects.
    private mutating func place(_ record: Int) {
        var slot = Int(records[record].hash) & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = UInt32(record + 1)
    }

    private mutating func growSlots() {
        slots = Array(repeating: 0, count: max(16, slots.count * 2))
        for record in records.indices { place(record) }
    }

    /// Empties a slot, and moves the following ones up as far as that brings them nearer to the slot that
    /// their hash selects.
    private mutating func closeGap(_ slot: Int) {
        let mask = slots.count - 1
        var gap = slot
        var next = (slot + 1) & mask
        while slots[next] != 0 {
            let home = Int(records[Int(slots[next]) - 1].hash) & mask
            if (next - home) & mask >= (next - gap) & mask {
                slots[gap] = slots[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        slots[gap] = 0
    }
}
