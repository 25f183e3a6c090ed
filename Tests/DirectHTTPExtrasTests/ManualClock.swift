import DirectCore

/// A clock whose time the test lets pass.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration = .zero
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant()
        var number = 0
        var sleepers: [Int: (end: Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
    }

    private let state = Locked(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    func sleep(until end: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.now >= end { return true }
                    state.sleepers[number] = (end, continuation)
                    return false
                }
                if isOver { continuation.resume() }
                if Task.isCancelled { wake(number, throwing: CancellationError()) }
            }
        } onCancel: {
            wake(number, throwing: CancellationError())
        }
    }

    private func wake(_ number: Int, throwing error: any Error) {
        state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation.resume(throwing: error)
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.end <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Waits until so many sleep.
    func sleepers(_ count: Int) async {
        while sleeperCount != count { await Task.yield() }
    }
}
