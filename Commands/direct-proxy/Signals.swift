internal import CommandKit

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The signals that end a run, and that of a child's end. They are blocked in all threads and waited for.
struct Signals {
    private var awaited = sigset_t()

    /// A signal that has come.
    struct Arrival {
        let number: Int32
        /// Whether the terminal has sent it: to all programs that it is in front of, and so to the child.
        let isOfTerminal: Bool
    }

    /// Blocks them. What this process was started to ignore, as nohup(1) does, stays ignored.
    init() {
        // While it is ignored a child's end is neither told nor kept.
        signal(SIGCHLD, SIG_DFL)
        sigemptyset(&awaited)
        let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2].filter { !isIgnoredSignal($0) }
        for number in ending + [SIGCHLD, SIGALRM] { sigaddset(&awaited, number) }
        var blocked = awaited
        // A reader of reports that goes away is no reason to end.
        sigaddset(&blocked, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &blocked, nil)
    }

    /// Waits for the next one.
    func next() -> Arrival {
        var signals = awaited
        #if canImport(Darwin)
        var number: Int32 = 0
        while sigwait(&signals, &number) != 0 {}
        // There it is not told who has sent it.
        return Arrival(number: number, isOfTerminal: number == SIGINT || number == SIGQUIT)
        #else
        var facts = siginfo_t()
        while true {
            let number = sigwaitinfo(&signals, &facts)
            if number > 0 {
                return Arrival(number: number, isOfTerminal: facts.si_code == 0x80 /* SI_KERNEL */)
            }
        }
        #endif
    }
}
