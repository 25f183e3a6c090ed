/// A hash table from names to values that holds very many of them: all names lie in one piece of memory, and a
/// look-up allocates nothing, not even for the end of a longer name.
///
/// A name stands together with a tag, such as a port, which makes another key of it.
struct NameTable<Value> {
    fileprivate struct Record {
        /// Where the name lies.
        var range: Range<Int> { Int(start)..<(Int(start) + Int(length)) }

        var hash: UInt32
        var start: UInt32
        var tag: UInt32
        var length: UInt8
        var value: Value
    }

    /// Numbers of records, counted from 1, where their hash says or behind it; 0 is empty. A power of two.
    private var slots: [UInt32] = []
    private var records: [Record] = []
    private var names: [UInt8] = []
    /// How many of the names' bytes belong to nobody any longer.
    private var deadBytes = 0

    init() {}

    var count: Int { records.count }
    var isEmpty: Bool { records.isEmpty }

    /// The value of a name of at most 255 bytes.
    func value(_ name: Span<UInt8>, tag: UInt32) -> Value? {
        guard let slot = slot(of: name, tag, Self.hash(name, tag)) else { return nil }
        return records[Int(slots[slot]) - 1].value
    }

    /// Gives a name of at most 255 bytes a value, or none.
    mutating func set(_ value: Value?, _ name: Span<UInt8>, tag: UInt32) {
        let hash = Self.hash(name, tag)
        if let slot = slot(of: name, tag, hash) {
            guard let value else { return remove(slot) }
            records[Int(slots[slot]) - 1].value = value
        } else if let value {
            append(value, name, tag, hash)
        }
    }

    /// Changes a value where it is; says whether there is one.
    mutating func update(_ name: Span<UInt8>, tag: UInt32, _ change: (inout Value) -> Void) -> Bool {
        guard let slot = slot(of: name, tag, Self.hash(name, tag)) else { return false }
        change(&records[Int(slots[slot]) - 1].value)
        return true
    }

    /// Changes all values where they are.
    mutating func updateAll(_ change: (inout Value) -> Void) {
        for index in records.indices { change(&records[index].value) }
    }

    /// Lets go of all others.
    mutating func keep(where isKept: (Value) -> Bool) {
        var kept = NameTable()
        let names = names[...]
        for record in records where isKept(record.value) {
            kept.append(record.value, names.span.extracting(record.range), record.tag, record.hash)
        }
        self = kept
    }

    /// All values, in no order.
    var values: some Collection<Value> { records.lazy.map(\.value) }

    /// All names with tag and value, in no order.
    func forEach(_ body: (Span<UInt8>, UInt32, Value) -> Void) {
        let names = names[...]
        for record in records { body(names.span.extracting(record.range), record.tag, record.value) }
    }

    private static func hash(_ name: Span<UInt8>, _ tag: UInt32) -> UInt32 {
        var hash = FoldedHash()
        hash.fold(name)
        hash.fold(UInt64(tag))
        return UInt32(truncatingIfNeeded: hash.value ^ hash.value >> 32)
    }

    private func slot(of name: Span<UInt8>, _ tag: UInt32, _ hash: UInt32) -> Int? {
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

    private mutating func append(_ value: Value, _ name: Span<UInt8>, _ tag: UInt32, _ hash: UInt32) {
        if (records.count + 1) * 2 > slots.count { growSlots() }
        let start = UInt32(names.count)
        for index in name.indices { names.append(name[index]) }
        records.append(
            Record(hash: hash, start: start, tag: tag, length: UInt8(name.count), value: value)
        )
        place(records.count - 1)
    }

    private mutating func place(_ record: Int) {
        var slot = Int(records[record].hash) & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = UInt32(record + 1)
    }

    private mutating func growSlots() {
        slots = Array(repeating: 0, count: max(16, slots.count * 2))
        for record in records.indices { place(record) }
    }

    private mutating func remove(_ slot: Int) {
        let record = Int(slots[slot]) - 1
        deadBytes += Int(records[record].length)
        closeGap(slot)
        let last = records.count - 1
        if record != last {
            // The last one moves into its place.
            var slot = Int(records[last].hash) & (slots.count - 1)
            while slots[slot] != UInt32(last + 1) { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = UInt32(record + 1)
            records.swapAt(record, last)
        }
        records.removeLast()
        if deadBytes > 4096, deadBytes > names.count / 2 { keep { _ in true } }
    }

    /// Those behind move up, as far as that brings them nearer to where their hash says.
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
    /// Whether both have the same names with the same values, in whatever order they came.
    static func == (left: NameTable, right: NameTable) -> Bool {
        guard left.count == right.count else { return false }
        let names = left.names[...]
        return left.records.allSatisfy {
            right.value(names.span.extracting($0.range), tag: $0.tag) == $0.value
        }
    }
}

extension NameTable: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) {
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
