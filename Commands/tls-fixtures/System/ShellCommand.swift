internal import CommandKit
internal import DirectCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Runs a shell command with a time limit.
enum ShellCommand {
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
        let running: Running
        do throws(ChildProcess.NotStarted) {
            running = try start(command)
        } catch {
            return Outcome(ending: .notStarted(errnoText(error.code)))
        }
        let (output, errors) = (running.output, running.errors)
        defer {
            output.closeReading()
            errors.closeReading()
        }
        var outcome = Outcome(ending: .hung)
        let end = begin.advanced(by: limit)
        collect([output.reading, errors.reading], into: [\.output, \.errors], outcome: &outcome, until: end)
        outcome.ending = reap(running.child, until: end)
        return outcome
    }

    /// Starts a command with two pipes.
    private static func start(_ command: String) throws(ChildProcess.NotStarted) -> Running {
        guard let output = ChildPipe(), let errors = ChildPipe() else {
            throw ChildProcess.NotStarted(command: "pipe", code: errno)
        }
        defer {
            output.closeWriting()
            errors.closeWriting()
        }
        do throws(ChildProcess.NotStarted) {
            let streams = ChildProcess.Streams(output: output.writing, errors: errors.writing)
            return Running(child: try spawn(command, with: streams), output: output, errors: errors)
        } catch {
            output.closeReading()
            errors.closeReading()
            throw error
        }
    }

    private struct Running {
        let child: ChildProcess
        let output, errors: ChildPipe
    }

    /// Starts a shell command in a process group of its own.
    static func spawn(
        _ command: String,
        with streams: ChildProcess.Streams
    ) throws(ChildProcess.NotStarted) -> ChildProcess {
        try ProcessGroups.start { (gate) throws(ChildProcess.NotStarted) in
            var gated = streams
            gated.fourth = gate
            return try ChildProcess(
                "/bin/sh",
                ["-c", "read -r go <&3 || exit; exec 3<&-; exec /bin/sh -c \"$0\"", command],
                environment: environmentTexts,
                streams: gated,
                leadsGroup: true
            )
        }
    }

    /// The environment of this process, without the variables that would change what is tested: those of
    /// proxies and of trust stores. Its clock shows the time nine hours west, so that a date of HTTP that is
    /// read as local time is seen.
    private static var environmentTexts: [String] {
        Environment.texts.filter { !isLeftOut($0.prefix { $0 != "=" }.uppercased()) }
            + ["TZ=Etc/GMT+9", ProcessGroups.mark]
    }

    private static func isLeftOut(_ name: String) -> Bool {
        let trust = [
            "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
            "CURL_HOME", "NETRC", "OPENSSL_CONF", "SSLKEYLOGFILE", "TLS_FIXTURES_RUN", "TZ",
        ]
        return name.hasSuffix("_PROXY") || trust.contains(name)
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
    private static func reap(_ child: ChildProcess, until end: ContinuousClock.Instant) -> Ending {
        defer { ProcessGroups.end(child.id) }
        // It has closed its output, so either it ends soon or it hangs.
        while true {
            switch child.endingIfOver() {
            case .exited(let status): return .exited(status)
            case .killed(let signal): return .killed(signal: signal)
            case nil: break
            }
            guard ContinuousClock.now < end else {
                kill(-child.id, SIGKILL)
                _ = child.waitForEnd()
                return .hung
            }
            usleep(500)
        }
    }

    /// The limit on stored output, in bytes. Further output is read and discarded.
    private static let outputLimit = 64 << 10
}

extension Duration {
    /// The duration in whole milliseconds, at least one.
    var milliseconds: Int32 {
        let (seconds, attoseconds) = components
        return Int32(clamping: max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }
}
