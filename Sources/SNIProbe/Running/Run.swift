internal import DirectHTTP

/// One run of the command: hands out probes, keeps their order, and passes the results on.
///
/// All of it happens on the main thread, between sleeps in `poll`: reading, starting, printing. The probes themselves
/// run on the event loop, and put what they found into the mailbox.
final class Run {
    private let options: Options
    private let feed: ProbeFeed
    private let output: any RecordOutput
    private let tools: ProbeTools
    private let mailbox: Mailbox<Letter>
    private let starts: StartQueue
    private var loops = Loops()
    /// Made here unless it was needed before.
    private var context: Result<SurveyContext, TLSError>?
    private var progress: Progress
    private var pool = PoolWatch()
    private var tally = Tally()

    /// In the order of their results; those before `printed` are done and gone.
    private var slots: [Slot] = []
    private var printed = 0
    private var slotCount = 0
    private var feedState = FeedState.open
    private var waitEnd = Instant.never
    private var ended = 0
    private var failed = 0
    /// How many have failed so far, and are tried again.
    private var late = 0
    private var usageCode: Int32?
    private var hasProvided = false

    private enum FeedState: Equatable {
        case open
        case needsInput(Int32)
        case ended
    }

    enum Letter: Sendable {
        case observed(Slot, Observation)
        case resolved(Slot, Result<[IPAddress], LookupError>?, Duration)
    }

    init(
        _ options: Options,
        _ feed: ProbeFeed,
        _ output: any RecordOutput,
        _ alarm: Alarm,
        _ console: Console,
        context: Result<SurveyContext, TLSError>? = nil
    ) {
        self.context = context
        self.options = options
        self.feed = feed
        self.output = output
        tools = ProbeTools(options.settings, loop: EventLoop.shared)
        mailbox = Mailbox(alarm)
        starts = StartQueue(jobs: Descriptors.room(for: options.jobs), rate: options.rate)
        progress = Progress(isShown: console.errorsAreTerminal && !options.quiet)
    }

    /// Runs to the end, or until it is interrupted; says the exit code.
    func run() -> Int32 {
        if let wait = options.wait { waitEnd = Instant.now.advanced(byNanoseconds: wait.clampedNanoseconds) }
        while !Interrupts.hasCome {
            takeLetters()
            refill()
            startWaiting()
            if let error = provideContext() {
                Console.complain(error.text)
                return options.format == .nagios ? NagiosOutput.giveUp(error) : error.code
            }
            guard printFinished() else { return Console.endOfOutput() }
            if feedState == .ended, slots.isEmpty { break }
            sleep()
        }
        if Interrupts.hasCome { printWhatIsDone() }
        progress.clear()
        output.finish(tally, interrupted: Interrupts.hasCome)
        guard output.flush() else { return Console.endOfOutput() }
        if !feed.hasFoundAny, usageCode == nil, !Interrupts.hasCome { usageCode = reportNothing() }
        if let signal = Interrupts.signal { return ExitCode.interrupted(by: signal) }
        return output.exitCode(tally) ?? usageCode ?? tally.exitCode
    }

    /// Once, with the first probes already on their way: reading the roots takes as long as connecting. Says
    /// what is wrong where there are none.
    private func provideContext() -> UsageError? {
        guard !hasProvided else { return nil }
        hasProvided = true
        let context = context ?? ContextSource.make(options.settings)
        tools.context.provide(context)
        guard case .failure(let error) = context else { return nil }
        return UsageError(
            "\(error)",
            hint: "say which roots to trust with --ca FILE or --ca DIR",
            code: ExitCode.noInput
        )
    }

    private func sleep() {
        var limit = starts.timeUntilNext()
        if let tick = progress.timeUntilNext { limit = min(limit ?? tick, tick) }
        var descriptor: Int32?
        if case .needsInput(let number) = feedState, hasRoom { descriptor = number }
        if mailbox.alarm.sleep(orInputAt: descriptor, limit: limit) {
            feed.readMore()
            feedState = .open
        }
        // Those that have ended, also while their turn to be printed has not come.
        progress.show(
            done: ended,
            of: feedState == .ended ? slotCount : nil,
            failed: failed,
            late: late
        )
    }

    private var hasRoom: Bool { slots.count - printed < Self.window }

    /// So many probes may be under way, or done and waiting for their turn to be printed.
    private static let window = 4096

    private func refill() {
        while feedState == .open, hasRoom {
            switch feed.step() {
            case .probe(let probe): add(Slot(.probe(probe)))
            case .resolve(let target): add(Slot(.target(target)))
            case .needsInput(let descriptor): feedState = .needsInput(descriptor)
            case .end: feedState = .ended
            case .badLine(let error): report(error)
            }
        }
    }

    private func report(_ error: UsageError) {
        progress.clear()
        if feed.badLines <= 10 { Console.complain(error.text) }
        guard !options.skipsBad else { return }
        usageCode = error.code
    }

    /// An empty list is a mistake upstream more often than not: nothing was probed is not all is well.
    private func reportNothing() -> Int32 {
        let error = UsageError("nothing to probe: there is no target in the files", code: ExitCode.noInput)
        Console.complain(error.text)
        return error.code
    }

    private func add(_ slot: Slot) {
        slots.append(slot)
        slotCount += 1
        starts.add(slot)
    }

    private func startWaiting() {
        while let slot = starts.next() {
            switch slot.job {
            case .probe(let probe): observe(slot, probe)
            case .target(let target): resolve(slot, target)
            }
        }
    }

