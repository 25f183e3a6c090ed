internal import DirectCore
internal import DirectLookup
internal import DirectIO
internal import DirectTransport

/// A proxy from its start to its stop: the sockets that listen, and the tasks that serve programs.
///
/// All tasks run on the loop. `scratch` belongs to its thread: it is used between two waits only.
@safe
final class ProxyCore: @unchecked Sendable {
    let configuration: LocalProxySettings
    let access: Gate
    let dialler: FarDialler
    let endpoints: [Endpoint]
    /// Where flows read to before they send.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    #if os(Linux)
    let pipes = PipePool()
    #endif
    private let listeners: [ListeningSocket]
    /// Its lock is also held to accept and to close, which any thread may.
    private let state = Locked(State())

    private struct State {
        var lastNumber: UInt64 = 0
        var tasks: [UInt64: Task<Void, Never>] = [:]
        /// The tasks that have a place for a tunnel, from the request with credentials to their end.
        var holders: Set<UInt64> = []
        /// The tasks of programs that have still to show that they may use the proxy, and since when, and of
        /// those that have no request in work. None has anything to lose when the proxy stops.
        var strangers: [UInt64: Instant] = [:], resting: Set<UInt64> = []
        var isStopped = false
        var isAborted = false
        /// Whether connections wait for descriptors.
        var isShort = false
        /// Is signalled when the last task has ended.
        var stopper: LoopHandle?
    }

    /// The work of a task, which is told its number.
    typealias Work = @Sendable (UInt64) async -> Void

    var loop: EventLoop { configuration.loop }
    var limits: LocalProxy.Limits { configuration.limits }
    var tunnelCount: Int { state.withLock { $0.holders.count } }

    /// Opens the listening sockets.
    init(_ configuration: LocalProxySettings) throws(LocalProxyError) {
        self.configuration = configuration
        access = Gate(configuration.access)
        guard !configuration.listen.isEmpty else { throw .noAddress }
        var listeners: [ListeningSocket] = []
        do throws(LocalProxyError) {
            for endpoint in configuration.listen {
                listeners.append(try Self.listener(at: endpoint, configuration))
            }
        } catch {
            for listener in listeners { listener.close() }
            throw error
        }
        self.listeners = listeners
        let endpoints = listeners.compactMap(\.localEndpoint)
        self.endpoints = endpoints
        dialler = FarDialler(configuration) { address, port in
            endpoints.contains { $0.port == port && $0.address.isReached(by: address) }
        }
    }

    deinit { unsafe scratch.deallocate() }

    private static func listener(
        at endpoint: Endpoint,
        _ configuration: LocalProxySettings
    ) throws(LocalProxyError) -> ListeningSocket {
        if let fault = endpoint.fault { throw .address(fault) }
        guard endpoint.address.isLoopback || configuration.listensBeyondLoopback else {
            throw .beyondLoopback(endpoint)
        }
        do throws(Socket.StartFailure) {
            return try ListeningSocket(at: endpoint, on: configuration.loop)
        } catch {
            switch error {
            case .address(let error): throw .address(error)
            case .system(let error): throw .listen(endpoint, error)
            }
        }
    }

    /// Begins to accept.
    ///
    /// - Parameter onDeath: Is called if the system ends the listening.
    func start(onDeath: @escaping @Sendable () -> Void) {
        for listener in listeners {
            begin { _ in
                let isDead = await self.accept(from: listener)
                self.closeListeners()
                if isDead, !self.isStopped { onDeath() }
            }
        }
    }

    /// Ends the listening, and waits for the tunnels within the limit.
    func stop() async {
        let stopper = LoopHandle(loop: loop)
        loop.add(stopper)
        defer { loop.remove(stopper) }
        let end = moment(after: limits.drain)
        let idle = state.withLock { state in
            (state.isStopped, state.stopper) = (true, stopper)
            if state.tasks.isEmpty { stopper.input.signal() }
            return state.resting.union(state.strangers.keys).compactMap { state.tasks[$0] }
        }
        closeListeners()
        for listener in listeners { listener.wakeAll() }
        for task in idle { task.cancel() }
        guard await stopper.waitForSignal(until: end) != .ready else { return }
        abort()
        // They end by themselves now, and all connections are closed when this returns, cancelled or not. The
        // wait whose time was over has taken a signal that came before this task went on.
        await Task(executorPreference: loop) {
            while self.hasTasks { _ = await stopper.waitForSignal(until: .never) }
        }.value
    }

    private var hasTasks: Bool { state.withLock { !$0.tasks.isEmpty } }

    /// Frees the ports: another proxy may listen there when this returns.
    private func closeListeners() {
        state.withLock { _ in for listener in listeners { listener.close() } }
    }

    /// Breaks everything off.
    func abort() {
        let tasks = state.withLock { state in
            (state.isStopped, state.isAborted) = (true, true)
            return state.tasks.values
        }
        closeListeners()
        for task in tasks { task.cancel() }
    }

    func moment(after time: Duration) -> Instant { loop.now.advanced(byNanoseconds: time.clampedNanoseconds) }

    /// Reports what began at that moment, and has ended.
    func tell(_ report: TunnelReport, since start: Instant) {
        var report = report
        report.time = loop.now.since(start)
        configuration.onEvent?(.ended(report))
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }
    var isShort: Bool { state.withLock { $0.isShort } }

