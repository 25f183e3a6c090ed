internal import Synchronization

/// A value that tasks wait for while there is none.
final class Latch<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        /// A waiter has a place before it waits, and loses it when it is cancelled.
        var places: [Int: CheckedContinuation<Value, any Error>?] = [:]
        var count = 0
    }

    private let state: Mutex<State>

    init(_ value: Value? = nil) {
        state = Mutex(State(value: value))
    }

    /// Whether there is a value, so that nothing waits.
    var isOpen: Bool { state.withLock { $0.value != nil } }

    var waitingCount: Int { state.withLock { $0.places.count } }

    /// Gives the value to all that wait, first come first served, and to those that come. One that is there
    /// stays.
    func open(with value: Value) {
        let waiting = state.withLock { state in
            if state.value == nil { state.value = .some(value) }
            let waiting = state.places.sorted { $0.key < $1.key }.compactMap(\.value)
            state.places = state.places.filter { $0.value == nil }
            return waiting
        }
        for waiter in waiting { waiter.resume(returning: value) }
    }

    /// Takes the value away: from now on all wait.
    func close() {
        state.withLock { $0.value = nil }
    }

    /// Returns a place for a task that is about to wait; `nil` if there is a value.
    func enter() -> Int? {
        state.withLock { state in
            guard state.value == nil else { return nil }
            state.count += 1
            state.places[state.count] = .some(nil)
            return state.count
        }
    }

    /// Returns the value as soon as there is one, unless the task is cancelled before.
    func value(at place: Int) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Value, any Error>? in
                    guard state.places.removeValue(forKey: place) != nil else {
                        return .failure(CancellationError())
                    }
                    if let value = state.value { return .success(value) }
                    state.places[place] = .some(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.places.removeValue(forKey: place) ?? nil }
            waiter?.resume(throwing: CancellationError())
        }
    }
}
