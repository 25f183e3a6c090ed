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
