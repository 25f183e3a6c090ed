internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

extension Call {
    /// Runs code of the caller's, such as an authenticator or an interceptor, and returns its result.
    ///
    /// Throws when the call's deadline passes or the task is cancelled first, without waiting for the code:
    /// it may ignore both.
    func answer<Value: Sendable>(
        to url: HTTPURL?,
        _ phase: HTTPError.Phase,
        on loop: EventLoop,
        ask: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let answer: Result<Value, any Error>
        do throws(BlockingWork.Abandoned) {
            answer = try await callersCode(until: end, on: loop, run: ask)
        } catch {
            guard error == .expired else { throw CancellationError() }
            let limit = Duration.nanoseconds(Int64(clamping: timeouts.total))
            throw HTTPError(phase, .timedOut(after: limit), name: url?.host.description)
        }
        return try answer.get()
    }
}

/// Runs code of the caller's in a task of its own, and returns its outcome.
///
/// - Throws: `Abandoned` if the deadline passes or the task is cancelled first. The code's task is cancelled
///   then, and not waited for.
func callersCode<Value: Sendable>(
    until end: Instant,
    on loop: EventLoop,
    run: @escaping @Sendable () async throws -> Value
) async throws(BlockingWork.Abandoned) -> Result<Value, any Error> {
    // Code that blocks the executor of its caller would block the end of the wait as well, so with a deadline
    // it runs on Swift's own threads. Without one it stays on that executor: a blocking call may hold all
    // other threads.
    let executor = end < .never ? nil : preferredExecutor()
    return try await supervised(until: end, on: loop, executor: executor) {
        do { return .success(try await run()) } catch { return .failure(error) }
    }
}
