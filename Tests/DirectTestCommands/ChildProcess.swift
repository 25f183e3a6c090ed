#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// A program that the tests run beside themselves, with three descriptors and no other.
///
/// Not Foundation's `Process`: looking for descriptors to close, it copies directory entries beyond the end of
/// the memory they lie in, and crashes when well over a thousand are open (Swift 6.3 on Linux).
package struct ChildProcess: Sendable {
    private let process: Int32

    /// Why there is no child: the value of `errno`.
    package struct NotStarted: Error {
        package let command: String
        package let code: Int32
    }

    /// Starts the command, looked for on the PATH unless it has a slash; without descriptors it reads nothing
    /// and writes to nowhere.
    package init(
        _ command: String,
        _ arguments: [String],
        environment: [String: String],
        input: Int32? = nil,
        output: Int32? = nil,
        errors: Int32? = nil
    ) throws {
        let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nowhere) }
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Swift's threads block signals, and the child would inherit that: it could not be ended.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in [input, output, errors].enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor ?? nowhere, Int32(number))
        }
        // Another test's end of a pipe or socket, held open by this child, would keep that test waiting.
        for descriptor in Int32(3)..<65_536 {
            let flags = fcntl(descriptor, F_GETFD)
            if flags != -1, flags & FD_CLOEXEC == 0 {
                posix_spawn_file_actions_addclose(&actions, descriptor)
            }
        }
        let words = ([command] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var process = pid_t()
        let code = posix_spawnp(&process, command, &actions, &attributes, words, variables)
        guard code == 0 else { throw NotStarted(command: command, code: code) }
        self.process = process
        Idleness.shared.childHasBegun()
    }

    /// Asks the program to end.
    package func terminate() {
        signal(SIGTERM)
    }

    /// Ends the program wherever it is.
    package func kill() {
        signal(SIGKILL)
    }

    /// What a terminal sends for Ctrl-C.
    package func interrupt() {
        signal(SIGINT)
    }

    private func signal(_ number: Int32) {
        #if canImport(Darwin)
        Darwin.kill(process, number)
        #else
        Glibc.kill(process, number)
        #endif
    }

    /// Whether the program has ended by itself; `waitForEnd` says how.
    package var hasEnded: Bool {
        var facts = siginfo_t()
        return waitid(P_PID, id_t(process), &facts, WEXITED | WNOHANG | WNOWAIT) == 0 && facts.si_signo != 0
    }

    /// Blocks until the program has ended; says its exit status, or the signal it died of as a negative number.
    package func waitForEnd() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1, errno == EINTR {}
        Idleness.shared.childHasEnded()
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : -signal
    }
}
