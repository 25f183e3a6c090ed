internal import DirectHTTP

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
        Console.holdStandardDescriptors()
        shareOneHeap()
        exit(run(arguments))
    }

    /// Runs the command and returns the exit code.
    static func run(_ arguments: [String]) -> Int32 {
        do throws(UsageError) {
            let options = try Options(arguments)
            switch options.detour {
            case .help: return show(HelpText.text)
            case .version: return show("sni-probe \(Version.text) (direct-http)\n")
            case .generate(let what): return try show(GeneratedFiles.text(what))
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

    /// Probes with these options and returns the exit code.
    static func probe(_ options: Options) throws(UsageError) -> Int32 {
        let feed = try ProbeFeed(options)
        let console = Console.detect(options.color)
        var context: Result<SurveyContext, TLSError>?
        if case .only = options.settings.roots {
            // An error in the user's own files is reported before the first probe.
            context = ContextSource.make(options.settings)
            if case .failure(let error)? = context {
                throw UsageError("--ca: \(error)", code: ExitCode.noInput)
            }
        }
        let alarm = Alarm()
        Interrupts.watch(alarm)
        return Run(options, feed, output(for: options, console), alarm, console, context: context).run()
    }

    /// Returns the output for the format of the options.
    static func output(for options: Options, _ console: Console) -> any RecordOutput {
        if options.quiet { return SilentOutput() }
        let style = Style(
            usesColor: console.usesColor,
            unicode: console.unicode,
            width: console.width,
            fullHashes: !console.isTerminal || options.verbose
        )
        switch options.format {
        case .text where console.isTerminal || options.verbose:
            return TextOutput(style, verbose: options.verbose)
        case .text: return PipedOutput(style)
        case .json: return JSONOutput()
        case .prometheus: return PrometheusOutput()
        case .nagios: return NagiosOutput(style, options.settings)
        case .pem: return PEMOutput(style)
        }
    }

    private static func show(_ text: String) -> Int32 {
        Console.write(Array(text.utf8), to: 1) ? ExitCode.passed : Console.endOfOutput()
    }
}
