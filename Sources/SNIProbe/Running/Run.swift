internal import DirectCore
internal import DirectHTTP

/// One run of the command: starts probes, and prints their results in the order of the targets.
///
/// Everything here runs on the main thread: reading targets, starting, judging, printing. In between it sleeps in
/// `poll`. The probes run on event loops and send their observations through the mailbox.
///
/// One turn of the main loop takes finished results from the mailbox, reads targets until 4096 probes are in flight
/// or unprinted, starts what the `StartQueue` allows, and prints the finished results that are next in order.
///
/// - A target with a name occupies one slot until it is resolved, then one slot for each address in its place.
/// - With `--wait` a failed probe returns to the queue until it passes or the time is up. Only then is it printed.
/// - On a signal the loop ends, and all results so far are printed, even out of turn.
/// - The trust roots are loaded after the first probes were started, because both take about the same time.
final class Run {
    let options: Options
    private let feed: ProbeFeed
    let output: any RecordOutput
    private let tools: ProbeTools
    let mailbox: Mailbox<Letter>
    let starts: StartQueue
    var loops: Loops
    /// The TLS context. `nil` if it is still to be made.
    private var context: Result<SurveyContext, TLSError>?
    private var progress: Progress
    private var pool = PoolWatch()
    private let baseline: Baseline?
    let resolvers: [NamedResolver]
    /// Gets the line on the baseline in place of standard error.
    var report: ((String) -> Void)?
    private var tally = Tally()

    /// The slots in the order of their results. Those before the index `printed` have been printed.
    var slots: [Slot] = []
    var printed = 0
    var slotCount = 0
    private var feedState = FeedState.open
    private var waitEnd = Instant.never
    var ended = 0
    var failed = 0
    /// The number of probes that have failed and are tried again.
    private var late = 0
    /// The exit code for faulty input, if there was any.
    private var usageCode: Int32?
    private var hasProvided = false
    /// Whether the run has got to the end of a usable input, so that its results are all there are.
    private(set) var isComplete = false

    /// The state of the input.
    private enum FeedState: Equatable {
        case open
        case needsInput(Int32)
        case ended
    }

    /// A message from a task to the main thread.
    enum Letter: Sendable {
        case observed(Slot, Observation)
        case resolved(Slot, Result<[IPAddress], LookupError>?, Duration)
        case answered(Slot, HostReplies, Duration)
    }

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - options: The parsed command line.
    ///   - feed: The targets.
    ///   - output: The output format.
    ///   - alarm: Wakes the main thread.
    ///   - console: The properties of the terminal.
    ///   - context: The TLS context, if it was made already.
    ///   - baseline: The results of an earlier run.
    ///   - resolvers: The resolvers that are asked for addresses; none stands for the system's.
    ///   - loop: The event loop of the probes, whose clock measures their times and limits.
    init(
        _ options: Options,
        _ feed: ProbeFeed,
        _ output: any RecordOutput,
        _ alarm: Alarm,
        _ console: Console,
        context: Result<SurveyContext, TLSError>? = nil,
        baseline: Baseline? = nil,
        resolvers: [NamedResolver] = [],
        loop: EventLoop = .shared
    ) {
        self.context = context
        self.options = options
        self.baseline = baseline
        self.resolvers = resolvers
        self.feed = feed
        self.output = output
        tools = ProbeTools(options.settings, loop: loop)
        loops = Loops(first: loop)
        mailbox = Mailbox(alarm)
        starts = StartQueue(jobs: Descriptors.room(for: options.jobs), rate: options.rate)
        progress = Progress(isShown: console.errorsAreTerminal && !options.quiet)
    }

