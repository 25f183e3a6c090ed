#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Waits until the process is told to stop: by a signal, or by closing the pipe it reads from.
struct StopSignal {
    private let reading: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) == 0 {
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            signalPipe = ends[1]
        }
        reading = ends[0]
        // A program that starts this one from a thread of a pool may leave us its mask.
        var wanted = sigset_t()
        sigemptyset(&wanted)
        for number in [SIGINT, SIGTERM] {
            signal(number, noteSignal)
            sigaddset(&wanted, number)
        }
        pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
    }

    func wait() {
        var list = [pollfd(fd: reading, events: Int16(POLLIN), revents: 0)]
        if Self.isInputAPipe { list.append(pollfd(fd: 0, events: Int16(POLLIN), revents: 0)) }
        var buffer = [UInt8](repeating: 0, count: 256)
        while true {
            guard poll(&list, nfds_t(list.count), -1) > 0 else { continue }
            if list[0].revents != 0 { return }
            // Whatever is said there, only its end counts.
            if list.count > 1, list[1].revents != 0, read(0, &buffer, buffer.count) <= 0 { return }
        }
    }

    /// A terminal or `/dev/null` says nothing by ending; a pipe or socket is closed by someone.
    private static var isInputAPipe: Bool {
        var facts = stat()
        guard fstat(0, &facts) == 0 else { return false }
        let kind = facts.st_mode & S_IFMT
        return kind == S_IFIFO || kind == S_IFSOCK
    }
}

/// Written before the handlers are installed, read by them only.
nonisolated(unsafe) private var signalPipe: Int32 = -1

/// Async-signal-safe: one write, and `errno` as it was.
nonisolated private func noteSignal(_ number: Int32) {
    let before = errno
    var byte: UInt8 = 0
    _ = write(signalPipe, &byte, 1)
    errno = before
}

/// Ends the process with that status.
func exit(_ status: Int32) -> Never {
    #if canImport(Darwin)
    Darwin.exit(status)
    #elseif canImport(Musl)
    Musl.exit(status)
    #else
    Glibc.exit(status)
    #endif
}
