internal import DirectCore
internal import DirectHTTP

/// Turns an observation into a record with faults, warnings and a hint. It does no I/O, and the time is an argument.
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
        if let variation = variation(of: observation), variation.side == .first {
            record.faults = [Fault(.answersVary, variation.text, brief: "answers vary")]
        } else if let failure = observation.firstFailure {
            let verdict = FailureVerdict(failure, observation, record.sni.verdict, settings)
            record.faults = [verdict.fault]
            record.hint = verdict.hint
            return record
        }
        if let served = record.served { judge(served, record: &record) }
        judgeExchange(&record)
        if record.hint == nil, let first = record.faults.first {
            record.hint = HintWriter(record: record, settings: settings).hint(for: first)
        }
        return record
    }

    /// Returns the record of a target that could not be resolved.
    ///
    /// - Parameters:
    ///   - target: The target.
    ///   - why: The resolver's error.
    ///   - advice: The first half of the hint. The second half says that an IP can be given instead.
    ///   - time: The time that the resolver took.
    ///   - begin: The start of the query.
    func record(
        unresolved target: ProbeTarget,
        _ why: String,
        advice: String = "check the name",
        after time: Duration,
        at begin: Int64
    ) -> ProbeRecord {
        let nowhere = IPAddress(bytes: [0, 0, 0, 0]) ?? IPAddress("::")
        guard let nowhere else { fatalError("no address has four bytes") }
        var probe = Probe(target: target, address: nowhere, port: target.port, source: .resolver)
        probe.resolveTime = time
        var record = ProbeRecord(
            observation: Observation(probe: probe, time: begin, total: time),
            sni: SNIFinding(sent: nil, verdict: .unknown),
            target: target,
            judgedAt: now
        )
        record.lookupFailure = why
        record.faults = [Fault(.dns, "name not resolved: \(why)", brief: "name not resolved")]
        record.hint = Hint(
            kind: .dns,
            text: "\(advice), or say where to connect: sni-probe \(target.word) @IP"
        )
        return record
    }

    private func judge(_ served: Handshake.Served, record: inout ProbeRecord) {
        if record.matchedName == nil, record.faults.isEmpty { record.faults.append(nameFault(record)) }
        let chain = ChainVerdict(served.chain, now: now)
        record.faults += chain.faults
        record.faults += expectationFaults(record)
        guard record.faults.isEmpty else { return }
        if let variation = variation(of: record.observation) {
            record.warnings.append(Warning(id: .answersVary, text: variation.text))
        }
        if let days = record.daysLeft, let leaf = record.leaf, expiresSoon(leaf, days: days) {
            record.warnings.append(Warning(id: .expiresSoon, text: "\(Words.days(days)) left"))
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

    /// OpenSSL's default limit for the size of all certificates of a chain together. GnuTLS has a similar limit.
    private static let mostOthersTake = 100 << 10

    private func nameFault(_ record: ProbeRecord) -> Fault {
        let names = record.leaf.map { ServedNames($0).first(1) } ?? ""
        let brief = names.isEmpty ? "wrong certificate" : "wrong: \(names)"
        if record.sni.sent == nil, record.target.host.name != nil {
            return Fault(.defaultCertificate, "wrong certificate, no SNI sent", brief: brief)
        }
        switch record.sni.verdict {
        case .noDifference: return Fault(.defaultCertificate, "wrong certificate", brief: brief)
        default: return Fault(.nameMismatch, "wrong certificate", brief: brief)
        }
    }

    private func expectationFaults(_ record: ProbeRecord) -> [Fault] {
        guard let summary = record.leaf?.summary else { return [] }
        var faults: [Fault] = []
        if let least = settings.minimumDays, let days = record.daysLeft, days >= 0, days < least {
            faults.append(
                Fault(
                    .tooFewDays,
                    "\(Words.days(days)) left, fewer than \(Words.grouped(least))",
                    brief: "\(Words.days(days)) left"
                )
            )
        }
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

    /// Whether less than two weeks and less than a third of the validity are left: some certificates are valid for
    /// six days only.
    private func expiresSoon(_ leaf: ServedCertificate, days: Int) -> Bool {
        guard let from = leaf.summary.notBefore, let until = leaf.summary.notAfter else { return false }
        return days < 14 && until - now < (until - from) / 3
    }

    private func judgeExchange(_ record: inout ProbeRecord) {
        guard let exchange = record.observation.exchange else { return }
        switch exchange.failure {
        case .timedOut:
            let limit = Words.span(settings.timeout)
            record.faults.append(
                Fault(
                    .timeoutHTTP,
                    "no complete answer to the request in \(limit)",
                    brief: "no answer to the request"
                )
            )
        case .speaksTLS:
            record.faults.append(
                Fault(.httpBroken, "not plain HTTP: the server speaks TLS", brief: "not HTTP: TLS")
            )
        case .broken(let why), .unsendable(let why):
            record.faults.append(
                Fault(.httpBroken, "the HTTP exchange failed: \(why)", brief: "HTTP failed: \(why)")
            )
        case nil: break
        }
        if let status = exchange.head?.status.code, !settings.acceptedStatus.contains(status) {
            record.faults.append(
                Fault(
                    .httpStatus,
                    "HTTP status \(status), not in \(settings.acceptedStatus.text)",
                    brief: "HTTP status \(status)"
                )
            )
        }
    }

    /// How the repeated handshake differs from the one that it repeats; `nil` if it does not, or tells nothing.
    private func variation(of observation: Observation) -> (side: Confirmation.Side, text: String)? {
        guard let confirmation = observation.confirmation else { return nil }
        let identity = try? observation.probe.target.identity
        let before = confirmation.side == .first ? observation.first : observation.second
        guard let before, confirmation.handshake.side(identity) != .unknown,
            confirmation.handshake.side(identity) != before.side(identity)
        else { return nil }
        let name = before.serverName.map { "with SNI \($0)" } ?? "without SNI"
        let answers = [before, confirmation.handshake].map { answer(of: $0, identity) }
        return (confirmation.side, "answers vary: \(name), \(answers[0]), then \(answers[1])")
    }

    private func answer(of handshake: Handshake, _ identity: ServerIdentity?) -> String {
        switch handshake.outcome {
        case .failure(let failure): "a refusal (\(SNIWords.text(of: failure)))"
        case .success(let served):
            if served.chain.match(identity) != nil {
                "the right certificate"
            } else {
                "one for \(served.chain.leaf.map { ServedNames($0).first(1) } ?? "other names")"
            }
        }
    }

    private func sniFinding(of observation: Observation) -> SNIFinding {
        let identity = try? observation.probe.target.identity
        let first = observation.first?.side(identity) ?? .unknown
        let second = observation.second?.side(identity) ?? .unknown
        let sent = observation.first?.serverName
        if variation(of: observation) != nil { return SNIFinding(sent: sent, verdict: .varies) }
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
