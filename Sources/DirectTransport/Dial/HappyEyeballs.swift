internal import DirectCore
internal import DirectIO

/// One connection attempt and its result.
struct ConnectAttempt: Sendable {
    let endpoint: Endpoint
    let start: Instant
    let end: Instant
    let result: Result<EstablishedTransport, AttemptFailure>

    var elapsed: Duration { end.since(start) }

    var established: EstablishedTransport? {
        if case .success(let established) = result { established } else { nil }
    }

    var failure: AttemptFailure? {
        if case .failure(let failure) = result { failure } else { nil }
    }
}

/// Happy eyeballs: tries addresses until one will do, one after the other or in parallel (RFC 8305, section 5).
///
/// An attempt wins when it has connected *and* completed the TLS handshake. `HappyEyeballsSchedule` says when each
/// attempt begins. An attempt ends in one of three ways:
/// - It succeeds or fails decisively (by default a wrong certificate does, and a fault on this side): this decides
///   the race, and the other attempts are cancelled.
/// - It fails in a way that says nothing about the other addresses: the next one begins immediately, except that a
///   late one lets the running attempts have their head start.
/// - It is overtaken: its transport is closed, even if it was established just then, and the attempt counts as
///   cancelled.
///
/// If the call is cancelled, the race ends and its attempts count as cancelled.
///
/// `run` returns only when every attempt has ended, so no attempt keeps a descriptor afterwards. All attempts that
/// began are reported, in the order in which they began, and at most one of them has a transport.
struct HappyEyeballs: Sendable {
    let endpoints: [Endpoint]
    /// The number of endpoints, from the end, that are tried only when the others have failed or have had a long
    /// head start.
    var late = 0
    /// The nanoseconds after which the next attempt begins beside the previous one; `nil` to begin it only after
    /// that has failed.
    let stagger: UInt64?
    /// Whether a wrong certificate leads to the next address. Otherwise it decides the race.
    let passesOverWrongServers: Bool
    /// The end of the call: no attempt begins after it.
    let end: Instant
    let loop: EventLoop
    /// Connects to an endpoint.
    let connect: @Sendable (Endpoint) async throws(AttemptFailure) -> EstablishedTransport

    struct RaceOutcome {
        /// The attempts in the order in which they began. At most one has a transport.
        var attempts: [ConnectAttempt]
        /// The index of the attempt that decided the race, by success or failure; `nil` if none did.
        var decisive: Int?
    }

    /// Runs the race.
    func run() async -> RaceOutcome {
        guard let stagger, endpoints.count > 1 else { return await runSequentially() }
        return await runInParallel(stagger)
    }

    /// Tries the addresses one after the other.
    private func runSequentially() async -> RaceOutcome {
        var outcome = RaceOutcome(attempts: [])
        for endpoint in endpoints {
            let attempt = await makeAttempt(at: endpoint, from: loop.now)
            outcome.attempts.append(attempt)
            if isDecisive(attempt) {
                outcome.decisive = outcome.attempts.count - 1
                break
            }
            if attempt.end >= end { break }
        }
        return outcome
    }

    /// Tries the addresses in parallel, as the schedule says.
    private func runInParallel(_ stagger: UInt64) async -> RaceOutcome {
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        let ended = Locked<[EndedAttempt]>([])
        await withDiscardingTaskGroup { group in
            var schedule = HappyEyeballsSchedule(
                count: endpoints.count,
                late: late,
                stagger: stagger,
                end: end
            )
            var seen = 0
            while true {
                switch schedule.next(at: loop.now) {
                case .begin(let place):
                    let start = loop.now
                    group.addTask {
                        let entry = EndedAttempt(
                            place: place,
                            attempt: await makeAttempt(at: endpoints[place], from: start)
                        )
                        ended.withLock { $0.append(entry) }
                        handle.input.signal()
                    }
                case .wait(let instant):
                    let wake = await handle.waitForSignal(until: instant)
                    if wake == .cancelled { return }
                    for entry in ended.withLock({ $0[seen...] }) {
                        seen += 1
                        schedule.noteEnd(isDecisive: isDecisive(entry.attempt))
                    }
                case .over:
                    // The group waits for the cancelled attempts: they close their sockets and end when the loop
                    // resumes them.
                    group.cancelAll()
                    return
                }
            }
        }
        return judge(ended.withLock { $0 })
    }

