package import DirectCore

/// Runs an operation that may ignore its deadline and its cancellation.
///
/// At the deadline, or when the calling task is cancelled, the operation's task is cancelled and not waited
/// for. The deadline may change meanwhile.
///
/// - Parameter executor: The executor that the operation prefers. Swift's own threads are none: a program
///   may have all of them wait.
package func supervised<Value: Sendable>(
    until deadline: @autoclosure () -> Instant,
    changes: (@escaping @Sendable () -> Void) -> Void = { _ in },
    on loop: EventLoop,
    executor: any TaskExecutor,
    _ operation: @escaping @Sendable () async -> Value
) async throws(BlockingWork.Abandoned) -> Value {
    let reply = Reply<Value>(on: loop)
    changes { reply.lookAgain() }
    let task = Task(executorPreference: executor) { reply.give(await operation()) }
    do throws(BlockingWork.Abandoned) {
        return try await reply.value { Reply.Pause(end: deadline()) }
    } catch {
        task.cancel()
        throw error
    }
}

/// The executor that the current task prefers; `nil` if it prefers none, or if the system cannot tell.
package func preferredExecutor() -> (any TaskExecutor)? {
    // `asTaskExecutor` is new in Swift 6.3.
    #if compiler(>=6.3)
    guard #available(macOS 26.4, iOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *) else { return nil }
    return withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
    #else
    return nil
    #endif
}
