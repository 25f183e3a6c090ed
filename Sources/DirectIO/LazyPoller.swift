#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
internal import Synchronization

/// A readiness queue that may have to wait for a free descriptor.
///
/// A process that has run out of descriptors must not end because a loop is made just then. The queue is asked for
/// again whenever somebody needs it, and until it is there the loop sleeps in short steps.
final class LazyPoller: @unchecked Sendable {
    /// Initialised once `isOpen` is set, and never changed after that.
    private let poller = UnsafeMutablePointer<Poller>.allocate(capacity: 1)
    private let isOpen = Atomic<Bool>(false)
    private let opening = Locked(false)

    init() {
        try? open()
    }

    deinit {
        if isOpen.load(ordering: .acquiring) { poller.deinitialize(count: 1) }
        poller.deallocate()
    }

    func add(_ descriptor: Int32, token: UnsafeMutableRawPointer) throws(SystemError) {
        try open()
        try poller.pointee.add(descriptor, token: token)
    }

    func remove(_ descriptor: Int32) {
        if isOpen.load(ordering: .acquiring) { poller.pointee.remove(descriptor) }
    }

    func wake() {
        if isOpen.load(ordering: .acquiring) { poller.pointee.wake() }
    }

    func poll(nanoseconds: UInt64?, _ handle: (PollerEvent) -> Void) {
        if isOpen.load(ordering: .acquiring) { return poller.pointee.poll(nanoseconds: nanoseconds, handle) }
        // Nothing can wake this sleep, so it is short.
        var pause = timespec(tv_sec: 0, tv_nsec: Int(min(nanoseconds ?? .max, Self.pause)))
        nanosleep(&pause, nil)
        try? open()
    }

    private func open() throws(SystemError) {
        if isOpen.load(ordering: .acquiring) { return }
        try opening.withLock { _ throws(SystemError) in
            guard !isOpen.load(ordering: .relaxed) else { return }
            poller.initialize(to: try Poller.open())
            isOpen.store(true, ordering: .releasing)
        }
    }

    private static let pause: UInt64 = 2_000_000
}
