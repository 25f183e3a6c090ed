#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
package import DirectCore
internal import Synchronization

/// A thread that waits in the kernel's readiness queue, wakes the tasks that wait for sockets, and runs the
/// tasks that use it as executor.
///
/// A socket wakes its task through a `WaitPoint`, whatever executor the task runs on. A task that has this
/// loop as its executor preference continues on the loop's thread without a switch; any other task continues
/// on its own executor. There is one code path for both.
///
/// One turn of the loop takes over the jobs that other threads have enqueued, runs up to 256 jobs (fewer if
/// one of them yields), polls (without blocking if jobs are left or a deadline has passed), wakes the tasks
/// whose sockets have become ready, ends the waits whose deadline had passed before the poll, and releases
/// removed handles. So a wait is late only if the sockets were looked at after its deadline: a process that
/// was stopped, or a job that has kept the loop, must not look like a late peer. Waits for other threads get
/// up to a second more then.
///
/// Threads: `jobs` belongs to the loop's thread, `arrivals` and `registry` have locks, and the flags are
/// atomic. To wake the loop, a thread first stores its flag (`hasArrivals`, `haveManyDeparted`,
/// `hasClockMoved` or `earliestDeadline`) and then reads `isAsleep`. The loop first stores `isAsleep` and
/// then reads the flags. Both are sequentially consistent, so at least one side sees the other and no wake-up
/// is lost.
///
/// A loop lives as long as the process. Its thread holds a reference to it, so there is no shutdown and no
/// order of destruction to observe. Create few.
public final class EventLoop: TaskExecutor, @unchecked Sendable {
    /// The loop that clients use by default.
    public static let shared = EventLoop()

    /// The jobs to run. Only the loop's thread touches them; they are behind a raw pointer so that Swift does
    /// not check for exclusive access.
    private let jobs: UnsafeMutablePointer<JobQueue>
    private let poller: LazyPoller
    /// The source of this loop's time. `nil` uses the system's clock.
    private let heldClock: HeldClock?
    /// Jobs that other threads have enqueued.
    private let arrivals = Locked<[UnownedJob]>([])
    private let hasArrivals = Atomic<Bool>(false)
    /// Set by the loop before it sleeps, and cleared by the thread that wakes it, so that any number of
    /// arrivals causes one write to the alarm.
    private let isAsleep = Atomic<Bool>(false)
    /// The loop's thread, once it runs.
    private let thread = Atomic<UInt>(0)
    private let registry = Locked<HandleRegistry>(HandleRegistry())
    /// Whether the registry has removed handles to release.
    private let hasDeparted = Atomic<Bool>(false)
    /// Whether there are so many of them that an idle loop must wake to release them.
    private let haveManyDeparted = Atomic<Bool>(false)
    /// Whether the held clock has been moved since the loop last looked.
    private let hasClockMoved = Atomic<Bool>(false)
    /// A lower bound of all deadlines: no deadline of a handle is earlier.
    private let earliestDeadline = Atomic<UInt64>(.max)
    /// The time by which the loop looks at the deadlines again, if nothing keeps it from that, and the time
    /// until which waits for other threads are spared. Both belong to the loop's thread.
    private var nextLook = Instant.never
    private var reprieveEnd = Instant(nanoseconds: 0)

    /// Starts a loop with its own thread.
    ///
    /// If the system cannot provide a readiness queue because descriptors have run out, the loop asks again
    /// until it gets one. Sockets cannot be opened until then. If the system refuses the thread, the process
    /// ends with a message, as it would in libdispatch, since nothing could work without it.
    public convenience init() {
        self.init(clock: nil)
    }

    /// Starts a loop with a clock that is moved by hand, for tests.
    package convenience init(clock: HeldClock?) {
        self.init(heldClock: clock)
        clock?.attach(self)
        startThread()
    }

    /// Creates a loop without a thread. One thread calls ``turn()`` instead.
    package convenience init(isDriven: Void) {
        self.init(heldClock: nil)
    }

    private init(heldClock: HeldClock?) {
        jobs = .allocate(capacity: 1)
        jobs.initialize(to: JobQueue())
        poller = LazyPoller()
        self.heldClock = heldClock
    }

    // Runs for loops without a thread only.
    deinit {
        jobs.deinitialize(count: 1)
        jobs.deallocate()
    }

    /// Whether the loop's clock is moved by hand.
    var isHeld: Bool { heldClock != nil }

    /// The time on this loop's clock, which counts for every wait on the loop.
    package var now: Instant {
        guard let heldClock else { return .now }
        return heldClock.now
    }

