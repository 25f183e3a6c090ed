extension CommandOption {
    /// All options. The parser, the hints and `--help` use this table. The manual page and the completions,
    /// which are made from it, are not part of the program.
    static let all: [CommandOption] =
        input.in(.input) + sending.in(.sending) + accepting.in(.accepting) + running.in(.running)
        + output.in(.output) + other.in(.other)

    private static let input: [CommandOption] = [
        .init(
            .file,
            "file",
            "FILE",
            short: "f",
            help: "more targets or IPs, one a line; - is standard input"
        ),
        .init(
            .resolver,
            "resolver",
            "SPEC",
            help: "ask this resolver for the IPs; may repeat:",
            "system, dns://IP, https://NAME/dns-query@IP, ..."
        ),
        .init(.onlyIPv4, "ipv4", short: "4", help: "only IPv4, when resolving"),
        .init(.onlyIPv6, "ipv6", short: "6", help: "only IPv6, when resolving"),
        .init(.skipBad, "skip-bad", help: "report bad lines of files and go on"),
        .init(.shard, "shard", "K/N", help: "only every Nth probe, beginning with the Kth"),
    ]

    private static let sending: [CommandOption] = [
        .init(.serverName, "sni", "NAME", help: "this name in the handshake instead of the host"),
        .init(.noServerName, "no-sni", help: "no SNI"),
        .init(.skipDefault, "skip-default", help: "no second handshake, without SNI, to compare with"),
        .init(.deep, "deep", help: "also the certificates for another key or TLS version"),
        .init(.ech, "ech", help: "HTTPS records of DNS, and Encrypted Client Hello"),
        .init(.versions, "versions", help: "which versions of TLS, 1.0 to 1.3, are spoken"),
        .init(.postQuantum, "post-quantum", help: "whether X25519MLKEM768 is"),
        .init(.longHello, "long-hello", help: "whether a browser's long ClientHello arrives"),
        .init(.tls, "tls", "VERSION", help: "only 1.2 or only 1.3"),
        .init(.startTLS, "starttls", "PROTOCOL", help: "smtp, imap, pop3, ftp, ldap, postgres, mysql, ..."),
        .init(.proxy, "proxy", "IP:PORT", help: "by a tunnel of this HTTP proxy (CONNECT)"),
        .init(.proxyHeader, "proxy-protocol", "VERSION", help: "begin with a PROXY header, version 1 or 2"),
        .init(.alpn, "alpn", "LIST", help: "offer these protocols, such as h2,http/1.1"),
        .init(.certificate, "cert", "FILE", help: "the client's certificate and chain, in PEM"),
        .init(.privateKey, "key", "FILE", help: "its key, in PEM and not encrypted"),
        .init(
            .passphrase,
            "passphrase",
            "SOURCE",
            help: "of a key or PKCS#12 of check: file:PATH or env:NAME"
        ),
        .init(.method, "method", "NAME", short: "X", help: "default GET"),
        .init(.header, "header", "FIELD", short: "H", help: "'NAME: VALUE', may repeat"),
        .init(.insecure, "insecure", short: "k", help: "send the request even if the certificate is wrong"),
    ]

    private static let accepting: [CommandOption] = [
        .init(.roots, "ca", "ROOTS", help: "[LABEL=]FILE|DIR|system instead; may repeat"),
        .init(.revocation, "revocation", help: "ask the issuer, by OCSP or for its list"),
        .init(.criticalDays, "critical-days", "N", help: "at least N days left"),
        .init(.warningDays, "warn-days", "N", help: "a warning with fewer than N days left"),
        .init(
            .criticalStatusDays,
            "critical-status-days",
            "N",
            help: "N days left of OCSP responses and lists"
        ),
        .init(.warningStatusDays, "warn-status-days", "N", help: "a warning with fewer than N days of them"),
        .init(.strict, "strict", help: "warnings are faults"),
        .init(.expect, "expect", "CERT", help: "PEM file, sha256:HEX, pin-sha256:BASE64; may repeat"),
        .init(.same, "same", help: "the same certificate on every IP of a host"),
        .init(.anyGood, "any-good", help: "one good IP of a target is enough for the exit code"),
        .init(.baseline, "baseline", "FILE", help: "warn of what is other than in this JSON output"),
        .init(.status, "status", "LIST", help: "default 200-399"),
    ]

    private static let running: [CommandOption] = [
        .init(.timeout, "timeout", "TIME", short: "t", help: "per probe, everything included; default 5s"),
        .init(.jobs, "jobs", "N", short: "j", help: "N probes at once; default 64 that work"),
        .init(.rate, "rate", "N", help: "at most N probes a second"),
        .init(.retries, "retries", "N", help: "after refused or lost connections, default 0"),
        .init(.wait, "wait", "TIME", help: "probe the failed ones again until all pass"),
        .init(.watch, "watch", "TIME", help: "again and again, with so much time in between"),
        .init(.resume, "resume", "FILE", help: "leave out what has a result in this JSON output"),
        .init(.listen, "listen", "IP:PORT", help: "serve metrics: /metrics, /probe?target= of a target"),
        .init(.listenAny, "listen-any", help: "... and /probe?target= of anything"),
        .init(.listenName, "listen-name", "NAME", help: "... also for requests to this name; may repeat"),
        .init(.modules, "modules", "FILE", help: "... with modules: NAME: OPTIONS on each line"),
        .init(.repeats, "repeat", "N", help: "N handshakes with each IP, whose answers are counted"),
        .init(.interval, "interval", "TIME", help: "between the handshakes of --repeat; default none"),
    ]

    private static let output: [CommandOption] = [
        .init(.json, "json", help: "one JSON object a line (= --format json)"),
        .init(.format, "format", "NAME", help: "text, json, prometheus, nagios, junit, sarif"),
        .init(.output, "output", "FILE", short: "o", help: "replace this file by the results, as a whole"),
        .init(.pem, "pem", help: "print the certificates served, in PEM"),
        .init(.verbose, "verbose", short: "v", help: "everything known of each probe"),
        .init(.quiet, "quiet", short: "q", help: "no results, only the exit code"),
        .init(.color, "color", "WHEN", help: "auto, always, never"),
    ]

    private static let other: [CommandOption] = [
        .init(.demo, "demo", help: "a tour of the verdicts, without a network"),
        .init(.help, "help", short: "h", help: "this text"),
        .init(.version, "version", help: "the version"),
    ]
}

extension [CommandOption] {
    fileprivate func `in`(_ group: CommandOption.Group) -> [CommandOption] {
        map { option in
            var option = option
            option.group = group
            return option
        }
    }
}
