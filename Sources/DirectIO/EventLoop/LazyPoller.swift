#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
internal import DirectCore
internal import Synchronization

/// A readiness queue that is opened again if no descriptor was free at first.
///
/// A process that has run out of descriptors must not end because a loop is created at that moment. Opening
/// is tried again whenever the queue is needed, and until it succeeds the loop sleeps in short steps.
final class LazyPoller: @unchecked Sendable {
    /// Initialised before `isOpen` is set, and never changed afterwards.
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

    /// Registers a descriptor. Throws if the queue cannot be opened.
    func add(_ descriptor: Int32, token: UnsafeMutableRawPointer) throws(SystemError) {
        try open()
        try poller.pointee.add(descriptor, token: token)
    }

    /// Unregisters a descriptor.
    func remove(_ descriptor: Int32) {
        if isOpen.load(ordering: .acquiring) { poller.pointee.remove(descriptor) }
    }

    /// Wakes a sleeping `poll`. Has no effect until the queue is open.
    func wake() {
        if isOpen.load(ordering: .acquiring) { poller.pointee.wake() }
    }

    /// Waits for events and passes each one to `handle`. Until the queue is open, sleeps briefly and tries to
    /// open it. Returns whether there may be more events.
    func poll(nanoseconds: UInt64?, _ handle: (PollerEvent) -> Void) -> Bool {
        if isOpen.load(ordering: .acquiring) { return poller.pointee.poll(nanoseconds: nanoseconds, handle) }
        // This sleep cannot be interrupted, so it is short.
        var pause = timespec(tv_sec: 0, tv_nsec: Int(min(nanoseconds ?? .max, Self.pause)))
        nanosleep(&pause, nil)
        try? open()
        return false
    }

    private func open() throws(SystemError) {
        if isOpen.load(ordering: .acquiring) { return }
        try opening.withLock { _ throws(SystemError) in
            guard !isOpen.load(ordering: .relaxed) else { return }
            poller.initialize(to: try Poller.open())
            isOpen.store(true, ordering: .releasing)
        }
    }

    /// The length of that sleep in nanoseconds.
    private static let pause: UInt64 = 2_000_000
}

/// An event that the kernel's readiness queue reported for one registered handle.
struct PollerEvent {
    /// The value given at registration.
    var token: UnsafeMutableRawPointer
    /// Whether there may be input.
    var canRead: Bool
    /// Whether there may be room for output.
    var canWrite: Bool
    /// Whether the peer has finished sending or the connection is dead. Reads will not block again.
    var isHungUp: Bool
    /// Whether a read may from now on return less than was asked for although there is more.
    var mayStopShort = false
}
