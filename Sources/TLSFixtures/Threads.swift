internal import CDirectOpenSSL

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A pthread mutex. With `Synchronization.Mutex` the thread sanitizer reports false races.
final class Lock: @unchecked Sendable {
    fileprivate let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func locked<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}

/// A condition variable. Its times are those of the monotonic clock.
private final class Condition: @unchecked Sendable {
    let raw = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        raw.initialize(to: pthread_cond_t())
        #if canImport(Glibc)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(raw, &attributes)
        pthread_condattr_destroy(&attributes)
        #else
        pthread_cond_init(raw, nil)
        #endif
    }

    deinit {
        pthread_cond_destroy(raw)
        raw.deallocate()
    }
}

/// A condition variable for the whole process. Opening a ``Gate`` and stopping a server ring it, and every
/// fixture thread that pauses or waits for a gate then tests its own condition.
enum Bell {
    private static let lock = Lock()
    private static let condition = Condition()

    /// Makes a change that waiting threads may be waiting for, and wakes them all.
    static func ring(_ change: () -> Void) {
        lock.locked {
            change()
            pthread_cond_broadcast(condition.raw)
        }
    }

    /// Reads a value under the lock.
    static func read<Value>(_ value: () -> Value) -> Value {
        lock.locked(value)
    }

    /// Blocks this thread until `isDone` returns `true`, at most for `duration`.
    static func wait(atMost duration: Duration? = nil, until isDone: () -> Bool) {
        let end = duration.map { monotonicNanoseconds() + $0.wholeNanoseconds }
        lock.locked {
            while !isDone() {
                guard let end else {
                    pthread_cond_wait(condition.raw, lock.mutex)
                    continue
                }
                let now = monotonicNanoseconds()
                guard now < end else { return }
                waitOnce(nanoseconds: end - now, until: end)
            }
        }
    }

    /// Waits for one ring. Linux takes the absolute time, Darwin the remaining time.
    private static func waitOnce(nanoseconds: Int64, until end: Int64) {
        #if canImport(Glibc)
        var moment = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
        pthread_cond_timedwait(condition.raw, lock.mutex, &moment)
        #else
        var span = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000),
            tv_nsec: Int(nanoseconds % 1_000_000_000)
        )
        pthread_cond_timedwait_relative_np(condition.raw, lock.mutex, &span)
        #endif
    }
}

/// A gate at which handlers and scripts wait until the test opens it.
public final class Gate: @unchecked Sendable {
    // Guarded by the lock.
    private var opened = false

    /// Creates a closed gate.
    public init() {}

    /// Opens the gate. Every present and later wait for it returns.
    public func open() {
        Bell.ring { opened = true }
    }

    /// Whether the gate has been opened.
    public var isOpen: Bool { Bell.read { opened } }

    /// Call this only with the lock held.
    var isOpenInsideBell: Bool { opened }
}

/// Threads whose end can be waited for.
final class ThreadGroup: @unchecked Sendable {
    private let lock = Lock()
    private let oneHasEnded = Condition()
    // Guarded by the lock.
    private var running: Set<pthread_t> = []

    /// Starts a thread that runs `body`.
    func start(_ body: @escaping @Sendable () -> Void) throws(FixtureError) {
        // Under the lock, so that the thread cannot report its end before it is registered.
        try lock.locked { () throws(FixtureError) in
            let thread = try startDetachedThread { [self] in
                body()
                lock.locked {
                    running.remove(pthread_self())
                    pthread_cond_broadcast(oneHasEnded.raw)
                }
            }
            running.insert(thread)
        }
    }

    /// Waits until all threads but the current one have ended: a handler that holds the last reference to
    /// its server stops the server on its own thread.
    func waitForOthers() {
        lock.locked {
            let own = running.contains(pthread_self()) ? 1 : 0
            while running.count > own { pthread_cond_wait(oneHasEnded.raw, lock.mutex) }
        }
    }
}

/// Starts a thread that runs `body`. All signals are blocked in it, so that the host process's signals go to
/// other threads.
///
/// It is detached from the start: the address sanitizer keeps one that is joined, or detached later, on its
/// list after its end, and then looks in vain for the stack of another one with its number.
@discardableResult
func startDetachedThread(_ body: @escaping @Sendable () -> Void) throws(FixtureError) -> pthread_t {
    let box = Unmanaged.passRetained(ThreadBody(run: body))
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    #if canImport(Glibc)
    var thread = pthread_t()
    #else
    var thread: pthread_t!
    #endif
    let code = pthread_create(&thread, &attributes, { runThreadBody($0) }, box.toOpaque())
    guard code == 0 else {
        box.release()
        throw .systemCallFailed("pthread_create", code)
    }
    return thread
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

private func runThreadBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
    // Shown by debuggers and top.
    #if canImport(Glibc)
    fixture_name_this_thread("fixture")
    #else
    pthread_setname_np("fixture")
    #endif
    Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}

/// The monotonic clock's time in nanoseconds.
func monotonicNanoseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}

extension Duration {
    /// The duration in nanoseconds, rounded towards zero.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