    /// An attempt that has ended, and its index in `endpoints`.
    private struct EndedAttempt {
        let place: Int
        let attempt: ConnectAttempt
    }

    private func makeAttempt(at endpoint: Endpoint, from start: Instant) async -> ConnectAttempt {
        let result: Result<EstablishedTransport, AttemptFailure>
        do throws(AttemptFailure) {
            result = .success(try await connect(endpoint))
        } catch {
            result = .failure(error)
        }
        return ConnectAttempt(endpoint: endpoint, start: start, end: loop.now, result: result)
    }

    /// Whether the attempt ends the race.
    private func isDecisive(_ attempt: ConnectAttempt) -> Bool {
        guard let failure = attempt.failure else { return true }
        switch failure.consequence {
        case .tryNext: return failure.isCancellation
        case .onCertificateMismatch: return !passesOverWrongServers
        case .stop: return true
        }
    }

    /// Returns the outcome: the first attempt to end decisively decides it, and the transports of attempts that
    /// came too late are closed.
    private func judge(_ ended: [EndedAttempt]) -> RaceOutcome {
        let first = Task.isCancelled ? nil : ended.first { isDecisive($0.attempt) }?.place
        var attempts: [ConnectAttempt] = []
        var decisive: Int?
        for entry in ended.sorted(by: { $0.place < $1.place }) {
            var attempt = entry.attempt
            if entry.place == first {
                decisive = attempts.count
            } else if let established = attempt.established {
                established.close()
                let stopped = AttemptFailure(phase: established.phase, cause: .cancelled)
                attempt = ConnectAttempt(
                    endpoint: attempt.endpoint,
                    start: attempt.start,
                    end: attempt.end,
                    result: .failure(stopped)
                )
            }
            attempts.append(attempt)
        }
        return RaceOutcome(attempts: attempts, decisive: decisive)
    }
}

/// Decides when each connection attempt begins: a delay after the previous one, and immediately when one has failed
/// (RFC 8305, section 5). A state machine without sockets or a clock.
struct HappyEyeballsSchedule {
    /// The next thing to do.
    enum Step: Equatable {
        /// Begin with the endpoint at this index.
        case begin(Int)
        /// Wait until this moment, or until an attempt has ended.
        case wait(until: Instant)
        /// Stop: the race is decided, or no address is left to try.
        case over
    }

    private let count: Int
    /// The number of endpoints, from the beginning, that are not late.
    private let early: Int
    private let stagger: UInt64
    /// The end of the call: no attempt begins after it.
    private let end: Instant
    private var begun = 0
    private var running = 0
    private var due = Instant(nanoseconds: 0)
    private var isDecided = false

    /// - Parameters:
    ///   - count: The number of endpoints.
    ///   - late: The number of endpoints, from the end, that begin only when all others have failed, or have had so
    ///     long that they will hardly connect any more.
    ///   - stagger: The delay between two attempts in nanoseconds.
    ///   - end: The end of the call.
    init(count: Int, late: Int = 0, stagger: UInt64, end: Instant) {
        self.count = count
        early = count - late
        self.stagger = stagger
        self.end = end
    }

    /// Returns what to do at this moment.
    mutating func next(at now: Instant) -> Step {
        guard !isDecided else { return .over }
        let mayBegin = begun < count && now < end
        if mayBegin, running == 0 || due <= now {
            begun += 1
            running += 1
            due = now.advanced(byNanoseconds: begun < early ? stagger : max(stagger, Self.headStart))
            return .begin(begun - 1)
        }
        guard running > 0 else { return .over }
        return .wait(until: mayBegin ? due : .never)
    }

    /// Notes that an attempt has ended. The race is over if that was decisive; otherwise the next attempt is due,
    /// unless it is a late one.
    mutating func noteEnd(isDecisive: Bool) {
        running -= 1
        if begun < early { due = Instant(nanoseconds: 0) }
        if isDecisive { isDecided = true }
    }

    /// The longest delay that RFC 8305, section 8, recommends.
    private static let headStart: UInt64 = 2_000_000_000
}
