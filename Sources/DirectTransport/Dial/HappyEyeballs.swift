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
    let attempt: @Sendable (Endpoint) async throws(AttemptFailure) -> EstablishedTransport

    struct RaceOutcome {
        /// The attempts in the order in which they began. At most one has a transport.
        var trials: [ConnectAttempt]
        /// The index of the attempt that decided the race, by success or failure; `nil` if none did.
        var decisive: Int?
    }

    /// Runs the race.
    func run() async -> RaceOutcome {
        guard let stagger, endpoints.count > 1 else { return await runInTurn() }
        return await runTogether(stagger)
    }

    /// Tries the addresses one after the other.
    private func runInTurn() async -> RaceOutcome {
        var outcome = RaceOutcome(trials: [])
        for endpoint in endpoints {
            let trial = await trial(endpoint, from: loop.now)
            outcome.trials.append(trial)
            if isDecisive(trial) {
                outcome.decisive = outcome.trials.count - 1
                break
            }
            if trial.end >= end { break }
        }
        return outcome
    }

    /// Tries the addresses in parallel, as the schedule says.
    private func runTogether(_ stagger: UInt64) async -> RaceOutcome {
        let bell = LoopHandle(loop: loop)
        loop.add(bell)
        defer { loop.remove(bell) }
        let ended = Locked<[Entry]>([])
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
                        let entry = Entry(place: place, trial: await trial(endpoints[place], from: start))
                        ended.withLock { $0.append(entry) }
                        bell.input.signal()
                    }
                case .wait(let instant):
                    let wake = await bell.input.wait(until: instant, on: loop)
                    // Cleared before checking: an attempt that ends after this line signals again.
                    bell.input.clear()
                    if wake == .cancelled { return }
                    for entry in ended.withLock({ $0[seen...] }) {
                        seen += 1
                        schedule.noteEnd(isDecisive: isDecisive(entry.trial))
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
    private struct Entry {
        let place: Int
        let trial: ConnectAttempt
    }

    private func trial(_ endpoint: Endpoint, from start: Instant) async -> ConnectAttempt {
        let result: Result<EstablishedTransport, AttemptFailure>
        do throws(AttemptFailure) {
            result = .success(try await attempt(endpoint))
        } catch {
            result = .failure(error)
        }
        return ConnectAttempt(endpoint: endpoint, start: start, end: loop.now, result: result)
    }

    /// Whether the attempt ends the race.
    private func isDecisive(_ trial: ConnectAttempt) -> Bool {
        guard let failure = trial.failure else { return true }
        switch failure.consequence {
        case .tryNext: return failure.isCancellation
        case .onCertificateMismatch: return !passesOverWrongServers
        case .stop: return true
        }
    }

    /// Returns the outcome: the first attempt to end decisively decides it, and the transports of attempts that
    /// came too late are closed.
    private func judge(_ ended: [Entry]) -> RaceOutcome {
        let first = Task.isCancelled ? nil : ended.first { isDecisive($0.trial) }?.place
        var trials: [ConnectAttempt] = []
        var decisive: Int?
        for entry in ended.sorted(by: { $0.place < $1.place }) {
            var trial = entry.trial
            if entry.place == first {
                decisive = trials.count
            } else if let established = trial.established {
                established.close()
                let stopped = AttemptFailure(phase: established.phase, cause: .cancelled)
                trial = ConnectAttempt(
                    endpoint: trial.endpoint,
                    start: trial.start,
                    end: trial.end,
                    result: .failure(stopped)
                )
            }
            trials.append(trial)
        }
        return RaceOutcome(trials: trials, decisive: decisive)
    }
}
