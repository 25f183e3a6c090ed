internal import CommandKit
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Handles SIGINT, SIGTERM and SIGHUP, so that finished results are still printed. A second SIGINT or SIGTERM
/// ends the process at once. A SIGHUP that is ignored, as nohup(1) has it, stays so.
enum Interrupts {
    /// Installs the signal handlers, which wake the main thread through `alarm`.
    static func watch(_ alarm: Alarm) {
        alarmDescriptor = alarm.writing
        // The signals may be blocked in the mask inherited from the parent process.
        var wanted = sigset_t()
        sigemptyset(&wanted)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            if number == SIGHUP, isIgnoredSignal(number) { continue }
            systemSignal(number, handler: noteInterrupt)
            sigaddset(&wanted, number)
        }
        pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
    }

    /// Whether a signal has arrived.
    static var hasCome: Bool { signal != nil }

    /// The signal that arrived, or `nil`.
    static var signal: Int32? {
        let number = noted.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }
}

private let noted = Atomic<Int32>(0)

/// The descriptor to write to. It is set before the handlers are installed, and only they read it.
nonisolated(unsafe) private var alarmDescriptor: Int32 = -1

/// The signal handler. It is async-signal-safe: it stores the number, writes one byte, and restores `errno`.
nonisolated private func noteInterrupt(_ number: Int32) {
    let before = errno
    noted.store(number, ordering: .relaxed)
    // A terminal that goes away sends SIGHUP more than once: by the system and by the shell.
    systemSignal(number, handler: number == SIGHUP ? SIG_IGN : SIG_DFL)
    var byte: UInt8 = 0
    _ = write(alarmDescriptor, &byte, 1)
    errno = before
}

/// Calls C's `signal`, which `Interrupts.signal` hides inside that type.
nonisolated private func systemSignal(_ number: Int32, handler: (@convention(c) (Int32) -> Void)?) {
    signal(number, handler)
}
