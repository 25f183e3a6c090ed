internal import CommandKit
internal import DirectCore
internal import DirectHTTP
internal import DirectTLS

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The command `sni-probe`.
package enum ProbeCommand {
    /// Runs the command with these arguments (without the program's name), and exits the process.
    package static func main(_ arguments: [String]) -> Never {
        StandardDescriptors.hold()
        exit(run(arguments))
    }

    /// Runs the command and returns the exit code.
    static func run(_ arguments: [String]) -> Int32 {
        do throws(UsageError) {
            if arguments.first == "report" { return try report(Array(arguments.dropFirst())) }
            if arguments.first == "check" { return try check(Array(arguments.dropFirst())) }
            let options = try Options(arguments)
            switch options.detour {
            case .help: return show(HelpText.text)
            case .version:
                return show("sni-probe \(PackageVersion.text) (direct-http)\n\(OpenSSLLibrary.version)\n")
            case .demo: return Demo.run(options)
            case nil: return try probe(options)
            }
        } catch {
            Console.complain(error.text)
            // Nagios needs its own exit codes even for an unusable command line.
            let isNagios = arguments.contains("nagios") || arguments.contains("--format=nagios")
            return isNagios ? NagiosOutput.giveUp(error) : error.code
        }
    }

    /// Makes a report of the results of earlier runs, and returns the exit code.
    static func report(_ arguments: [String]) throws(UsageError) -> Int32 {
        guard let options = try Options.ofReport(arguments) else { return show(HelpText.text) }
        return try ReportRun(options).run()
    }

    /// Judges a file of certificates, and returns the exit code.
    static func check(_ arguments: [String]) throws(UsageError) -> Int32 {
        guard let (options, file) = try Options.ofCheck(arguments) else { return show(HelpText.text) }
        return try CertificateCheck(options, of: file).run()
    }

    /// Probes with these options and returns the exit code.
    static func probe(_ options: Options) throws(UsageError) -> Int32 {
        let feed = try ProbeFeed(options)
        let console = Console.detect(options.color)
        var context: Result<SurveyContext, TLSError>?
        var isOwn = options.settings.identity != nil
        if case .only = options.settings.roots { isOwn = true }
        if isOwn {
            // An error in the user's own files is reported before the first probe.
            context = ContextSource.make(options.settings)
            if case .failure(let error)? = context {
                throw UsageError(
                    "\(options.settings.identity == nil ? "--ca" : "--ca, --cert or --key"): \(error)",
                    code: ExitCode.noInput
                )
            }
        }
        let alarm = Alarm()
        if let place = options.listen { return try serve(options, at: place, context: context, alarm: alarm) }
        Interrupts.watch(alarm)
        let surroundings = Run.Surroundings(alarm: alarm, console: console, context: context)
        if let pause = options.watch {
            return try Watch(options: options, surroundings: surroundings, pause: pause).run()
        }
        return try runOnce(options, in: surroundings, feed: feed)
    }

    /// Serves metrics until a signal comes, which is no failure.
    private static func serve(
        _ options: Options,
        at place: Endpoint,
        context: Result<SurveyContext, TLSError>?,
        alarm: Alarm
    ) throws(UsageError) -> Int32 {
        let context = context ?? ContextSource.make(options.settings)
        if case .failure(let error) = context { throw UsageError("\(error)", code: ExitCode.noInput) }
        let listener = try Responder.listener(at: place)
        // Signals find a server that answers, and not the default that ends it.
        Interrupts.watch(alarm)
        let service = try ProbeService(options, context: context)
        let names = options.listenNames.union([Console.hostName].compactMap { $0 })
        Console.complain("sni-probe: listening on http://\(listener.localEndpoint ?? place)/\n")
        Responder(at: listener, names: names, service: service).run(until: alarm)
        return ExitCode.passed
    }

    /// Runs once, to standard output or to the file of `--output`, which is replaced if the run got to its
    /// end.
    static func runOnce(
        _ options: Options,
        in surroundings: Run.Surroundings,
        feed: ProbeFeed? = nil
    ) throws(UsageError) -> Int32 {
        let sink = try OutputSink.open(options)
        let output = output(for: options, surroundings.console, sink)
        let run = try Run(options, to: output, in: surroundings, feed: feed)
        if let path = options.resume { try run.goOn(with: path, to: sink) }
        sink.isKeptBeside = options.watch == nil && [.json, .text].contains(options.format)
        run.keepsOrder = sink.isKeptBeside && sink.replacesFile && options.format == .json && !options.same
        let code = run.run()
        if !run.isComplete, sink.replacesFile, let path = options.output {
            let isKept = sink.isKeptBeside || Interrupts.hasCome || sink.failure != nil
            let part = isKept ? try sink.commitPart() : nil
            let rest = part.map { "; the results so far are in \(quoted($0))" } ?? ""
            let fate = sink.goesOn && part != nil ? "" : "\(quoted(path)) is left as it was, because "
            Console.complain("sni-probe: \(fate)the run is not complete\(rest)\n")
            if let failure = sink.failure { throw failure }
            return code
        }
        try sink.commit()
        return code
    }

    /// Returns the output for the format of the options.
    static func output(for options: Options, _ console: Console, _ sink: OutputSink) -> any RecordOutput {
        if options.quiet { return SilentOutput() }
        let isTerminal = console.isTerminal && options.output == nil
        var style = Style(console, colors: options.output == nil)
        style.fullHashes = !isTerminal || options.verbose
        switch options.format {
        case .text where isTerminal || options.verbose:
            return TextOutput(style, verbose: options.verbose, to: sink)
        case .text: return PipedOutput(style, to: sink)
        case .json: return JSONOutput(to: sink, options: options.meaning)
        case .prometheus: return PrometheusOutput(to: sink)
        case .nagios: return NagiosOutput(style, options.settings, to: sink)
        case .junit: return JUnitOutput(to: sink)
        case .sarif: return SARIFOutput(to: sink)
        case .pem: return PEMOutput(style, to: sink)
        }
    }

    private static func show(_ text: String) -> Int32 {
        Console.write(Array(text.utf8), to: 1) ? ExitCode.passed : Console.endOfOutput()
    }
}
