internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

extension Call {
    /// Asks code of the caller's that may send requests, before there is a response or about one, which waits
    /// then.
    func answer<Value: Sendable>(
        about response: Response?,
        to url: HTTPURL?,
        _ phase: HTTPError.Phase,
        on loop: EventLoop,
        ask: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let held = HeldResponses()
        if let response { held.lend(response) }
        defer { held.reclaim() }
        return try await answer(to: url, phase, on: loop) {
            try await AskedCode.$isRunning.withValue(true, operation: ask)
        }
    }

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
        do throws(ForeignFailure) {
            return try await callersCode(within: limit, on: loop, run: ask)
        } catch {
            switch error {
            case .cancelled: throw CancellationError()
            case .threw(let error): throw error
            case .silent:
                let limit = Duration.nanoseconds(Int64(clamping: timeouts.total))
                throw HTTPError(phase, .timedOut(after: limit), name: url?.host.description)
            }
        }
    }
}

extension Call {
    /// Whether the body can be sent once more. If the program has to be asked and does not answer in time,
    /// it cannot.
    func canSendAgain(_ body: RequestBody, after response: Response?, on loop: EventLoop) async -> Bool {
        guard body.canBeSent, case .stream(let stream) = body.content, let renew = stream.renew else {
            return body.canBeSent
        }
        let held = HeldResponses()
        if let response { held.lend(response) }
        defer { held.reclaim() }
        do throws(ForeignFailure) {
            return try await callersCode(within: limit, on: loop) {
                await AskedCode.$isRunning.withValue(true, operation: renew)
            }
        } catch {
            return false
        }
    }
}

/// The responses that wait, with their connections, for code of the program.
final class HeldResponses: Sendable {
    private let ends = Locked<[BodyEnd]>([])

    /// Whether one of them still has its connection.
    var hasConnection: Bool { ends.withLock { $0.contains(where: \.holdsConnection) } }

    /// Adds a response, and lends its place to the requests of that code until ``reclaim()``.
    func lend(_ response: Response) {
        guard let end = response.transaction?.record.bodyEnd else { return }
        end.lend()
        ends.withLock { $0.append(end) }
    }

    func reclaim() {
        for end in ends.withLock({ $0 }) { end.reclaim() }
    }
}

/// Asks code of the caller's, on the executor that lets the wait for it end.
func callersCode<Value: Sendable>(
    within limit: CallLimit,
    on loop: EventLoop,
    run: @escaping @Sendable () async throws -> Value
) async throws(ForeignFailure) -> Value {
    // Code that blocks the executor of its caller would block the end of the wait as well, so with a deadline
    // it runs on the client's threads. Without one it stays on that executor, and saves the change.
    let executor: any TaskExecutor = limit.end < .never ? limit.threads : limit.executor
    return try await askForeignCode(until: limit.end, on: loop, executor: executor, run)
}
