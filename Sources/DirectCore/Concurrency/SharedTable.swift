/// Objects by key. Equal keys get the same object for as long as it exists: while anything holds it, or it is
/// one of those that were used last.
package final class SharedTable<Key: Hashable & Sendable, Object: AnyObject & Sendable>: Sendable {
    private struct Reference {
        weak var object: Object?
    }

    private struct State {
        var places: [Key: Reference] = [:]
        /// The objects that were used last, the latest at the end.
        var recent: [Object] = []
        /// The number of places at which those without an object are removed.
        var mark: Int
    }

    private let limit: Int
    private let state: Locked<State>

    /// - Parameter limit: The number of objects that are kept although nothing else holds them.
    package init(keeping limit: Int) {
        self.limit = limit
        state = Locked(State(mark: 2 * limit))
    }

    /// The number of objects that exist.
    package var count: Int { state.withLock { $0.places.values.count { $0.object != nil } } }

    /// Returns the object of the key. `make` must not use the table.
    package func object(for key: Key, make: () -> Object) -> Object {
        state.withLock { state in
            let known = state.places[key]?.object
            let object = known ?? make()
            if known == nil { add(object, for: key, to: &state) }
            keep(object, in: &state)
            return object
        }
    }

    /// Adds a new object. Amortised, removing the places without one costs nothing.
    private func add(_ object: Object, for key: Key, to state: inout State) {
        state.places[key] = Reference(object: object)
        guard state.places.count > state.mark else { return }
        state.places = state.places.filter { $0.value.object != nil }
        state.mark = 2 * max(limit, state.places.count)
    }

    /// Keeps an object that is being used.
    private func keep(_ object: Object, in state: inout State) {
        if state.recent.last === object { return }
        if let index = state.recent.firstIndex(where: { $0 === object }) {
            state.recent.remove(at: index)
        } else if state.recent.count >= limit {
            state.recent.removeFirst()
        }
        state.recent.append(object)
    }
}
