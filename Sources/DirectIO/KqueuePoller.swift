#if canImport(Darwin)
internal import Darwin

/// The kernel's readiness queue on Apple platforms: the only file that knows kqueue.
///
/// Written after the manual and the Linux twin, whose five functions it offers; it has never been compiled
/// or run by us. `EV_CLEAR` is what edge-triggered is elsewhere.
struct Poller: ~Copyable {
    private let queue: Int32
    private let events: UnsafeMutablePointer<kevent>

    private init(queue: Int32) {
        self.queue = queue
        events = .allocate(capacity: Self.capacity)
    }

    static func open() throws(SystemError) -> Poller {
        let queue = try checked("kqueue") { kqueue() }
        _ = fcntl(queue, F_SETFD, FD_CLOEXEC)
        let alarm = change(Self.alarm, EVFILT_USER, EV_ADD | EV_CLEAR, token: nil)
        try submit([alarm], to: queue)
        return Poller(queue: queue)
    }

    deinit {
        close(queue)
        events.deallocate()
    }

    func add(_ descriptor: Int32, token: UnsafeMutableRawPointer) throws(SystemError) {
        let both = [EVFILT_READ, EVFILT_WRITE].map { filter in
            Self.change(UInt(descriptor), filter, EV_ADD | EV_CLEAR, token: token)
        }
        try Self.submit(both, to: queue)
    }

    /// Once this has returned, no later `poll` speaks of the descriptor; one that runs now may.
    func remove(_ descriptor: Int32) {
        for filter in [EVFILT_READ, EVFILT_WRITE] {
            try? Self.submit([Self.change(UInt(descriptor), filter, EV_DELETE, token: nil)], to: queue)
        }
    }

    /// Ends a `poll` that sleeps, from any thread.
    func wake() {
        var trigger = Self.change(Self.alarm, EVFILT_USER, 0, token: nil)
        trigger.fflags = UInt32(NOTE_TRIGGER)
        try? Self.submit([trigger], to: queue)
    }

    /// Waits for events, at most `nanoseconds` (nothing: for ever), and hands each one over.
    func poll(nanoseconds: UInt64?, _ handle: (PollerEvent) -> Void) {
        var limit = timespec()
        if let nanoseconds {
            limit.tv_sec = Int(clamping: nanoseconds / 1_000_000_000)
            limit.tv_nsec = Int(nanoseconds % 1_000_000_000)
        }
        let count = withUnsafePointer(to: limit) { limit in
            kevent(queue, nil, 0, events, Int32(Self.capacity), nanoseconds == nil ? nil : limit)
        }
        guard count > 0 else { return }
        for index in 0..<Int(count) {
            let event = events[index]
            guard let token = event.udata else { continue }
            let isHungUp = event.flags & UInt16(EV_EOF) != 0
            handle(
                PollerEvent(
                    token: token,
                    canRead: isHungUp || event.filter == Int16(EVFILT_READ),
                    canWrite: event.filter == Int16(EVFILT_WRITE),
                    isHungUp: isHungUp
                )
            )
        }
    }

    private static func change(
        _ identifier: UInt,
        _ filter: Int32,
        _ flags: Int32,
        token: UnsafeMutableRawPointer?
    ) -> kevent {
        kevent(
            ident: identifier,
            filter: Int16(filter),
            flags: UInt16(flags),
            fflags: 0,
            data: 0,
            udata: token
        )
    }

    private static func submit(_ changes: [kevent], to queue: Int32) throws(SystemError) {
        _ = try checked("kevent") { kevent(queue, changes, Int32(changes.count), nil, 0, nil) }
    }

    /// No descriptor, but the name of our own event.
    private static let alarm: UInt = 0
    /// Few: an event may mean half a handshake, and what those before it set going waits behind all of them.
    private static var capacity: Int { 16 }
}
#endif
