internal import DirectCore
internal import DirectLookup
internal import DirectIO
internal import DirectTransport

/// A proxy from its start to its stop: the sockets that listen, the programs that have come, and what
/// serves them.
///
/// All tasks run on the loop. `scratch` belongs to its thread: it is used between two waits only.
@safe
final class ProxyCore: @unchecked Sendable {
    let configuration: LocalProxySettings
    let access: Gate
    let planner: Planner
    let dialler: FarDialler
    let endpoints: [Endpoint]
    /// Where flows read to before they send.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private let listeners: [ListeningSocket]
    private let state = Locked(State())

    private struct State {
        var lastNumber: UInt64 = 0
        var tasks: [UInt64: Task<Void, Never>?] = [:]
        var waiting = 0
        var tunnels = 0
        var isStopped = false
        var isAborted = false
        /// Is signalled when the last task has ended.
        var stopper: LoopHandle?
    }

    /// Where a task stands.
    enum Place { case listening, waiting, tunnel }

    var loop: EventLoop { configuration.loop }
    var limits: LocalProxy.Limits { configuration.limits }
    var tunnelCount: Int { state.withLock { $0.tunnels } }

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
        planner = Planner(
            map: configuration.addresses,
            resolver: configuration.resolver,
            matching: configuration.matching,
            others: configuration.others,
            loop: configuration.loop
        )
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
    func start() {
        for listener in listeners { begin(.listening) { await self.accept(from: listener) } }
    }

    /// Ends the listening, and waits for the tunnels within the limit.
    func stop() async {
        let stopper = LoopHandle(loop: loop)
        loop.add(stopper)
        defer { loop.remove(stopper) }
        let end = loop.now.advanced(byNanoseconds: limits.drain.clampedNanoseconds)
        let isEmpty = state.withLock { state in
            state.isStopped = true
            state.stopper = stopper
            return state.tasks.isEmpty
        }
        for listener in listeners { listener.wakeAll() }
        if !isEmpty, await stopper.waitForSignal(until: end) != .ready {
            abort()
            // They end by themselves now; what they hold is closed when this returns.
            _ = await stopper.waitForSignal(until: .never)
        }
    }

    /// Breaks everything off.
    func abort() {
        let tasks = state.withLock { state in
            (state.isStopped, state.isAborted) = (true, true)
            return state.tasks.values.compactMap { $0 }
        }
        for task in tasks { task.cancel() }
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Accepts connections until the proxy stops.
    private func accept(from listener: ListeningSocket) async {
        defer { listener.close() }
        while !isStopped {
            do throws(SystemError) {
                if let socket = try listener.accept() {
                    admit(Guest(socket, core: self))
                    continue
                }
                guard case .ready = await listener.input.wait(until: .never, on: loop) else { return }
            } catch {
                configuration.onEvent?(.paused(error))
                let pause = loop.now.advanced(byNanoseconds: Self.pause)
                guard (try? await loop.sleep(until: pause)) != nil else { return }
            }
        }
    }

    private func admit(_ guest: Guest) {
        guard reserve(.waiting) else {
            let refusal = Refusal(
                kind: .full,
                line: "\(limits.waiting) programs are waiting for a tunnel; raise limits.waiting"
            )
            guest.dismiss(refusal)
            return
        }
        begin(.waiting) {
            if let tunnel = await guest.serve() {
                // In a task of its own: this one keeps the memory that it needed to get here.
                self.begin(.tunnel) { await tunnel() }
            }
        }
    }

    /// Takes a place for a program or a tunnel, if there is one left.
    func reserve(_ place: Place) -> Bool {
        state.withLock { state in
            switch place {
            case .listening: break
            case .waiting:
                guard state.waiting < limits.waiting else { return false }
                state.waiting += 1
            case .tunnel:
                guard state.tunnels < limits.tunnels else { return false }
                state.tunnels += 1
            }
            return true
        }
    }

    /// Gives a place back.
    func release(_ place: Place) {
        state.withLock { state in
            switch place {
            case .listening: break
            case .waiting: state.waiting -= 1
            case .tunnel: state.tunnels -= 1
            }
        }
    }

    /// Runs work on the loop, in a place that was reserved.
    private func begin(_ place: Place, work: @escaping @Sendable () async -> Void) {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.tasks.updateValue(nil, forKey: state.lastNumber)
            return state.lastNumber
        }
        let task = Task(executorPreference: loop) {
            await work()
            self.release(place)
            self.end(number)
        }
        let isLate = state.withLock { state in
            if state.tasks[number] != nil { state.tasks.updateValue(task, forKey: number) }
            return state.isAborted
        }
        if isLate { task.cancel() }
    }

    private func end(_ number: UInt64) {
        let stopper = state.withLock { state in
            state.tasks.removeValue(forKey: number)
            return state.tasks.isEmpty ? state.stopper : nil
        }
        stopper?.input.signal()
    }

    private static let pause: UInt64 = 100_000_000
}

extension IPAddress {
    /// Whether it is of this machine's loopback network.
    var isLoopback: Bool {
        let address = unmapped
        return address.family == .v4 ? address.number >> 24 == 127 : address.number == 1
    }

    private var isUnspecified: Bool { unmapped.number == 0 }

    /// Whether a connection to `other` may reach what listens at this address.
    ///
    /// What listens at all addresses is reached by each of this machine's own, which change: there every
    /// address with its port counts that is not of the public internet.
    fileprivate func isReached(by other: IPAddress) -> Bool {
        let (own, other) = (withoutZone.unmapped, other.withoutZone.unmapped)
        if own == other || other.isUnspecified { return true }
        if own.isLoopback { return other.isLoopback }
        guard own.isUnspecified else { return false }
        return other.isLoopback || LocalAddresses.contain(other)
    }
}
