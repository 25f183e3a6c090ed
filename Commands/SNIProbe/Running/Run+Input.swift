internal import DirectHTTP

/// The input of a run: reading targets while there is room for them, and reporting what is wrong with them.
extension Run {
    var hasRoom: Bool { slots.count - printed < Self.window }

    /// The maximum number of probes that are in flight, or done and not yet printed.
    private static let window = 4096

    func refill() {
        while feedState == .open, hasRoom {
            switch feed.step() {
            case .probe(let probe): if isWanted(probe) { add(Slot(.probe(probe))) }
            case .resolve(let target): add(Slot(.target(target)))
            case .needsInput(let descriptor): feedState = .needsInput(descriptor)
            case .end: feedState = .ended
            case .badLine(let error): report(error)
            }
        }
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
