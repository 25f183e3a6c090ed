/// Holds a server's records and wakes the tests that wait for them.
///
/// Connection threads write, tests read: everything sits under one lock, and nobody blocks under it.
final class Recorder: @unchecked Sendable {
    struct State {
        var records: [ConnectionRecord] = []
        /// Connections by number in the order they ended, and how many of them were handed out.
        var ended: [Int] = []
        var endedTaken = 0
        /// Where the complete requests are, in the order they completed, and how many were handed out.
        var completed: [(connection: Int, index: Int)] = []
        var completedTaken = 0
    }

    private struct Waiter {
        /// Nil when the state does not satisfy the waiter yet, else what resumes it.
        let attempt: (inout State) -> (() -> Void)?
        let give: (FixtureError) -> Void
    }

    private let lock = Lock()
    private var state = State()
    private var waiters: [Int: Waiter] = [:]
    private var nextWaiter = 0
    private var isClosed = false

    var records: [ConnectionRecord] { lock.locked { state.records } }

    func open(_ make: (_ number: Int) -> ConnectionRecord) -> Int {
        change { state in
            let number = state.records.count
            state.records.append(make(number))
            return number
        }
    }

    func update(_ number: Int, _ body: (inout ConnectionRecord) -> Void) {
        change { body(&$0.records[number]) }
    }

    /// Appends a request to its connection and says where it is.
    func begin(_ request: RequestRecord) -> Int {
        change { state in
            state.records[request.connection].requests.append(request)
            return state.records[request.connection].requests.count - 1
        }
    }

    func updateRequest(_ connection: Int, _ index: Int, _ body: (inout RequestRecord) -> Void) {
        change { state in
            let wasComplete = state.records[connection].requests[index].isComplete
            body(&state.records[connection].requests[index])
            if !wasComplete && state.records[connection].requests[index].isComplete {
                state.completed.append((connection, index))
            }
        }
    }

    func end(_ number: Int, _ end: ConnectionEnd) {
        change { state in
            guard state.records[number].end == nil else { return }
            state.records[number].end = end
            state.ended.append(number)
        }
    }

    /// Nobody will write any more: those who still wait are told so.
    func close() {
        let left = lock.locked {
            isClosed = true
            defer { waiters = [:] }
            return waiters.values
        }
        left.forEach { $0.give(.stopped) }
    }

    /// Suspends until `attempt` finds what it looks for in the state; tried again on every change.
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
                self?.giveUp(id, what)
            }
        }
        defer { timer?.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enrol(id, what, continuation, attempt)
            }
        } onCancel: {
            giveUp(id, what)
        }
    }

    private func enrol<Found: Sendable>(
        _ id: Int,
        _ what: String,
        _ continuation: CheckedContinuation<Found, any Error>,
        _ attempt: @escaping @Sendable (inout State) -> Found?
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
        // The task may have been cancelled before there was an entry.
        if Task.isCancelled { giveUp(id, what) }
    }

    private func remove(_ id: Int) -> Waiter? {
        lock.locked { waiters.removeValue(forKey: id) }
    }

    private func giveUp(_ id: Int, _ what: String) {
        guard let waiter = remove(id) else { return }
        waiter.give(.waitedTooLong(for: what, seen: summary))
    }

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
