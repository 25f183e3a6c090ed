public import DirectHTTP
internal import Synchronization

/// Makes equal GETs that are in flight at the same time once, for all that ask.
///
/// ```swift
/// let client = HTTPClient { $0.interceptors.append(SharedRequests().interceptor) }
/// ```
///
/// Requests are equal if method, URL (with user and password), all header fields, addresses and tags' absence
/// are. A request with any other option of its own (limits, an authenticator, TLS settings, a proxy, a
/// callback, tags, …) is made alone, and so is one with a body. The client's cookies and authenticators are
/// taken to be the same for all requests in flight, so each client needs an interceptor of its own, and a
/// program that exchanges the cookies in a jar for another user's waits for its requests before.
///
/// The response is read whole, up to the limit, before anyone gets it; one that is larger is
/// `Reason.bodyTooLarge(limit:)` for all. Use `where` to leave out what is to be streamed.
///
/// A caller that is cancelled, or whose time is over, stops waiting, and the others go on: if it was the one
/// whose request it is, the next one makes it anew, in what is left of its own `Timeouts.total`. None waits
/// for the request of a call that began after its own, which may end after its own time. A request
/// that is made while another one is made, by an interceptor behind this one, is made alone: it might wait
/// for itself. After a request with an unsafe method has begun, later GETs join none that began before it
/// ended: they would miss what it has changed.
public final class SharedRequests: Sendable {
    /// The outcome of a request.
    private enum Outcome: Sendable {
        case ended(Result<HTTPClient.Response, any Error>)
        /// The caller that made it was cancelled: it has to be made anew.
        case cancelled
        /// It timed out. If it times out too, so do all who waited for the full limit.
        case late(any Error, limit: Duration)
    }

    /// A request that is in flight.
    private final class Flight: Sendable {
        /// When the call that makes it began.
        let start: Duration
        let landing = Latch<Outcome>()

        init(from start: Duration) { self.start = start }
    }

    /// The tables for which this task makes a request. If it waited for another one there, that one could be
    /// waiting for it.
    @TaskLocal private static var leading: Set<ObjectIdentifier> = []

    private let limit: Int
    private let fits: @Sendable (HTTPClient.Request) -> Bool
    private let now: @Sendable () -> Duration
    private let flights = Mutex<[Key: Flight]>([:])

    /// Makes a table without requests.
    ///
    /// - Parameters:
    ///   - limit: The number of bytes of a body at most.
    ///   - fits: Whether a request may be shared.
    public convenience init(
        upTo limit: Int = 1 << 24,
        where fits: @escaping @Sendable (HTTPClient.Request) -> Bool = { _ in true }
    ) {
        self.init(upTo: limit, where: fits, clock: SuspendingClock())
    }

    init<Time: Clock>(
        upTo limit: Int = 1 << 24,
        where fits: @escaping @Sendable (HTTPClient.Request) -> Bool = { _ in true },
        clock: Time
    ) where Time.Duration == Duration {
        self.limit = limit
        self.fits = fits
        let start = clock.now
        now = { start.duration(to: clock.now) }
    }

    /// The interceptor of calls. Others before it see each request, those behind it only the ones that are
    /// made.
    public var interceptor: Interceptor {
        { [self] request, forward in
            guard request.method.isSafe else {
                // From now on a response may have been made before the change, until this one is there.
                flights.withLock { $0 = [:] }
                defer { flights.withLock { $0 = [:] } }
                return try await making { try await forward(request) }
            }
            guard let key = Key(request), fits(request), !Self.leading.contains(ObjectIdentifier(self)) else {
                return try await making { try await forward(request) }
            }
            var (flight, start, waiter) = enter(key)
            var request = request
            while let place = waiter {
                switch try await flight.landing.value(at: place) {
                case .ended(let result): return try result.get()
                case .late(let error, let limit) where now() - start >= limit: throw error
                case .late, .cancelled:
                    (flight, start, waiter) = enter(key, since: start)
                    request.waited = now() - start
                }
            }
            return try await lead(flight, for: key, by: { [request] in try await forward(request) })
        }
    }

    /// The number of calls that wait for the request of another.
    var waitingCount: Int { flights.withLock { $0.values.reduce(0) { $0 + $1.landing.waitingCount } } }

    /// Returns the request that is in flight with the number of a waiter, or a new one, to be made.
    ///
    /// - Parameter start: when the call began; `nil` for one that begins now.
    private func enter(_ key: Key, since start: Duration? = nil) -> (Flight, start: Duration, waiter: Int?) {
        flights.withLock { flights in
            let start = start ?? now()
            if let flight = flights[key], flight.start <= start, let waiter = flight.landing.enter() {
                return (flight, start, waiter)
            }
            let flight = Flight(from: start)
            flights[key] = flight
            return (flight, start, nil)
        }
    }

    /// Makes a request, so that what is made meanwhile for its sake waits for no other: that one may be
    /// waiting for the same, such as a token.
    private func making(by forward: Forward) async throws -> HTTPClient.Response {
        let leading = Self.leading.union([ObjectIdentifier(self)])
        return try await Self.$leading.withValue(leading, operation: forward)
    }

    /// Makes a request, and gives its result to all that wait.
    private func lead(_ flight: Flight, for key: Key, by forward: Forward) async throws -> HTTPClient.Response
    {
        // One of the others makes the request then, also if code behind this one ignores the cancellation.
        try await withTaskCancellationHandler {
            do {
                let response = try await making(by: forward)
                let whole = response.holding(whole: try await response.body.collect(upTo: limit))
                end(flight, for: key, with: .ended(.success(whole)))
                return whole
            } catch {
                let failure =
                    error.timeLimit.map { .late(error, limit: $0) } ?? Outcome.ended(.failure(error))
                end(flight, for: key, with: Task.isCancelled ? .cancelled : failure)
                throw error
            }
        } onCancel: {
            end(flight, for: key, with: .cancelled)
        }
    }

    private typealias Forward = () async throws -> HTTPClient.Response

    private func end(_ flight: Flight, for key: Key, with result: Outcome) {
        flights.withLock { if $0[key] === flight { $0[key] = nil } }
        flight.landing.open(with: result)
    }
}

extension Error {
    /// The limit if the time of one caller was over, which says nothing of another's.
    fileprivate var timeLimit: Duration? {
        if case .timedOut(after: let limit) = (self as? HTTPError)?.reason { limit } else { nil }
    }
}

/// The key that equal requests share.
private struct Key: Hashable, Sendable {
    let url: HTTPURL
    let headers: HTTPHeaders
    let addresses: [Endpoint]?

    /// `nil` for a request that is made alone.
    init?(_ request: HTTPClient.Request) {
        guard request.method == .get, request.body.isNone, !request.setsOptions, let url = try? request.url
        else { return nil }
        (self.url, headers, addresses) = (url, request.headers, request.addresses)
    }
}
