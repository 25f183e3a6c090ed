extension CommandOption {
    /// All options. The parser, the hints, `--help`, the manual page and the completions all use this table.
    static let all: [CommandOption] =
        inputOptions + sendingOptions + acceptingOptions + runningOptions
        + outputOptions + otherOptions

    private static let inputOptions = [
        CommandOption(
            key: .file,
            short: "f",
            long: "file",
            value: "FILE",
            completion: .file,
            group: .input,
            help: ["more targets or IPs, one a line; - is standard input"],
            manual:
                "Read more targets or IPs from this file, one a line; - is standard input. May repeat. Lines "
                + "contain the same words as the command line, or \"IP name ...\" as in hosts(5), or \"IP,name\". Lines with "
                + "IPs only belong to the targets of the command line. A word that begins with # ends the line. A line "
                + "with a single name that ends in a dot, as dig +short prints aliases, is skipped if a target of the "
                + "command line has no IPs of its own."
        ),
        CommandOption(
            key: .resolver,
            long: "resolver",
            value: "SPEC",
            completion: .words(["system", "dns://", "https://", "alibaba://", "dnspod://", "hosts:"]),
            group: .input,
            help: [
                "ask this resolver for the IPs; may repeat:",
                "system, dns://IP, https://NAME/dns-query@IP, ...",
            ],
            manual:
                "Ask this resolver for the IPs of targets that have none. May repeat: all are asked at the same time, each "
                + "IP is probed once, and the summary shows who answers what and whose users get a bad server. SPEC is "
                + "system; dns://IP[:PORT][?subnet=NETWORK/LENGTH]; https://NAME/dns-query@IP (DNS over HTTPS, never without "
                + "the IP); alibaba://ACCOUNT@IP and dnspod://[ID@]IP (HTTPDNS); or hosts:FILE. The secrets of HTTPDNS "
                + "accounts come from the environment: SNI_PROBE_ALIBABA_SECRET and SNI_PROBE_DNSPOD_TOKEN, or the files "
                + "that the same names with _FILE give."
        ),
        CommandOption(
            key: .onlyIPv4,
            short: "4",
            long: "ipv4",
            group: .input,
            help: ["only IPv4, when resolving"],
            manual: "Use only the IPv4 addresses that the resolver returns."
        ),
        CommandOption(
            key: .onlyIPv6,
            short: "6",
            long: "ipv6",
            group: .input,
            help: ["only IPv6, when resolving"],
            manual: "Use only the IPv6 addresses that the resolver returns."
        ),
        CommandOption(
            key: .skipBad,
            long: "skip-bad",
            group: .input,
            help: ["report bad lines of files and go on"],
            manual:
                "Report the lines of a file that cannot be read, count them, and probe the rest. Without it a "
                + "bad line in a file stops everything before the first probe; in standard input, which is read while "
                + "probing, it stops the reading."
        ),
        CommandOption(
            key: .shard,
            long: "shard",
            value: "K/N",
            group: .input,
            help: ["only every Nth probe, beginning with the Kth"],
            manual:
                "Make only every Nth probe, beginning with the Kth: N machines with the same list and K from 1 to N "
                + "probe all of it together."
        ),
    ]

    private static let sendingOptions = [
        CommandOption(
            key: .serverName,
            long: "sni",
            value: "NAME",
            group: .sending,
            help: ["this name in the handshake instead of the host"],
            manual:
                "Send this name as SNI instead of the host. The certificate is still checked against the host."
        ),
        CommandOption(
            key: .noServerName,
            long: "no-sni",
            group: .sending,
            help: ["no SNI"],
            manual:
                "Send no name, like a client with the IP in its URL. The certificate is still checked "
                + "against the host."
        ),
        CommandOption(
            key: .skipDefault,
            long: "skip-default",
            group: .sending,
            help: ["no second handshake, without SNI, to compare with"],
            manual:
                "Leave out the second handshake, which finds out what the IP serves without SNI. It takes half of "
                + "the work, but no extra time."
        ),
        CommandOption(
            key: .allKeys,
            long: "all-keys",
            group: .sending,
            help: ["also see the certificate for the other kind of key"],
            manual:
                "Make a further handshake for each kind of key, EC and RSA, that the first one did not get: a server may "
                + "have a certificate for each, and the one that this client does not get may have expired."
        ),
        CommandOption(
            key: .tls,
            long: "tls",
            value: "VERSION",
            completion: .words(["1.2", "1.3"]),
            group: .sending,
            help: ["only 1.2 or only 1.3"],
            manual: "Use only this version of TLS, 1.2 or 1.3."
        ),
        CommandOption(
            key: .method,
            short: "X",
            long: "method",
            value: "NAME",
            completion: .words(["GET", "HEAD", "OPTIONS"]),
            group: .sending,
            help: ["default GET"],
            manual: "The method of the request; GET if not given. It applies to targets that are URLs."
        ),
        CommandOption(
            key: .header,
            short: "H",
            long: "header",
            value: "FIELD",
            group: .sending,
            help: ["'NAME: VALUE', may repeat"],
            manual: "Send this header field, 'NAME: VALUE', with the request. May repeat."
        ),
        CommandOption(
            key: .insecure,
            short: "k",
            long: "insecure",
            group: .sending,
            help: ["send the request even if the certificate is wrong"],
            manual: "Send the request even if the certificate is wrong. The verdict does not change."
        ),
    ]

    private static let acceptingOptions = [
        CommandOption(
            key: .roots,
            long: "ca",
            value: "FILE|DIR",
            completion: .file,
            group: .accepting,
            help: ["these roots instead of the system's (may repeat)"],
            manual:
                "Trust the certificates in this file (PEM or DER) or directory instead of the system's. May repeat."
        ),
        CommandOption(
            key: .minimumDays,
            long: "min-days",
            value: "N",
            group: .accepting,
            help: ["at least N days left"],
            manual: "Fail a certificate that has fewer than N days left."
        ),
        CommandOption(
            key: .criticalDays,
            long: "critical-days",
            value: "N",
            group: .accepting,
            help: ["the same; for --format nagios CRITICAL"],
            manual: "The same as --min-days. With --format nagios it is CRITICAL then, and not WARNING."
        ),
        CommandOption(
            key: .warningDays,
            long: "warn-days",
            value: "N",
            group: .accepting,
            help: ["a warning with fewer than N days left"],
            manual:
                "Warn of a certificate that has fewer than N days left. Without it there is a warning if less than two "
                + "weeks and less than a third of the validity are left. With --format nagios too few days for "
                + "--min-days are CRITICAL then."
        ),
        CommandOption(
            key: .strict,
            long: "strict",
            group: .accepting,
            help: ["warnings are faults"],
            manual: "Fail every probe that has a warning, with status 90."
        ),
        CommandOption(
            key: .expect,
            long: "expect",
            value: "CERT",
            completion: .file,
            group: .accepting,
            help: ["PEM file, sha256:HEX, pin-sha256:BASE64; may repeat"],
            manual: "Fail every certificate except this one: a PEM file, sha256:HEX of the certificate, or "
                + "pin-sha256:BASE64 of its key. May repeat; one of them must match."
        ),
        CommandOption(
            key: .same,
            long: "same",
            group: .accepting,
            help: ["the same certificate on every IP of a host"],
            manual:
                "Fail IPs of a host that show another certificate than most of them. Results are printed when all are "
                + "there, or 4096 of them."
        ),
        CommandOption(
            key: .baseline,
            long: "baseline",
            value: "FILE",
            completion: .file,
            group: .accepting,
            help: ["warn of what is other than in this JSON output"],
            manual:
                "Compare with an earlier run, whose --json output this is. A result that is other than before (the "
                + "certificate, the faults, the SNI verdict) has a warning; the summary counts what is new, gone and other."
        ),
        CommandOption(
            key: .status,
            long: "status",
            value: "LIST",
            group: .accepting,
            help: ["default 200-399"],
            manual: "Accept these HTTP statuses, such as 200,301-308; 200-399 if not given."
        ),
    ]

    private static let runningOptions = [
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
            help: ["probes at once, default 64"],
            manual: "Run N probes at once, 64 if not given, of which about 8 at most are for one server."
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
    ]

    private static let outputOptions = [
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
            completion: .words(["text", "json", "prometheus", "nagios"]),
            group: .output,
            help: ["text, json, prometheus, nagios"],
            manual:
                "The format of the results: text, json, prometheus (for the node exporter's textfile directory) "
                + "or nagios."
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
                + "at its end; it stays as it was if the run is interrupted or its input cannot be used."
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

    private static let otherOptions = [
        CommandOption(
            key: .demo,
            long: "demo",
            group: .other,
            help: ["a tour of the verdicts, without a network"],
            manual:
                "Start servers on loopback, good and bad ones, and probe them: a tour of the verdicts that needs no network."
        ),
        CommandOption(
            key: .help,
            short: "h",
            long: "help",
            group: .other,
            help: ["this text"],
            manual: "Print a summary."
        ),
        CommandOption(
            key: .version,
            long: "version",
            group: .other,
            help: ["the version"],
            manual: "Print the version."
        ),
    ]

    /// A hidden option for developers, which prints the files generated from the table.
    static let generate = CommandOption(
        key: .generate,
        long: "generate",
        value: "WHAT",
        group: .other,
        help: [],
        manual: ""
    )
}
