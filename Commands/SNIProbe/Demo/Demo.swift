internal import DirectHTTP

/// The command `--demo`: shows the verdicts without a network, with real servers on this machine.
enum Demo {
    /// Starts the servers, probes them step by step, and returns the exit code.
    static func run(_ options: Options) -> Int32 {
        let servers: DemoServers
        do {
            servers = try DemoServers()
        } catch {
            Console.complain("sni-probe: the servers of the demo cannot be started: \(error)\n")
            return ExitCode.bug
        }
        defer { servers.stop() }
        let alarm = Alarm()
        Interrupts.watch(alarm)
        for (index, stop) in stops(servers).enumerated() {
            if index > 0 { _ = Console.write(Array("\n\n".utf8), to: 1) }
            let (title, words) = (stop.key, stop.value)
            let code = show(title, arguments: words, given: options, servers: servers, alarm: alarm)
            if let code { return code }
        }
        return ExitCode.passed
    }

    /// The steps: for each its heading, and the arguments of its run.
    private static func stops(_ servers: DemoServers) -> KeyValuePairs<String, [String]> {
        [
            "A server that holds several certificates, asked for the right name:":
                servers.words([.good], path: "/"),
            "The same server without SNI, as for a client with the IP in its URL:":
                servers.words([.good]) + ["--no-sni"],
            "A server that does not know the host:": servers.words([.stranger]),
            "A server whose certificate has expired:": servers.words([.expired]),
            "A server that sends its certificate without the issuer's:": servers.words([.missing]),
            "A server whose certificate is revoked, as its own OCSP response says:":
                servers.words([.revoked]),
            "An IP with several servers behind it, one of which does not know the host:":
                servers.words([.mixed]) + ["--repeat", "8"],
            "A whole pool at once:":
                servers.words([.good, .renewed, .soon, .stranger, .missing, .refusing]),
        ]
    }

    /// Runs one step. Returns the exit code if the demo must end after it, otherwise `nil`.
    private static func show(
        _ title: String,
        arguments: [String],
        given: Options,
        servers: DemoServers,
        alarm: Alarm
    ) -> Int32? {
        let console = Console.detect(given.color)
        let style = Style(console)
        let lines = style.wrapped("# " + title, indent: 0) + [command(arguments, style: style)]
        guard Console.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: 1) else {
            return Console.endOfOutput()
        }
        do throws(UsageError) {
            var options = try Options(arguments)
            options.settings.roots = .only([.pem(Array(servers.rootPEM.utf8))])
            let surroundings = Run.Surroundings(alarm: alarm, console: console)
            let code = try Run(options, to: TextOutput(style, verbose: false), in: surroundings).run()
            if let signal = Interrupts.signal { return ExitCode.interrupted(by: signal) }
            return Console.hasLostOutput ? code : nil
        } catch {
            Console.complain(error.text)
            return error.code
        }
    }

    /// Returns the command line of a step as it would be typed, on several lines if it is long.
    private static func command(_ arguments: [String], style: Style) -> String {
        let words = "sni-probe " + arguments.joined(separator: " ")
        return "$ " + style.wrapped(words, indent: 6).joined(separator: " \\\n      ")
    }
}
