package import DirectCore

/// Runs an operation that may ignore its deadline and its cancellation.
///
/// At the deadline, or when the calling task is cancelled, the operation's task is cancelled and not waited for.
package func supervised<Value: Sendable>(
    until deadline: Instant,
    on loop: EventLoop,
    _ operation: @escaping @Sendable () async -> Value
) async throws(BlockingWork.Abandoned) -> Value {
    let reply = Reply<Value>(on: loop)
    let task = Task { reply.give(await operation()) }
    do throws(BlockingWork.Abandoned) {
        return try await reply.value(until: deadline)
    } catch {
        task.cancel()
        throw error
    }
}
