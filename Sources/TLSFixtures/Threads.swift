internal import CDirectOpenSSL

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A pthread mutex: `Synchronization.Mutex` makes the thread sanitizer report races that are none.
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

/// One bell for the whole process: gates that open and servers that stop ring it, and every
/// fixture thread that pauses or waits for a gate looks up and checks its own condition.
enum Bell {
    private static let lock = Lock()
    nonisolated(unsafe) private static let condition = makeCondition()

    /// Makes a change that waiting threads may be interested in.
    static func ring(_ change: () -> Void) {
        lock.locked {
            change()
            pthread_cond_broadcast(condition)
        }
    }

    static func read<Value>(_ value: () -> Value) -> Value {
        lock.locked(value)
    }

    /// Blocks this thread until `isDone`, at the longest for `duration`.
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

/// A door that handlers and scripts wait at until the test opens it.
public final class Gate: @unchecked Sendable {
    // Guarded by the bell's lock.
    private var opened = false

    /// Makes a closed gate.
    public init() {}

    /// Lets everyone through who waits now or comes later.
    public func open() {
        Bell.ring { opened = true }
    }

    /// Whether the gate has been opened.
    public var isOpen: Bool { Bell.read { opened } }

    /// To be called inside the bell only.
    var isOpenInsideBell: Bool { opened }
}

/// A joinable thread. Signals of the host process are never delivered to it.
struct WorkerThread: @unchecked Sendable {
    private let id: pthread_t

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
    // For who looks at the process with a debugger or top.
    #if canImport(Glibc)
    fixture_name_this_thread("fixture")
    #else
    pthread_setname_np("fixture")
    #endif
    Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}

func monotonicNanoseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}

extension Duration {
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
