internal import CommandKit
internal import DirectCore
internal import DirectIO
internal import DirectProxy

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// One run of the command: the proxy, and the program or the wait for a signal.
struct Run {
    private let options: Options

    init(_ options: Options) {
        self.options = options
    }

    /// Returns the exit status.
    func run() throws(Options.Mistake) -> Int32 {
        var configuration = options.configuration
        let reports = try reportDescriptor()
        let (asJSON, says) = (options.writesJSON, !options.isQuiet)
        configuration.onEvent = { event in
            switch event {
            case .ended(let report):
                guard let reports else { return }
                let line = ReportLine(report: report)
                _ = writeAll(Array((asJSON ? line.json : line.text).utf8) + [0x0A], to: reports)
            case .paused(let error):
                if says {
                    Self.say("no connection is accepted for a moment: \(error); raise the limit (ulimit -n)")
                }
            @unknown default: break
            }
        }
        // A program that has ended reads nothing any more.
        if !options.program.isEmpty { configuration.limits.drain = .seconds(1) }
        // Two for each tunnel, and some for the rest.
        _ = Descriptors.limit(raisedTo: 2 * configuration.limits.tunnels + 256)
        let proxy = LocalProxy(configuration)
        do throws(LocalProxyError) {
            try proxy.start()
        } catch {
            throw Options.Mistake(line: "\(error)", status: 69)
        }
        let status = try options.program.isEmpty ? serve(proxy) : run(options.program, over: proxy)
        withExtendedLifetime(proxy) {}
        return status
    }

    private func serve(_ proxy: LocalProxy) -> Int32 {
        if let url = proxy.proxyURL { _ = writeAll(Array("\(url)\n".utf8), to: 1) }
        while true {
            let signal = Signals.next()
            guard signal != SIGCHLD else { continue }
            stop(proxy)
            return 0
        }
    }

    /// Waits until the tunnels have ended and are reported, or the limit for that is over.
    private func stop(_ proxy: LocalProxy) {
        let stopped = Locked(false)
        let condition = Condition()
        Task(executorPreference: options.configuration.loop) {
            await proxy.stop()
            stopped.withLock { $0 = true }
            condition.signal()
        }
        _ = stopped.wait(at: condition, nanoseconds: Self.patience) { isDone, _ in isDone ? true : nil }
    }

    private static let patience: UInt64 = 10_000_000_000

    private func run(_ program: [String], over proxy: LocalProxy) throws(Options.Mistake) -> Int32 {
        let child: ChildProcess
        do throws(ChildProcess.NotStarted) {
            child = try ChildProcess(
                program[0],
                Array(program.dropFirst()),
                environment: ChildEnvironment.variables(proxy.proxyURL ?? ""),
                streams: .init(input: 0, output: 1, errors: 2)
            )
        } catch {
            throw Options.Mistake(
                line: "\(error.command): \(errnoText(error.code))",
                status: error.code == ENOENT ? 127 : 126
            )
        }
        while true {
            let signal = Signals.next()
            // The terminal sends its signals to the program as well; a signal for this process alone is for
            // both.
            guard signal == SIGCHLD else {
                if signal != SIGINT { kill(child.id, signal) }
                continue
            }
            switch child.endingIfOver() {
            case .exited(let status)?:
                stop(proxy)
                return status
            case .killed(let signal)?:
                stop(proxy)
                return 128 + signal
            case nil: continue
            }
        }
    }

    private func reportDescriptor() throws(Options.Mistake) -> Int32? {
        switch options.report {
        // A program's own output stays its own: what was dialled is told beside it.
        case nil: return options.program.isEmpty || options.isQuiet ? nil : 2
        case .standardError?: return 2
        case .file(let path)?:
            let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                throw Options.Mistake(line: "--report \(path): \(errnoText(errno))", status: 66)
            }
            return descriptor
        }
    }

    private static func say(_ line: String) {
        _ = writeAll(Array("direct-proxy: \(line)\n".utf8), to: 2)
    }
}

/// The signals that end a run, and that of a child's end. They are blocked in all threads and waited for.
enum Signals {
    static func block() {
        var signals = all
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Waits for the next one.
    static func next() -> Int32 {
        var (signals, number) = (all, Int32(0))
        while sigwait(&signals, &number) != 0 {}
        return number
    }

    private static var all: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGCHLD] { sigaddset(&signals, number) }
        return signals
    }
}
