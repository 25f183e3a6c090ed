internal import DirectIO

/// What all requests of one call share, be they sent for redirects, for credentials or once more.
struct Call: Sendable {
    let timeouts: Timeouts.Nanoseconds
    let start: Instant
    /// When the whole call has to be over.
    let end: Instant
    /// Where to write what happens, if somebody wants to hear of it.
    let log: CallLog?
    /// Where to note what goes out, if a cache has asked.
    var sent: SentRequests?
    /// Where its cookies are, if not in the client's own store.
    let cookies: (any CookieStore)?

    init(
        _ timeouts: Timeouts.Nanoseconds,
        from start: Instant,
        _ log: CallLog? = nil,
        cookies: (any CookieStore)? = nil
    ) {
        self.timeouts = timeouts
        self.start = start
        self.log = log
        self.cookies = cookies
        end = start.advanced(byNanoseconds: timeouts.total)
    }

    var limit: CallLimit { CallLimit(end: end, total: timeouts.total) }

    /// The error of a request whose call is over before it begins.
    func overdue(for url: HTTPURL?) -> HTTPError {
        let limit = Duration.nanoseconds(Int64(clamping: timeouts.total))
        return HTTPError(.request, .timedOut(after: limit), name: url?.host.description)
    }

    /// What code of somebody else's answers, if that comes before the end of the call: it may heed neither a
    /// deadline nor that its task is cancelled.
    func answer<Value: Sendable>(
        to url: HTTPURL?,
        _ phase: HTTPError.Phase,
        on loop: EventLoop,
        _ ask: @escaping @Sendable () async throws -> Value
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

    /// The hop, written to the log.
    func noting(_ hop: Hop) -> Hop {
        log?.goesOn(hop)
        return hop
    }
}

/// One request on its way over the network.
struct Leg: Sendable {
    let url: HTTPURL
    let route: Route
    let proxy: ProxyEntry?
    let start: Instant
    /// Of the call: its limits, and when the whole of it has to be over. No more of it, as this is copied often.
    let timeouts: Timeouts.Nanoseconds
    let end: Instant
    /// Where to write what happens to it.
    var log: ExchangeLog?
    /// Whether the server is not to be shown the client's certificate.
    var isAnonymous = false
    /// Where the call has been; `nil` as long as it is where its caller sent it.
    var trail: Trail?
    /// What keeps it away from endpoints where the request has failed; `nil` for a first try.
    var detour: Detour?

    var poolKey: PoolKey { PoolKey(origin: url.origin, proxy: proxy, isAnonymous: isAnonymous) }
    /// Which kept connections may serve it.
    var kept: KeptConnections { detour?.kept ?? .any }
}
