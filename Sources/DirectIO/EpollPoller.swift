#if os(Linux)
internal import CDirectLinux
internal import Glibc

/// The kernel's readiness queue on Linux: the only file that knows epoll and eventfd.
///
/// Edge-triggered, each descriptor registered once for both directions. A poller for another system
/// offers the same five functions.
struct Poller: ~Copyable {
    private let queue: Int32
    private let alarm: Int32
    private let events: UnsafeMutablePointer<epoll_event>

    private init(queue: Int32, alarm: Int32) {
        self.queue = queue
        self.alarm = alarm
        events = .allocate(capacity: Self.capacity)
    }

    /// A failed start leaves no descriptor open: it may be tried again.
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

    func add(_ descriptor: Int32, token: UnsafeMutableRawPointer) throws(SystemError) {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        event.data.ptr = token
        _ = try checked("epoll_ctl") { epoll_ctl(queue, EPOLL_CTL_ADD, descriptor, &event) }
    }

    /// Once this has returned, no later `poll` speaks of the descriptor; one that runs now may.
    func remove(_ descriptor: Int32) {
        var unused = epoll_event()
        _ = epoll_ctl(queue, EPOLL_CTL_DEL, descriptor, &unused)
    }

    /// Ends a `poll` that sleeps, from any thread.
    func wake() {
        var one: UInt64 = 1
        _ = retryingInterrupts { write(alarm, &one, 8) }
    }

    /// Waits for events, at most `nanoseconds` (nothing: for ever), and hands each one over.
    func poll(nanoseconds: UInt64?, _ handle: (PollerEvent) -> Void) {
        var milliseconds: Int32 = -1
        if let nanoseconds {
            // Rounded up: waking before the deadline would only mean to sleep again.
            milliseconds = Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
        }
        let count = epoll_wait(queue, events, Int32(Self.capacity), milliseconds)
        guard count > 0 else { return }
        for index in 0..<Int(count) {
            let flags = events[index].events
            guard let token = events[index].data.ptr else {
                // Edge-triggered: the counter needs no reading, the next write is a new edge.
                continue
            }
            let isHungUp = flags & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0
            handle(
                PollerEvent(
                    token: token,
                    canRead: isHungUp || flags & EPOLLIN.rawValue != 0,
                    canWrite: flags & (EPOLLOUT.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0,
                    isHungUp: isHungUp
                )
            )
        }
    }

    /// Few: an event may mean half a handshake, and what those before it set going waits behind all of them.
    private static var capacity: Int { 16 }
}
#endif
