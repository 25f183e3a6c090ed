internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// The answer to a question so far, and the callers that wait for more.
final class Publication: Sendable {
    typealias Outcome = Result<Resolution, any Error>

    private struct State {
        /// The number of outcomes that were published; the last one is the latest.
        var number = 0
        var latest: Outcome?
        var isComplete = false
        var waiters: [ObjectIdentifier: LoopHandle] = [:]
    }

    private let state = Locked(State())
    private let loop: EventLoop

    init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Publishes all that is known. It has what was published before.
    ///
    /// - Parameter isComplete: Whether nothing more will come.
    func publish(_ outcome: Outcome, isComplete: Bool) {
        let waiters = state.withLock { state in
            guard !state.isComplete else { return [LoopHandle]() }
            state.number += 1
            (state.latest, state.isComplete) = (outcome, isComplete)
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.input.signal() }
    }

    /// Waits for an outcome after the first `number` ones. Its ``Resolution/rest`` waits for the next.
    ///
    /// - Parameter asker: Kept alive by whatever waits for the next outcome.
    func outcome(after number: Int = 0, of asker: some AnyObject & Sendable) async throws -> Resolution {
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        state.withLock { $0.waiters[ObjectIdentifier(handle)] = handle }
        defer {
            state.withLock { $0.waiters[ObjectIdentifier(handle)] = nil }
            loop.remove(handle)
        }
        while true {
            let (now, latest, isComplete) = state.withLock { ($0.number, $0.latest, $0.isComplete) }
            if now > number, let latest {
                var resolution = try latest.get()
                if !isComplete {
                    resolution.rest = { [self] in try? await outcome(after: now, of: asker) }
                }
                return resolution
            }
            if await handle.waitForSignal(until: .never) == .cancelled { throw CancellationError() }
        }
    }
}

/// Ends questions when no caller waits for their answers any more.
final class Asking: Sendable {
    private let tasks: [Task<Void, Never>]

    init(_ tasks: [Task<Void, Never>]) {
        self.tasks = tasks
    }

    deinit {
        for task in tasks { task.cancel() }
    }
}

extension Array {
    /// Returns the elements, and leaves none.
    mutating func takeAll() -> [Element] {
        defer { self = [] }
        return self
    }
}
