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
}
