#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A mutual exclusion lock around a value.
///
/// A pthread mutex, because the thread sanitizer does not understand `Synchronization.Mutex` and cries
/// wolf (Swift 6.3.1). Critical sections are short and never suspend.
package final class Locked<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// Access is exclusive by the lock; Swift need not check it a second time.
    @exclusivity(unchecked) private var value: Value

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

    @inline(__always)
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Asks for an answer whenever `condition` is signalled, until there is one or the time is over; the last
    /// question says that it is the last. Only for threads that may block.
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

/// Where threads wait for what a lock guards to change.
package final class Condition: @unchecked Sendable {
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init() {
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        #if canImport(Darwin)
        pthread_cond_init(condition, nil)
        #else
        // A clock that is set must not end a wait, or keep it from ending.
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

    /// Wakes one thread that waits, if there is one.
    package func signal() {
        pthread_cond_signal(condition)
    }

    /// May return for no reason.
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
