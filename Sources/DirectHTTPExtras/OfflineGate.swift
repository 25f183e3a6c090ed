public import DirectHTTP

/// The behaviour of a client while the program knows that there is no network: its calls fail at once, or
/// wait for the network.
///
/// ```swift
/// let gate = OfflineGate(waiting: .seconds(30))
/// let client = HTTPClient { $0.interceptors.append(gate.interceptor) }
/// gate.isOnline = false       // from NWPathMonitor, NetworkManager or rtnetlink
/// ```
///
/// The package does not watch the network itself: what it would see is a guess, such as a route of a VPN. As
/// an interceptor of calls the gate is before the cache, so offline nothing is answered; as a network
/// interceptor it lets the cache answer, and its wait is within `Timeouts.total`.
public final class OfflineGate: Sendable {
    private let network = Latch<Void>(())
    private let longest: Duration?
    private let clock: any Clock<Duration>

    /// Makes a gate that is open.
    ///
    /// - Parameter longest: How long a call waits for the network at most; `nil` fails at once.
    public convenience init(waiting longest: Duration? = nil) {
        self.init(waiting: longest, clock: LoopClock())
    }

    package init(waiting longest: Duration?, clock: any Clock<Duration>) {
        self.longest = longest
        self.clock = clock
    }

    /// Whether there is a network. Setting it to `true` lets all calls go on that wait.
    public var isOnline: Bool {
        get { network.isOpen }
        set { newValue ? network.open(with: ()) : network.close() }
    }

    /// The interceptor that fails or waits, with ``OfflineError``.
    public var interceptor: Interceptor {
        { [self] request, forward in
            if !isOnline {
                guard let longest else { throw OfflineError() }
                try await waitForNetwork(within: longest)
            }
            return try await forward(request)
        }
    }

    private func waitForNetwork(within longest: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [network] in
                if let place = network.enter() { try await network.value(at: place) }
            }
            group.addTask { [clock] in
                // The clock's own limit is about half of what a duration can be.
                try await clock.sleep(for: min(longest, .seconds(1 << 40)))
                throw OfflineError()
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

/// There is no network, as the program has said.
public struct OfflineError: Error, Hashable, CustomStringConvertible {
    /// The error in words.
    public var description: String { "there is no network" }
}
