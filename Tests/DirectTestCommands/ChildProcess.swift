#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// A child process of the tests, with the three standard descriptors and no others.
///
/// Foundation's `Process` cannot be used: when it looks for descriptors to close, it copies directory entries
/// beyond the end of their memory, and crashes if well over a thousand are open (Swift 6.3 on Linux).
package struct ChildProcess: Sendable {
    private let process: Int32

    /// The child could not be started; `code` is the value of `errno`.
    package struct NotStarted: Error {
        /// The command.
        package let command: String
        /// The value of `errno`.
        package let code: Int32
    }

    /// Starts a command, which is searched in PATH unless it contains a slash.
    ///
    /// A descriptor that is `nil` becomes `/dev/null`.
    ///
    /// - Throws: ``NotStarted``.
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
        // Swift's threads block signals. The child would inherit that, and no signal could end it.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in [input, output, errors].enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor ?? nowhere, Int32(number))
        }
        // If this child held open another test's end of a pipe or socket, that test would wait for it.
        for descriptor in Int32(3)..<65_536 {
            let flags = fcntl(descriptor, F_GETFD)
            if flags != -1, flags & FD_CLOEXEC == 0 {
                posix_spawn_file_actions_addclose(&actions, descriptor)
            }
        }
        let words = ([command] + arguments).map { strdup($0) } + [nil]
        let variables =
            environment.merging(Self.instrumentation) { own, _ in own }.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var process = pid_t()
        let code = posix_spawnp(&process, command, &actions, &attributes, words, variables)
        guard code == 0 else { throw NotStarted(command: command, code: code) }
        self.process = process
        Idleness.shared.childHasBegun()
    }

    /// What a program has to know that is built like the tests: where the figures of its coverage go, and
    /// what a sanitizer must not report.
    private static let instrumentation: [String: String] = {
        let names = ["LLVM_PROFILE_FILE", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"]
        return names.reduce(into: [:]) { variables, name in
            variables[name] = getenv(name).map { String(cString: $0) }
        }
    }()

    /// Sends SIGTERM.
    package func terminate() {
        signal(SIGTERM)
    }

    /// Sends SIGKILL.
    package func kill() {
        signal(SIGKILL)
    }

    /// Sends SIGINT, as a terminal does for Ctrl-C.
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

    /// Whether the process has ended; `waitForEnd` returns its status.
    package var hasEnded: Bool {
        var facts = siginfo_t()
        return waitid(P_PID, id_t(process), &facts, WEXITED | WNOHANG | WNOWAIT) == 0 && facts.si_signo != 0
    }

    /// Blocks until the process has ended, and returns its exit status, or the number of the signal that
    /// ended it as a negative number.
    package func waitForEnd() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1, errno == EINTR {}
        Idleness.shared.childHasEnded()
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : -signal
    }
}
