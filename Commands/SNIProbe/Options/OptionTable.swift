extension CommandOption {
    /// All options. The parser, the hints, `--help`, the manual page and the completions all use this table.
    static let all: [CommandOption] =
        inputOptions + sendingOptions + acceptingOptions + runningOptions
        + outputOptions + otherOptions

    static let inputOptions = [
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

    static let otherOptions = [
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
}
