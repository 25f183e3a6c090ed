internal import DirectCore
internal import DirectHTTP

/// One run of the command: starts probes, and prints their results in the order of the targets.
///
/// Everything here runs on the main thread: reading targets, starting, judging, printing. In between it
/// sleeps in `poll`. The probes run on event loops and send their observations through the mailbox.
///
/// One turn of the main loop takes finished results from the mailbox, reads targets until 4096 probes are in
/// flight or unprinted, starts what the `StartQueue` allows, and prints the finished results that are next in
/// order.
///
/// - A target with a name occupies one slot until it is resolved, then one slot for each address in its
///   place.
/// - With `--wait` a failed probe returns to the queue until it passes or the time is up. Only then is it
///   printed.
/// - On a signal the loop ends, and all results so far are printed, even out of turn.
/// - The trust roots are loaded after the first probes were started, because both take about the same time.
final class Run {
    let options: Options
    let feed: ProbeFeed
    let output: any RecordOutput
    let tools: ProbeTools
    let mailbox: Mailbox<Letter>
    let starts: StartQueue
    var loops: Loops
    /// The TLS context. `nil` if it is still to be made.
    private var context: Result<SurveyContext, TLSError>?
    var progress: Progress
    var pool = PoolWatch()
    let baseline: Baseline?
    /// The results of the run that this one goes on with.
    var earlier: EarlierResults?
    /// The resolvers that are asked for addresses; none stands for the system's.
    let resolvers: [NamedResolver]
    /// The look-ups by the system's resolver; `nil` for those that all runs share.
    let lookups: SystemLookups?
    private let end: Instant
    var digest = Digest()
    /// Whether the run can be gone on with, so that only results in their order are written.
    var keepsOrder = false

    /// The slots in the order of their results. Those before the index `printed` have been printed.
    var slots: [Slot] = []
    var printed = 0
    var slotCount = 0
    var feedState = FeedState.open
    var badLines = BadLines()
    var waitEnd = Instant.never
    var ended = 0
    var failed = 0
    /// The number of probes that have failed and are tried again.
    var late = 0
    /// The exit code for faulty input, if there was any.
    var usageCode: Int32?
    private var hasProvided = false
    /// The number of event loops that have been asked whether they have processed everything, and since when.
    private var loopsBehind = 0
    private var behindSince = Instant.never
    /// Whether the run has got to the end of a usable input, so that its results are all there are.
    private(set) var isComplete = false

    /// The state of the input.
    enum FeedState: Equatable {
        case open
        case needsInput(Int32)
        case ended
    }

    /// A message from a task to the main thread.
    enum Letter: Sendable {
        case observed(Slot, Observation)
        case resolved(Slot, Result<[IPAddress], LookupError>?, Duration, hints: [IPAddress])
        case answered(Slot, HostReplies, Duration, hints: [IPAddress])
        /// An event loop has processed all that had arrived when it was asked.
        case caughtUp
    }

    /// What a run works with.
    struct Surroundings {
        /// Wakes the main thread.
        var alarm: Alarm
        var console: Console
        /// The TLS context, if it was made already.
        var context: Result<SurveyContext, TLSError>?
        /// The look-ups by the system's resolver.
        var lookups: SystemLookups?
        /// The event loop of the probes, whose clock measures their times and limits.
        var loop = EventLoop.shared
        /// Which probe an address belongs to, in all runs that go on at the same time.
        var turns = AddressTurns()
        /// What they have learned of addresses.
        var memory = AddressMemory()
        /// When the run ends even if it is not complete.
        var end = Instant.never
    }

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - options: The parsed command line.
    ///   - feed: The targets, if they were read already.
    /// - Throws: ``UsageError`` if a file of the options cannot be used.
    init(
        _ options: Options,
        to output: any RecordOutput,
        in surroundings: Surroundings,
        feed: ProbeFeed? = nil
    ) throws(UsageError) {
        (self.options, self.output) = (options, output)
        if let feed { self.feed = feed } else { self.feed = try ProbeFeed(options) }
        baseline = try options.baseline.map { (path) throws(UsageError) in try Baseline(path) }
        resolvers = try options.namedResolvers
        (context, lookups, end) = (surroundings.context, surroundings.lookups, surroundings.end)
        tools = ProbeTools(
            options.settings,
            loop: surroundings.loop,
            turns: surroundings.turns,
            memory: surroundings.memory,
            records: try options.recordSource,
            vary: { [settings = options.settings] in
                Judge(settings: settings, now: Int(clamping: UnixTime.now.seconds)).vary($0, for: $1)
            }
        )
        digest.anyIsEnough = options.anyGood
        loops = Loops(first: surroundings.loop)
        mailbox = Mailbox(surroundings.alarm)
        let room = Descriptors.room(for: options.jobs, resolvers: resolvers.count)
        starts = StartQueue(room.probes, rate: options.rate)
        progress = Progress(isShown: surroundings.console.errorsAreTerminal && !options.quiet)
    }

