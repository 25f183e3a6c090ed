/// The records of a server, and the tests that wait for them.
///
/// Connection threads write and tests read. All state is guarded by one lock, and no thread blocks while
/// holding it.
final class Recorder: @unchecked Sendable {
    /// Everything that a waiting test may look at.
    struct State {
        var records: [ConnectionRecord] = []
        /// The numbers of the connections that have ended, in that order, and how many of them were handed
        /// out.
        var ended: [Int] = []
        var endedTaken = 0
        /// The positions of the complete requests, in the order of completion, and how many were handed out.
        var completed: [(connection: Int, index: Int)] = []
        var completedTaken = 0
    }

    private struct Waiter {
        /// Returns `nil` if the state does not satisfy the waiter yet, else a function that resumes it.
        let attempt: (inout State) -> (() -> Void)?
        /// Resumes the waiter with an error.
        let give: (FixtureError) -> Void
    }

    private let lock = Lock()
    private var state = State()
    private var waiters: [Int: Waiter] = [:]
    private var nextWaiter = 0
    private var isClosed = false

    var records: [ConnectionRecord] { lock.locked { state.records } }

    /// Adds the record of a new connection and returns its number.
    func open(_ make: (_ number: Int) -> ConnectionRecord) -> Int {
        change { state in
            let number = state.records.count
            state.records.append(make(number))
            return number
        }
    }

    /// Changes the record of a connection.
    func update(_ number: Int, body: (inout ConnectionRecord) -> Void) {
        change { body(&$0.records[number]) }
    }

    /// Appends a request to its connection's record and returns its index there.
    func begin(_ request: RequestRecord) -> Int {
        change { state in
            state.records[request.connection].requests.append(request)
            return state.records[request.connection].requests.count - 1
        }
    }

    /// Changes the record of a request, and notes when it becomes complete.
    func updateRequest(_ connection: Int, index: Int, body: (inout RequestRecord) -> Void) {
        change { state in
            let wasComplete = state.records[connection].requests[index].isComplete
            body(&state.records[connection].requests[index])
            if !wasComplete && state.records[connection].requests[index].isComplete {
                state.completed.append((connection, index))
            }
        }
    }

    /// Records how a connection ended. Only the first call for a connection counts.
    func end(_ number: Int, end: ConnectionEnd) {
        change { state in
            guard state.records[number].end == nil else { return }
            state.records[number].end = end
            state.ended.append(number)
        }
    }

    /// Fails the remaining waiters with ``FixtureError/stopped``. No record changes afterwards.
    func close() {
        let left = lock.locked {
            isClosed = true
            defer { waiters = [:] }
            return waiters.values
        }
        left.forEach { $0.give(.stopped) }
    }

    /// Suspends until `attempt` returns a value. It is called again after every change.
    ///
    /// - Throws: ``FixtureError/waitedTooLong(for:seen:)`` at the limit or if the task is cancelled,
    ///   ``FixtureError/stopped`` if the server stops.
    func wait<Found: Sendable>(
        for what: String,
        within limit: Duration?,
        _ attempt: @escaping @Sendable (inout State) -> Found?
    ) async throws -> Found {
        let id = lock.locked {
            nextWaiter += 1
            return nextWaiter
        }
        let timer = limit.map { limit in
            Task.detached { [weak self] in
                try await Task.sleep(for: limit)
                self?.giveUp(id, what: what)
            }
        }
        defer { timer?.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enrol(id, what: what, continuation: continuation, attempt: attempt)
            }
        } onCancel: {
            giveUp(id, what: what)
        }
    }

    /// Tries the state once and, if that is not enough, registers a waiter.
    private func enrol<Found: Sendable>(
        _ id: Int,
        what: String,
        continuation: CheckedContinuation<Found, any Error>,
        attempt: @escaping @Sendable (inout State) -> Found?
    ) {
        let waiter = Waiter(
            attempt: { state in
                guard let found = attempt(&state) else { return nil }
                return { continuation.resume(returning: found) }
            },
            give: { continuation.resume(throwing: $0) }
        )
        let now: (() -> Void)? = lock.locked {
            if let resume = waiter.attempt(&state) { return resume }
            if isClosed { return { waiter.give(.stopped) } }
            waiters[id] = waiter
            return nil
        }
        now?()
        // The task may have been cancelled before the waiter was registered.
        if Task.isCancelled { giveUp(id, what: what) }
    }

    private func remove(_ id: Int) -> Waiter? {
        lock.locked { waiters.removeValue(forKey: id) }
    }

    private func giveUp(_ id: Int, what: String) {
        guard let waiter = remove(id) else { return }
        waiter.give(.waitedTooLong(for: what, seen: summary))
    }

    /// Changes the state and resumes the waiters that it now satisfies, after the lock is released.
    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, resumptions) = lock.locked {
            let result = body(&state)
            var resumptions: [() -> Void] = []
            for (id, waiter) in waiters.sorted(by: { $0.key < $1.key }) {
                guard let resume = waiter.attempt(&state) else { continue }
                waiters[id] = nil
                resumptions.append(resume)
            }
            return (result, resumptions)
        }
        resumptions.forEach { $0() }
        return result
    }

    /// The last eight connections in words, for the message of a wait that timed out.
    private var summary: String {
        let records = self.records
        guard !records.isEmpty else { return "no connection" }
        return records.suffix(8).map { record in
            let requests = record.requests.map { "\($0.method) \($0.target)" }
            let end = record.end.map { "\($0)" } ?? "open"
            return
                "#\(record.number) sni \(record.serverName ?? "-") [\(requests.joined(separator: ", "))] \(end)"
        }.joined(separator: "; ")
    }
}

/// Numbers connections and requests over all servers of the process.
enum ArrivalOrder {
    private static let lock = Lock()
    nonisolated(unsafe) private static var count = 0

    static func next() -> Int {
        lock.locked {
            defer { count += 1 }
            return count
        }
    }
}
