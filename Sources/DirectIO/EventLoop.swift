#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
internal import Synchronization

/// One thread that sleeps in the kernel's readiness queue and runs tasks that prefer it.
///
/// Sockets wake their tasks through it (see `WaitPoint`); where such a task then runs is its own affair.
/// A task with this loop as executor preference goes on right here, without changing threads; any other
/// goes on where Swift runs it. There is one code path for both, and it is correct on either.
///
/// A loop lives as long as the process: its thread holds it, so there is nothing to shut down and no
/// order of destruction to get wrong. Make few.
public final class EventLoop: TaskExecutor, @unchecked Sendable {
    /// The loop that clients use unless they are given another.
    public static let shared = EventLoop()

    /// What only the loop's thread touches; behind a raw pointer, where Swift checks no exclusive access.
    private let jobs: UnsafeMutablePointer<JobQueue>
    private let poller: LazyPoller
    /// Where this loop's time comes from; `nil` is the system's clock.
    private let heldClock: HeldClock?
    /// Jobs from other threads.
    private let arrivals = Locked<[UnownedJob]>([])
    private let hasArrivals = Atomic<Bool>(false)
    /// Set before sleeping, taken by who wakes: one write to the alarm for any number of arrivals.
    private let isAsleep = Atomic<Bool>(false)
    private let thread = Atomic<UInt>(0)
    private let registry = Locked<HandleRegistry>(HandleRegistry())
    private let hasDeparted = Atomic<Bool>(false)
    private let haveManyDeparted = Atomic<Bool>(false)
    private let hasClockMoved = Atomic<Bool>(false)
    /// No deadline of any handle lies before this one.
    private let earliestDeadline = Atomic<UInt64>(.max)

    /// Starts a loop with a thread of its own.
    ///
    /// A loop whose readiness queue the system refuses, for want of descriptors, asks for it again until it gets
    /// one; sockets cannot be opened until then. Without a thread nothing here can work: when the system refuses
    /// one the process ends with a message, as it would in libdispatch.
    public convenience init() {
        self.init(clock: nil)
    }

    /// The same with a clock that is moved by hand, for tests.
    package convenience init(clock: HeldClock?) {
        self.init(heldClock: clock)
        clock?.attach(self)
        startThread()
    }

    /// A loop without a thread: `turn` is called instead, by one thread.
    package convenience init(isDriven: Void) {
        self.init(heldClock: nil)
    }

    private init(heldClock: HeldClock?) {
        jobs = .allocate(capacity: 1)
        jobs.initialize(to: JobQueue())
        poller = LazyPoller()
        self.heldClock = heldClock
    }

    /// Whether its clock stands still until it is moved by hand.
    package var isHeld: Bool { heldClock != nil }

    /// The time by this loop's clock, which counts for every wait on it.
    package var now: Instant {
        guard let heldClock else { return .now }
        return heldClock.now
    }

    /// The date that goes with it, for what counts by the calendar.
    package var date: UnixTime {
        guard let heldClock else { return .now }
        return heldClock.date
    }

    /// Returns when the moment has come.
    package func sleep(until moment: Instant) async throws(CancellationError) {
        let pause = LoopHandle(loop: self)
        add(pause)
        defer { remove(pause) }
        if case .cancelled = await pause.input.wait(until: moment, on: self) { throw CancellationError() }
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent {
            jobs.pointee.append(job)
        } else {
            arrivals.withLock { $0.append(job) }
            hasArrivals.store(true, ordering: .sequentiallyConsistent)
            wakeIfAsleep()
        }
    }

    private var isCurrent: Bool {
        thread.load(ordering: .relaxed) == Self.currentThread
    }

    private func wakeIfAsleep() {
        guard isAsleep.load(ordering: .sequentiallyConsistent) else { return }
        if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { poller.wake() }
    }

    /// Looks after the handle's deadlines from now on, and holds it until `remove`.
    package func add(_ handle: LoopHandle) {
        registry.withLock { $0.insert(handle) }
    }

    /// Lets go of the handle.
    package func remove(_ handle: LoopHandle) {
        let waiting = registry.withLock { registry in
            registry.remove(handle)
            return registry.departed.count
        }
        hasDeparted.store(true, ordering: .sequentiallyConsistent)
        // A loop that has nothing else to do would hold them all until something happens.
        guard waiting >= Self.departedBeforeWaking else { return }
        haveManyDeparted.store(true, ordering: .sequentiallyConsistent)
        wakeIfAsleep()
    }

    /// The same for a handle with a descriptor, whose readiness is reported as well.
    func add(_ handle: LoopHandle, descriptor: Int32) throws(SystemError) {
        add(handle)
        do {
            try poller.add(descriptor, token: Unmanaged.passUnretained(handle).toOpaque())
        } catch {
            remove(handle)
            throw error
        }
    }

    /// Events that are just being handed out may still speak of it: the loop lets go after them.
    func remove(_ handle: LoopHandle, descriptor: Int32) {
        poller.remove(descriptor)
        remove(handle)
    }

