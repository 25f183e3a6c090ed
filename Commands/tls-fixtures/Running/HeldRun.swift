internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// A request of our client whose time stands still, and passes only while the client waits for a server that
/// is known to say nothing.
///
/// So neither the order of the attempts nor the time that the request takes depends on what else the machine
/// does: a server that answers has all the time it needs, and one that does not costs no real time.
final class HeldRun: Sendable {
    /// The loop of the client.
    let loop: EventLoop
    private let clock: HeldClock
    private let pauses: [String: Duration]
    private let (attempts, attempted) = AsyncStream.makeStream(of: String.self)

    /// Loops that are not in use. Their threads never end.
    private static let free = Locked<[(HeldClock, EventLoop)]>([])

    /// - Parameter pauses: How long the client waits for a server that says nothing, by its address. No other
    ///   wait may be as long.
    init(pauses: [String: Duration]) {
        if let (clock, loop) = Self.free.withLock({ $0.popLast() }) {
            (self.clock, self.loop) = (clock, loop)
        } else {
            clock = HeldClock()
            loop = EventLoop(clock: clock)
        }
        self.pauses = pauses
    }

    deinit {
        Self.free.withLock { $0.append((clock, loop)) }
    }

    /// To be told the events of the client.
    var observer: @Sendable (CallEvent) -> Void {
        { [attempted] event in
            if case .attempted(let endpoint, _) = event.kind { attempted.yield("\(endpoint)") }
        }
    }

    /// Makes the request, and adds to its outcome how long it took by the client's clock.
    func callAsFunction(_ request: () async -> RequestOutcome) async -> RequestOutcome {
        let start = clock.now
        let passing = Task { try await passTime() }
        let patience = Task { [clock] in
            try await Task.sleep(for: Self.patience)
            clock.advance(by: .seconds(3600))
        }
        defer {
            passing.cancel()
            patience.cancel()
        }
        var outcome = await request()
        outcome.elapsed = clock.now.since(start)
        return outcome
    }

    /// Lets the pause pass for each attempt at a quiet server, once the client waits for exactly that long.
    private func passTime() async throws {
        for await address in attempts {
            guard let pause = pauses[address] else { continue }
            try await clock.waitBegins(until: clock.now.advanced(byNanoseconds: pause.clampedNanoseconds))
            clock.advance(by: pause)
        }
    }

    /// The real time after which a client that waits for something else reaches its own limits. It only ends
    /// runs that fail.
    private static let patience = Duration.seconds(60)
}
