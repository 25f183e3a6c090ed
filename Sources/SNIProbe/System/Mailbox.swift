internal import DirectHTTP
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Where tasks leave results for the main thread, which sleeps in `poll` until some have come.
final class Mailbox<Letter: Sendable>: Sendable {
    private let letters = Locked<[Letter]>([])
    private let isRung = Atomic<Bool>(false)
    let alarm: Alarm

    init(_ alarm: Alarm) {
        self.alarm = alarm
    }

    func put(_ letter: Letter) {
        letters.withLock { $0.append(letter) }
        if !isRung.exchange(true, ordering: .sequentiallyConsistent) { alarm.ring() }
    }

    /// What has come since the last time.
    func takeAll() -> [Letter] {
        isRung.store(false, ordering: .sequentiallyConsistent)
        return letters.withLock { letters in
            defer { letters.removeAll(keepingCapacity: true) }
            return letters
        }
    }
}

/// A pipe that wakes the main thread: rung by tasks and by signal handlers, for the life of the process.
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

    func ring() {
        var byte: UInt8 = 0
        // A full pipe wakes as well.
        _ = write(writing, &byte, 1)
    }

    /// Forgets all rings so far.
    func silence() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(reading, &bytes, bytes.count) == bytes.count {}
    }

    /// Sleeps until it rings, until `descriptor` has input, or until `limit` has passed; says whether there is input.
    func sleep(orInputAt descriptor: Int32?, limit: Duration?) -> Bool {
        var list = [pollfd(fd: reading, events: Int16(POLLIN), revents: 0)]
        if let descriptor { list.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)) }
        let milliseconds = limit.map { Int32(clamping: ($0.clampedNanoseconds + 999_999) / 1_000_000) } ?? -1
        guard poll(&list, nfds_t(list.count), milliseconds) > 0 else { return false }
        if list[0].revents != 0 { silence() }
        return list.count > 1 && list[1].revents != 0
    }
}