    /// The date that corresponds to ``now``, for calendar times.
    package var date: UnixTime {
        guard let heldClock else { return .now }
        return heldClock.date
    }

    /// Waits until this time. With `isForThread` it is the time of another thread or task, which gets a turn
    /// first after a stop of the process.
    package func sleep(
        until moment: Instant,
        isForThread: Bool = false
    ) async throws(CancellationError) {
        let pause = LoopHandle(loop: self)
        pause.isForThread = isForThread
        add(pause)
        defer { remove(pause) }
        if case .cancelled = await pause.waitForSignal(until: moment) { throw CancellationError() }
    }

    /// Queues a job. May be called from any thread.
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

    /// Lets other tasks run. A task on the loop continues in the loop's next turn, so that deadlines and
    /// sockets are looked at in between; otherwise a task that yields again and again would keep the loop
    /// from them for all the jobs of a turn.
    package func yield() async {
        if isCurrent { jobs.pointee.endTurn() }
        await Task.yield()
    }

    /// Whether the current thread is the loop's.
    package var isCurrent: Bool {
        thread.load(ordering: .relaxed) == Self.currentThread
    }

    private func wakeIfAsleep() {
        guard isAsleep.load(ordering: .sequentiallyConsistent) else { return }
        if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { poller.wake() }
    }

    /// Registers a handle, so that the deadlines of its waits are observed. The loop holds it until
    /// ``remove(_:)``.
    package func add(_ handle: LoopHandle) {
        registry.withLock { $0.insert(handle) }
    }

    /// Removes a handle. The loop releases it after the events that it is currently handling.
    package func remove(_ handle: LoopHandle) {
        let waiting = registry.withLock { registry in
            registry.remove(handle)
            return registry.departed.count
        }
        hasDeparted.store(true, ordering: .sequentiallyConsistent)
        // Otherwise a loop that has nothing else to do would hold all removed handles until its next event.
        guard waiting >= Self.departedBeforeWaking else { return }
        haveManyDeparted.store(true, ordering: .sequentiallyConsistent)
        wakeIfAsleep()
    }

    /// Registers a handle with a descriptor, whose readiness is reported to the handle.
    func add(_ handle: LoopHandle, descriptor: Int32) throws(SystemError) {
        handle.isForThread = false
        add(handle)
        do {
            try poller.add(descriptor, token: Unmanaged.passUnretained(handle).toOpaque())
        } catch {
            remove(handle)
            throw error
        }
    }

    /// Removes a handle with a descriptor. The loop releases it after the events that it is currently
    /// handling, since they may still refer to it.
    func remove(_ handle: LoopHandle, descriptor: Int32) {
        poller.remove(descriptor)
        remove(handle)
    }

    /// Makes the loop test deadlines at `instant` at the latest.
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

    /// The number of waits in progress with exactly this deadline.
    func waitCount(until moment: Instant) -> Int {
        registry.withLock { $0.handles.reduce(0) { $0 + $1.waitCount(until: moment) } }
    }

