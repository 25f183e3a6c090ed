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
            systemSignal(number, noteInterrupt)
            sigaddset(&wanted, number)
        }
        pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
    }

    static var hasCome: Bool { signal != nil }

    /// The one that came.
    static var signal: Int32? {
        let number = noted.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }
}

private let noted = Atomic<Int32>(0)

/// Written before the handlers are installed, read by them only.
nonisolated(unsafe) private var alarmDescriptor: Int32 = -1

/// Async-signal-safe: a store and one write, and `errno` as it was.
nonisolated private func noteInterrupt(_ number: Int32) {
    let before = errno
    noted.store(number, ordering: .relaxed)
    systemSignal(number, SIG_DFL)
    var byte: UInt8 = 0
    _ = write(alarmDescriptor, &byte, 1)
    errno = before
}

/// The C function under a name that `Interrupts.signal` does not hide.
nonisolated private func systemSignal(_ number: Int32, _ handler: (@convention(c) (Int32) -> Void)?) {
    signal(number, handler)
}
