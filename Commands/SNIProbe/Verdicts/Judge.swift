internal import DirectCore
internal import DirectHTTP

/// Turns an observation into a record with faults, warnings and a hint, without I/O and without a clock.
struct Judge: Sendable {
    let settings: ProbeSettings
    /// Seconds since 1970.
    let now: Int

    /// Returns the record of an observation.
    ///
    /// - Parameters:
    ///   - found: A fault that was found elsewhere, and is the first.
    ///   - hasName: Whether there is a name that the certificate has to be for.
    func record(
        of observation: Observation,
        adding found: Fault? = nil,
        hasName: Bool = true
    ) -> ProbeRecord {
        let target = observation.probe.target
        var record = ProbeRecord(
            observation: observation,
            sni: sniFinding(of: observation),
            target: target,
            judgedAt: now
        )
        record.settings = settings
        if let answers = answers(of: observation), answers.areMixed {
            let text = "answers vary: \(answers.text)"
            record.faults = [Fault(answers.fault, text, brief: text)]
        } else if let words = otherServers(observation) {
            record.faults = [Fault(.answersVary, words, brief: words)]
        } else if let failure = observation.firstFailure {
            let sni = record.sni.verdict
            let verdict = FailureVerdict(
                failure: failure,
                observation: observation,
                sni: sni,
                settings: settings
            )
            (record.faults, record.hint) = ([verdict.fault], verdict.hint)
            return record
        } else if let served = record.served {
            if hasName, record.matchedName == nil { record.faults.append(nameFault(record)) }
            judge(served, record: &record)
        }
        judgeExchange(&record)
        if let found {
            record.faults.insert(found, at: 0)
            record.warnings = []
        }
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
    ///   - advice: The first half of the hint, unless there are several resolvers. The second half says that
    ///     an IP can be given instead.
    ///   - resolver: The name of the resolver, if there are several.
    func record(
        unresolved target: ProbeTarget,
        _ why: String,
        advice: String = "check the name",
        after time: Duration,
        at begin: Int64,
        by resolver: String? = nil
    ) -> ProbeRecord {
        var probe = Probe(
            target: target,
            address: .unspecified,
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
        let advice = resolver.map { "the users of \($0) get no server: check the name there" } ?? advice
        record.hint = Hint(
            kind: .dns,
            words: "\(advice), or say where to connect: sni-probe \(.target) @IP",
            place: record.hintPlace
        )
        return record
    }

    private func judge(_ served: Handshake.Served, record: inout ProbeRecord) {
        record.faults += verdict(on: served, record.observation.revocation).faults
        for other in record.observation.otherKeys { judge(other, record: &record) }
        let ech = record.observation.ech.map { ECHVerdict($0, of: record.target, now: now) }
        if let fault = ech?.fault { record.faults.append(fault) }
        if let lost = record.observation.sizes?.lost {
            record.fail(.helloLost, lost, brief: "long hello lost")
        }
        record.faults += expectationFaults(served.chain)
        guard record.faults.isEmpty else { return record.warnings = [] }
        if let warning = variation(of: record) { record.warnings.append(warning) }
        if let warning = ech?.warning { record.warnings.append(warning) }
        for answer in record.observation.answers {
            let said = verdict(on: answer, record.observation.revocations[answer.hash]).warnings
            record.warnings += said.filter { !record.warnings.contains($0) }
        }
        if let lost = record.observation.sizes?.lostPieces { record.warn(.helloPieces, lost) }
        warnOfEnds(to: &record)
        let others = served.chain.otherStores.filter { !$0.isTrusted }.map(\.label)
        if !others.isEmpty {
            record.warn(.notTrustedByAll, "not trusted by \(others.joined(separator: ", "))")
        }
        if served.chain.needsSearch {
            record.warn(
                .chainOrder,
                "refused by clients that try one path, as OpenSSL's: another issuer comes first"
            )
        } else if !served.chain.isInOrder {
            let isLonger = served.chain.hasSurplus
            record.warn(
                isLonger ? .chainSurplus : .chainOrder,
                isLonger ? "superfluous certificates sent" : "chain sent in the wrong order"
            )
        }
    }

    /// What clients say of a certificate that is for the host.
    private func verdict(
        on served: Handshake.Served,
        _ revocation: Revocation?
    ) -> (faults: [Fault], warnings: [Warning]) {
        var faults = ChainVerdict(served.chain, now: now).faults
        if served.chain.byteCount > Self.mostOthersTake {
            let size = "\(Words.grouped(served.chain.byteCount >> 10)) KiB of certificates"
            faults.append(Fault(.chainSize, "\(size), which clients refuse", brief: size))
        }
        let staple = StapleVerdict(served, now: now, settings)
        let issuer = revocation.map { StapleVerdict($0, now: now, settings) }
        if let fault = staple.fault { faults.append(fault) }
        if let fault = issuer?.fault, staple.fault?.id != .revoked { faults.append(fault) }
        return (faults, [staple.warning, issuer?.warning].compactMap { $0 })
    }

    /// Adds the faults and warnings of the certificate that clients with another kind of key get.
    private func judge(_ other: OtherKey, record: inout ProbeRecord) {
        guard let served = other.served, let leaf = served.chain.leaf, leaf.summary != record.leaf?.summary
        else { return }
        var faults: [Fault] = []
        if let identity = try? record.target.identity, served.chain.match(identity) == nil {
            let names = ServedNames(leaf).first(1)
            faults.append(Fault(.nameMismatch, "wrong certificate: \(names)", brief: "wrong: \(names)"))
        }
        let verdict = verdict(on: served, record.observation.revocations[served.hash])
        for fault in faults + verdict.faults + expectationFaults(served.chain) {
            let kind = other.kind.rawValue
            var fault = Fault(
                fault.id,
                "\(kind) certificate: \(fault.text)",
                brief: "\(kind): \(fault.brief)"
            )
            fault.key = kind
            record.faults.append(fault)
        }
        for warning in verdict.warnings {
            record.warn(warning.id, "\(other.kind.rawValue) certificate: \(warning.text)")
        }
    }

    /// Warns of what ends soon: the certificates, those above them, and those for other kinds of keys; and of
    /// what has ended and is sent all the same.
    private func warnOfEnds(to record: inout ProbeRecord) {
        guard let chain = record.served?.chain else { return }
        for (number, answer) in record.observation.answers.enumerated() {
            let other = number == 0 ? "" : "certificate \(Hex.encode(Array(answer.hash.prefix(4)))): "
            for (index, certificate) in answer.chain.path.enumerated() {
                let name = index == 0 ? other : "issuer \(certificate.subject.short) "
                warnOfEnd(of: name, certificate, to: &record)
            }
        }
        for other in record.observation.otherKeys {
            if let leaf = other.served?.chain.leaf, leaf.summary != record.leaf?.summary {
                warnOfEnd(of: "\(other.kind.rawValue) certificate: ", leaf, to: &record)
            }
        }
        let needed = chain.judgement.path.map(\.summary)
        for certificate in chain.certificates where !needed.contains(certificate.summary) {
            guard let left = certificate.secondsLeft(at: now), left < 0 else { continue }
            let name = certificate.subject.short
            record.warn(.expiredSent, "\(name) is sent, and expired \(Words.distance(-left)) ago")
        }
    }

    private func warnOfEnd(
        of name: String,
        _ certificate: ServedCertificate,
        to record: inout ProbeRecord
    ) {
        guard let time = certificate.secondsLeft(at: now), expiresSoon(certificate, seconds: time) else {
            return
        }
        let verb = name.hasPrefix("issuer") ? "has " : ""
        let warning = Warning(id: .expiresSoon, text: "\(name)\(verb)\(Words.left(time)) left")
        if !record.warnings.contains(warning) { record.warnings.append(warning) }
    }

    /// The fault that the first certificate of a chain to end has too few days left.
    private func tooFewDays(_ chain: ExaminedChain) -> [Fault] {
        guard let least = settings.minimumDays else { return [] }
        let ends = chain.path.enumerated().compactMap { index, certificate in
            certificate.secondsLeft(at: now).map { (index, certificate, $0) }
        }
        guard let (index, certificate, seconds) = ends.min(by: { $0.2 < $1.2 }), seconds >= 0,
            seconds < least * 86_400
        else { return [] }
        let left = Words.left(seconds)
        let unit = seconds < 86_400 ? " days" : ""
        let who = index == 0 ? "" : "issuer \(certificate.subject.short) has "
        let text = "\(who)\(left) left, fewer than \(Words.grouped(least))\(unit)"
        return [Fault(.tooFewDays, text, brief: "\(index == 0 ? "" : "issuer: ")\(left) left")]
    }

    /// OpenSSL's default limit for all certificates of a chain together; GnuTLS has a similar one.
    static let mostOthersTake = 100 << 10

    private func nameFault(_ record: ProbeRecord) -> Fault {
        let brief = nameBrief(record, names: record.leaf.map { ServedNames($0).first(1) } ?? "")
        let isUnsent = record.sni.sent == nil && record.target.host.name != nil
        if isUnsent { return Fault(.defaultCertificate, "wrong certificate, no SNI sent", brief: brief) }
        let isDefault = record.sni.verdict == .noDifference
        return Fault(isDefault ? .defaultCertificate : .nameMismatch, "wrong certificate", brief: brief)
    }

    private func nameBrief(_ record: ProbeRecord, names: String) -> String {
        guard let leaf = record.leaf, !names.isEmpty else { return "wrong certificate" }
        // The common name alone does not count, and it may even be the right one.
        return ServedNames(leaf).count > 0 ? "wrong: \(names)" : "no SAN, only CN=\(names)"
    }

    /// What a certificate lacks that the command line asks for.
    private func expectationFaults(_ chain: ExaminedChain) -> [Fault] {
        guard let summary = chain.leaf?.summary else { return [] }
        var faults = tooFewDays(chain)
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

    /// Counts answers.
    ///
    /// - Parameter asWanted: Whether one is wrong that clients accept, and the command line does not.
    private func count(
        _ handshakes: [Handshake],
        of observation: Observation,
        atLeast least: Int = 2,
        asWanted: Bool = false
    ) -> AnswerCount? {
        AnswerCount(handshakes, of: observation.probe.target, atLeast: least) { served in
            let fault = verdict(on: served, observation.revocations[served.hash]).faults.first
            return fault ?? (asWanted ? expectationFaults(served.chain).first : nil)
        }
    }

    /// The answers to all handshakes like the first; `nil` if there was only one.
    func answers(of observation: Observation) -> AnswerCount? {
        count(observation.firsts, of: observation, asWanted: true)
    }

    /// Whether clients would say different things of handshakes of one kind.
    func vary(_ handshakes: [Handshake], for target: ProbeTarget) -> Bool {
        AnswerCount(handshakes, of: target) { verdict(on: $0, nil).faults.first }?.vary ?? false
    }

    /// The warning that the answers vary although the first handshake got what a client needs.
    private func variation(of record: ProbeRecord) -> Warning? {
        if let answers = record.answers, answers.vary {
            return Warning(id: .answersVary, text: "answers vary: \(answers.text)")
        }
        return secondVariation(record.observation).map { Warning(id: .answersVary, text: $0) }
    }

    /// How the answers to the second handshake vary; `nil` if they do not.
    private func secondVariation(_ observation: Observation) -> String? {
        let target = observation.probe.target
        guard let second = observation.second, variesInName(observation.seconds, of: target),
            let answers = count(observation.seconds, of: observation)
        else { return nil }
        let name = second.serverName.map { "with SNI \($0)" } ?? "without SNI"
        return "answers vary \(name): \(answers.fullText)"
    }

    /// The fault of a first handshake that failed each time, where the answers to the second show that there
    /// are several servers. What the first met is not the cause for all of them then.
    private func otherServers(_ observation: Observation) -> String? {
        guard observation.first?.serverName != nil,
            let firsts = count(observation.firsts, of: observation, atLeast: 1),
            !firsts.answers.contains(where: \.isRight),
            count(observation.seconds, of: observation)?.vary == true
        else { return nil }
        return secondVariation(observation)
    }

    /// Whether the same handshake, made again, had results that differ as the comparison of the name sees it,
    /// or was not answered once. What was cut short does not count.
    private func variesInName(_ handshakes: [Handshake], of target: ProbeTarget) -> Bool {
        Set(sides(handshakes.filter { !$0.wasCutShort }, of: target)).count > 1
    }

    private func sides(_ handshakes: [Handshake], of target: ProbeTarget) -> [SNISide] {
        let identity = try? target.identity
        return handshakes.map { $0.side(identity) }
    }

    private func sniFinding(of observation: Observation) -> SNIFinding {
        let target = observation.probe.target
        let sent = observation.first?.serverName
        let (firsts, seconds) = (
            sides(observation.firsts, of: target), sides(observation.seconds, of: target)
        )
        if variesInName(observation.firsts, of: target) || variesInName(observation.seconds, of: target) {
            return SNIFinding(sent: sent, verdict: .varies)
        }
        let first = firsts.contains(.unknown) ? .unknown : firsts.first ?? .unknown
        let second = seconds.contains(.unknown) ? .unknown : seconds.first ?? .unknown
        let verdict =
            sent == nil
            ? SNIFinding.Verdict(with: second, without: first)
            : SNIFinding.Verdict(with: first, without: second)
        // What could not be confirmed is not said. The same right certificate needs no confirmation.
        let isPlain = verdict == .noDifference && first.isMatching
        return SNIFinding(sent: sent, verdict: observation.isHalfConfirmed && !isPlain ? .unknown : verdict)
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
