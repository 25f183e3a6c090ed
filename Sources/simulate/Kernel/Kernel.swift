internal import CSimulation
internal import DirectCore
internal import Glibc

/// The properties of a world's network.
struct NetworkPlan: Codable, Equatable {
    /// The time that a segment takes, in microseconds.
    var shortestDelay = 100
    var longestDelay = 2000
    var segmentLimit = 16384
    var sendBuffer = 65536
    var receiveBuffer = 65536
    /// Of a hundred sends: cut short although there is room.
    var shortSends = 0
    /// Of a thousand segments: the connection breaks with it.
    var resets = 0
    /// The time that a blocking call takes to begin, in microseconds.
    var longestThreadStart = 1000
    /// Of a hundred sockets: refused, because no descriptor is left.
    var socketFailures = 0
    /// The processor's time: at most so many nanoseconds for a job, and so many for each byte that is received.
    var jobCost = 0
    var byteCost = 0
}

/// The simulated system: sockets, the readiness queue, clocks, and the order in which ready jobs run.
///
/// Everything runs on one thread. Time passes when nothing is ready (the clock jumps to the next event) and, if the
/// plan says so, while jobs run. All that is not determined by the program is drawn from the seed.
/// Because of the one thread `@unchecked Sendable` is safe, here and for all that belongs to a world.
final class Kernel: @unchecked Sendable {
    /// The kernel of the world that runs, for the functions of the seam.
    nonisolated(unsafe) static var current = Kernel(seed: 0, network: NetworkPlan(), isTraced: false)

    /// The reason why a world cannot go on.
    enum Fault: Error {
        /// Nothing is ready, and no event is to come.
        case hang
        /// More steps than any world needs.
        case endless
    }

    private(set) var now: UInt64 = 1_000_000_000
    let network: NetworkPlan
    private(set) var record: Record
    private(set) var steps = 0
    /// Counts how often things happened, by name.
    private(set) var counts: [String: Int] = [:]
    /// The open descriptors.
    private(set) var connections: [Int32: SimulatedConnection] = [:]
    /// The number of threads that were started and have not run yet.
    private(set) var threads = 0
    /// Answers the system's resolver.
    var lookUp: (String) -> [IPAddress] = { _ in [] }
    /// Decides the fate of a connection attempt.
    var accept: (SimulatedConnection, IPAddress, Int) -> Accepting = { _, _, _ in .refused }

    /// The fate of a connection attempt.
    enum Accepting {
        case refused
        /// There is never an answer.
        case silent
        /// The function runs once the connection is established.
        case accepted((SimulatedConnection) -> Void)
    }

    /// Work that is ready to run.
    private enum Work {
        /// A job of Swift's global executor.
        case job(UnsafeMutableRawPointer)
        /// A step of the world that may resume tasks, as another thread would.
        case step(() -> Void)
    }

    /// Whether the client's users have released it.
    var isClientReleased = false
    private var events = EventHeap()
    private var ready: [Work] = []
    private var queue: [SimulatedConnection] = []
    private var connectionCount = 0
    private var path: Dice
    private var schedule: Dice
    private var system: Dice
    private var isStuck = false

    init(seed: UInt64, network: NetworkPlan, isTraced: Bool) {
        self.network = network
        record = Record(isReadable: isTraced)
        var root = Dice(seed: seed)
        path = root.fork(1)
        schedule = root.fork(2)
        system = root.fork(3)
    }

    // MARK: The record

    func note(_ event: StaticString, place: Int = 0, amount: Int = 0, content: UInt64 = 0) {
        record.add(event, at: now, place: place, amount: amount, content: content)
    }

    /// Adds a line to the trace.
    func explain(_ text: @autoclosure () -> String) {
        record.explain(text(), at: now)
    }

    /// Counts something for the report.
    func count(_ name: String) {
        counts[name, default: 0] += 1
    }

    // MARK: Time

    /// Runs a step of the network later. It must not resume a task that may run on the client's loop.
    private func after(delay: UInt64, _ run: @escaping () -> Void) {
        events.add(at: now &+ delay, run)
    }

