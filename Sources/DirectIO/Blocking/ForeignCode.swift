package import DirectCore

/// The reason why code from outside the package gave no value.
package enum ForeignFailure: Error {
    /// It was silent until the deadline, for this time.
    case silent(Duration)
    /// The task that asked it was cancelled.
    case cancelled
    /// It threw this error. That may be a `CancellationError`, although the task was not cancelled.
    case threw(any Error)
}

/// Asks code from outside the package, such as a resolver, an authenticator, an interceptor or the source of
/// a body, and returns its value. It runs in a task of its own.
///
/// The code may ignore its deadline and its cancellation. So the caller waits no longer than until
/// `deadline`, which may change meanwhile, or until its own task is cancelled. The code's task is cancelled
/// then, and not waited for.
///
/// - Parameter changes: Is given what to call when the deadline has become an earlier one.
/// - Parameter executor: The executor that the code prefers. Code that blocks it must not block the end of
///   the wait.
package func askForeignCode<Value: Sendable>(
    until deadline: @autoclosure () -> Instant,
    changes: (@escaping @Sendable () -> Void) -> Void = { _ in },
    on loop: EventLoop,
    executor: any TaskExecutor,
    _ code: @escaping @Sendable () async throws -> Value
) async throws(ForeignFailure) -> Value {
    let start = loop.now
    let outcome: Result<Value, any Error>
    do throws(BlockingWork.Abandoned) {
        outcome = try await supervised(until: deadline(), changes: changes, on: loop, executor: executor) {
            do { return .success(try await code()) } catch { return .failure(error) }
        }
    } catch {
        throw error == .expired ? .silent(loop.now.since(start)) : .cancelled
    }
    switch outcome {
    case .success(let value): return value
    // Code that throws it by itself has failed like any other: the caller's task goes on.
    case .failure(is CancellationError) where Task.isCancelled: throw .cancelled
    case .failure(let error): throw .threw(error)
    }
}
