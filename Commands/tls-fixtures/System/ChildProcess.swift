#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif
internal import DirectCore

/// Runs a shell command with a time limit.
enum ChildProcess {
    /// The way the command ended.
    enum Ending: Equatable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
        /// It was still running at the time limit and was killed.
        case hung
        case notStarted(String)
    }

    /// The result of a command, with what it printed.
    struct Outcome: Sendable {
        var ending: Ending
        var output: [UInt8] = []
        var errors: [UInt8] = []
    }

    /// Runs a command and blocks until it ends, at most for `limit`. Its whole process group is killed
    /// afterwards.
    static func run(_ command: String, within limit: Duration) -> Outcome {
        let begin = ContinuousClock.now
        let started = starting.withLock { _ in start(command) }
        guard case .success(let child) = started else {
            return Outcome(ending: .notStarted(started.words))
        }
        let (id, output, errors) = (child.id, child.output, child.errors)
        defer {
            output.closeReading()
            errors.closeReading()
        }
        var outcome = Outcome(ending: .hung)
        let end = begin.advanced(by: limit)
        collect([output.reading, errors.reading], into: [\.output, \.errors], outcome: &outcome, until: end)
        outcome.ending = reap(id, until: end)
        return outcome
    }

    /// Guards the start of a process. Between the creation of a pipe and setting close-on-exec, another child
    /// could inherit the pipe and keep it open, so only one child is started at a time.
    static let starting = Locked(())

    private enum Started {
        case success((id: pid_t, output: ProcessPipe, errors: ProcessPipe))
        case failure(String)

        var words: String { if case .failure(let words) = self { words } else { "" } }
    }

    private static func start(_ command: String) -> Started {
        guard let output = ProcessPipe(), let errors = ProcessPipe() else {
            return .failure("pipe: \(String(cString: strerror(errno)))")
        }
        let (id, code) = spawn(command, input: nil, output: output.writing, errors: errors.writing)
        output.closeWriting()
        errors.closeWriting()
        guard code != 0 else { return .success((id, output, errors)) }
        output.closeReading()
        errors.closeReading()
        return .failure(String(cString: strerror(code)))
    }

    /// Starts a shell command in a process group of its own.
    ///
    /// - Parameter input: Its standard input. `nil` gives it none.
    static func spawn(
        _ command: String,
        input: Int32?,
        output: Int32,
        errors: Int32
    ) -> (id: pid_t, code: Int32) {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        // A separate process group, so that the command's own children can be killed with it. Signals are set
        // as a shell sets them.
        var none = sigset_t()
        sigemptyset(&none)
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for signal in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { sigaddset(&defaults, signal) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var id = pid_t()
        let code = withVector(["sh", "-c", command]) { arguments in
            withVector(environmentTexts) { environment in
                ProcessGroups.start(&id) { id in
                    posix_spawn(&id, "/bin/sh", &actions, &attributes, arguments, environment)
                }
            }
        }
        return (id, code)
    }

    /// A minimal environment. Variables such as those for a proxy or a trust store would change what is
    /// tested.
    private static var environmentTexts: [String] {
        let names: [String] = ["PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH"]
        return names.compactMap { name in
            getenv(name).map { value in "\(name)=\(String(cString: value))" }
        }
    }

    /// Reads until all streams have ended or the time limit is reached.
    private static func collect(
        _ streams: [Int32],
        into places: [WritableKeyPath<Outcome, [UInt8]>],
        outcome: inout Outcome,
        until end: ContinuousClock.Instant
    ) {
        var open = streams.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while open.contains(where: { $0.fd >= 0 }) {
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return }
            guard poll(&open, nfds_t(open.count), left.milliseconds) > 0 else { continue }
            for index in open.indices where open[index].fd >= 0 && open[index].revents != 0 {
                let count = read(open[index].fd, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                if count <= 0 {
                    open[index].fd = -1
                } else if outcome[keyPath: places[index]].count < Self.outputLimit {
                    outcome[keyPath: places[index]] += buffer[..<count]
                }
            }
        }
    }

    /// Waits for the process until the time limit, then kills it and its process group.
    private static func reap(_ id: pid_t, until end: ContinuousClock.Instant) -> Ending {
        var status: Int32 = 0
        // It has closed its output, so either it ends soon or it hangs.
        while waitpid(id, &status, WNOHANG) == 0 {
            guard ContinuousClock.now < end else {
                kill(-id, SIGKILL)
                while waitpid(id, &status, 0) < 0 && errno == EINTR {}
                ProcessGroups.end(id)
                return .hung
            }
            usleep(500)
        }
        ProcessGroups.end(id)
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
    }

    /// The limit on stored output, in bytes. Further output is read and discarded.
    private static let outputLimit = 64 << 10
}

/// A pipe whose ends are close-on-exec.
final class ProcessPipe {
    private(set) var reading: Int32
    private(set) var writing: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
    }

    func closeReading() { close(reading) }
    func closeWriting() { close(writing) }
}

/// Calls `body` with the texts as a NULL-terminated vector of C strings.
private func withVector<Value>(
    _ texts: [String],
    body: ([UnsafeMutablePointer<CChar>?]) -> Value
) -> Value {
    let copies = texts.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    return body(copies + [nil])
}

extension Duration {
    /// The duration in whole milliseconds, at least one.
    var milliseconds: Int32 {
        let (seconds, attoseconds) = components
        return Int32(clamping: max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }
}
