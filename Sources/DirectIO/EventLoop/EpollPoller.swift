#if os(Linux)
internal import CDirectLinux
internal import Glibc

/// The kernel's readiness queue on Linux. This is the only file that uses epoll and eventfd.
///
/// It is edge-triggered, and each descriptor is registered once for both directions. A poller for another
/// system has the same five functions.
struct Poller: ~Copyable {
    private let queue: Int32
    /// An eventfd whose counter is increased to wake the loop.
    private let alarm: Int32
    private let events: UnsafeMutablePointer<epoll_event>

    private init(queue: Int32, alarm: Int32) {
        self.queue = queue
        self.alarm = alarm
        events = .allocate(capacity: Self.capacity)
    }

    /// Opens a queue. If this fails, no descriptor is left open, so it may be tried again.
    static func open() throws(SystemError) -> Poller {
        let queue = try checked("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) }
        do throws(SystemError) {
            return Poller(queue: queue, alarm: try openAlarm(in: queue))
        } catch {
            close(queue)
            throw error
        }
    }

    private static func openAlarm(in queue: Int32) throws(SystemError) -> Int32 {
        let alarm = try checked("eventfd") { eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK)) }
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | EPOLLET.rawValue
        event.data.ptr = nil
        do throws(SystemError) {
            _ = try checked("epoll_ctl") { epoll_ctl(queue, EPOLL_CTL_ADD, alarm, &event) }
        } catch {
            close(alarm)
            throw error
        }
        return alarm
    }

    deinit {
        close(queue)
        close(alarm)
        events.deallocate()
    }

    /// Registers a descriptor for both directions. Its events carry `token`.
    func add(_ descriptor: Int32, token: UnsafeMutableRawPointer) throws(SystemError) {
        var event = epoll_event()
        event.events =
            EPOLLIN.rawValue | EPOLLPRI.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        event.data.ptr = token
        _ = try checked("epoll_ctl") { epoll_ctl(queue, EPOLL_CTL_ADD, descriptor, &event) }
    }

    /// Unregisters a descriptor. A `poll` that starts after this returns does not report it; one that is
    /// running may.
    func remove(_ descriptor: Int32) {
        var unused = epoll_event()
        _ = epoll_ctl(queue, EPOLL_CTL_DEL, descriptor, &unused)
    }

    /// Wakes a sleeping `poll`. May be called from any thread.
    func wake() {
        var one: UInt64 = 1
        _ = retryingInterrupts { write(alarm, &one, 8) }
    }

    /// Waits for events and passes each one to `handle`.
    ///
    /// - Parameter nanoseconds: The longest time to wait, or `nil` for no limit.
    /// - Returns: Whether there may be more events than one call takes.
    func poll(nanoseconds: UInt64?, _ handle: (PollerEvent) -> Void) -> Bool {
        var milliseconds: Int32 = -1
        if let nanoseconds {
            // Rounded up: waking before the deadline would only lead to another sleep.
            milliseconds = Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
        }
        let count = epoll_wait(queue, events, Int32(Self.capacity), milliseconds)
        guard count > 0 else { return false }
        for index in 0..<Int(count) {
            let flags = events[index].events
            guard let token = events[index].data.ptr else {
                // Edge-triggered: the counter need not be read, since the next write is a new edge.
                continue
            }
            let isHungUp = flags & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0
            handle(
                PollerEvent(
                    token: token,
                    canRead: isHungUp || flags & EPOLLIN.rawValue != 0,
                    canWrite: flags & (EPOLLOUT.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0,
                    isHungUp: isHungUp,
                    // A read ends at the mark of urgent data (tcp(7)).
                    mayStopShort: flags & EPOLLPRI.rawValue != 0
                )
            )
        }
        return count == Self.capacity
    }

    /// The number of events for each call. It is small because an event may cause half a handshake, and the
    /// tasks that earlier events made ready wait until all of them have been handled.
    static var capacity: Int { 16 }
}
#endif
