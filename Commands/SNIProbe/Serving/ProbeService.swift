internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// What the responder of `--listen` answers: one probe for each scrape of `/probe`, in the form of
/// blackbox_exporter, and on `/metrics` the last round over the command's own targets.
///
/// A request only chooses among these targets, unless the user has allowed all: a client
/// could otherwise make this machine connect to what only it can reach.
final class ProbeService: Sendable {
    private let options: Options
    private let context: Result<SurveyContext, TLSError>
    private let modules: [String: ProbeSettings]
    private let state = Locked(State())
    private let (turns, memory) = (AddressTurns(), AddressMemory())
    private let requests: BlockingWork
    private let rounds = BlockingWork(threadLimit: 1)

    private struct State {
        var listed = ListedTargets()
        var lastRound = ""
        /// The number of answers by status.
        var answers: [Int: Int] = [:]
        /// The pipes that wake finished runs; they live as long as the process.
        var alarms: [Alarm] = []
    }

    /// The number of requests that wait for their turn.
    private static let mostWaiting = 64
    /// The number of IPs of one request that are probed at the same time.
    private static let jobsOfRequest = 4
    /// The time that the answer takes on its way, which Prometheus' limit includes. As of blackbox_exporter.
    private static let timeOfAnswer = Duration.milliseconds(500)

    /// - Throws: ``UsageError`` if the files of targets cannot be used.
    init(_ options: Options, context: Result<SurveyContext, TLSError>) throws(UsageError) {
        (self.options, self.context) = (options, context)
        modules =
            try options.modulesFile.map { path throws(UsageError) in try Modules.read(path, for: options) }
            ?? [:]
        requests = BlockingWork(threadLimit: options.jobs ?? 16)
        let listed = try ListedTargets(options)
        // Such a list would be served for ever without a probe.
        guard !listed.isEmpty || options.listensForAny else { throw .noTargets }
        state.withLock { $0.listed = listed }
        if !listed.isEmpty { rounds.submit { self.goRound() } }
    }

    /// Answers a request, and waits for it on this loop.
    func answer(_ request: ServedRequest, on loop: EventLoop = .shared) async throws(ServedReply)
        -> ServedReply
    {
        switch request.path {
        case "/probe":
            let options = try self.options(for: request)
            guard requests.waiting < Self.mostWaiting else {
                throw ServedReply(503, "too many probes are waiting")
            }
            let limit = request.patience.map(Self.rest) ?? options.settings.timeout * 4
            let end = Instant.now.advanced(byNanoseconds: limit.clampedNanoseconds)
            do throws(BlockingWork.Abandoned) {
                // What has begun ends by itself, and says what is known by then.
                let last = end.advanced(byNanoseconds: (Self.timeOfAnswer / 2).clampedNanoseconds)
                return try await requests.run(until: last, on: loop) { self.probe(options, until: end) }
            } catch {
                throw .noResult
            }
        case "/metrics": return ServedReply(200, metrics)
        case "/":
            let words = "/probe?target=TARGET&module=MODULE\n/metrics\n"
            return ServedReply(200, "sni-probe \(PackageVersion.text)\n\(words)")
        default: throw ServedReply(404, "there is /probe?target=TARGET and /metrics")
        }
    }

    func count(_ reply: ServedReply) { state.withLock { $0.answers[reply.status, default: 0] += 1 } }

    private var metrics: String {
        let (round, answers) = state.withLock { ($0.lastRound, $0.answers.sorted { $0.key < $1.key }) }
        let lines = answers.map { "sni_probe_answers_total{code=\"\($0.key)\"} \($0.value)\n" }
        let head =
            "# HELP sni_probe_answers_total The answers of --listen.\n# TYPE sni_probe_answers_total counter\n"
        return round + head + lines.joined()
    }

