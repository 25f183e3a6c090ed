internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Notes SIGINT and SIGTERM, so that what is done can still be said. A second one ends the process at once.
enum Interrupts {
    static func watch(_ alarm: Alarm) {
        alarmDescriptor = alarm.writing
        // Whoever started us may have left its mask.
        var wanted = sigset_t()
        sigemptyset(&wanted)
        for number in [SIGINT, SIGTERM] {
            signal(number, noteInterrupt)
            sigaddset(&wanted, number)
        }
        pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
    }

    static var hasCome: Bool { interrupted.load(ordering: .relaxed) }
}

private let interrupted = Atomic<Bool>(false)

/// Written before the handlers are installed, read by them only.
nonisolated(unsafe) private var alarmDescriptor: Int32 = -1

/// Async-signal-safe: a store and one write, and `errno` as it was.
nonisolated private func noteInterrupt(_ number: Int32) {
    let before = errno
    interrupted.store(true, ordering: .relaxed)
    signal(number, SIG_DFL)
    var byte: UInt8 = 0
    _ = write(alarmDescriptor, &byte, 1)
    errno = before
}
