extension CommandOption {
    /// How the probes run, and what is printed.
    static let runningOptions = [
        CommandOption(
            key: .timeout,
            short: "t",
            long: "timeout",
            value: "TIME",
            group: .running,
            help: ["per probe, everything included; default 5s"],
            manual:
                "The time limit of a probe, everything included: 5s if not given. Times are written as 500ms, 5s or 2m."
        ),
        CommandOption(
            key: .jobs,
            short: "j",
            long: "jobs",
            value: "N",
            group: .running,
            help: ["N probes at once; default 64 that work"],
            manual:
                "Run at most N probes at once. If not given, 64 that work, and with those that have received nothing for half "
                + "a second 512. About 8 of the working ones are for one server."
        ),
        CommandOption(
            key: .rate,
            long: "rate",
            value: "N",
            group: .running,
            help: ["at most N probes a second"],
            manual: "Start at most N probes a second."
        ),
        CommandOption(
            key: .retries,
            long: "retries",
            value: "N",
            group: .running,
            help: ["after refused or lost connections, default 0"],
            manual: "Try again up to N times after a refused or lost connection, within the probe's time."
        ),
        CommandOption(
            key: .wait,
            long: "wait",
            value: "TIME",
            group: .running,
            help: ["probe the failed ones again until all pass"],
            manual: "Repeat the failed probes until they pass, for this time at most."
        ),
        CommandOption(
            key: .watch,
            long: "watch",
            value: "TIME",
            group: .running,
            help: ["again and again, with so much time in between"],
            manual:
                "Probe everything again and again, with so much time in between, until a signal ends it. On a terminal each "
                + "round is drawn in place of the one before. In a pipe only changes follow the first round: another "
                + "certificate, other faults or warnings, another SNI verdict. A file of --output is replaced in each "
                + "round."
        ),
        CommandOption(
            key: .resume,
            long: "resume",
            value: "FILE",
            completion: .file,
            group: .running,
            help: ["leave out what has a result in this JSON output"],
            manual:
                "Go on with a run that was interrupted, whose --json output this is: leave out what has a result there. "
                + "sni-probe report makes one report of both."
        ),
        CommandOption(
            key: .repeats,
            long: "repeat",
            value: "N",
            group: .running,
            help: ["N handshakes with each IP, whose answers are counted"],
            manual:
                "Make the handshake N times with each IP, one after the other, and count the distinct answers: behind one IP "
                + "there may be several servers that are not set up alike. A request is sent only once. Each handshake has "
                + "the time of --timeout."
        ),
        CommandOption(
            key: .interval,
            long: "interval",
            value: "TIME",
            group: .running,
            help: ["between the handshakes of --repeat; default none"],
            manual: "The time from the end of one handshake of --repeat to the next; none if not given."
        ),
        CommandOption(
            key: .listen,
            long: "listen",
            value: "IP:PORT",
            group: .running,
            help: [
                "serve metrics: /metrics of the targets, which are",
                "probed by --watch, and /probe?target= of one",
            ],
            manual:
                "Serve metrics over HTTP until a signal comes. /metrics has the last round over all targets, which begins "
                + "again so long after the last one as --watch says (1m if not given). "
                + "/probe?target=TARGET probes one of them at once, in the form of blackbox_exporter: the target is written "
                + "as on the command line, and must be one of its targets or of those in --file. module= is tls (if not given), http_2xx, or a "
                + "protocol of --starttls. Of the requests at most 16 are probed at a time, or as many as --jobs says."
        ),
        CommandOption(
            key: .listenAny,
            long: "listen-any",
            group: .running,
            help: ["let requests to --listen name any target"],
            manual:
                "Let requests to --listen name targets that are not on the list. Whoever reaches the port can then make this "
                + "machine connect to all that it can reach."
        ),
        CommandOption(
            key: .listenName,
            long: "listen-name",
            value: "NAME",
            group: .running,
            help: ["a name of --listen beside IP, localhost, host name"],
            manual:
                "Answer requests to --listen that are for this name, too (the field Host). Without it only those for an IP, "
                + "localhost or the name of this machine are answered, so that web pages cannot read the answers by a name "
                + "of theirs that leads to this machine. May repeat."
        ),
    ]

    static let outputOptions = [
        CommandOption(
            key: .json,
            long: "json",
            group: .output,
            help: ["one JSON object a line (= --format json)"],
            manual: "Print one JSON object a line, the same as --format json."
        ),
        CommandOption(
            key: .format,
            long: "format",
            value: "NAME",
            completion: .words(["text", "json", "prometheus", "nagios", "junit", "sarif", "html"]),
            group: .output,
            help: ["text, json, prometheus, nagios, junit, sarif, html"],
            manual:
                "The format of the results: text, json, prometheus (for the node exporter's textfile directory), "
                + "nagios, junit (for CI systems), sarif (for code scanning), or html (a report in one file, to be sent to others)."
        ),
        CommandOption(
            key: .output,
            short: "o",
            long: "output",
            value: "FILE",
            completion: .file,
            group: .output,
            help: ["replace this file by the results, as a whole"],
            manual:
                "Write the results to this file instead of standard output. The file is replaced as a whole when the run is "
                + "at its end, and keeps its owner and its permissions; it stays as it was if the run is interrupted or its "
                + "input cannot be used. What an interrupted run has found is in FILE.part. A symbolic link stays, and its target is replaced. A device, a pipe and an open file "
                + "such as /dev/stdout are written to at once, as standard output is."
        ),
        CommandOption(
            key: .pem,
            long: "pem",
            group: .output,
            help: ["print the certificates served, in PEM"],
            manual: "Print the certificates that were served, in PEM, each with a line about it."
        ),
        CommandOption(
            key: .verbose,
            short: "v",
            long: "verbose",
            group: .output,
            help: ["everything known of each probe"],
            manual: "Print everything known of each probe, in the long form."
        ),
        CommandOption(
            key: .quiet,
            short: "q",
            long: "quiet",
            group: .output,
            help: ["no results, only the exit code"],
            manual: "Print no results; only the exit code tells."
        ),
        CommandOption(
            key: .color,
            long: "color",
            value: "WHEN",
            completion: .words(["auto", "always", "never"]),
            group: .output,
            help: ["auto, always, never"],
            manual: "When to use colour: auto (on a terminal), always or never."
        ),
    ]
}
