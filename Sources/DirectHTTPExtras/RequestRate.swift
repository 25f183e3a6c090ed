public import DirectHTTP
internal import Synchronization

/// Limits the requests a second of a client, all together or to each origin (a token bucket).
///
/// ```swift
/// let client = HTTPClient { $0.networkInterceptors.append(RequestRate(10, burst: 20).interceptor) }
/// ```
///
/// Each request on the network takes a token, so redirects, retries and hedges count, and answers of a cache
/// do not. A request without a token waits for its turn, in the order of arrival, within `Timeouts.total`:
/// a call whose turn is later ends with `Reason.timedOut(after:)`. One that stops waiting takes no token, and
/// those behind it move up.
public final class RequestRate: Sendable {
    /// Nanoseconds from token to token.
    private let interval: Double
    private let burst: Double
    private let isPerOrigin: Bool
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Double
    /// The requests by origin; one entry for all if that is not asked for.
    private let lines = Mutex<[Origin?: Line]>([:])

    private struct Line {
        /// When the last token that was taken fell due.
        var last: Double
        /// Those that wait, by the number of their arrival: the first one for a token, each other one for its
        /// turn. Not in a list: many of them may be cancelled at a time.
        var waiting: [Int: Latch<Void>] = [:]
        /// The number of the first that waits, or else of the next that comes.
        var first = 0
        var next = 0

        /// Puts one more behind those that wait.
        mutating func add() -> Turn {
            let turn = Turn(number: next, latch: waiting.isEmpty ? Latch(()) : Latch())
            waiting[next] = turn.latch
            next += 1
            return turn
        }

        /// Takes one out, and returns the one that is the first now.
        mutating func remove(_ number: Int) -> Latch<Void>? {
            waiting[number] = nil
            while first < next, waiting[first] == nil { first += 1 }
            return waiting[first]
        }
    }

    /// The place of a request that waits.
    private struct Turn {
        let number: Int
        let latch: Latch<Void>
    }

    /// Makes a limit. Clients that have the same one share its tokens.
    ///
    /// - Parameters:
    ///   - perSecond: The requests a second.
    ///   - burst: The requests that may be made at once after a pause.
    ///   - perOrigin: Whether each origin has tokens of its own.
    public convenience init(_ perSecond: Double, burst: Int = 1, perOrigin: Bool = false) {
        self.init(perSecond, burst: burst, perOrigin: perOrigin, clock: LoopClock())
    }

    package init<Time: Clock>(
        _ perSecond: Double,
        burst: Int,
        perOrigin: Bool,
        clock: Time
    ) where Time.Duration == Duration {
        interval = 1e9 / min(max(perSecond, 1e-9), 1e9)
        self.burst = Double(max(1, burst))
        isPerOrigin = perOrigin
        self.clock = clock
        let start = clock.now
        now = { start.duration(to: clock.now) / .nanoseconds(1) }
    }

    /// The network interceptor that waits.
    public var interceptor: Interceptor {
        { [self] request, forward in
            try await wait(for: isPerOrigin ? request.url.origin : nil)
            return try await forward(request)
        }
    }

    /// The number of requests that wait.
    var waitingCount: Int { lines.withLock { $0.values.reduce(0) { $0 + $1.waiting.count } } }

    private func wait(for origin: Origin?) async throws {
        guard let turn = enter(origin) else { return }
        do {
            if let place = turn.latch.enter() { try await turn.latch.value(at: place) }
            // No more is saved than at other times, but for what timers are late by: the machine may sleep.
            let saved = max((burst - 1) * interval, 5e7)
            let due = lines.withLock { max(($0[origin]?.last ?? 0) + interval, now() - saved) }
            try await sleep(until: due)
            leave(turn, of: origin, taking: due)
        } catch {
            leave(turn, of: origin)
            throw error
        }
    }

    private func sleep(until due: Double) async throws {
        let rest = due - now()
        if rest > 0 { try await clock.sleep(for: .nanoseconds(Int64(min(rest, 9e18)))) }
    }

    /// Takes a token if one is there and no request waits. Otherwise returns the turn of the request.
    private func enter(_ origin: Origin?) -> Turn? {
        lines.withLock { lines in
            let time = now()
            // At most the burst has been saved, and a new origin has as much.
            let full = time - (burst - 1) * interval
            if lines.count >= Self.most {
                lines = lines.filter { $1.last > time - burst * interval || !$1.waiting.isEmpty }
            }
            return enter(&lines[origin, default: Line(last: full - interval)], at: time, full)
        }
    }

    private func enter(_ line: inout Line, at time: Double, _ full: Double) -> Turn? {
        let due = max(line.last + interval, full)
        if line.waiting.isEmpty, !(due > time) {
            line.last = due
            return nil
        }
        return line.add()
    }

    /// Ends the wait of a request, and lets the next one wait for a token.
    private func leave(_ turn: Turn, of origin: Origin?, taking due: Double? = nil) {
        let first = lines.withLock { lines in
            if let due { lines[origin]?.last = due }
            return lines[origin]?.remove(turn.number)
        }
        first?.open(with: ())
    }

    /// The number of origins from which those with all of their tokens are forgotten.
    private static let most = 1000
}
