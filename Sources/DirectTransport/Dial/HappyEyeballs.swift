internal import DirectCore
internal import DirectIO

/// One connection attempt and its result.
final class ConnectAttempt: Sendable {
    let endpoint: Endpoint
    let start: Instant
    let end: Instant
    let result: Ending

    /// Not a `Result`, as said at ``Locked``.
    enum Ending: Sendable {
        case success(EstablishedTransport)
        case failure(AttemptFailure)
    }

    init(endpoint: Endpoint, start: Instant, end: Instant, result: Ending) {
        self.endpoint = endpoint
        self.start = start
        self.end = end
        self.result = result
    }

    var elapsed: Duration { end.since(start) }

    var established: EstablishedTransport? {
        if case .success(let established) = result { established } else { nil }
    }

    var failure: AttemptFailure? {
        if case .failure(let failure) = result { failure } else { nil }
    }
}

/// Happy eyeballs: tries addresses until one will do, one after the other or in parallel (RFC 8305, section
/// 5).
///
/// An attempt wins when it has connected *and* completed the TLS handshake. `HappyEyeballsSchedule` says when
/// each attempt begins. An attempt ends in one of three ways:
/// - It succeeds or fails decisively (by default a wrong certificate does, and a fault on this side): this
///   decides the race, and the other attempts are cancelled.
/// - It fails in a way that says nothing about the other addresses: the next one begins immediately, except
///   that a late one lets the running attempts have their head start.
/// - It is overtaken: its transport is closed, even if it was established just then, and the attempt counts
///   as cancelled.
///
/// If the call is cancelled, the race ends and its attempts count as cancelled.
///
/// The addresses of one family may come first (RFC 8305, section 3). The race begins with these, and takes
/// others in as they come: the two families alternate from there on. As long as some may come, no failure is
/// the last one.
///
/// `run` returns only when every attempt has ended, so no attempt keeps a descriptor afterwards. All attempts
/// that began are reported, in the order in which they began, and at most one of them has a transport.
struct HappyEyeballs: Sendable {
    /// Endpoints in the order in which to try them.
    struct Candidates: Sendable {
        var endpoints: [Endpoint]
        /// The number of endpoints, from the end, that are tried only when the others have failed or have had
        /// a long head start.
        var late = 0

        /// Returns the candidates with `begun` in front, in place of the same endpoints.
        func following(_ begun: ArraySlice<Endpoint>) -> Candidates {
            let late = endpoints.suffix(late).filter { !begun.contains($0) }
            return Candidates(endpoints: begun + endpoints.filter { !begun.contains($0) }, late: late.count)
        }
    }

    let candidates: Candidates
    /// Waits until more is known and returns all candidates, again and again; `nil` when no more will come.
    /// `nil` itself if those from the beginning are all.
    var rest: (@Sendable () async -> Candidates?)?
    /// The nanoseconds after which the next attempt begins beside the previous one; `nil` to begin it only
    /// after that has failed.
    let stagger: UInt64?
    /// Whether a wrong certificate leads to the next address. Otherwise it decides the race.
    let passesOverWrongServers: Bool
    /// The endpoints at which it always does.
    var provisional: Set<Endpoint> = []
    /// The end of the call: no attempt begins after it.
    let end: Instant
    let loop: EventLoop
    /// Connects to an endpoint.
    let connect: Connect

    struct RaceOutcome {
        /// The attempts in the order in which they began. At most one has a transport.
        var attempts: [ConnectAttempt]
        /// The index of the attempt that decided the race, by success or failure; `nil` if none did.
        var decisive: Int?
        /// Whether the call was cancelled. No attempt need have been in progress: the race may only have
        /// waited for `rest`.
        var isCancelled = false
    }

    /// Runs the race.
    func run() async -> RaceOutcome {
        var outcome: RaceOutcome
        if rest != nil || stagger != nil && candidates.endpoints.count > 1 {
            outcome = await runInParallel(stagger ?? .max)
        } else {
            outcome = await runSequentially()
        }
        outcome.isCancelled = Task.isCancelled
        return outcome
    }