    /// Runs a step of the world later, outside of the loop: a loop that waits would not notice work that its own thread
    /// gives it.
    func after(nanoseconds: UInt64, _ run: @escaping () -> Void) {
        events.add(at: now &+ nanoseconds) { [self] in ready.append(.step(run)) }
    }

    /// Waits, in virtual time.
    func sleep(microseconds: Int) async {
        await withUnsafeContinuation { continuation in
            after(nanoseconds: UInt64(max(0, microseconds)) * 1000) { continuation.resume() }
        }
    }

    private func delay() -> UInt64 {
        UInt64(path.number(in: network.shortestDelay...max(network.shortestDelay, network.longestDelay)))
            * 1000
    }

    // MARK: Jobs

    func enqueue(_ job: UnsafeMutableRawPointer) {
        ready.append(.job(job))
    }

    func enqueue(_ job: UnsafeMutableRawPointer, after nanoseconds: UInt64) {
        after(nanoseconds: nanoseconds) { [self] in enqueue(job) }
    }

    /// Runs a thread's body later, on this thread.
    func startThread(_ body: @escaping () -> Void) {
        threads += 1
        after(nanoseconds: UInt64(path.number(in: 1...max(1, network.longestThreadStart))) * 1000) { [self] in
            threads -= 1
            body()
        }
    }

    /// Runs jobs, the loop and the network until `isOver`.
    func run(_ turn: () -> Void, until isOver: () -> Bool) throws(Fault) {
        while !isOver() {
            steps += 1
            if steps > 2_000_000 { throw .endless }
            if !ready.isEmpty, schedule.below(8) != 0 {
                let place = schedule.below(ready.count)
                let work = ready.remove(at: place)
                if !ready.isEmpty { note("job", place: place, amount: ready.count) }
                switch work {
                case .job(let job): sim_run_job(job)
                case .step(let step): step()
                }
                if network.jobCost > 0 { now += UInt64(schedule.below(network.jobCost)) }
            } else {
                turn()
                guard isStuck else { continue }
                isStuck = false
                if !isOver() { throw .hang }
            }
        }
    }

    /// Whether nothing is ready and no event is to come.
    var isQuiet: Bool { ready.isEmpty && queue.isEmpty && events.next == nil }

    // MARK: The readiness queue

    /// Waits for events, as epoll_wait.
    func wait(_ buffer: UnsafeMutableRawPointer, capacity: Int, milliseconds: Int32) -> Int32 {
        let end = milliseconds < 0 ? UInt64.max : now &+ UInt64(milliseconds) * 1_000_000
        runDueEvents()
        while queue.isEmpty, ready.isEmpty {
            guard let next = events.next, next <= end else {
                if end == .max { isStuck = true } else { now = max(now, end) }
                return 0
            }
            now = max(now, next)
            runDueEvents()
        }
        var count = 0
        while count < capacity, !queue.isEmpty {
            let connection = queue.remove(at: schedule.below(queue.count))
            connection.isInQueue = false
            guard let token = connection.token, connection.readiness != 0 else { continue }
            note("event", place: connection.number, amount: Int(connection.readiness))
            sim_put_event(buffer, Int32(count), connection.readiness, token)
            count += 1
        }
        return Int32(count)
    }

    private func runDueEvents() {
        while let next = events.next, next <= now { events.pop()?.run() }
    }

    /// Puts a connection on the readiness queue.
    func report(_ connection: SimulatedConnection) {
        guard connection.isOpenForClient, connection.token != nil, !connection.isInQueue else { return }
        connection.isInQueue = true
        queue.append(connection)
    }

    func watch(_ descriptor: Int32, token: UnsafeMutableRawPointer?) {
        guard let connection = connections[descriptor] else { return }
        connection.token = token
        if token != nil, connection.readiness != 0 { report(connection) }
    }

    // MARK: Sockets

