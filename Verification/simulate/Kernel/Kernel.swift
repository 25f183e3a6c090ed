internal import CSimulation
internal import DirectCore
internal import Glibc

/// The simulated system: sockets, the readiness queue, clocks, and the order in which ready jobs run.
///
/// Everything runs on one thread. Time passes when nothing is ready (the clock jumps to the next event) and,
/// if the plan says so, while jobs run. All that is not determined by the program is drawn from the seed.
/// Because of the one thread `@unchecked Sendable` is safe, here and for all that belongs to a world.
final class Kernel: @unchecked Sendable {
    /// The kernel of the world that runs, for the functions of the seam.
    nonisolated(unsafe) static var current = Kernel(
        seed: 0,
        network: NetworkPlan(),
        disk: DiskPlan(),
        isTraced: false
    )

    /// The reason why a world cannot go on.
    enum Fault: Error {
        /// Nothing is ready, and no event is to come.
        case hang
        /// More steps than any world needs.
        case endless
    }

    var now: UInt64 = 1_000_000_000
    let network: NetworkPlan
    let disk: SimulatedDisk
    private(set) var record: Record
    private(set) var steps = 0
    /// Counts how often things happened, by name.
    private(set) var counts: [String: Int] = [:]
    /// The open descriptors.
    var connections: [Int32: SimulatedConnection] = [:]
    var listeners: [Int32: SimulatedListener] = [:]
    /// All connections so far, by their number less one.
    var allConnections: [SimulatedConnection] = []
    /// The most that the client has had at a time.
    var mostConnections = 0
    /// The open descriptors for datagrams, and how many there have been.
    var datagramSockets: [Int32: SimulatedDatagramSocket] = [:]
    var datagramSocketCount = 0
    /// The number of threads that were started and have not run yet.
    private(set) var threads = 0
    /// Answers the system's resolver.
    var lookUp: (String) -> [IPAddress] = { _ in [] }
    /// Sees what the client sends.
    var sees: (SimulatedConnection, UnsafeRawBufferPointer) -> Void = { _, _ in }
    /// Sees what the path carries, in either direction.
    var carries: ([UInt8], SimulatedConnection, _ isUp: Bool) -> Void = { _, _, _ in }
    /// Sees a connection that the client closes.
    var closes: (SimulatedConnection) -> Void = { _ in }
    /// Decides the fate of a connection attempt.
    var accept: (SimulatedConnection, IPAddress, Int) -> Accepting = { _, _, _ in .refused }

    /// The same for an attempt to connect to a Unix domain socket.
    var acceptLocal: (SimulatedConnection, String) -> Accepting = { _, _ in .refused }

    /// Sees a call of the client on a descriptor that it has closed.
    var misuses: (String) -> Void = { _ in }
    /// Sees a datagram that the client sends.
    var seesDatagram: (SimulatedDatagramSocket, [UInt8]) -> Void = { _, _ in }
    /// Gets a datagram that has arrived at the address that its socket is connected to.
    var receiveDatagram: (SimulatedDatagramSocket, [UInt8]) -> Void = { _, _ in }

    /// The fate of a connection attempt.
    enum Accepting {
        case refused
        /// There is another error, at once or later.
        case failed
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
    var events = EventHeap()
    private var ready: [Work] = []
    private var queue: [any Watched] = []
    var path: Dice
    private var schedule: Dice
    private var system: Dice
    /// The bytes that the client has received since it let other tasks run, and the most of them so far.
    private var bytesAtATime = 0
    private(set) var mostBytesAtATime = 0
    /// Whether a thread of the client runs.
    private var isOnThread = false
    private var isStuck = false
    /// When sockets were refused because descriptors had run out.
    var shortages: [UInt64] = []
    var lastShortage: UInt64 { shortages.last ?? 0 }
    /// Whether a server has closed a connection without reading all that the client had sent.
    var hasLostRequests = false
    /// Whether work that is ready runs in its order. Otherwise it runs in any order.
    var isFair = false
    /// How often the work that has been ready for longest was passed over.
    private var delays = 0
    /// When the loop had its last turn. Its thread is one of several: other jobs do not hold it up for long.
    private var lastTurn: UInt64 = 0
    private static let longestWithoutTurn: UInt64 = 50_000_000

