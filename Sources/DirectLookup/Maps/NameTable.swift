package import DirectCore

/// Values by name, made for very many entries.
///
/// The key is the name together with a tag, such as a port.
package struct NameTable<Value> {
    private var index = NameIndex()
    /// The values of the names, by their numbers.
    private var all: [Value] = []

    package init() {}

    /// The number of entries.
    package var count: Int { all.count }

    /// Returns the value of a name; `nil` if there is none.
    package func value(_ name: Span<UInt8>, tag: UInt32) -> Value? {
        guard let number = index.find(name, tag: tag) else { return nil }
        return all[number]
    }

    /// Sets the value of a name, or removes its entry if the value is `nil`.
    package mutating func set(_ value: Value?, name: Span<UInt8>, tag: UInt32) {
        if let number = index.find(name, tag: tag) {
            guard let value else { return remove(number) }
            all[number] = value
        } else if let value {
            index.append(name, tag: tag)
            all.append(value)
        }
    }

    /// Changes a value in place; returns whether there is one.
    package mutating func update(_ name: Span<UInt8>, tag: UInt32, change: (inout Value) -> Void) -> Bool {
        guard let number = index.find(name, tag: tag) else { return false }
        change(&all[number])
        return true
    }

    /// Changes all values in place.
    package mutating func updateAll(_ change: (inout Value) -> Void) {
        for number in all.indices { change(&all[number]) }
    }

    /// Keeps the entries whose value satisfies the predicate, and drops all others and the bytes of their
    /// names.
    package mutating func keep(where isKept: (Value) -> Bool) {
        var kept: [Value] = []
        index.keep { number in
            guard isKept(all[number]) else { return false }
            kept.append(all[number])
            return true
        }
        all = kept
    }

    /// All values, in no particular order.
    package var values: some Collection<Value> { all }

    /// Calls `body` with each name, its tag and its value, in no particular order.
    package func forEach(_ body: (Span<UInt8>, UInt32, Value) -> Void) {
        for (number, value) in all.enumerated() { index.withName(number) { body($0, $1, value) } }
    }

    private mutating func remove(_ number: Int) {
        index.remove(number)
        all[number] = all[all.count - 1]
        all.removeLast()
    }
}

extension NameTable: Sendable where Value: Sendable {}

extension NameTable: Equatable where Value: Equatable {
    /// Whether both have the same names with the same values, in whatever order they were added.
    package static func == (left: NameTable, right: NameTable) -> Bool {
        guard left.count == right.count else { return false }
        return left.all.indices.allSatisfy { number in
            left.index.withName(number) { right.value($0, tag: $1) } == left.all[number]
        }
    }
}

extension NameTable: Hashable where Value: Hashable {
    package func hash(into hasher: inout Hasher) {
        var sum = 0
        for (number, value) in all.enumerated() {
            var own = Hasher()
            own.combine(index.hash(number))
            own.combine(value)
            sum ^= own.finalize()
        }
        hasher.combine(sum)
    }
}

/// Names and addresses as keys, and the names above a name.
extension NameTable {
    package subscript(host: HTTPHost) -> Value? {
        get { host.withKey { value($0, tag: $1) } }
        set { host.withKey { set(newValue, name: $0, tag: $1) } }
    }

    /// Calls `body` with the values of the host and of the names above it, the longest name first.
    package func visit(atOrAbove host: HTTPHost, _ body: (Value) -> Void) {
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
        case .name(let name): return name.bytes.withSpan { body($0, Self.nameTag) }
        case .address(let address):
            let key = address.bytes + (address.zone ?? "").utf8
            return key.withSpan { body($0, Self.addressTag) }
        }
    }
}

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
