internal import DirectCore
internal import DirectIO
internal import DirectTransport

/// The values that all requests of one call share: the first request, redirects, authentication and retries.
struct Call: Sendable {
    /// The time limits of each phase, the request's own ones applied.
    let timeouts: Timeouts.Nanoseconds
    /// When the call began.
    let start: Instant
    /// The deadline of the whole call.
    let end: Instant
    /// Records the call's events; `nil` without an observer.
    let log: CallLog?
    /// Records the requests that are sent, for the cache; `nil` without a cache.
    var sent: SentRequests?

    init(_ timeouts: Timeouts.Nanoseconds, from start: Instant, _ log: CallLog? = nil) {
        self.timeouts = timeouts
        self.start = start
        self.log = log
        end = start.advanced(byNanoseconds: timeouts.total)
    }

    /// The deadline and the total time limit of the call.
    var limit: CallLimit { CallLimit(end: end, total: timeouts.total) }

    /// Returns the error of a request whose call has reached its deadline before the request begins.
    func overdue(for url: HTTPURL?) -> HTTPError {
        let limit = Duration.nanoseconds(Int64(clamping: timeouts.total))
        return HTTPError(.request, .timedOut(after: limit), name: url?.host.description)
    }

    /// Runs code of the caller's, such as an authenticator or an interceptor, and returns its result.
    ///
    /// If the call has a deadline, throws when that passes or the task is cancelled first, without waiting for the
    /// code: it may ignore both.
    func answer<Value: Sendable>(
        to url: HTTPURL?,
        _ phase: HTTPError.Phase,
        on loop: EventLoop,
        ask: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard end < .never else { return try await ask() }
        let answer: Result<Value, any Error>
        do throws(BlockingWork.Abandoned) {
            answer = try await supervised(until: end, on: loop) {
                do { return .success(try await ask()) } catch { return .failure(error) }
            }
        } catch {
            guard error == .expired else { throw CancellationError() }
            let limit = Duration.nanoseconds(Int64(clamping: timeouts.total))
            throw HTTPError(phase, .timedOut(after: limit), name: url?.host.description)
        }
        return try answer.get()
    }

    /// Records that another request follows, and returns the hop.
    func noting(_ hop: Hop) -> Hop {
        log?.goesOn(hop)
        return hop
    }
}
