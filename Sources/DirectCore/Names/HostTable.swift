/// A table of values by host, made for looking up a host and all names above it, few of which have a value.
///
/// A look-up creates no names: it hashes each tail of the name's bytes, and compares the bytes only if the
/// hash is found.
package struct HostTable<Value> {
    private struct Entry {
        let host: HTTPHost
        var value: Value
    }

    /// The entries by the hash of the host; hosts with the same hash share an array.
    private var places: [UInt64: [Entry]] = [:]
    /// The number of entries.
    package private(set) var count = 0

    /// Makes an empty table.
    package init() {}

    /// All values, in no particular order.
    package var values: [Value] { places.values.flatMap { $0.map(\.value) } }

    package subscript(host: HTTPHost) -> Value? {
        get { places[Self.hash(host)]?.first { $0.host == host }?.value }
        set {
            let hash = Self.hash(host)
            var entries = places.removeValue(forKey: hash) ?? []
            count -= entries.count
            entries.removeAll { $0.host == host }
            if let newValue { entries.append(Entry(host: host, value: newValue)) }
            count += entries.count
            if !entries.isEmpty { places[hash] = entries }
        }
    }

    /// Calls `body` with the values of the host and of the names above it, the longest name first.
    package func visit(atOrAbove host: HTTPHost, _ body: (Value) -> Void) {
        guard count > 0 else { return }
        guard case .name(let name) = host else {
            if let value = self[host] { body(value) }
            return
        }
        let whole = name.bytes[...]
        let bytes = whole.span
        visit(bytes, body: body)
        for index in bytes.indices where bytes[index] == UInt8(ascii: ".") {
            visit(bytes.extracting((index + 1)...), body: body)
        }
    }

    /// Removes the entries whose value satisfies the predicate.
    package mutating func removeAll(where isUnwanted: (Value) -> Bool) {
        for (hash, entries) in places {
            let kept = entries.filter { !isUnwanted($0.value) }
            count -= entries.count - kept.count
            places[hash] = kept.isEmpty ? nil : kept
        }
    }

    /// Calls `body` with the value of this name, if it has one.
    private func visit(_ name: Span<UInt8>, body: (Value) -> Void) {
        var hash = FoldedHash()
        hash.fold(name)
        guard let entries = places[hash.value] else { return }
        for entry in entries {
            if case .name(let own) = entry.host, own.bytes.withSpan({ $0.hasSameBytes(as: name) }) {
                body(entry.value)
            }
        }
    }

    private static func hash(_ host: HTTPHost) -> UInt64 {
        var hash = FoldedHash()
        hash.fold(host)
        return hash.value
    }
}

extension Span<UInt8> {
    fileprivate func hasSameBytes(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] { return false }
        return true
    }
}