    /// The options of the probe that a request asks for.
    func options(for request: ServedRequest) throws(ServedReply) -> Options {
        guard let text = request.query["target"], !text.isEmpty else {
            throw ServedReply(400, "the parameter target is missing")
        }
        var options = options
        (options.files, options.requestOptions, options.shard) = ([], [], nil)
        (options.same, options.wait, options.jobs) = (false, nil, Self.jobsOfRequest)
        let module = request.query["module"] ?? "tls"
        if let settings = modules[module] {
            options.settings = settings
        } else {
            try options.settings.take(module: module)
        }
        let listed = state.withLock { $0.listed }
        let word = try listed.word(for: text, self.options)
        options.words = [word]
        if case .target(let target, _) = word, options.settings.upgrade != nil, target.url != nil {
            throw ServedReply(400, "the module is for hosts, and the target is a URL")
        }
        if let patience = request.patience {
            // The run is to have the result of a probe that takes all its time, and issuers as much.
            options.settings.confirmsInTime = true
            let isTwice = options.settings.asksIssuers || !options.settings.surveys.isEmpty
            options.settings.timeout = min(
                options.settings.timeout,
                Self.rest(patience) * (isTwice ? 0.45 : 0.9)
            )
        }
        return options
    }

    /// What is left of the time that Prometheus waits when the answer has got there.
    private static func rest(_ patience: Duration) -> Duration { max(patience - timeOfAnswer, patience / 2) }

    /// Probes one target. Blocks.
    private func probe(_ options: Options, until end: Instant) -> ServedReply {
        let output = ScrapeOutput()
        guard run(options, to: output, until: end) else { return ServedReply(503, "a file cannot be read") }
        return output.text.map { ServedReply(200, $0) } ?? .noResult
    }

    /// Runs once. Returns `false` if the files have become unusable.
    private func run(_ options: Options, to output: any RecordOutput, until end: Instant) -> Bool {
        let alarm = state.withLock { $0.alarms.popLast() } ?? Alarm()
        defer { state.withLock { $0.alarms.append(alarm) } }
        let console = Console(isTerminal: false, errorsAreTerminal: false, usesColor: false, unicode: true)
        var surroundings = Run.Surroundings(alarm: alarm, console: console, context: context)
        (surroundings.end, surroundings.turns, surroundings.memory) = (end, turns, memory)
        do throws(UsageError) {
            _ = try Run(options, to: output, in: surroundings).run()
            return true
        } catch {
            Console.complain(error.text)
            return false
        }
    }

    /// Probes all targets of the command again and again. If a file has become unusable, the targets and
    /// results stay what they were.
    private func goRound() {
        let pause = Alarm()
        while !Interrupts.hasCome {
            let (start, sink) = (Instant.now, OutputSink.memory)
            if run(options, to: PrometheusOutput(to: sink), until: .never),
                let listed = try? ListedTargets(options)
            {
                let time = Seconds.text(Instant.now.since(start))
                let end = "The end of the last round, in seconds since 1970."
                let text =
                    String(decoding: sink.bytes, as: UTF8.self)
                    + ScrapeOutput.gauge(("sni_probe_round_end_seconds", end, "\(UnixTime.now.seconds)"))
                    + ScrapeOutput.gauge(("sni_probe_round_seconds", "The duration of the last round.", time))
                state.withLock { ($0.lastRound, $0.listed) = (text, listed) }
            }
            _ = pause.sleep(orInputAt: nil, limit: options.watch ?? .seconds(60))
        }
    }
}

extension ProbeSettings {
    /// Takes what the module of a request sets: `tls` nothing, `http_2xx` what is accepted, and the name of a
    /// protocol what is spoken before TLS.
    fileprivate mutating func take(module: String) throws(ServedReply) {
        switch (module, StartTLS(rawValue: module)) {
        case ("tls", _): break
        case ("http_2xx", _): acceptedStatus = StatusRanges(ranges: [200...299])
        case (_, let upgrade?): self.upgrade = upgrade
        default:
            throw ServedReply(
                400,
                "the modules are tls, http_2xx, the protocols of --starttls and those of --modules"
            )
        }
    }
}
