/// Options of curl, openssl, nmap, tlsx, check_http and similar programs, which users may type from habit.
enum NeighbourOptions {
    /// The hints by option.
    static let hints: [String: String] = Dictionary(
        uniqueKeysWithValues: table.flatMap { hint, names in
            names.split(separator: " ").map { (String($0), hint) }
        }
    )

    private static let table: KeyValuePairs = [
        "write the IP after the host: www.example.com:443:203.0.113.7": "--resolve --connect-to",
        "write the IP with @: sni-probe www.example.com @203.0.113.7": "--connect -connect --ip",
        "for a HEAD request use --method HEAD; an IP is written with @: @203.0.113.7": "-I",
        "use --method HEAD": "--head",
        "targets need no option: sni-probe www.example.com @203.0.113.7": "-u --host -host",
        "targets need no option: sni-probe https://www.example.com/": "--url",
        "write the port after the host: www.example.com:8443": "--port -p -port",
        "the host is the name; to send another one use --sni NAME": "-servername --servername --sni-name",
        "use --no-sni": "-noservername",
        "use --pem": "-showcerts",
        "use --passphrase file:PATH or env:NAME": "-passin --pass -password",
        "use --ca FILE": "-CAfile --cacert --rootcert",
        "use --ca DIR": "-CApath --capath",
        "the host is always what the certificate is checked against": "-verify_hostname",
        "the certificate is always checked": "--verify",
        "use --tls 1.2": "-tls1_2 --tlsv1.2 -no_tls1_3",
        "use --tls 1.3": "-tls1_3 --tlsv1.3 -no_tls1_2",
        "sni-probe offers no version before TLS 1.2":
            "-ssl3 -tls1 -tls1_1 --sslv3 --tlsv1 --tlsv1.0 --tlsv1.1",
        "sni-probe offers the ciphers of its OpenSSL, and -v shows the one chosen": "-cipher --ciphers",
        "use --method NAME": "--request",
        "use --timeout TIME": "--max-time -m -T",
        "use --warn-days N, or --timeout TIME": "-w",
        "use --warn-days N": "--warning",
        "use --critical-days N": "--critical",
        "use --jobs N": "-c --concurrency --threads",
        "probes always run side by side: --jobs N says how many": "--parallel",
        "use --file FILE": "-l --list --targets -iL",
        "redirects are shown, not followed": "-L --location",
        "use --quiet": "-s --silent",
        "use --expect pin-sha256:BASE64": "--pinnedpubkey",
        "use --starttls PROTOCOL": "-starttls",
        "use --proxy IP:PORT": "-proxy -x",
        "use --color never": "--no-color --nocolor",
        "-v shows the header fields of the answer": "-i --include",
        "use --header 'User-Agent: NAME'": "-A --user-agent",
        "use --header 'Cookie: NAME=VALUE'": "-b --cookie",
        "sni-probe sends no bodies": "-d --data",
        "use --cert FILE and --key FILE": "-E -cert -key",
        "use --timeout TIME: one deadline for all of a probe": "--connect-timeout",
        "use --retries N": "--retry",
        "a status outside 200-399 fails anyway: see --status": "--fail",
        "sni-probe speaks HTTP/1.1 and nothing else": "--http1.1 --http2 --http3",
        "use --alpn LIST": "-alpn",
        "whether a response was stapled is in -v and in --json": "-status",
        "the certificate is always checked, and the exit code tells": "-verify_return_error -verify",
        "that is the default output": "-brief",
        "use --quiet, or -q": "-quiet",
        "sni-probe makes handshakes only: write the port after the host": "-sn -sV",
        "sni-probe never pings: leave it out": "-Pn",
        "sni-probe -v shows what ssl-cert shows": "--script",
        "for programs there is --json": "-oX -oJ --oJ -oA -oG -oN",
        "use --format NAME": "--html --junit --nagios --prometheus --sarif",
        "the names are always shown; for programs there is --json": "-san",
        "use --resolver dns://IP, or --resolver https://NAME/dns-query@IP": "--dns --dns-servers --doh-url",
        "the lines of a pipe have tabs between their fields; for programs there is --json": "--csv",
    ]
}
