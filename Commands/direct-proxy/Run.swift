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
    private let signals: Signals

    init(_ options: Options, _ signals: Signals) {
        (self.options, self.signals) = (options, signals)
    }

    /// Returns the exit status.
    func run() throws(Mistake) -> Int32 {
        let outlet = try Outlet(options)
        var configuration = options.configuration
        configuration.onEvent = { outlet.tell($0) }
        let proxy = LocalProxy(configuration)
        do throws(LocalProxyError) {
            try proxy.start()
        } catch {
            var line = "\(error)"
            if case .beyondLoopback(let endpoint) = error {
                line =
                    "\(endpoint) is reached by other machines; add \(CommandOption.listenBeyond.rawValue) for that"
            }
            throw Mistake(line: line, status: 69)
        }
        let child = try options.program.isEmpty ? nil : start(options.program, over: proxy)
        // Two for each tunnel, and some for the rest. The program has got the limit that was found: some fail
        // with descriptors that select(2) does not know.
        _ = Descriptors.limit(raisedTo: 2 * configuration.limits.tunnels + 256)
        let status = child.map(wait) ?? serve(proxy)
        stop(proxy)
        outlet.finish()
        withExtendedLifetime(proxy) {}
        return status
    }

    private func serve(_ proxy: LocalProxy) -> Int32 {
        let urls = proxy.proxyURLs + [proxy.pacURL].compactMap { $0 }
        _ = writeAll(Array(urls.map { "\($0)\n" }.joined().utf8), to: 1)
        while signals.next().number == SIGCHLD {}
        return 0
    }

    private func start(_ program: [[UInt8]], over proxy: LocalProxy) throws(Mistake) -> ChildProcess {
        do throws(ChildProcess.NotStarted) {
            return try ChildProcess(
                words: program,
                environment: ChildEnvironment.variables(proxy.proxyURL ?? ""),
                streams: .init(input: 0, output: 1, errors: 2),
                inherits: true
            )
        } catch {
            // A script without its first line is the shell's, which finds it as execvp(3) does.
            let shell = ["/bin/sh", "-c", "exec \"$0\" \"$@\""].map { Array($0.utf8) }
            if error.code == ENOEXEC, program[0] != shell[0] {
                return try start(shell + program, over: proxy)
            }
            throw Mistake(
                line: "\(error.command): \(errnoText(error.code))",
                status: error.code == ENOENT ? 127 : 126
            )
        }
    }

    /// Waits for the end of the program, and passes signals on to it.
    private func wait(for child: ChildProcess) -> Int32 {
        while true {
            let signal = signals.next()
            guard signal.number == SIGCHLD else {
                if !signal.isOfTerminal { kill(child.id, signal.number) }
                continue
            }
            switch child.endingIfOver() {
            case .exited(let status)?: return status
            case .killed(let signal)?: return 128 + signal
            case nil: continue
            }
        }
    }

    /// Waits until the tunnels have ended and are reported. One more signal, or the end of the limit for it,
    /// breaks them off.
    private func stop(_ proxy: LocalProxy) {
        let isStopped = Locked(false)
        let stopping = Task(executorPreference: options.configuration.loop) {
            await proxy.stop()
            isStopped.withLock { $0 = true }
            // Nobody waits for a child any more: this one says that it is done.
            kill(getpid(), SIGCHLD)
        }
        for limit in [options.configuration.limits.drain.components.seconds, 0] {
            alarm(UInt32(clamping: limit + Self.patience))
            while !isStopped.withLock({ $0 }), signals.next().number == SIGCHLD {}
            stopping.cancel()
        }
    }

    /// The seconds for what is left of tunnels when the time to end by themselves is over.
    private static let patience: Int64 = 10
}
