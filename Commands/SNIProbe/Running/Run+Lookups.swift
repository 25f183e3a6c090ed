internal import DirectCore
internal import DirectHTTP

/// The targets without IPs: asking for their addresses, and what becomes of the answers.
extension Run {
    func resolve(_ slot: Slot, target: ProbeTarget) {
        let (loop, mailbox, records) = (loops.first, mailbox, tools.records)
        let hints = { @Sendable () async -> [IPAddress] in
            guard let records, let host = target.host.name else { return [] }
            let replies = await records.replies(for: host, port: target.port, on: loop)
            return replies.flatMap { $0.records.flatMap(\.hints) }
        }
        let name = target.name
        if !resolvers.isEmpty, let host = target.host.name {
            let (resolvers, family) = (resolvers, options.family)
            let start = loop.now
            let deadline = start.advanced(byNanoseconds: options.settings.timeout.clampedNanoseconds)
            let context = ResolveContext(.https, deadline: deadline, loop: loop)
            Task(executorPreference: loop) {
                let answers = await NamedResolver.ask(
                    resolvers,
                    for: host,
                    port: target.port,
                    context: context
                )
                let all = answers.map { ResolverReply($0, family: family) }
                let replies = HostReplies(host: host.text, replies: all)
                let time = loop.now.since(start)
                mailbox.put(.answered(slot, replies, time, hints: await hints()))
            }
            return
        }
        let (lookups, limit) = (lookups ?? .ofRuns, options.settings.timeout)
        Task(executorPreference: loop) {
            // `nil` if the resolver took longer than the time limit of a probe.
            let result = try? await lookups.addresses(of: name, allowing: limit.clampedNanoseconds, on: loop)
            mailbox.put(.resolved(slot, result?.answer, result?.time ?? limit, hints: await hints()))
        }
    }

    func finish(_ slot: Slot, answer: Result<[IPAddress], LookupError>?, time: Duration) {
        starts.ended(slot)
        guard case .target(let target) = slot.job else { return }
        let why: String
        var advice = "check the name"
        switch answer {
        case .success(let addresses)?:
            let wanted = addresses.filter { options.family == nil || $0.family == options.family }
            guard wanted.isEmpty else { return replace(slot, target: target, addresses: wanted, time: time) }
            why = options.family == .v4 ? "it has no IPv4 address" : "it has no IPv6 address"
            if !addresses.isEmpty { advice = "leave out \(options.family == .v4 ? "-4" : "-6")" }
        case .failure(let error)?:
            why = Words.lowered("\(error)")
        case nil:
            why = "no answer from the resolver in \(options.settings.timeout.text)"
            advice = "find out why the resolver does not answer"
        }
        slot.rounds += 1
        let record = judge.record(
            unresolved: target,
            why,
            advice: advice,
            after: time,
            at: UnixTime.milliseconds
        )
        settle(slot, record: record)
    }

    /// Takes the replies of the named resolvers: each address is probed once, and each resolver without any
    /// is a failure.
    func finish(_ slot: Slot, replies: HostReplies, time: Duration) {
        starts.ended(slot)
        guard case .target(let target) = slot.job else { return }
        slot.rounds += 1
        guard !replies.addresses.isEmpty else {
            let reasons = replies.replies.map { "\($0.resolver): \($0.failure ?? "no addresses")" }
            slot.replies = replies
            let (why, now) = (reasons.joined(separator: "; "), UnixTime.milliseconds)
            let advice = options.family.map { "leave out \($0 == .v4 ? "-4" : "-6"), or check the name" }
            let record = judge.record(
                unresolved: target,
                why,
                advice: advice ?? "check the name",
                after: time,
                at: now
            )
            return settle(slot, record: record)
        }
        replace(slot, target: target, addresses: replies.addresses, time: time, replies: replies)
    }

    /// Replaces a target's slot by the slots of its addresses, at the same place in the order, and by those
    /// of the resolvers that gave none.
    func replace(
        _ slot: Slot,
        target: ProbeTarget,
        addresses: [IPAddress],
        time: Duration,
        replies: HostReplies? = nil
    ) {
        guard let place = slots[printed...].firstIndex(where: { $0 === slot }) else { return }
        let hints = slot.hints.filter { options.family == nil || $0.family == options.family }
        let hinted = Set(hints).subtracting(addresses)
        let wanted = (addresses + hints.filter(hinted.contains)).map { address in
            Probe(
                target: target,
                address: address,
                port: target.port,
                source: hinted.contains(address)
                    ? .hint : replies.map { .resolvers($0.givers(of: address)) } ?? .resolver,
                resolveTime: time
            )
        }.filter { isWanted(target, at: $0) }
        let probes = wanted.map { probe in
            let slot = Slot(.probe(probe))
            slot.replies = replies
            return slot
        }
        let failures = (replies?.replies ?? []).filter {
            $0.addresses.isEmpty && isWanted(target, resolver: $0.resolver)
        }.map { reply in
            let failure = Slot(.target(target))
            failure.replies = replies
            let why = reply.failure ?? "no addresses"
            let now = UnixTime.milliseconds
            let record = judge.record(
                unresolved: target,
                why,
                after: reply.time,
                at: now,
                by: reply.resolver
            )
            failure.record = completed(record, replies: replies)
            ended += 1
            failed += 1
            return failure
        }
        slots.replaceSubrange(place...place, with: probes + failures)
        slotCount += probes.count + failures.count - 1
        for slot in probes {
            if case .probe(let probe) = slot.job { output.expect(probe) }
            starts.add(slot)
        }
    }

    /// Adds to a record what the named resolvers have replied, and whose users get a bad server.
    func completed(_ record: ProbeRecord, replies: HostReplies?) -> ProbeRecord {
        guard let replies else { return record }
        var record = record
        record.replies = replies
        if !record.passed, record.lookupFailure == nil { record.nameUsers() }
        return record
    }
}