    func openSocket() -> Int32 {
        if path.chance(network.socketFailures) {
            count("fault: no descriptor")
            note("no descriptor")
            return -EMFILE
        }
        connectionCount += 1
        let descriptor = sim_first_descriptor() + 16 + Int32(connectionCount)
        connections[descriptor] = SimulatedConnection(self, descriptor: descriptor, number: connectionCount)
        return descriptor
    }

    func connect(_ descriptor: Int32, to address: IPAddress, port: Int) -> Int32 {
        guard let connection = connections[descriptor] else { return -EBADF }
        connection.address = address
        note("connect", place: connection.number, amount: port)
        explain("  connection \(connection.number) is to \(address):\(port)")
        let fate = accept(connection, address, port)
        if case .silent = fate { return -EINPROGRESS }
        after(delay: delay() * 2) { [self] in
            guard connection.isOpenForClient else { return }
            if case .accepted(let serve) = fate {
                (connection.isConnected, connection.isOpenForServer) = (true, true)
                note("connected", place: connection.number)
                serve(connection)
            } else {
                connection.isBroken = true
                connection.pendingError = ECONNREFUSED
                note("refused", place: connection.number)
            }
            report(connection)
        }
        return -EINPROGRESS
    }

    func receive(on descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, peeks: Bool) -> Int {
        guard let connection = connections[descriptor] else { return -Int(EBADF) }
        if connection.down.available > 0 {
            let bytes = connection.down.take(min(buffer.count, connection.down.available), peeks: peeks)
            buffer.copyBytes(from: bytes)
            note(
                "receive",
                place: connection.number,
                amount: bytes.count,
                content: bytes.withUnsafeBytes(Record.hash)
            )
            if peeks { return bytes.count }
            now += UInt64(bytes.count * network.byteCost)
            after(delay: delay()) { connection.wakeServer() }
            return bytes.count
        }
        if connection.pendingError != 0 { return -Int(takeError(descriptor, peeks: peeks)) }
        if connection.down.hasEnded || connection.isBroken { return 0 }
        return -Int(EAGAIN)
    }

    func send(on descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        guard let connection = connections[descriptor] else { return -Int(EBADF) }
        guard !connection.isBroken, !connection.up.isFinished else {
            let code = takeError(descriptor)
            return -Int(code == 0 ? EPIPE : code)
        }
        var taken = min(bytes.count, connection.up.room)
        if taken > 1, path.chance(network.shortSends) {
            count("fault: short send")
            taken = 1 + path.below(taken)
            // Room is reported again, as by a kernel that was short of memory for a moment.
            if taken < bytes.count { after(delay: delay()) { [self] in report(connection) } }
        }
        guard taken > 0 else {
            count("fault: full buffer")
            return -Int(EAGAIN)
        }
        let part = UnsafeRawBufferPointer(rebasing: bytes[..<taken])
        note("send", place: connection.number, amount: taken, content: Record.hash(of: part))
        transmit([UInt8](part), on: connection, isUp: true)
        return taken
    }

    func shutDown(_ descriptor: Int32) {
        guard let connection = connections[descriptor] else { return }
        note("shut down", place: connection.number)
        finish(connection, isUp: true)
    }

    func close(_ descriptor: Int32) -> Int32 {
        guard let connection = connections.removeValue(forKey: descriptor) else {
            // Descriptors of the queue and of its alarm are not counted.
            return descriptor < sim_first_descriptor() + 16 ? 0 : -EBADF
        }
        note("close", place: connection.number, amount: connection.down.available)
        connection.isOpenForClient = false
        connection.wasClosedAfterRelease = isClientReleased
        connection.token = nil
        // Unread bytes make a close a reset (RFC 2525, section 2.17).
        if connection.down.available > 0 {
            after(delay: delay()) { connection.reset() }
        } else {
            finish(connection, isUp: true)
        }
        return 0
    }

    /// Returns and clears the error that the next call reports.
    func takeError(_ descriptor: Int32, peeks: Bool = false) -> Int32 {
        guard let connection = connections[descriptor] else { return EBADF }
        defer { if !peeks { connection.pendingError = 0 } }
        return connection.pendingError
    }

