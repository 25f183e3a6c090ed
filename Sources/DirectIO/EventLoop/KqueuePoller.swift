#if canImport(Darwin)
internal import Darwin

/// The kernel's readiness queue on Apple platforms. This is the only file that uses kqueue.
///
/// It has the same five functions as the poller for Linux. `EV_CLEAR` makes it edge-triggered. It has not yet
/// run on an Apple machine; `scripts/apple` describes what has been tested, and how.
struct Poller: ~Copyable {
    private let queue: Int32
    private let events: UnsafeMutablePointer<kevent>

    private init(queue: Int32) {
        self.queue = queue
        events = .allocate(capacity: Self.capacity)
    }

    /// Opens a queue. If this fails, no descriptor is left open, so it may be tried again.
    static func open() throws(SystemError) -> Poller {
        let queue = try checked("kqueue") { kqueue() }
        _ = fcntl(queue, F_SETFD, FD_CLOEXEC)
        let alarm = change(Self.alarm, filter: EVFILT_USER, flags: EV_ADD | EV_CLEAR, token: nil)
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

    /// Registers a descriptor for both directions. Its events carry `token`.
    func add(_ descriptor: Int32, token: UnsafeMutableRawPointer) throws(SystemError) {
        let both = [EVFILT_READ, EVFILT_WRITE].map { filter in
            Self.change(UInt(descriptor), filter: filter, flags: EV_ADD | EV_CLEAR, token: token)
        }
        do throws(SystemError) {
            try Self.submit(both, to: queue)
        } catch {
            // The first of the two may have been registered and would keep reporting the token.
            remove(descriptor)
            throw error
        }
    }

    /// Unregisters a descriptor. A `poll` that starts after this returns does not report it; one that is
    /// running may.
    func remove(_ descriptor: Int32) {
        for filter in [EVFILT_READ, EVFILT_WRITE] {
            try? Self.submit(
                [Self.change(UInt(descriptor), filter: filter, flags: EV_DELETE, token: nil)],
                to: queue
            )
        }
    }

    /// Wakes a sleeping `poll`. May be called from any thread.
    func wake() {
        var trigger = Self.change(Self.alarm, filter: EVFILT_USER, flags: 0, token: nil)
        trigger.fflags = UInt32(NOTE_TRIGGER)
        try? Self.submit([trigger], to: queue)
    }

    /// Waits for events and passes each one to `handle`.
    ///
    /// - Parameter nanoseconds: The longest time to wait, or `nil` for no limit.
    /// - Returns: Whether there may be more events than one call takes.
    func poll(nanoseconds: UInt64?, _ handle: (PollerEvent) -> Void) -> Bool {
        let limit = nanoseconds.map(Self.limit)
        let count = withUnsafePointer(to: limit ?? timespec()) { pointer in
            kevent(queue, nil, 0, events, Int32(Self.capacity), limit == nil ? nil : pointer)
        }
        guard count > 0 else { return false }
        for index in 0..<Int(count) {
            let event = events[index]
            guard let token = event.udata else { continue }
            // The end of output may be caused by our own `shutdown`, and a dead connection ends its input as
            // well.
            let isInput = event.filter == Int16(EVFILT_READ)
            handle(
                PollerEvent(
                    token: token,
                    canRead: isInput,
                    canWrite: event.filter == Int16(EVFILT_WRITE),
                    isHungUp: isInput && event.flags & UInt16(EV_EOF) != 0,
                    // These two filters do not tell of urgent data.
                    mayStopShort: true
                )
            )
        }
        return count == Self.capacity
    }

    /// Returns the time limit of a poll in whole microseconds.
    ///
    /// It is rounded up, since the kernel rounds down and waking before the deadline would only lead to
    /// another sleep. It is at most a day, since the kernel refuses a wait of more than 100,000,000 seconds,
    /// and the loop would spin.
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
        filter: Int32,
        flags: Int32,
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

    /// The identifier of our own event, which is not a descriptor.
    private static let alarm: UInt = 0
    /// The number of events for each call. It is small because an event may cause half a handshake, and the
    /// tasks that earlier events made ready wait until all of them have been handled.
    static var capacity: Int { 16 }
}
#endif
