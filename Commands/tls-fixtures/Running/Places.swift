internal import DirectCore

/// The places of vectors that run at the same time. Those that mostly wait may go aside, so that they keep no
/// other from running.
final class Places: Sendable {
    private struct State {
        /// The number of free places. Below zero, some who came back have none yet.
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// The index of the first of those that wait.
        var first = 0
    }

    private let state: Locked<State>
    private let waitingRoom: Places?

    /// - Parameter aside: The number of those that may be aside at the same time. `nil` if they keep their
    ///   places.
    init(_ count: Int, aside: Int? = nil) {
        state = Locked(State(free: count))
        waitingRoom = aside.map { Places($0) }
    }

    /// Waits for a place, behind all who came before.
    func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Gives the place to the next one.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.free += 1
            guard state.free > 0, state.first < state.waiting.count else { return nil }
            state.free -= 1
            state.first += 1
            return state.waiting[state.first - 1]
        }
        next?.resume()
    }

    /// Does something that takes long and no work, without a place. Afterwards it has a place again at once.
    func aside<Value: Sendable>(_ body: () async -> Value) async -> Value {
        guard let waitingRoom else { return await body() }
        leave()
        await waitingRoom.enter()
        let value = await body()
        waitingRoom.leave()
        state.withLock { $0.free -= 1 }
        return value
    }
}
