internal import DirectIO

/// What was tried at one address, and what came of it.
struct Trial: Sendable {
    let endpoint: Endpoint
    let start: Instant
    let end: Instant
    let result: Result<Link, AttemptFailure>

    var elapsed: Duration { end.since(start) }

    var link: Link? {
        if case .success(let link) = result { link } else { nil }
    }

    var failure: AttemptFailure? {
        if case .failure(let failure) = result { failure } else { nil }
    }
}

/// Tries addresses until one will do: one after the other, or beside each other (RFC 8305, section 5).
///
/// A winner has connected *and* shaken hands. Whoever else has begun by then is stopped, and its descriptor is
/// closed before the race is over: nothing of it is left behind.
struct Race: Sendable {
    let endpoints: [Endpoint]
    /// How many of them, from the end, are begun with only when the others have failed.
    var late = 0
    /// How long after an address the next one is begun with; nothing: only after it has failed.
    let stagger: UInt64?
    let passesOverWrongServers: Bool
    let end: Instant
    let loop: EventLoop
    let attempt: @Sendable (Endpoint) async throws(AttemptFailure) -> Link

    struct Outcome {
        /// In the order of beginning. At most one has a link.
        var trials: [Trial]
        /// Which of them decided the matter, for good or ill; nothing if none did.
        var decisive: Int?
    }

    func run() async -> Outcome {
        guard let stagger, endpoints.count > 1 else { return await runInTurn() }
        return await runTogether(stagger)
    }

    private func runInTurn() async -> Outcome {
        var outcome = Outcome(trials: [])
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

    private func runTogether(_ stagger: UInt64) async -> Outcome {
        let bell = LoopHandle(loop: loop)
        loop.add(bell)
        defer { loop.remove(bell) }
        let ended = Locked<[Entry]>([])
        await withDiscardingTaskGroup { group in
            var schedule = RaceSchedule(count: endpoints.count, late: late, stagger: stagger, end: end)
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
                    // Cleared before the look: who ends after it signals again.
                    bell.input.clear()
                    if wake == .cancelled { return }
                    for entry in ended.withLock({ $0[seen...] }) {
                        seen += 1
                        schedule.noteEnd(isDecisive: isDecisive(entry.trial))
                    }
                case .over:
                    // The group waits for who is stopped: at the next word from the loop they close and end.
                    group.cancelAll()
                    return
                }
            }
        }
        return judge(ended.withLock { $0 })
    }

    private struct Entry {
        let place: Int
        let trial: Trial
    }

    private func trial(_ endpoint: Endpoint, from start: Instant) async -> Trial {
        let result: Result<Link, AttemptFailure>
        do throws(AttemptFailure) {
            result = .success(try await attempt(endpoint))
        } catch {
            result = .failure(error)
        }
        return Trial(endpoint: endpoint, start: start, end: loop.now, result: result)
    }

    private func isDecisive(_ trial: Trial) -> Bool {
        guard let failure = trial.failure else { return true }
        switch failure.consequence {
        case .tryNext: return failure.isCancellation
        case .wrongServer: return !passesOverWrongServers
        case .stop: return true
        }
    }

    /// The first to end decisively decides; who was too late for it is closed.
    private func judge(_ ended: [Entry]) -> Outcome {
        let first = Task.isCancelled ? nil : ended.first { isDecisive($0.trial) }?.place
        var trials: [Trial] = []
        var decisive: Int?
        for entry in ended.sorted(by: { $0.place < $1.place }) {
            var trial = entry.trial
            if entry.place == first {
                decisive = trials.count
            } else if let link = trial.link {
                link.close()
                let stopped = AttemptFailure(phase: link.phase, cause: .cancelled)
                trial = Trial(
                    endpoint: trial.endpoint,
                    start: trial.start,
                    end: trial.end,
                    result: .failure(stopped)
                )
            }
            trials.append(trial)
        }
        return Outcome(trials: trials, decisive: decisive)
    }
}
