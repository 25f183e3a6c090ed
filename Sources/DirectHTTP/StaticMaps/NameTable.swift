internal import DirectCore

/// A hash table from names to values, made for very many entries.
///
/// All names lie in one `ByteStore`, and a look-up does not allocate, not even for the tail of a longer name.
/// Collisions are resolved by linear probing; a removal moves the following slots up, so there are no
/// tombstones. When most of the bytes belong to removed names, it is rebuilt.
///
/// The key is the name together with a tag, such as a port.
package struct NameTable<Value> {
    fileprivate struct Record {
        var hash: UInt32
        var tag: UInt32
        var name: ByteStore.Piece
        var value: Value
    }

    /// Numbers of records, counted from 1; 0 is an empty slot. A record's number stands in the slot that its
    /// hash selects, or in one of the slots after it. The count is a power of two.
    private var slots: [UInt32] = []
    private var records: [Record] = []
    private var names = ByteStore()

    package init() {}

    /// The number of entries.
    package var count: Int { records.count }

    /// Returns the value of a name; `nil` if there is none.
    package func value(_ name: Span<UInt8>, tag: UInt32) -> Value? {
        guard let slot = slot(of: name, tag, hash: Self.hash(name, tag: tag)) else { return nil }
        return records[Int(slots[slot]) - 1].value
    }

    /// Sets the value of a name, or removes its entry if the value is `nil`.
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
        for record in records where isKept(record.value) {
            names.withBytes(of: record.name) {
                kept.append(record.value, name: $0, tag: record.tag, hash: record.hash)
            }
        }
        self = kept
    }

    /// All values, in no particular order.
    package var values: some Collection<Value> { records.lazy.map(\.value) }

    /// Calls `body` with each name, its tag and its value, in no particular order.
    package func forEach(_ body: (Span<UInt8>, UInt32, Value) -> Void) {
        for record in records { names.withBytes(of: record.name) { body($0, record.tag, record.value) } }
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
        var slot = Int(hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let record = Int(slots[slot]) - 1
            if records[record].hash == hash, records[record].tag == tag,
                names.holds(name, at: records[record].name)
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
        records.append(Record(hash: hash, tag: tag, name: names.add(name), value: value))
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
        names.remove(records[record].name)
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
        if names.isMostlyDead { keep { _ in true } }
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
        return left.records.allSatisfy { record in
            left.names.withBytes(of: record.name) { right.value($0, tag: record.tag) } == record.value
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

/// Names and addresses as keys, and the names above a name.
extension NameTable {
    subscript(host: HTTPHost) -> Value? {
        get { host.withKey { value($0, tag: $1) } }
        set { host.withKey { set(newValue, name: $0, tag: $1) } }
    }

    /// Calls `body` with the values of the host and of the names above it, the longest name first.
    func visit(atOrAbove host: HTTPHost, _ body: (Value) -> Void) {
        guard count > 0 else { return }
        if let value = self[host] { body(value) }
        guard let name = host.name?.bytes[...] else { return }
        let bytes = name.span
        for index in bytes.indices where bytes[index] == UInt8(ascii: ".") {
            if let value = value(bytes.extracting((index + 1)...), tag: HTTPHost.nameTag) { body(value) }
        }
    }
}

extension HTTPHost {
    fileprivate static let nameTag: UInt32 = 0
    private static let addressTag: UInt32 = 1

    /// Calls `body` with the bytes and the tag of the host as a key: no name is ever equal to an address.
    fileprivate func withKey<Result>(_ body: (Span<UInt8>, UInt32) -> Result) -> Result {
        switch self {
        case .name(let name): name.bytes.withSpan { body($0, Self.nameTag) }
        case .address(let address): Array("\(address)".utf8).withSpan { body($0, Self.addressTag) }
        }
    }
}
