internal import DirectCore
internal import DirectHTTP
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Passes results from tasks to the main thread, which sleeps in `poll` until some have arrived.
final class Mailbox<Message: Sendable>: Sendable {
    private let messages = Locked<[Message]>([])
    private let isRung = Atomic<Bool>(false)
    let alarm: Alarm

    init(_ alarm: Alarm) {
        self.alarm = alarm
    }

    /// Adds a message, and wakes the main thread if it has not been woken since it last took messages.
    func put(_ message: Message) {
        messages.withLock { $0.append(message) }
        if !isRung.exchange(true, ordering: .sequentiallyConsistent) { alarm.ring() }
    }

    /// Removes and returns all messages.
    func takeAll() -> [Message] {
        isRung.store(false, ordering: .sequentiallyConsistent)
        return messages.withLock { messages in
            defer { messages.removeAll(keepingCapacity: true) }
            return messages
        }
    }
}

/// A pipe that wakes the main thread. Tasks and signal handlers write to it. It exists until the process
/// ends.
struct Alarm: Sendable {
    let reading: Int32
    let writing: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) == 0 {
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
        }
        (reading, writing) = (ends[0], ends[1])
    }

    /// Wakes the main thread. Async-signal-safe.
    func ring() {
        var byte: UInt8 = 0
        // If the pipe is full, the write fails, but the main thread is woken anyway.
        _ = write(writing, &byte, 1)
    }

    /// Empties the pipe.
    func silence() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(reading, &bytes, bytes.count) == bytes.count {}
    }

    /// Sleeps until woken, until `descriptor` is readable, or until `limit` has passed. Returns whether
    /// `descriptor` is readable.
    func sleep(orInputAt descriptor: Int32?, limit: Duration?) -> Bool {
        var list = [pollfd(fd: reading, events: Int16(POLLIN), revents: 0)]
        if let descriptor { list.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)) }
        let milliseconds = limit.map { Int32(clamping: ($0.clampedNanoseconds + 999_999) / 1_000_000) } ?? -1
        guard poll(&list, nfds_t(list.count), milliseconds) > 0 else { return false }
        if list[0].revents != 0 { silence() }
        return list.count > 1 && list[1].revents != 0
    }
}
