private import CommandKit

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// A child process of the tests, with the three standard descriptors and no others.
///
/// Foundation's `Process` cannot be used: when it looks for descriptors to close, it copies directory entries
/// beyond the end of their memory, and crashes if well over a thousand are open (Swift 6.3 on Linux).
package struct TestProcess: Sendable {
    private let child: ChildProcess

    /// Starts a command, which is searched in PATH unless it contains a slash.
    ///
    /// A descriptor that is `nil` becomes `/dev/null`.
    package init(
        _ command: String,
        _ arguments: [String],
        environment: [String: String],
        input: Int32? = nil,
        output: Int32? = nil,
        errors: Int32? = nil
    ) throws {
        child = try ChildProcess(
            command,
            arguments,
            environment: environment.merging(Self.instrumentation) { own, _ in own }.map { "\($0)=\($1)" },
            streams: ChildProcess.Streams(input: input, output: output, errors: errors)
        )
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
    package func terminate() { send(SIGTERM) }

    /// Sends SIGKILL.
    package func kill() { send(SIGKILL) }

    /// Sends SIGINT, as a terminal does for Ctrl-C.
    package func interrupt() { send(SIGINT) }

    /// Sends a signal.
    package func send(_ number: Int32) {
        #if canImport(Darwin)
        Darwin.kill(child.id, number)
        #else
        Glibc.kill(child.id, number)
        #endif
    }

    /// Whether the process has ended; `waitForEnd` returns its status.
    package var hasEnded: Bool {
        var facts = siginfo_t()
        return waitid(P_PID, id_t(child.id), &facts, WEXITED | WNOHANG | WNOWAIT) == 0 && facts.si_signo != 0
    }

    /// Blocks until the process has ended, and returns its exit status, or the number of the signal that
    /// ended it as a negative number.
    package func waitForEnd() -> Int32 {
        let ending = child.waitForEnd()
        Idleness.shared.childHasEnded()
        switch ending {
        case .exited(let status): return status
        case .killed(let signal): return -signal
        }
    }
}