    private func observe(_ slot: Slot, _ probe: Probe) {
        let loop = loops.next()
        let (engine, mailbox) = (ProbeEngine(tools: tools, loop: loop), mailbox)
        Task(executorPreference: loop) {
            mailbox.put(.observed(slot, await engine.observe(probe)))
        }
    }

    private func resolve(_ slot: Slot, _ target: ProbeTarget) {
        let (loop, mailbox) = (EventLoop.shared, mailbox)
        let start = Instant.now
        let deadline = start.advanced(byNanoseconds: options.settings.timeout.clampedNanoseconds)
        let name = target.name
        Task(executorPreference: loop) {
            // Nothing where the resolver took longer than a probe may.
            let answer = try? await SystemLookups.shared.addresses(of: name, until: deadline, on: loop)
            mailbox.put(.resolved(slot, answer, Instant.now.since(start)))
        }
    }

    private func takeLetters() {
        for letter in mailbox.takeAll() {
            switch letter {
            case .observed(let slot, let observation): finish(slot, observation)
            case .resolved(let slot, let answer, let time): finish(slot, answer, time)
            }
        }
    }

    private var judge: Judge { Judge(settings: options.settings, now: Int(UnixTime.now.seconds)) }

    private func finish(_ slot: Slot, _ observation: Observation) {
        starts.ended(slot)
        slot.rounds += observation.attempts
        var observation = observation
        observation.attempts = slot.rounds
        settle(slot, judge.record(of: observation))
    }

    /// With `--wait` what has failed is tried again, as long as there is time.
    private func settle(_ slot: Slot, _ record: ProbeRecord) {
        if !record.passed, options.wait != nil, let moment = slot.nextRound(after: .now, until: waitEnd) {
            if slot.latest == nil { late += 1 }
            slot.latest = record
            return starts.add(slot, notBefore: moment)
        }
        if slot.latest != nil { late -= 1 }
        slot.record = record
        ended += 1
        if !record.passed { failed += 1 }
    }

    private func finish(_ slot: Slot, _ answer: Result<[IPAddress], LookupError>?, _ time: Duration) {
        starts.ended(slot)
        guard case .target(let target) = slot.job else { return }
        let why: String
        var advice = "check the name"
        switch answer {
        case .success(let addresses)?:
            let wanted = addresses.filter { options.family == nil || $0.family == options.family }
            guard wanted.isEmpty else { return replace(slot, target, wanted, time) }
            why = options.family == .v4 ? "it has no IPv4 address" : "it has no IPv6 address"
            if !addresses.isEmpty { advice = "leave out \(options.family == .v4 ? "-4" : "-6")" }
        case .failure(let error)?:
            let words = "\(error)"
            why = words.prefix(1).lowercased() + words.dropFirst()
        case nil:
            why = "no answer from the resolver in \(Words.span(options.settings.timeout))"
            advice = "see why the resolver does not answer"
        }
        slot.rounds += 1
        settle(
            slot,
            judge.record(unresolved: target, why, advice: advice, after: time, at: UnixTime.milliseconds)
        )
    }

    /// A target becomes the probes of its addresses, in its place.
    private func replace(_ slot: Slot, _ target: ProbeTarget, _ addresses: [IPAddress], _ time: Duration) {
        guard let place = slots[printed...].firstIndex(where: { $0 === slot }) else { return }
        let probes = addresses.map { address in
            Slot(
                .probe(
                    Probe(
                        target: target,
                        address: address,
                        port: target.port,
                        source: .resolver,
                        resolveTime: time
                    )
                )
            )
        }
        slots.replaceSubrange(place...place, with: probes)
        slotCount += probes.count - 1
        for probe in probes { starts.add(probe) }
    }

    private func print(_ record: ProbeRecord) {
        var record = record
        pool.compare(&record, mustBeSame: options.same)
        tally.add(record)
        progress.clear()
        output.add(record, isOnlyOne: slotCount == 1 && feedState == .ended)
    }

    /// When it is interrupted: also what waited for its turn behind others that will never be done, and what has failed and
    /// was waited for.
    private func printWhatIsDone() {
        takeLetters()
        for slot in slots[printed...] {
            if let record = slot.record ?? slot.latest { print(record) }
        }
    }

    /// Prints what is done, in order; says false when nobody reads any more.
    private func printFinished() -> Bool {
        while printed < slots.count, let record = slots[printed].record {
            if feedState == .open, slotCount == 1 { break }
            print(record)
            printed += 1
        }
        if printed == slots.count || printed > 512 {
            slots.removeFirst(printed)
            printed = 0
        }
        return output.flush()
    }
}

/// A place in the order of results.
///
/// Only the main thread touches what can change; tasks merely carry it.
final class Slot: @unchecked Sendable {
    enum Job: Sendable {
        case probe(Probe)
        case target(ProbeTarget)
    }

    let job: Job
    var record: ProbeRecord?
    /// What came of the last round, where it failed and there is to be another one.
    var latest: ProbeRecord?
    /// Attempts so far, over all rounds of `--wait`.
    var rounds = 0
    /// Whether it is one of those that its server is asked at once.
    var countsAtServer = false
    /// Nanoseconds until the next round.
    var pause: UInt64 = 500_000_000

    init(_ job: Job) {
        self.job = job
    }

    /// When to try again, with longer and longer pauses; nothing where the time is up.
    ///
    /// The last time is at the very end, so that all of the time counts.
    func nextRound(after now: Instant, until end: Instant) -> Instant? {
        guard now < end else { return nil }
        pause = min(pause * 2, 10_000_000_000)
        return min(now.advanced(byNanoseconds: pause), end)
    }
}
