internal import DirectCore

/// Runs an operation whose outcome has to be known even if the task is cancelled. A cancelled task waits for
/// it for one more second, since a disk may hang; then the operation is cancelled as well.
package func withGrace<Value: Sendable>(
    on executor: any TaskExecutor,
    timedBy loop: EventLoop,
    _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let task = Task(executorPreference: executor) { try await operation() }
    return try await withTaskCancellationHandler {
        try await task.value
    } onCancel: {
        Task(executorPreference: loop) {
            try? await loop.sleep(until: loop.now.advanced(byNanoseconds: grace))
            task.cancel()
        }
    }
}

extension BlockingWork {
    /// Runs a call that has to be made even if the task is cancelled or its time is over, and waits for it,
    /// but for no longer than a second.
    package func conclude(
        on executor: any TaskExecutor,
        timedBy loop: EventLoop,
        _ call: @escaping @Sendable () -> Void
    ) async {
        await Task(executorPreference: executor) {
            let end = loop.now.advanced(byNanoseconds: grace)
            try? await self.carryOut(until: end, on: loop, call)
        }.value
    }
}

private let grace: UInt64 = 1_000_000_000
