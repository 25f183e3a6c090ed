internal import DirectCore
internal import DirectHTTP

/// Turns an observation into a record with faults, warnings and a hint. It does no I/O, and the time is an
/// argument.
struct Judge: Sendable {
    let settings: ProbeSettings
    /// Seconds since 1970.
    let now: Int

    /// Returns the record of an observation.
    func record(of observation: Observation) -> ProbeRecord {
        let target = observation.probe.target
        var record = ProbeRecord(
            observation: observation,
            sni: sniFinding(of: observation),
            target: target,
            judgedAt: now
        )
        if let answers = firstAnswers(observation), answers.areMixed {
            let text = "answers vary: \(answers.text)"
            record.faults = [Fault(.answersVary, text, brief: text)]
        } else if let failure = observation.firstFailure {
            let verdict = FailureVerdict(failure, observation, record.sni.verdict, settings)
            record.faults = [verdict.fault]
            record.hint = verdict.hint
            return record
        } else if let served = record.served {
            judge(served, record: &record)
        }
        judgeExchange(&record)
        if record.hint == nil, let first = record.faults.first {
            record.hint = HintWriter(record: record, settings: settings).hint(for: first)
        }
        return record
    }

    /// Turns the warnings of a record into a fault, if that is wanted. Called when all warnings are known.
    func applyStrictness(to record: inout ProbeRecord) {
        guard settings.isStrict, record.passed, !record.warnings.isEmpty else { return }
        let text = record.warnings.map(\.text).joined(separator: "; ")
        record.faults = [Fault(.strict, "with --strict: \(text)", brief: "strict")]
    }

    /// Returns the record of a target that could not be resolved.
    ///
    /// - Parameters:
    ///   - target: The target.
    ///   - why: The resolver's error.
    ///   - advice: The first half of the hint. The second half says that an IP can be given instead.
    ///   - time: The time that the resolver took.
    ///   - begin: The start of the query.
    ///   - resolver: The name of the resolver, if there are several.
    func record(
        unresolved target: ProbeTarget,
        _ why: String,
        advice: String = "check the name",
        after time: Duration,
        at begin: Int64,
        by resolver: String? = nil
    ) -> ProbeRecord {
        let nowhere = IPAddress(bytes: [0, 0, 0, 0]) ?? IPAddress("::")
        guard let nowhere else { fatalError("no address has four bytes") }
        var probe = Probe(
            target: target,
            address: nowhere,
            port: target.port,
            source: resolver.map { .resolvers([$0]) } ?? .resolver
        )
        probe.resolveTime = time
        var record = ProbeRecord(
            observation: Observation(probe: probe, time: begin, total: time),
            sni: SNIFinding(sent: nil, verdict: .unknown),
            target: target,
            judgedAt: now
        )
        record.lookupFailure = why
        let place = resolver.map { " by \($0)" } ?? ""
        record.faults = [Fault(.dns, "name not resolved\(place): \(why)", brief: "name not resolved\(place)")]
        record.hint = Hint(
            kind: .dns,
            text: "\(advice), or say where to connect: sni-probe \(target.word) @IP"
        )
        return record
    }

    private func judge(_ served: Handshake.Served, record: inout ProbeRecord) {
        if record.matchedName == nil { record.faults.append(nameFault(record)) }
        let chain = ChainVerdict(served.chain, now: now)
        record.faults += chain.faults
        let staple = StapleVerdict(served, now: now)
        if let fault = staple.fault { record.faults.append(fault) }
        for other in record.observation.otherKeys { judge(other, record: &record) }
        record.faults += expectationFaults(record)
        guard record.faults.isEmpty else { return }
        if let warning = variation(of: record.observation) { record.warnings.append(warning) }
        if let warning = staple.warning { record.warnings.append(warning) }
        if let leaf = record.leaf, let time = leaf.secondsLeft(at: now), expiresSoon(leaf, seconds: time) {
            record.warnings.append(Warning(id: .expiresSoon, text: "\(Words.left(time)) left"))
        }
        if served.chain.byteCount > Self.mostOthersTake {
            let size = "\(Words.grouped(served.chain.byteCount >> 10)) KiB of certificates"
            record.warnings.append(Warning(id: .chainSize, text: "\(size), too much for many clients"))
        }
        if !served.chain.isInOrder {
            record.warnings.append(
                served.chain.hasSurplus
                    ? Warning(id: .chainSurplus, text: "superfluous certificates sent")
                    : Warning(id: .chainOrder, text: "chain sent in the wrong order")
            )
        }
    }

    /// Adds the faults of the certificate that clients with another kind of key get.
    private func judge(_ other: OtherKey, record: inout ProbeRecord) {
        guard let served = other.served, let leaf = served.chain.leaf else { return }
        var faults: [Fault] = []
        if let identity = try? record.target.identity, served.chain.match(identity) == nil {
            let names = ServedNames(leaf).first(1)
            faults.append(Fault(.nameMismatch, "wrong certificate: \(names)", brief: "wrong: \(names)"))
        }
        faults += ChainVerdict(served.chain, now: now).faults
        if let fault = StapleVerdict(served, now: now).fault { faults.append(fault) }
        if let time = leaf.secondsLeft(at: now) { faults += tooFewDays(time) }
        for fault in faults {
            var fault = Fault(
                fault.id,
                "\(other.kind.rawValue) certificate: \(fault.text)",
                brief: "\(other.kind.rawValue): \(fault.brief)"
            )
            fault.key = other.kind.rawValue
            record.faults.append(fault)
        }
    }

