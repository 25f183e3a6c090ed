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

/// A condition variable for the whole process. Opening a ``Gate`` and stopping a server ring it, and every
/// fixture thread that pauses or waits for a gate then tests its own condition.
enum Bell {
    private static let lock = Lock()
    nonisolated(unsafe) private static let condition = makeCondition()

    /// Makes a change that waiting threads may be waiting for, and wakes them all.
    static func ring(_ change: () -> Void) {
        lock.locked {
            change()
            pthread_cond_broadcast(condition)
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
                    pthread_cond_wait(condition, lock.mutex)
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
        pthread_cond_timedwait(condition, lock.mutex, &moment)
        #else
        var span = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000),
            tv_nsec: Int(nanoseconds % 1_000_000_000)
        )
        pthread_cond_timedwait_relative_np(condition, lock.mutex, &span)
        #endif
    }

    private static func makeCondition() -> UnsafeMutablePointer<pthread_cond_t> {
        let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        #if canImport(Glibc)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        #else
        pthread_cond_init(condition, nil)
        #endif
        return condition
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

/// A joinable thread. All signals are blocked in it, so that the host process's signals go to other threads.
struct WorkerThread: @unchecked Sendable {
    private let id: pthread_t

    /// Starts a thread that runs `body`.
    init(_ body: @escaping @Sendable () -> Void) throws(FixtureError) {
        let box = Unmanaged.passRetained(ThreadBody(run: body))
        guard let id = Self.create(box.toOpaque()) else {
            box.release()
            throw .systemCallFailed("pthread_create", EAGAIN)
        }
        self.id = id
    }

    var isCurrent: Bool { pthread_equal(id, pthread_self()) != 0 }

    func join() {
        pthread_join(id, nil)
    }

    func detach() {
        pthread_detach(id)
    }

    private static func create(_ body: UnsafeMutableRawPointer) -> pthread_t? {
        #if canImport(Glibc)
        var id = pthread_t()
        let result = pthread_create(&id, nil, { runThreadBody($0) }, body)
        #else
        var id: pthread_t?
        let result = pthread_create(&id, nil, { runThreadBody($0) }, body)
        #endif
        return result == 0 ? id : nil
    }
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
