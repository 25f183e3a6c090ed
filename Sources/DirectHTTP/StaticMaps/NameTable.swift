internal import DirectCore

/// A hash table from names to values, made for very many entries.
///
/// All names lie in one array of bytes, and a look-up does not allocate, not even for the tail of a longer
/// name. Collisions are resolved by linear probing; a removal moves the following slots up, so there are no
/// tombstones. The bytes of removed names stay until they are more than 4096 and more than half of all; then
/// it is rebuilt.
///
/// The key is the name together with a tag, such as a port.
package struct NameTable<Value> {
    fileprivate struct Record {
        /// The bytes of `names` that hold the name.
        var range: Range<Int> { Int(start)..<(Int(start) + Int(length)) }

        var hash: UInt32
        var start: UInt32
        var tag: UInt32
        var length: UInt8
        var value: Value
    }

    /// Numbers of records, counted from 1; 0 is an empty slot. A record's number stands in the slot that its
    /// hash selects, or in one of the slots after it. The count is a power of two.
    private var slots: [UInt32] = []
    private var records: [Record] = []
    private var names: [UInt8] = []
    /// The number of bytes in `names` that belong to removed names.
    private var deadBytes = 0

    package init() {}

    /// The number of entries.
    package var count: Int { records.count }

    /// Returns the value of a name of at most 255 bytes; `nil` if there is none.
    package func value(_ name: Span<UInt8>, tag: UInt32) -> Value? {
        guard let slot = slot(of: name, tag, hash: Self.hash(name, tag: tag)) else { return nil }
        return records[Int(slots[slot]) - 1].value
    }

    /// Sets the value of a name of at most 255 bytes, or removes its entry if the value is `nil`.
    package mutating func set(_ value: Value?, name: Span<UInt8>, tag: UInt32) {
        let hash = Self.hash(name, tag: tag)
        if let slot = slot(of: name, tag, hash: hash) {
            guard let value else { return remove(slot) }
            records[Int(slots[slot]) - 1].value = value
        } else if let value {
            append(value, name: name, tag: tag, hash: hash)
        }
    }

    /// Changes a value in place; returns whether there is one.
    package mutating func update(_ name: Span<UInt8>, tag: UInt32, change: (inout Value) -> Void) -> Bool {
        guard let slot = slot(of: name, tag, hash: Self.hash(name, tag: tag)) else { return false }
        change(&records[Int(slots[slot]) - 1].value)
        return true
    }

    /// Changes all values in place.
    package mutating func updateAll(_ change: (inout Value) -> Void) {
        for index in records.indices { change(&records[index].value) }
    }

    /// Keeps the entries whose value satisfies the predicate, and drops all others and the bytes of their
    /// names.
    package mutating func keep(where isKept: (Value) -> Bool) {
        var kept = NameTable()
        let names = names[...]
        for record in records where isKept(record.value) {
            kept.append(
                record.value,
                name: names.span.extracting(record.range),
                tag: record.tag,
                hash: record.hash
            )
        }
        self = kept
    }

    /// All values, in no particular order.
    package var values: some Collection<Value> { records.lazy.map(\.value) }

    /// Calls `body` with each name, its tag and its value, in no particular order.
    package func forEach(_ body: (Span<UInt8>, UInt32, Value) -> Void) {
        let names = names[...]
        for record in records { body(names.span.extracting(record.range), record.tag, record.value) }
    }

    private static func hash(_ name: Span<UInt8>, tag: UInt32) -> UInt32 {
        var hash = FoldedHash()
        hash.fold(name)
        hash.fold(UInt64(tag))
        return UInt32(truncatingIfNeeded: hash.value ^ hash.value >> 32)
    }

    /// Returns the slot that holds the name's record.
    private func slot(of name: Span<UInt8>, _ tag: UInt32, hash: UInt32) -> Int? {
        guard !slots.isEmpty else { return nil }
        let names = names[...]
        let all = names.span
        var slot = Int(hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let record = Int(slots[slot]) - 1
            if records[record].hash == hash, records[record].tag == tag,
                all.extracting(records[record].range).hasSameBytes(as: name)
            {
                return slot
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Adds a record for a name that has none. At most half of the slots are in use afterwards.
    private mutating func append(_ value: Value, name: Span<UInt8>, tag: UInt32, hash: UInt32) {
        if (records.count + 1) * 2 > slots.count { growSlots() }
        let start = UInt32(names.count)
        for index in name.indices { names.append(name[index]) }
        records.append(
            Record(hash: hash, start: start, tag: tag, length: UInt8(name.count), value: value)
        )
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

    /// Removes the record of a slot, and the dead bytes when there are too many of them.
    private mutating func remove(_ slot: Int) {
        let record = Int(slots[slot]) - 1
        deadBytes += Int(records[record].length)
        closeGap(slot)
        let last = records.count - 1
        if record != last {
            // The last record moves into its place.
            var slot = Int(records[last].hash) & (slots.count - 1)
            while slots[slot] != UInt32(last + 1) { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = UInt32(record + 1)
            records.swapAt(record, last)
        }
        records.removeLast()
        if deadBytes > 4096, deadBytes > names.count / 2 { keep { _ in true } }
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

extension NameTable: Sendable where Value: Sendable {}
extension NameTable.Record: Sendable where Value: Sendable {}

extension NameTable: Equatable where Value: Equatable {
    /// Whether both have the same names with the same values, in whatever order they were added.
    package static func == (left: NameTable, right: NameTable) -> Bool {
        guard left.count == right.count else { return false }
        let names = left.names[...]
        return left.records.allSatisfy {
            right.value(names.span.extracting($0.range), tag: $0.tag) == $0.value
        }
    }
}

extension NameTable: Hashable where Value: Hashable {
    package func hash(into hasher: inout Hasher) {
        var sum = 0
        for record in records {
            var own = Hasher()
            own.combine(record.hash)
            own.combine(record.value)
            sum ^= own.finalize()
        }
        hasher.combine(sum)
    }
}

extension Span<UInt8> {
    fileprivate func hasSameBytes(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] { return false }
        return true
    }
}