    let plan: KernelPlan
    var unkind: Dice
    /// Until when the program is stopped, and whether its next wait is interrupted for that (signal(7)).
    private var stoppedUntil: UInt64 = 0
    private var isInterrupted = false
    /// The seconds by which the clock that knows the date has been set.
    private(set) var clockShift = 0
    /// Until when no read of a file ends.
    var hangsUntil: UInt64 = 0

    init(
        seed: UInt64,
        network: NetworkPlan,
        disk: DiskPlan,
        plan: KernelPlan = KernelPlan(),
        isTraced: Bool
    ) {
        self.network = network
        self.plan = plan
        unkind = Dice(seed: seed ^ 0xB_7022)
        record = Record(isReadable: isTraced)
        var root = Dice(seed: seed)
        path = root.fork(1)
        schedule = root.fork(2)
        system = root.fork(3)
        self.disk = SimulatedDisk(disk, dice: root.fork(4))
        self.disk.counts = { [unowned self] in count($0) }
        self.disk.lowestDescriptor = { [unowned self] in lowestDescriptor() }
    }

    /// Releases everything at the end of a world: its connections know the kernel.
    func dissolve() {
        (connections, allConnections, datagramSockets, queue, listeners) = ([:], [], [:], [], [:])
        disk.dissolve()
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

    /// Counts bytes that the client has received. A thread of its own keeps no other from running, and goes
    /// on with the next job at once, so that a task that has yielded there is not seen to have done so.
    func countReceived(_ bytes: Int) {
        guard !isOnThread else { return }
        bytesAtATime += bytes
        mostBytesAtATime = max(mostBytesAtATime, bytesAtATime)
    }

    // MARK: Time

    /// Runs a step of the network later. It must not resume a task that may run on the client's loop.
    func after(delay: UInt64, _ run: @escaping () -> Void) {
        events.add(at: now &+ delay, run)
    }

    /// Runs a step of the world later, outside of the loop: a loop that waits would not notice work that its
    /// own thread gives it.
    func after(nanoseconds: UInt64, _ run: @escaping () -> Void) {
        events.add(at: now &+ nanoseconds) { [self] in ready.append(.step(run)) }
    }

    /// Waits, in virtual time.
    func sleep(microseconds: Int) async {
        await withUnsafeContinuation { continuation in
            after(nanoseconds: UInt64(max(0, microseconds)) * 1000) { continuation.resume() }
        }
    }

    /// Takes the processor's time within a job: the network and other machines go on, and no other job runs.
    func work(microseconds: Int) {
        let end = now + UInt64(microseconds) * 1000
        while let next = events.next, next <= end {
            now = max(now, next)
            runDueEvents()
            runReadySteps()
        }
        now = end
    }

    private func runReadySteps() {
        let steps = ready.compactMap { if case .step(let run) = $0 { run } else { nil } }
        ready.removeAll { if case .step = $0 { true } else { false } }
        for run in steps { run() }
    }

    func delay() -> UInt64 {
        UInt64(path.number(in: network.shortestDelay...max(network.shortestDelay, network.longestDelay)))
            * 1000
    }

    /// Lets the plan's stop and the change of its clock happen.
    func begin() {
        if let stop = plan.stop {
            after(delay: UInt64(stop.time) * 1000) { [self] in
                count("fault: program stopped")
                note("stopped", amount: stop.length)
                (stoppedUntil, isInterrupted) = (now + UInt64(stop.length) * 1000, true)
            }
        }
        guard let clock = plan.clock else { return }
        after(delay: UInt64(clock.time) * 1000) { [self] in
            count("fault: clock set \(clock.seconds < 0 ? "back" : "ahead")")
            note("clock", amount: clock.seconds)
            clockShift = clock.seconds
        }
    }

    /// Lets the network and the servers go on without the client, whose loop nothing can wake.
    private func passStop() {
        now = max(now, min(events.next ?? .max, stoppedUntil))
        runDueEvents()
    }

    // MARK: Jobs

    func enqueue(_ job: UnsafeMutableRawPointer) {
        ready.append(.job(job))
    }

    func enqueue(_ job: UnsafeMutableRawPointer, after nanoseconds: UInt64) {
        after(nanoseconds: nanoseconds) { [self] in enqueue(job) }
    }

    /// Runs a thread's body later, on this thread.
    ///
    /// - Parameter body: Returns whether it has ended. Otherwise it is in a call that takes its time.
    func startThread(_ body: @escaping () -> Bool) -> Int32 {
        // Where others run, a pool tries again on the loop of the process, which is a real one.
        if plan.threadFailures > 0, threads == 0, unkind.chance(plan.threadFailures) {
            count("fault: no thread")
            return EAGAIN
        }
        threads += 1
        pauseThread(UInt64(path.number(in: 1...max(1, network.longestThreadStart))) * 1000, body)
        return 0
    }

    func pauseThread(_ nanoseconds: UInt64, _ body: @escaping () -> Bool) {
        after(nanoseconds: nanoseconds) { [self] in
            isOnThread = true
            if body() { threads -= 1 }
            isOnThread = false
        }
    }

    /// Runs jobs, the loop and the network until `isOver`.
    func run(_ turn: () -> Void, until isOver: () -> Bool) throws(Fault) {
        while !isOver() {
            steps += 1
            if steps > 2_000_000 { throw .endless }
            if !ready.isEmpty, now < stoppedUntil || now < lastTurn + Self.longestWithoutTurn,
                schedule.below(8) != 0
            {
                var place = schedule.below(ready.count)
                // In any order, but nothing waits for ever.
                if isFair || delays >= 2 { place = 0 }
                delays = place == 0 ? 0 : delays + 1
                let work = ready.remove(at: place)
                bytesAtATime = 0
                if !ready.isEmpty { note("job", place: place, amount: ready.count) }
                switch work {
                case .job(let job): sim_run_job(job)
                case .step(let step): step()
                }
                if network.jobCost > 0 { now += UInt64(schedule.below(network.jobCost)) }
            } else if now < stoppedUntil {
                if ready.isEmpty { passStop() }
            } else {
                turn()
                lastTurn = now
                guard isStuck else { continue }
                isStuck = false
                if !isOver() { throw .hang }
            }
        }
    }

    /// Whether no job and no step is ready.
    var hasNoWork: Bool { ready.isEmpty }

    /// Whether nothing is ready and no event is to come.
    var isQuiet: Bool { ready.isEmpty && queue.isEmpty && events.next == nil }

    // MARK: The readiness queue

    /// Waits for events, as epoll_wait. Without a time to wait nothing interrupts it (Linux, ep_poll).
    func wait(_ buffer: UnsafeMutableRawPointer, capacity: Int, milliseconds: Int32) -> Int32 {
        bytesAtATime = 0
        defer { isInterrupted = false }
        if isInterrupted, milliseconds != 0 { return -EINTR }
        let end = milliseconds < 0 ? UInt64.max : now &+ UInt64(milliseconds) * 1_000_000
        runDueEvents()
        while queue.isEmpty, ready.isEmpty {
            if now < stoppedUntil { return milliseconds == 0 ? 0 : -EINTR }
            guard let next = events.next, next <= end else {
                if end == .max { isStuck = true } else { now = max(now, end) }
                return 0
            }
            now = max(now, next)
            runDueEvents()
        }
        var count = 0
        while count < capacity, !queue.isEmpty {
            let socket = queue.remove(at: schedule.below(queue.count))
            socket.isInQueue = false
            guard let token = socket.token, socket.readiness != 0 else { continue }
            note("event", place: socket.number, amount: Int(socket.readiness))
            sim_put_event(buffer, Int32(count), socket.readiness, token)
            count += 1
        }
        return Int32(count)
    }

    func runDueEvents() {
        while let next = events.next, next <= now { events.pop()?.run() }
    }

    /// Puts a socket on the readiness queue.
    func report(_ socket: any Watched) {
        guard socket.isOpenForClient, socket.token != nil, !socket.isInQueue else { return }
        socket.isInQueue = true
        queue.append(socket)
    }

    func watch(_ descriptor: Int32, token: UnsafeMutableRawPointer?) -> Int32 {
        let socket: (any Watched)? =
            connections[descriptor] ?? datagramSockets[descriptor] ?? listeners[descriptor]
        guard let socket else { return misused("epoll_ctl", descriptor) }
        if (token == nil) == (socket.token == nil) {
            return misused("epoll_ctl", descriptor, token == nil ? ENOENT : EEXIST)
        }
        socket.token = token
        if token != nil, socket.readiness != 0 { report(socket) }
        return 0
    }

    func randomWord() -> UInt64 { system.next() }
}