    /// Tries the addresses one after the other, when no more will come.
    private func runSequentially() async -> RaceOutcome {
        var outcome = RaceOutcome(attempts: [])
        for endpoint in candidates.endpoints {
            let attempt = await makeAttempt(at: endpoint, from: loop.now)
            outcome.attempts.append(attempt)
            if isDecisive(attempt) { outcome.decisive = outcome.attempts.count - 1 }
            if outcome.decisive != nil || attempt.end >= end { break }
        }
        return outcome
    }

    /// Tries the addresses in parallel, as the schedule says.
    private func runInParallel(_ stagger: UInt64) async -> RaceOutcome {
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        let ended = Locked<[EndedAttempt]>([])
        let arrived = Locked<Arrived>((nil, rest == nil))
        await withDiscardingTaskGroup { group in
            var candidates = candidates
            var schedule = HappyEyeballsSchedule(
                count: candidates.endpoints.count,
                late: candidates.late,
                stagger: stagger,
                end: end,
                isComplete: rest == nil
            )
            if let rest { group.addTask { await gather(rest, in: arrived, waking: handle) } }
            var seen = 0
            while true {
                switch schedule.next(at: loop.now) {
                case .begin(let place):
                    let (start, endpoint) = (loop.now, candidates.endpoints[place])
                    group.addTask {
                        let entry = EndedAttempt(
                            place: place,
                            attempt: await makeAttempt(at: endpoint, from: start)
                        )
                        ended.withLock { $0.append(entry) }
                        handle.input.signal()
                    }
                case .wait(let instant):
                    let wake = await handle.waitForSignal(until: instant)
                    if wake == .cancelled { return }
                    let (all, isComplete) = arrived.withLock { ($0.all.take(), $0.isComplete) }
                    if let all { candidates = all.following(candidates.endpoints[..<schedule.begun]) }
                    if all != nil || isComplete {
                        schedule.extend(
                            count: candidates.endpoints.count,
                            late: candidates.late,
                            isComplete: isComplete
                        )
                    }
                    for entry in ended.withLock({ $0[seen...] }) {
                        seen += 1
                        schedule.noteEnd(isDecisive: isDecisive(entry.attempt))
                    }
                case .over:
                    // The group waits for the cancelled attempts: they close their sockets and end when the
                    // loop resumes them.
                    group.cancelAll()
                    return
                }
            }
        }
        return judge(ended.withLock { $0 })
    }

    /// The candidates that became known since the race last looked, and whether the list is complete.
    private typealias Arrived = (all: Candidates?, isComplete: Bool)

    /// Takes in what becomes known, until no more comes.
    private func gather(
        _ rest: @Sendable () async -> Candidates?,
        in arrived: Locked<Arrived>,
        waking handle: LoopHandle
    ) async {
        while let all = await rest() {
            arrived.withLock { $0.all = all }
            handle.input.signal()
        }
        arrived.withLock { $0.isComplete = true }
        handle.input.signal()
    }

    /// An attempt that has ended, and its index among the candidates.
    private struct EndedAttempt {
        let place: Int
        let attempt: ConnectAttempt
    }

    private func makeAttempt(at endpoint: Endpoint, from start: Instant) async -> ConnectAttempt {
        let result: ConnectAttempt.Ending
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
        case .onCertificateMismatch:
            return !passesOverWrongServers && !provisional.contains(attempt.endpoint)
        case .stop: return true
        }
    }

    /// Returns the outcome: the first attempt to end decisively decides it, and the transports of attempts
    /// that came too late are closed.
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

