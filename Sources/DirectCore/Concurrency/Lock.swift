#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A value guarded by a lock.
///
/// It uses a pthread mutex, because the thread sanitizer does not understand `Synchronization.Mutex` and
/// reports false races (Swift 6.3.1). Critical sections are short and never suspend.
///
/// A dictionary is guarded in a struct of its owner: to make the type `Locked<[Key: Value]>` the runtime
/// looks among all conformances of the program for that of the key, which takes 150,000 instructions. The
/// same is true of a `Result` and its error, and of generic classes with such parameters.
@safe
package final class Locked<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// The lock makes access exclusive, so Swift need not check it again.
    @exclusivity(unchecked) private var value: Value

    /// Creates a lock around this value.
    package init(_ value: consuming sending Value) {
        unsafe self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Calls `body` with the value while holding the lock.
    @inline(__always)
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return unsafe try body(&value)
    }

    /// Calls `answer` whenever `condition` is signalled, until it returns a value or the time is over. The
    /// last call has `isLast` set.
    ///
    /// This blocks the thread, so it must not be called on an event loop or a cooperative thread.
    package func wait<Answer>(
        at condition: Condition,
        nanoseconds: UInt64,
        for answer: (inout Value, _ isLast: Bool) -> Answer?
    ) -> Answer? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        let end = Instant.now.advanced(byNanoseconds: nanoseconds)
        while Instant.now < end {
            if let answer = unsafe answer(&value, false) { return answer }
            unsafe condition.wait(mutex, until: end)
        }
        return unsafe answer(&value, true)
    }
}

extension Locked where Value == Void {
    /// Calls `body` while holding the lock, without access to the value: the thread sanitizer takes a value
    /// of no bytes for the first ones of the object, which the runtime reads at any time.
    @inline(__always)
    package func withLock<Result, Failure: Error>(
        _ body: (inout Void) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        var nothing: Void = ()
        return try body(&nothing)
    }
}

/// A lock that threads get in turn: one that has left it and wants it again comes behind one that waits.
///
/// A mutex makes no such promise: a thread that works in a loop may have it again and again, while another
/// one is woken each time and comes too late.
package final class FairLock: Sendable {
    /// Held by the thread that is next.
    private let entrance = Locked(())
    private let inside = Locked(())

    /// Creates a lock.
    package init() {}

    /// Calls `body` while holding the lock.
    package func withLock<Result>(_ body: () -> Result) -> Result {
        entrance.withLock { _ in inside.lock() }
        defer { inside.unlock() }
        return body()
    }

    /// Whether a thread waits for the one that holds the lock, which has to be the one that asks.
    var isAwaited: Bool { entrance.isHeld }
}

extension Locked where Value == Void {
    fileprivate func lock() { unsafe pthread_mutex_lock(mutex) }

    fileprivate func unlock() { unsafe pthread_mutex_unlock(mutex) }

    fileprivate var isHeld: Bool {
        guard unsafe pthread_mutex_trylock(mutex) == 0 else { return true }
        unlock()
        return false
    }
}

/// A condition variable for the value of a ``Locked``.
@safe
package final class Condition: @unchecked Sendable {
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    /// Creates a condition variable.
    package init() {
        unsafe condition = .allocate(capacity: 1)
        unsafe condition.initialize(to: pthread_cond_t())
        #if canImport(Darwin)
        unsafe pthread_cond_init(condition, nil)
        #else
        // With the monotonic clock, setting the system's clock neither ends nor prolongs a wait.
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe condition.deallocate()
    }

    /// Wakes one waiting thread, if there is one.
    package func signal() {
        unsafe pthread_cond_signal(condition)
    }

    /// Waits for a signal. It may return spuriously.
    fileprivate func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, until end: Instant) {
        #if canImport(Darwin)
        var span = end.since(.now).clampedNanoseconds.asTimespec
        unsafe pthread_cond_timedwait_relative_np(condition, mutex, &span)
        #else
        var moment = end.nanoseconds.asTimespec
        unsafe pthread_cond_timedwait(condition, mutex, &moment)
        #endif
    }
}

extension UInt64 {
    fileprivate var asTimespec: timespec {
        timespec(tv_sec: Int(self / 1_000_000_000), tv_nsec: Int(self % 1_000_000_000))
    }
}
