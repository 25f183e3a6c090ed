internal import DirectHTTP

/// The input of a run: reading targets while there is room for them, and reporting what is wrong with them.
extension Run {
    var hasRoom: Bool { slots.count - printed < Self.window }

    /// The maximum number of probes that are in flight, or done and not yet printed.
    private static let window = 4096

    func refill() {
        while feedState == .open, hasRoom {
            switch feed.step() {
            case .probe(let probe): if isWanted(probe.target, at: probe) { add(Slot(.probe(probe))) }
            case .resolve(let target): if isWanted(target) { add(Slot(.target(target))) }
            case .needsInput(let descriptor): feedState = .needsInput(descriptor)
            case .end: feedState = .ended
            case .badLine(let error): report(error)
            }
        }
    }

    /// Reads the results of the run that this one goes on with. They count as its own.
    func goOn(with path: String, to sink: OutputSink) throws(UsageError) {
        earlier = try EarlierResults(path, options: options, to: sink) { result, line in
            digest.add(result)
            pool.learn(result)
            baseline?.compare(result)
            output.add(earlier: result, line: line)
        }
        guard output.flush() else { throw sink.failure ?? UsageError("", code: ExitCode.unwritable) }
        try earlier?.end(in: sink)
    }

    /// Whether the run that this one goes on with has no result of a probe, or of the look-up of a target, or
    /// of one resolver's.
    func isWanted(_ target: ProbeTarget, at probe: Probe? = nil, resolver: String = "") -> Bool {
        let ip = probe?.address.description ?? ""
        let (port, url) = (Int(probe?.port ?? target.port), target.url.map { "\($0)" } ?? "")
        let key = ProbeRecord.key(target.name, ip: ip, port: port, url: url, resolver: resolver)
        return earlier?.take(key) != true
    }

    private func report(_ error: UsageError) {
        progress.clear()
        badLines.add(error)
        guard !options.skipsBad else { return }
        usageCode = error.code
    }

    /// Reports what was wrong with the input as a whole.
    func reportInput() {
        if options.skipsBad { badLines.report() }
        guard usageCode == nil, !Interrupts.hasCome else { return }
        var error: UsageError?
        if !feed.hasFoundAny {
            // An empty list is usually a mistake where it was made, and must not look like success.
            error = .noTargets
        } else if !options.requestOptions.isEmpty, !feed.hasFoundURL {
            error = options.requestOptionsWithoutRequest
        }
        if let error { Console.complain(error.text) }
        usageCode = error?.code
    }

    private func add(_ slot: Slot) {
        if case .probe(let probe) = slot.job { output.expect(probe) }
        slots.append(slot)
        slotCount += 1
        starts.add(slot)
    }
}
