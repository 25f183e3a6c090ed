internal import DirectCore
internal import DirectHTTP

/// The results of a run: judging them, trying again, and printing them in the order of the targets.
extension Run {
    var judge: Judge { Judge(settings: options.settings, now: Int(UnixTime.now.seconds)) }

    func finish(_ slot: Slot, observation: Observation) {
        starts.ended(slot, hasAnswer: observation.hasAnswer)
        slot.rounds += observation.attempts
        var observation = observation
        observation.attempts = slot.rounds
        settle(slot, record: judge.record(of: observation))
    }

    /// Stores a slot's result, or queues the slot for another round if it failed and `--wait` leaves time for
    /// one.
    func settle(_ slot: Slot, record: ProbeRecord) {
        if !record.passed, options.wait != nil, let moment = slot.nextRound(after: now, until: waitEnd) {
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
            let result = ReportEntry(record)
            let change = baseline.compare(result)
            record.change = change
            if let words = change.words(result) { record.warnings.append(Warning(id: .changed, text: words)) }
        }
        judge.applyStrictness(to: &record)
        digest.add(record)
        progress.clear()
        output.add(record, isOnlyOne: slotCount == 1 && feedState == .ended)
    }

    /// Prints all results after an interruption: also those behind probes that will never finish, and the
    /// last failures of probes that would have been tried again. Where another run makes the rest, it makes
    /// these again: they are compared with what comes before them.
    func printWhatIsDone() {
        takeLetters()
        if keepsOrder { _ = printFinished() }
        let records = keepsOrder ? [] : slots[printed...].compactMap { $0.record ?? $0.latest }
        digest.unfinished = slots.count - printed - records.count
        digest.isCutShort = feedState != .ended
        if options.same { pool.learn(records) }
        for record in records { print(record) }
    }

    /// Prints the finished results that are next in order. Returns `false` if standard output accepts no
    /// more.
    func printFinished() -> Bool {
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