    /// Sees to it that the loop looks at the deadlines no later than at `instant`.
    func noteDeadline(_ instant: Instant) {
        defer { heldClock?.noteWait(until: instant) }
        let due = instant.nanoseconds
        var known = earliestDeadline.load(ordering: .sequentiallyConsistent)
        while due < known {
            let (exchanged, seen) = earliestDeadline.weakCompareExchange(
                expected: known,
                desired: due,
                ordering: .sequentiallyConsistent
            )
            if exchanged { return wakeIfAsleep() }
            known = seen
        }
    }

    /// Whether a wait that ends at this moment is under way.
    func hasWait(until moment: Instant) -> Bool {
        registry.withLock { $0.handles.contains { $0?.hasWait(until: moment) == true } }
    }

    private func startThread() {
        // Balanced by nothing: the thread, and with it the loop, ends with the process.
        let context = Unmanaged.passRetained(self).toOpaque()
        let refused = startDetachedThread(named: "direct-http loop", context) { context in
            Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue().run()
        }
        if let refused { fatalError("direct-http cannot start the thread of an event loop: \(refused)") }
    }

    private func run() -> Never {
        thread.store(Self.currentThread, ordering: .sequentiallyConsistent)
        let executor = asUnownedTaskExecutor()
        while true { turn(executor) }
    }

    /// One round of a loop without a thread of its own: runs what is ready, then waits for the next event.
    package func turn() {
        thread.store(Self.currentThread, ordering: .relaxed)
        turn(asUnownedTaskExecutor())
    }

    private func turn(_ executor: UnownedTaskExecutor) {
        takeArrivals()
        var budget = Self.jobsBetweenPolls
        while budget > 0, let job = jobs.pointee.popFirst() {
            job.runSynchronously(on: executor)
            budget -= 1
        }
        poll()
    }

    private func poll() {
        var timeout: UInt64? = 0
        if jobs.pointee.isEmpty {
            isAsleep.store(true, ordering: .sequentiallyConsistent)
            // Looked at after the flag is up: who comes later sees it and wakes us.
            let hasWork =
                hasArrivals.load(ordering: .sequentiallyConsistent)
                || haveManyDeparted.load(ordering: .sequentiallyConsistent)
                || heldClock != nil && hasClockMoved.exchange(false, ordering: .sequentiallyConsistent)
            if !hasWork { timeout = expireDeadlines() }
            if !jobs.pointee.isEmpty { timeout = 0 }
        } else {
            _ = expireDeadlines()
        }
        poller.poll(nanoseconds: timeout) { event in
            // Alive: the registry holds every handle that the poller may speak of.
            Unmanaged<LoopHandle>.fromOpaque(event.token)._withUnsafeGuaranteedRef { handle in
                handle.note(event)
            }
        }
        isAsleep.store(false, ordering: .relaxed)
        releaseDeparted()
    }

    /// Ends the waits that are due. Returns how long it is to the next deadline, `nil` if there is none.
    private func expireDeadlines() -> UInt64? {
        let due = earliestDeadline.load(ordering: .sequentiallyConsistent)
        guard due < .max else { return nil }
        let now = now
        guard due <= now.nanoseconds else { return time(to: Instant(nanoseconds: due), from: now) }
        // Anew before the scan: a deadline set from here on counts again.
        earliestDeadline.store(.max, ordering: .sequentiallyConsistent)
        let (late, others) = registry.withLock { registry in registry.scan(at: now) }
        // Outside the lock: to resume a task may run code of its executor.
        var next = others
        for handle in late { next = min(next, handle.expire(ifBefore: now)) }
        guard next < .never else { return nil }
        // A scan has its price: many handles are looked at less often.
        let pause = heldClock == nil ? UInt64(1_000_000 + registry.withLock { $0.handles.count } * 1000) : 0
        let soonest = max(next, now.advanced(byNanoseconds: pause))
        noteDeadline(soonest)
        return time(to: soonest, from: now)
    }

    /// A held clock does not move by itself: the loop sleeps until it is moved.
    private func time(to moment: Instant, from now: Instant) -> UInt64? {
        heldClock == nil ? moment.nanoseconds - now.nanoseconds : nil
    }

    func clockHasMoved() {
        hasClockMoved.store(true, ordering: .sequentiallyConsistent)
        wakeIfAsleep()
    }

    private func takeArrivals() {
        guard hasArrivals.load(ordering: .acquiring) else { return }
        hasArrivals.store(false, ordering: .sequentiallyConsistent)
        var batch: [UnownedJob] = []
        arrivals.withLock { swap(&$0, &batch) }
        for job in batch { jobs.pointee.append(job) }
    }

    private func releaseDeparted() {
        guard hasDeparted.load(ordering: .acquiring) else { return }
        hasDeparted.store(false, ordering: .sequentiallyConsistent)
        haveManyDeparted.store(false, ordering: .sequentiallyConsistent)
        // Let go outside the lock: a handle's end may run code of its own.
        var departed: [LoopHandle] = []
        registry.withLock { swap(&$0.departed, &departed) }
    }

    private static let jobsBetweenPolls = 256
    private static let departedBeforeWaking = 1024

    private static var currentThread: UInt {
        #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
        #else
        UInt(pthread_self())
        #endif
    }
}
