internal import CommandKit

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Waits until the process is told to stop: by SIGINT or SIGTERM, or by closing the pipe on its standard
/// input.
struct StopSignal {
    private let reading: Int32

    /// - Parameter numbers: The signals that stop the process.
    /// - Parameter keepsIgnored: Whether a signal that the process was started to ignore, as `nohup` does,
    ///   stays ignored.
    init(_ numbers: [Int32] = [SIGINT, SIGTERM], keepsIgnored: Bool = false) {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) == 0 {
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            signalPipe = ends[1]
        }
        reading = ends[0]
        // A program that starts this one from a thread pool may pass on a mask that blocks these signals.
        var wanted = sigset_t()
        sigemptyset(&wanted)
        for number in numbers where !(keepsIgnored && isIgnoredSignal(number)) {
            signal(number, noteSignal)
            sigaddset(&wanted, number)
        }
        pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
    }

    /// Blocks until the process is told to stop.
    func wait() {
        while waitForLine(fromTerminal: false) {}
    }

    /// Kills every client and then this process, once one of the signals comes that end a command at a
    /// terminal. Clients are in process groups of their own, so nothing else would end them.
    static func endsClients() {
        let stop = StopSignal([SIGINT, SIGTERM, SIGHUP, SIGPIPE], keepsIgnored: true)
        startThread {
            let number = stop.number()
            ProcessGroups.killAll()
            // The caller sees the process end by the signal, as without a handler.
            signal(number, SIG_DFL)
            raise(number)
        }
    }

    /// Leaves the end of the process to the signal that has killed its clients, if one has: the result of a
    /// run without them must not become its status.
    static func yieldToSignal() {
        while ProcessGroups.isEnding { _ = poll(nil, 0, -1) }
    }

    /// Blocks until one of the signals comes, and returns it.
    private func number() -> Int32 {
        var byte: UInt8 = 0
        while read(reading, &byte, 1) != 1 {}
        return Int32(byte)
    }

    /// Blocks until there is input, or until the process is told to stop. Returns whether there is input.
    ///
    /// - Parameter fromTerminal: Whether a terminal is read, too, and not only a pipe.
    func waitForLine(fromTerminal: Bool = true) -> Bool {
        var list = [pollfd(fd: reading, events: Int16(POLLIN), revents: 0)]
        if Self.isInputAPipe || (fromTerminal && isatty(0) == 1) {
            list.append(pollfd(fd: 0, events: Int16(POLLIN), revents: 0))
        }
        var buffer = [UInt8](repeating: 0, count: 256)
        while true {
            guard poll(&list, nfds_t(list.count), -1) > 0 else { continue }
            if list[0].revents != 0 { return false }
            if list.count > 1, list[1].revents != 0 { return read(0, &buffer, buffer.count) > 0 }
        }
    }

    /// Whether standard input is a pipe or socket, whose end is a signal to stop. The end of a terminal or of
    /// `/dev/null` is not.
    private static var isInputAPipe: Bool {
        var facts = stat()
        guard fstat(0, &facts) == 0 else { return false }
        let kind = facts.st_mode & S_IFMT
        return kind == S_IFIFO || kind == S_IFSOCK
    }
}

/// The signal handlers' end of the pipe. It is written before the handlers are installed and read only by
/// them.
nonisolated(unsafe) private var signalPipe: Int32 = -1

/// Async-signal-safe: it makes one write and restores `errno`.
nonisolated private func noteSignal(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(signalPipe, &byte, 1)
    errno = before
}

/// Ends the process with this status.
func exit(_ status: Int32) -> Never {
    #if canImport(Darwin)
    Darwin.exit(status)
    #elseif canImport(Musl)
    Musl.exit(status)
    #else
    Glibc.exit(status)
    #endif
}
