#if canImport(Darwin)
internal import Darwin

/// The kernel's readiness queue on Apple platforms: the only file that knows kqueue.
///
/// It offers the five functions of its Linux twin; `EV_CLEAR` is what edge-triggered is elsewhere. No Apple machine
/// has run it yet: `scripts/apple` says what has been tried, and how.
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
        do throws(SystemError) {
            try submit([alarm], to: queue)
        } catch {
            close(queue)
            throw error
        }
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
        do throws(SystemError) {
            try Self.submit(both, to: queue)
        } catch {
            // The first of the two may be in, and would go on speaking of the token.
            remove(descriptor)
            throw error
        }
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
        let limit = nanoseconds.map(Self.limit)
        let count = withUnsafePointer(to: limit ?? timespec()) { pointer in
            kevent(queue, nil, 0, events, Int32(Self.capacity), limit == nil ? nil : pointer)
        }
        guard count > 0 else { return }
        for index in 0..<Int(count) {
            let event = events[index]
            guard let token = event.udata else { continue }
            // The end of output may be our own doing (`shutdown`), and a dead connection ends its input as well.
            let isInput = event.filter == Int16(EVFILT_READ)
            handle(
                PollerEvent(
                    token: token,
                    canRead: isInput,
                    canWrite: event.filter == Int16(EVFILT_WRITE),
                    isHungUp: isInput && event.flags & UInt16(EV_EOF) != 0
                )
            )
        }
    }

    /// In whole microseconds, rounded up, since the kernel rounds down: waking before the deadline would only mean to
    /// sleep again. And no more than a day: it refuses a wait of more than 100,000,000 seconds, and the loop would spin.
    private static func limit(nanoseconds: UInt64) -> timespec {
        let longest: UInt64 = 86_400 * 1_000_000
        let microseconds = min(nanoseconds / 1000 + (nanoseconds % 1000 == 0 ? 0 : 1), longest)
        return timespec(
            tv_sec: Int(microseconds / 1_000_000),
            tv_nsec: Int(microseconds % 1_000_000) * 1000
        )
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