/// Decides when each connection attempt begins: a delay after the previous one, and immediately when one has
/// failed (RFC 8305, section 5). A state machine without sockets or a clock.
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

    private var count: Int
    /// The number of endpoints, from the beginning, that are not late.
    private var early: Int
    private let stagger: UInt64
    /// The end of the call: no attempt begins after it.
    private let end: Instant
    /// The number of attempts that have begun: those at the first endpoints.
    private(set) var begun = 0
    /// Whether there will be no more endpoints.
    private var isComplete: Bool
    private var running = 0
    private var due = Instant(nanoseconds: 0)
    private var lastBegin = Instant(nanoseconds: 0)
    private var isDecided = false

    /// - Parameters:
    ///   - count: The number of endpoints.
    ///   - late: The number of endpoints, from the end, that begin only when all others have failed, or have
    ///     had so long that they will hardly connect any more.
    ///   - stagger: The delay between two attempts in nanoseconds.
    ///   - end: The end of the call.
    ///   - isComplete: Whether there will be no more endpoints.
    init(count: Int, late: Int = 0, stagger: UInt64, end: Instant, isComplete: Bool = true) {
        self.count = count
        self.isComplete = isComplete
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
            lastBegin = now
            due = now.advanced(byNanoseconds: begun < early ? stagger : max(stagger, Self.headStart))
            return .begin(begun - 1)
        }
        guard running > 0 || !isComplete && now < end else { return .over }
        // A running attempt has a limit of its own; the wait for more endpoints has none but this.
        return .wait(until: mayBegin ? due : running > 0 ? .never : end)
    }

    /// Takes in all endpoints that are known: first those of the attempts that have begun, then the others.
    ///
    /// - Parameter isComplete: Whether there will be no more.
    mutating func extend(count: Int, late: Int, isComplete: Bool) {
        self.count = count
        early = count - late
        self.isComplete = isComplete
        // The last one so far had the longer head start.
        if begun < early { due = min(due, lastBegin.advanced(byNanoseconds: stagger)) }
    }

    /// Notes that an attempt has ended. The race is over if that was decisive; otherwise the next attempt is
    /// due, unless it is a late one.
    mutating func noteEnd(isDecisive: Bool) {
        running -= 1
        if begun < early { due = Instant(nanoseconds: 0) }
        if isDecisive { isDecided = true }
    }

    /// The longest delay that RFC 8305, section 8, recommends.
    private static let headStart: UInt64 = 2_000_000_000
}

extension HappyEyeballs.RaceOutcome {
    /// The attempt that has won the race, with its transport.
    struct Winner {
        let attempt: ConnectAttempt
        let transport: EstablishedTransport
    }

    /// The attempt that has won; `nil` if none has.
    var winner: Winner? {
        guard let decisive, let transport = attempts[decisive].established else { return nil }
        return Winner(attempt: attempts[decisive], transport: transport)
    }

    /// The failure that ends all dialling; the caller adds its attempts.
    var decisiveFailure: DialFailure? {
        guard let decisive else { return isCancelled ? DialFailure(cause: .cancelled) : nil }
        return attempts[decisive].failure.map {
            $0.atProxy
                ?? DialFailure(
                    cause: $0.cause,
                    endpoint: attempts[decisive].endpoint,
                    certificates: $0.certificates
                )
        }
    }

    /// The first failure because of a certificate that is not accepted, if there is one.
    var wrongServer: DialFailure? {
        for attempt in attempts {
            guard let failure = attempt.failure, case .onCertificateMismatch = failure.consequence else {
                continue
            }
            return DialFailure(
                cause: failure.cause,
                endpoint: attempt.endpoint,
                certificates: failure.certificates
            )
        }
        return nil
    }

    /// The reason why this attempt failed; `nil` if the whole call was cancelled, which is not the address's
    /// fault.
    func reason(at index: Int) -> TransportError.Reason? {
        switch attempts[index].failure?.cause {
        case .failed(_, let reason): reason
        case .cancelled: decisive == nil || decisive == index ? nil : .overtaken
        case nil: nil
        }
    }

    /// The failure for lack of descriptors, if there is one: no other address would have done better.
    var shortage: DialFailure? {
        attempts.lazy.compactMap(\.failure).first(where: \.isDescriptorShortage).map {
            DialFailure(cause: $0.cause)
        }
    }

    /// Whether the failure says something about the address. A cancellation does so only if another attempt
    /// that had begun later was faster. A lack of descriptors, a fault on this side, a refusal by the
    /// client's own vetting and a fault of the proxy never do.
    func isTelling(_ index: Int) -> Bool {
        guard let failure = attempts[index].failure, !failure.isDescriptorShortage else { return false }
        if case .failed(_, .refused) = failure.cause { return false }
        guard failure.isCancellation else { return failure.concernsAddress }
        guard let decisive, attempts[decisive].established != nil else { return false }
        return index < decisive
    }
}
