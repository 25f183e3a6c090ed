#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A value guarded by a lock.
///
/// It uses a pthread mutex, because the thread sanitizer does not understand `Synchronization.Mutex` and reports
/// false races (Swift 6.3.1). Critical sections are short and never suspend.
package final class Locked<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// The lock makes access exclusive, so Swift need not check it again.
    @exclusivity(unchecked) private var value: Value

    /// Creates a lock around this value.
    package init(_ value: consuming sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Calls `body` with the value while holding the lock.
    @inline(__always)
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Calls `answer` whenever `condition` is signalled, until it returns a value or the time is over. The last
    /// call has `isLast` set.
    ///
    /// This blocks the thread, so it must not be called on an event loop or a cooperative thread.
    package func wait<Answer>(
        at condition: Condition,
        nanoseconds: UInt64,
        for answer: (inout Value, _ isLast: Bool) -> Answer?
    ) -> Answer? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let end = Instant.now.advanced(byNanoseconds: nanoseconds)
        while Instant.now < end {
            if let answer = answer(&value, false) { return answer }
            condition.wait(mutex, until: end)
        }
        return answer(&value, true)
    }
}

/// A condition variable for the value of a ``Locked``.
package final class Condition: @unchecked Sendable {
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    /// Creates a condition variable.
    package init() {
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        #if canImport(Darwin)
        pthread_cond_init(condition, nil)
        #else
        // With the monotonic clock, setting the system's clock neither ends nor prolongs a wait.
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    /// Wakes one waiting thread, if there is one.
    package func signal() {
        pthread_cond_signal(condition)
    }

    /// Waits for a signal. It may return spuriously.
    fileprivate func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, until end: Instant) {
        #if canImport(Darwin)
        var span = end.since(.now).clampedNanoseconds.asTimespec
        pthread_cond_timedwait_relative_np(condition, mutex, &span)
        #else
        var moment = end.nanoseconds.asTimespec
        pthread_cond_timedwait(condition, mutex, &moment)
        #endif
    }
}

extension UInt64 {
    fileprivate var asTimespec: timespec {
        timespec(tv_sec: Int(self / 1_000_000_000), tv_nsec: Int(self % 1_000_000_000))
    }
}