    func isConnected(_ descriptor: Int32) -> Bool { connections[descriptor]?.isConnected == true }

    func randomWord() -> UInt64 { system.next() }

    // MARK: The path

    /// Sends bytes in segments that arrive in order.
    func transmit(_ bytes: [UInt8], on connection: SimulatedConnection, isUp: Bool) {
        if isUp { connection.up.send(bytes.count) } else { connection.down.send(bytes.count) }
        var start = 0
        while start < bytes.count {
            let half = (network.segmentLimit + 1) / 2
            let size = min(bytes.count - start, half + path.below(half))
            let segment = bytes[start..<start + size]
            start += size
            if path.below(1000) < network.resets {
                count("fault: reset")
                after(delay: delay()) { connection.reset() }
            }
            arrive(on: connection, isUp: isUp) { [self] in deliver(segment, to: connection, isUp: isUp) }
        }
    }

    /// Sends the FIN of one direction.
    func finish(_ connection: SimulatedConnection, isUp: Bool) {
        guard !(isUp ? connection.up.isFinished : connection.down.isFinished) else { return }
        if isUp { connection.up.isFinished = true } else { connection.down.isFinished = true }
        arrive(on: connection, isUp: isUp) { [self] in
            if isUp {
                connection.up.hasEnded = true
                connection.wakeServer()
            } else {
                connection.down.hasEnded = true
                report(connection)
            }
        }
    }

    /// Runs `event` at the other side, after everything that was sent before.
    private func arrive(on connection: SimulatedConnection, isUp: Bool, _ event: @escaping () -> Void) {
        let last = isUp ? connection.up.lastArrival : connection.down.lastArrival
        let time = max(last + 1, now + delay())
        if isUp { connection.up.lastArrival = time } else { connection.down.lastArrival = time }
        events.add(at: time, event)
    }

    private func deliver(_ segment: ArraySlice<UInt8>, to connection: SimulatedConnection, isUp: Bool) {
        guard !connection.isBroken else { return }
        // The other side has closed: it answers with a reset.
        guard isUp ? connection.isOpenForServer : connection.isOpenForClient else {
            return after(delay: delay()) { connection.reset() }
        }
        if isUp {
            connection.up.arrive(segment)
            connection.wakeServer()
        } else {
            connection.down.arrive(segment)
            report(connection)
        }
    }

    // MARK: The server's side

    /// Reads as the server. Returns an empty array at the end, `nil` if the connection is broken.
    func serverReads(_ connection: SimulatedConnection) async -> [UInt8]? {
        while true {
            if connection.isBroken || !connection.isOpenForServer { return nil }
            if connection.up.available > 0 {
                let bytes = connection.up.take(connection.up.available)
                // The client sees room when the acknowledgement has arrived.
                after(delay: delay()) { [self] in if connection.isConnected { report(connection) } }
                return bytes
            }
            if connection.up.hasEnded { return [] }
            await connection.waitForInput()
        }
    }

    /// Writes as the server. Returns false if the connection is broken.
    func serverWrites(_ bytes: [UInt8], to connection: SimulatedConnection) async -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            if connection.isBroken || !connection.isOpenForServer || connection.down.isFinished {
                return false
            }
            let taken = min(rest.count, connection.down.room)
            guard taken > 0 else {
                await connection.waitForRoom()
                continue
            }
            transmit(Array(rest.prefix(taken)), on: connection, isUp: false)
            rest = rest.dropFirst(taken)
        }
        return true
    }

    /// Closes as the server.
    func serverCloses(_ connection: SimulatedConnection) {
        guard connection.isOpenForServer else { return }
        connection.isOpenForServer = false
        note("server closes", place: connection.number, amount: connection.up.available)
        if connection.up.available > 0 {
            after(delay: delay()) { connection.reset() }
        } else {
            finish(connection, isUp: false)
        }
        connection.wakeServer()
    }
}
