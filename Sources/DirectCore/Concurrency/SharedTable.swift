/// Objects by key, behind a lock of their owner. Equal keys get the same object for as long as it exists:
/// while anything holds it, or it is one of those that were used last.
package struct SharedTable<Key: Hashable, Object: AnyObject> {
    private struct Reference {
        weak var object: Object?
    }

    private let limit: Int
    private var places: [Key: Reference] = [:]
    /// The objects that were used last, the latest at the end.
    private var recent: [Object] = []
    /// The number of places at which those without an object are removed.
    private var mark: Int

    /// - Parameter limit: The number of objects that are kept although nothing else holds them.
    package init(keeping limit: Int) {
        self.limit = limit
        mark = 2 * limit
    }

    /// The number of objects that exist.
    package var count: Int { places.values.count { $0.object != nil } }

    /// Returns the object of the key. `make` must not use the table.
    package mutating func object(for key: Key, make: () -> Object) -> Object {
        let known = places[key]?.object
        let object = known ?? make()
        if known == nil { add(object, for: key) }
        keep(object)
        return object
    }

    /// Adds a new object. Amortised, removing the places without one costs nothing.
    private mutating func add(_ object: Object, for key: Key) {
        places[key] = Reference(object: object)
        guard places.count > mark else { return }
        places = places.filter { $0.value.object != nil }
        mark = 2 * max(limit, places.count)
    }

    /// Keeps an object that is being used.
    private mutating func keep(_ object: Object) {
        if recent.last === object { return }
        if let index = recent.firstIndex(where: { $0 === object }) {
            recent.remove(at: index)
        } else if recent.count >= limit {
            recent.removeFirst()
        }
        recent.append(object)
    }
}