    private func startThread() {
        // Never released: the thread, and with it the loop, lives until the process ends.
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

    /// Runs one turn of a loop that has no thread: runs the jobs that are ready, then waits for the next
    /// event.
    package func turn() {
        thread.store(Self.currentThread, ordering: .relaxed)
        turn(asUnownedTaskExecutor())
    }

    /// Whether the loop has no jobs and no handles: nothing uses it now.
    package var isUnused: Bool {
        jobs.pointee.isEmpty && !hasArrivals.load(ordering: .acquiring)
            && registry.withLock { $0.handles.isEmpty }
    }

    private func turn(_ executor: UnownedTaskExecutor) {
        takeArrivals()
        jobs.pointee.beginTurn(limit: Self.jobsBetweenPolls)
        while let job = jobs.pointee.next() { job.runSynchronously(on: executor) }
        poll()
    }

    private func poll() {
        var hasWork = !jobs.pointee.isEmpty
        if !hasWork {
            isAsleep.store(true, ordering: .sequentiallyConsistent)
            // Read after the flag is set: a thread that stores one of these later sees the flag and wakes the
            // loop.
            hasWork =
                hasArrivals.load(ordering: .sequentiallyConsistent)
                || haveManyDeparted.load(ordering: .sequentiallyConsistent)
                || heldClock != nil && hasClockMoved.exchange(false, ordering: .sequentiallyConsistent)
        }
        // In any case: jobs that arrive in every turn must not put limits off.
        var late = LateHandles()
        let pause = findLate(&late)
        let timeout = hasWork ? 0 : pause
        nextLook = late.now?.advanced(byNanoseconds: timeout ?? .max) ?? .never
        var mayHaveMore = notePolled(nanoseconds: timeout)
        isAsleep.store(false, ordering: .relaxed)
        if let now = late.now, !late.handles.isEmpty {
            // Each socket of the loop once, whatever arrives meanwhile: the kernel's queue has an order.
            while mayHaveMore, late.polls > 0 {
                mayHaveMore = notePolled(nanoseconds: 0)
                late.polls -= 1
            }
            for handle in late.handles {
                let next = handle.expire(ifBefore: now)
                if next < .never { noteDeadline(next) }
            }
        }
        releaseDeparted()
    }

    /// Polls, and passes the events on to the handles. Returns whether there may be more.
    private func notePolled(nanoseconds: UInt64?) -> Bool {
        poller.poll(nanoseconds: nanoseconds) { event in
            // The handle is alive: the registry holds every handle that the poller may report.
            Unmanaged<LoopHandle>.fromOpaque(event.token)._withUnsafeGuaranteedRef { handle in
                handle.note(event)
            }
        }
    }

    /// Handles with a wait whose deadline has passed.
    private struct LateHandles {
        var handles: [LoopHandle] = []
        /// The time at which they were late; `nil` if no deadline was looked at.
        var now: Instant?
        /// The number of further polls that show each socket of the loop once.
        var polls = 0
    }

    /// Finds the handles that are late. Returns the time to sleep in nanoseconds: none if there are any,
    /// otherwise that to the next deadline, or `nil` if there is none.
    private func findLate(_ late: inout LateHandles) -> UInt64? {
        let due = earliestDeadline.load(ordering: .sequentiallyConsistent)
        guard due < .max else { return nil }
        let now = now
        late.now = now
        noteStop(at: now)
        guard due <= now.nanoseconds else { return time(to: Instant(nanoseconds: due), from: now) }
        // Reset before the scan, so that a deadline set from here on is noted again.
        earliestDeadline.store(.max, ordering: .sequentiallyConsistent)
        var (handles, next) = registry.withLock { registry in
            late.polls = registry.handles.count / Poller.capacity
            return registry.scan(at: now)
        }
        if now < reprieveEnd, handles.contains(where: \.isForThread) {
            handles.removeAll(where: \.isForThread)
            next = next.atMost(reprieveEnd)
        }
        for handle in handles { handle.noteLateness(at: now) }
        late.handles = handles
        if next < .never {
            // A scan is not free, so with many handles it is done less often.
            let pause =
                heldClock == nil ? UInt64(1_000_000 + registry.withLock { $0.handles.count } * 1000) : 0
            let soonest = max(next, now.advanced(byNanoseconds: pause))
            noteDeadline(soonest)
            if handles.isEmpty { return time(to: soonest, from: now) }
        }
        return handles.isEmpty ? nil : 0
    }

    /// Spares waits for other threads if the loop looks at the deadlines much too late: the process was
    /// stopped, as by a debugger. These threads, such as one with the answer of the system's resolver, may
    /// have had no turn since. They get one, but not for ever where the loop is always late.
    private func noteStop(at now: Instant) {
        guard heldClock == nil, now > nextLook,
            now >= reprieveEnd.advanced(byNanoseconds: Self.longestReprieve)
        else { return }
        let time = now.nanoseconds - nextLook.nanoseconds
        guard time >= Self.shortestStop else { return }
        reprieveEnd = now.advanced(byNanoseconds: min(time, Self.longestReprieve))
    }

    /// Returns the time to sleep. With a held clock it is `nil`, since that clock moves only by hand, which
    /// wakes the loop.
    private func time(to moment: Instant, from now: Instant) -> UInt64? {
        heldClock == nil ? moment.nanoseconds - now.nanoseconds : nil
    }

    /// Wakes the loop after its held clock has been moved.
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
        // Released outside the lock, since a handle's deinit may run arbitrary code.
        var departed: [LoopHandle] = []
        registry.withLock { swap(&$0.departed, &departed) }
    }

    private static let jobsBetweenPolls = 256
    private static let departedBeforeWaking = 1024
    private static let shortestStop: UInt64 = 100_000_000
    private static let longestReprieve: UInt64 = 1_000_000_000

    private static var currentThread: UInt {
        #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
        #else
        UInt(pthread_self())
        #endif
    }
}