    /// Accepts connections until the proxy stops, or the system ends the listening. Returns whether that did.
    private func accept(from listener: ListeningSocket) async -> Bool {
        var (isPaused, count) = (false, 0)
        while !isStopped, !listener.isHungUp {
            do throws(SystemError) {
                if let socket = try state.withLock({ _ throws(SystemError) in try listener.accept() }) {
                    begin { await Guest(socket, number: $0, core: self).serve() }
                    (isPaused, count) = (false, count + 1)
                    // A stream of connections must not keep those that have come from being served.
                    if count % Self.acceptedPerTurn == 0 { await loop.yield() }
                    continue
                }
                state.withLock { $0.isShort = false }
                guard case .ready = await listener.input.wait(until: .never, on: loop) else { return false }
            } catch {
                guard !error.endsListening else { return true }
                // It holds the descriptor that the next one needs. One that has just come may be about
                // to ask.
                state.withLock { $0.isShort = true }
                if turnOneAway(after: Self.pause) {
                    await loop.yield()
                    continue
                }
                if !isPaused { configuration.onEvent?(.paused(error)) }
                isPaused = true
                let pause = loop.now.advanced(byNanoseconds: Self.pause)
                guard (try? await loop.sleep(until: pause)) != nil else { return false }
            }
        }
        return listener.isHungUp
    }

    /// Notes a program that has still to show that it may use the proxy. Returns false if it comes too late.
    ///
    /// If there are more of these than there may be, the one that has waited longest goes: a program with
    /// credentials shows them at once, so that others that say nothing cannot keep it out.
    func meet(_ number: UInt64) -> Bool {
        let (isLate, count) = state.withLock { state in
            if !state.isStopped { state.strangers[number] = loop.now }
            return (state.isStopped, state.strangers.count)
        }
        // They must leave descriptors to others, whose limit may change while the proxy runs.
        if count > 1, count > min(limits.waiting, Descriptors.limit / 4) { _ = turnOneAway(after: 0) }
        return !isLate
    }

    /// Ends the program that has waited longest without showing that it may use the proxy, if it has waited
    /// for so many nanoseconds. Returns whether there was one.
    private func turnOneAway(after least: UInt64) -> Bool {
        let longest = state.withLock { state -> Task<Void, Never>? in
            guard let (longest, start) = state.strangers.min(by: { $0.key < $1.key }),
                start.advanced(byNanoseconds: least) <= loop.now
            else { return nil }
            state.strangers.removeValue(forKey: longest)
            return state.tasks[longest]
        }
        longest?.cancel()
        return longest != nil
    }

    /// Gives a program that may use the proxy a place for a tunnel, if there is one left.
    func admit(_ number: UInt64) throws(Refusal) {
        let hasPlace = state.withLock { state in
            guard state.holders.count < limits.tunnels else { return false }
            state.strangers.removeValue(forKey: number)
            return state.holders.insert(number).inserted
        }
        guard hasPlace else { throw .full(limits) }
    }

    /// Takes a place back before the end of its task: the program has been refused.
    func takeBack(_ number: UInt64) { _ = state.withLock { $0.holders.remove(number) } }

    /// Notes that a program's task waits for its next request, or has one. Returns false if the proxy has
    /// stopped.
    func note(_ number: UInt64, isResting: Bool) -> Bool {
        state.withLock { state in
            if isResting { state.resting.insert(number) } else { state.resting.remove(number) }
            return !state.isStopped
        }
    }

    /// Runs work on the loop, in a task of its own.
    ///
    /// - Parameter other: The task whose place it takes over.
    func begin(after other: UInt64 = 0, _ work: @escaping Work) {
        state.withLock { state in
            state.lastNumber += 1
            let number = state.lastNumber
            if state.holders.remove(other) != nil { state.holders.insert(number) }
            let task = Task(executorPreference: loop) {
                await work(number)
                self.end(number)
            }
            state.tasks[number] = task
            if state.isAborted { task.cancel() }
        }
    }

    private func end(_ number: UInt64) {
        let stopper = state.withLock { state in
            state.tasks.removeValue(forKey: number)
            state.holders.remove(number)
            state.strangers.removeValue(forKey: number)
            state.resting.remove(number)
            return state.tasks.isEmpty ? state.stopper : nil
        }
        stopper?.input.signal()
    }

    private static let acceptedPerTurn = 16
    private static let pause: UInt64 = 100_000_000
}

extension IPAddress {
    /// Whether it is of this machine's loopback network.
    var isLoopback: Bool {
        let address = unmapped
        return address.family == .v4 ? address.number >> 24 == 127 : address.number == 1
    }

    /// Whether a connection to `other` may reach a socket that listens at this address.
    ///
    /// A socket at all addresses is reached by each of this machine's own, which change: there every
    /// address with its port counts that is not of the public internet.
    fileprivate func isReached(by other: IPAddress) -> Bool {
        let (own, other) = (withoutZone.unmapped, other.withoutZone.unmapped.reached)
        let isAny = own.number == 0
        return own == other || other.isLoopback && (isAny || own.isLoopback)
            || isAny && LocalAddresses.contain(other)
    }
}
