/// Values that belong to objects, each for as long as its object lives.
package final class WeakTable<Value: Sendable>: Sendable {
    // `weak` needs an optional variable, which no `let` of a Sendable type can be.
    private struct Place: @unchecked Sendable {
        weak var object: AnyObject?
        let value: Value
    }

    private struct State {
        var places: [ObjectIdentifier: Place] = [:]
        /// The number of places at which those of objects that are gone are removed.
        var limit = 16
    }

    private let state = Locked(State())

    /// Creates an empty table.
    package init() {}

    /// Whether the object has a value.
    package func has(_ object: AnyObject) -> Bool {
        state.withLock { $0.places[ObjectIdentifier(object)]?.object === object }
    }

    /// Returns the value of an object, made at the first call. `make` must not use the table.
    package func value(of object: AnyObject, make: () -> Value) -> Value {
        state.withLock { state in
            let key = ObjectIdentifier(object)
            // Another object, now gone, may have had the same address.
            if let place = state.places[key], place.object === object { return place.value }
            if state.places.count >= state.limit {
                state.places = state.places.filter { $0.value.object != nil }
                state.limit = max(16, 2 * state.places.count)
            }
            let value = make()
            state.places[key] = Place(object: object, value: value)
            return value
        }
    }
}