    /// Runs to the end, or until it is interrupted, and returns the exit code.
    func run() -> Int32 {
        if let wait = options.wait { waitEnd = now.advanced(byNanoseconds: wait.clampedNanoseconds) }
        while !isOver {
            takeLetters()
            refill()
            startWaiting()
            if let error = provideContext() {
                Console.complain(error.text)
                return options.format == .nagios ? NagiosOutput.giveUp(error) : error.code
            }
            guard printFinished() else { return Console.endOfOutput() }
            if feedState == .ended, slots.isEmpty { break }
            lookForSilence()
            sleep()
        }
        if isOver { printWhatIsDone() }
        progress.clear()
        output.finish(digest, interrupted: Interrupts.hasCome)
        guard output.flush() else { return Console.endOfOutput() }
        reportInput()
        if let words = earlier?.words { Console.complain("sni-probe: \(words)\n") }
        isComplete = usageCode == nil && !Interrupts.hasCome
        if let baseline {
            let summary = baseline.summary(isWhole: isComplete && options.shard == nil)
            Console.complain("sni-probe: \(summary)\n")
        }
        if let signal = Interrupts.signal { return ExitCode.interrupted(by: signal) }
        return output.exitCode(digest) ?? usageCode ?? digest.exitCode
    }

    /// Whether the run ends, complete or not.
    private var isOver: Bool { Interrupts.hasCome || end != .never && now >= end }

    /// Makes the TLS context on the first call, after the first probes were started: loading the roots takes
    /// about as long as connecting. Returns the error if the roots cannot be loaded.
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
        var limit = starts.timeUntilNext(at: now)
        if let tick = progress.timeUntilNext { limit = min(limit ?? tick, tick) }
        if end != .never { limit = min(limit ?? .seconds(3600), end.since(now)) }
        var descriptor: Int32?
        if case .needsInput(let number) = feedState, hasRoom { descriptor = number }
        if mailbox.alarm.sleep(orInputAt: descriptor, limit: limit) {
            feed.readMore()
            feedState = .open
        }
        // The count includes finished probes that cannot be printed yet.
        progress.show(done: ended, of: feedState == .ended ? slotCount : nil, failed: failed, late: late)
    }

    private func startWaiting() {
        while let slot = starts.next(at: now) {
            switch slot.job {
            case .probe(let probe): observe(slot, probe: probe)
            case .target(let target): resolve(slot, target: target)
            }
        }
    }

    /// The time on the clock of the probes.
    var now: Instant { loops.first.now }

    /// Lets the event loops say when they have processed what has arrived, if there may be probes that only
    /// wait.
    private func lookForSilence() {
        let now = now
        guard starts.beginRelease(at: now) else { return }
        let loops = loops.inUse
        (loopsBehind, behindSince) = (loops.count, now)
        for loop in loops {
            let mailbox = mailbox
            Task(executorPreference: loop) { mailbox.put(.caughtUp) }
        }
    }

    private func noteCaughtUp() {
        loopsBehind -= 1
        if loopsBehind == 0 { starts.release(silentAt: behindSince, now: now) }
    }

    private func observe(_ slot: Slot, probe: Probe) {
        let loop = loops.next()
        let (engine, mailbox) = (ProbeEngine(tools: tools, loop: loop, signs: slot.signs), mailbox)
        Task(executorPreference: loop) {
            mailbox.put(.observed(slot, await engine.observe(probe)))
        }
    }

    func takeLetters() {
        for letter in mailbox.takeAll() {
            switch letter {
            case .observed(let slot, let observation): finish(slot, observation: observation)
            case .resolved(let slot, let answer, let time, let hints):
                slot.hints = hints
                finish(slot, answer: answer, time: time)
            case .answered(let slot, let replies, let time, let hints):
                slot.hints = hints
                finish(slot, replies: replies, time: time)
            case .caughtUp: noteCaughtUp()
            }
        }
    }
}