    private func tooFewDays(_ seconds: Int) -> [Fault] {
        guard let least = settings.minimumDays, seconds >= 0, seconds < least * 86_400 else { return [] }
        let left = Words.left(seconds)
        let unit = seconds < 86_400 ? " days" : ""
        return [
            Fault(
                .tooFewDays,
                "\(left) left, fewer than \(Words.grouped(least))\(unit)",
                brief: "\(left) left"
            )
        ]
    }

    /// OpenSSL's default limit for the size of all certificates of a chain together. GnuTLS has a similar
    /// limit.
    private static let mostOthersTake = 100 << 10

    private func nameFault(_ record: ProbeRecord) -> Fault {
        let names = record.leaf.map { ServedNames($0).first(1) } ?? ""
        let brief = nameBrief(record, names: names)
        if record.sni.sent == nil, record.target.host.name != nil {
            return Fault(.defaultCertificate, "wrong certificate, no SNI sent", brief: brief)
        }
        switch record.sni.verdict {
        case .noDifference: return Fault(.defaultCertificate, "wrong certificate", brief: brief)
        default: return Fault(.nameMismatch, "wrong certificate", brief: brief)
        }
    }

    private func nameBrief(_ record: ProbeRecord, names: String) -> String {
        guard let leaf = record.leaf, !names.isEmpty else { return "wrong certificate" }
        // The common name alone does not count, and it may even be the right one.
        return ServedNames(leaf).count > 0 ? "wrong: \(names)" : "no SAN, only CN=\(names)"
    }

    private func expectationFaults(_ record: ProbeRecord) -> [Fault] {
        guard let summary = record.leaf?.summary else { return [] }
        var faults = record.leaf?.secondsLeft(at: now).map(tooFewDays) ?? []
        let isExpected =
            settings.expected.isEmpty
            || settings.expected.contains { expected in
                switch expected {
                case .certificate(let hash): hash == summary.sha256
                case .key(let hash): hash == summary.spkiSHA256
                }
            }
        if !isExpected { faults.append(Fault(.notExpected, "not the expected certificate")) }
        return faults
    }

    /// Whether fewer days than `--warn-days` are left, or without it less than two weeks and less than a
    /// third of the validity are left: some certificates are valid for six days only.
    private func expiresSoon(_ leaf: ServedCertificate, seconds: Int) -> Bool {
        if let days = settings.warningDays { return seconds < days * 86_400 }
        guard let from = leaf.summary.notBefore, let until = leaf.summary.notAfter else { return false }
        return seconds < 14 * 86_400 && seconds < (until - from) / 3
    }

    /// The answers to the handshakes like the first.
    private func firstAnswers(_ observation: Observation) -> AnswerCount? {
        AnswerCount(observation.firsts, of: observation.probe.target, now: now)
    }

    /// The warning that the answers vary although the first handshake got what a client needs.
    private func variation(of observation: Observation) -> Warning? {
        if let answers = firstAnswers(observation), answers.vary {
            return Warning(id: .answersVary, text: "answers vary: \(answers.text)")
        }
        let target = observation.probe.target
        guard let second = observation.second, variesInName(observation.seconds, target),
            let answers = AnswerCount(observation.seconds, of: target, now: now)
        else { return nil }
        let name = second.serverName.map { "with SNI \($0)" } ?? "without SNI"
        return Warning(id: .answersVary, text: "answers vary \(name): \(answers.fullText)")
    }

    /// Whether the same handshake, made again, had results that differ as the comparison of the name sees it.
    private func variesInName(_ handshakes: [Handshake], _ target: ProbeTarget) -> Bool {
        Set(sides(handshakes, target).filter { $0 != .unknown }).count > 1
    }

    private func sides(_ handshakes: [Handshake], _ target: ProbeTarget) -> [SNISide] {
        let identity = try? target.identity
        return handshakes.map { $0.side(identity) }
    }

    private func sniFinding(of observation: Observation) -> SNIFinding {
        let target = observation.probe.target
        let sent = observation.first?.serverName
        let (firsts, seconds) = (sides(observation.firsts, target), sides(observation.seconds, target))
        if variesInName(observation.firsts, target) || variesInName(observation.seconds, target) {
            return SNIFinding(sent: sent, verdict: .varies)
        }
        // What could not be confirmed is not said.
        let first = firsts.contains(.unknown) ? .unknown : firsts.first ?? .unknown
        let second = seconds.contains(.unknown) ? .unknown : seconds.first ?? .unknown
        let verdict =
            sent == nil
            ? SNIFinding.Verdict(with: second, without: first)
            : SNIFinding.Verdict(with: first, without: second)
        return SNIFinding(sent: sent, verdict: verdict)
    }
}

extension Handshake {
    /// The result of this handshake for the comparison in `SNITable`.
    func side(_ identity: ServerIdentity?) -> SNISide {
        switch outcome {
        case .success(let served):
            let hash = served.chain.leaf?.summary.sha256 ?? []
            return served.chain.match(identity) != nil ? .matching(hash) : .other(hash)
        case .failure(let failure): return failure.isRejection ? .refused : .unknown
        }
    }
}