    /// Runs to the end, or until it is interrupted, and returns the exit code.
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
        reportInput()
        isComplete = usageCode == nil && !Interrupts.hasCome
        if let baseline {
            let summary = baseline.summary(isWhole: isComplete && options.shard == nil)
            if let report { report(summary) } else { Console.complain("sni-probe: \(summary)\n") }
        }
        if let signal = Interrupts.signal { return ExitCode.interrupted(by: signal) }
        return output.exitCode(tally) ?? usageCode ?? tally.exitCode
    }

    /// Makes the TLS context on the first call, after the first probes were started: loading the roots takes about as
    /// long as connecting. Returns the error if the roots cannot be loaded.
    private func provideContext() -> UsageError? {
        guard !hasProvided else { return nil }
        hasProvided = true
        // Without TLS there is nothing to trust, and missing roots are no error.
        guard options.mayUseTLS else { return nil }
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
        // The count includes finished probes that cannot be printed yet.
        progress.show(
            done: ended,
            of: feedState == .ended ? slotCount : nil,
            failed: failed,
            late: late
        )
    }

    private var hasRoom: Bool { slots.count - printed < Self.window }

    /// The maximum number of probes that are in flight, or done and not yet printed.
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
        if feed.badLines <= Self.mostBadLines { Console.complain(error.text) }
        guard !options.skipsBad else { return }
        usageCode = error.code
    }

    /// Reports what was wrong with the input as a whole.
    private func reportInput() {
        if options.skipsBad, feed.badLines > 0 {
            let count = feed.badLines == 1 ? "1 line" : "\(Words.grouped(feed.badLines)) lines"
            let shown =
                feed.badLines > Self.mostBadLines ? "; the first \(Self.mostBadLines) are shown above" : ""
            Console.complain("sni-probe: \(count) of the input could not be used\(shown)\n")
        }
        guard usageCode == nil, !Interrupts.hasCome else { return }
        if !feed.hasFoundAny {
            usageCode = reportNothing()
        } else if !options.requestOptions.isEmpty, !feed.hasFoundURL {
            let error = options.requestOptionsWithoutRequest
            Console.complain(error.text)
            usageCode = error.code
        }
    }

    /// The number of bad lines that are reported each by itself.
    private static let mostBadLines = 10

    /// Reports that no target was found. This is an error: an empty list is usually a mistake where it was made, and
    /// must not look like success.
    private func reportNothing() -> Int32 {
        let error = UsageError("nothing to probe: there is no target in the files", code: ExitCode.noInput)
        Console.complain(error.text)
        return error.code
    }

    private func add(_ slot: Slot) {
        if case .probe(let probe) = slot.job { output.expect(probe) }
        slots.append(slot)
        slotCount += 1
        starts.add(slot)
    }

    private func startWaiting() {
        while let slot = starts.next() {
            switch slot.job {
            case .probe(let probe): observe(slot, probe: probe)
            case .target(let target): resolve(slot, target: target)
            }
        }
    }

    private func observe(_ slot: Slot, probe: Probe) {
        let loop = loops.next()
        let (engine, mailbox) = (ProbeEngine(tools: tools, loop: loop), mailbox)
        Task(executorPreference: loop) {
            mailbox.put(.observed(slot, await engine.observe(probe)))
        }
    }

    private func takeLetters() {
        for letter in mailbox.takeAll() {
            switch letter {
            case .observed(let slot, let observation): finish(slot, observation: observation)
            case .resolved(let slot, let answer, let time): finish(slot, answer: answer, time: time)
            case .answered(let slot, let replies, let time): finish(slot, replies: replies, time: time)
            }
        }
    }

    var judge: Judge { Judge(settings: options.settings, now: Int(UnixTime.now.seconds)) }

    private func finish(_ slot: Slot, observation: Observation) {
        starts.ended(slot)
        slot.rounds += observation.attempts
        var observation = observation
        observation.attempts = slot.rounds
        settle(slot, record: judge.record(of: observation))
    }

    /// Stores a slot's result, or queues the slot for another round if it failed and `--wait` leaves time for one.
    func settle(_ slot: Slot, record: ProbeRecord) {
        if !record.passed, options.wait != nil, let moment = slot.nextRound(after: .now, until: waitEnd) {
            if slot.latest == nil { late += 1 }
            slot.latest = completed(record, replies: slot.replies)
            return starts.add(slot, notBefore: moment)
        }
        if slot.latest != nil { late -= 1 }
        slot.record = completed(record, replies: slot.replies)
        ended += 1
        if !record.passed { failed += 1 }
    }

    private func print(_ record: ProbeRecord) {
        var record = record
        if options.same {
            pool.compareWithMost(&record)
        } else {
            pool.compareWithFirst(&record)
        }
        if let baseline {
            let change = baseline.compare(record)
            record.change = change
            if let words = change.words(record) { record.warnings.append(Warning(id: .changed, text: words)) }
        }
        judge.applyStrictness(to: &record)
        tally.add(record)
        progress.clear()
        output.add(record, isOnlyOne: slotCount == 1 && feedState == .ended)
    }

    /// Prints all results after an interruption: also those behind probes that will never finish, and the last
    /// failures of probes that would have been tried again.
    private func printWhatIsDone() {
        takeLetters()
        let records = slots[printed...].compactMap { $0.record ?? $0.latest }
        tally.unfinished = slots.count - printed - records.count
        tally.isCutShort = feedState != .ended
        if options.same { pool.learn(records) }
        for record in records { print(record) }
    }

    /// Prints the finished results that are next in order. Returns `false` if standard output accepts no more.
    private func printFinished() -> Bool {
        if options.same {
            // What most addresses show is known when all results are there, or as many as are kept.
            let waiting = slots[printed...]
            guard feedState == .ended || !hasRoom, waiting.allSatisfy({ $0.record != nil }) else {
                return output.flush()
            }
            pool.learn(waiting.lazy.compactMap(\.record))
        }
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

/// A probe or an unresolved target, with its place in the order of results.
///
/// Only the main thread accesses the mutable properties. Tasks only pass the reference on, which is why `@unchecked
/// Sendable` is safe.
final class Slot: @unchecked Sendable {
    /// The work of a slot.
    enum Job: Sendable {
        case probe(Probe)
        case target(ProbeTarget)
    }

    let job: Job
    /// The final result. `nil` until the probe is done.
    var record: ProbeRecord?
    /// The result of the last round, if it failed and another round follows.
    var latest: ProbeRecord?
    /// The number of attempts in all rounds of `--wait`.
    var rounds = 0
    /// The replies of the named resolvers for its host.
    var replies: HostReplies?
    /// Whether it counts towards the limit of its server in the `StartQueue`.
    var countsAtServer = false
    /// The nanoseconds until the next round. Doubled before each.
    var pause: UInt64 = 500_000_000

    init(_ job: Job) {
        self.job = job
    }

    /// Returns the time of the next round, with growing pauses. `nil` if the time is up.
    ///
    /// The last round is at `end`, so that none of the time is wasted.
    func nextRound(after now: Instant, until end: Instant) -> Instant? {
        guard now < end else { return nil }
        pause = min(pause * 2, 10_000_000_000)
        return min(now.advanced(byNanoseconds: pause), end)
    }
}
