/// An option that is not ours: perhaps a neighbour's, perhaps a slip of the fingers.
struct UnknownOption {
    let word: String

    init(_ word: String) {
        self.word = word
    }

    var error: UsageError {
        if let known = Self.neighbour(word) { return known }
        return UsageError(
            "unknown option \(quotedName)",
            hint: nearest ?? "sni-probe --help lists all options"
        )
    }

    /// What those mean who type an option of curl, openssl, tlsx and the like.
    static func neighbour(_ word: String) -> UsageError? {
        let name = String(word.prefix { $0 != "=" })
        guard let hint = hints[name] else { return nil }
        return UsageError("unknown option \(name)", hint: hint)
    }

    private var name: String { String(word.prefix { $0 != "=" }) }

    private var quotedName: String { PlainText.harmless(name, unicode: true) }

    /// The option that differs by two letters at most.
    private var nearest: String? {
        let typed = Array(name.drop { $0 == "-" }.lowercased().utf8)
        guard typed.count > 2, typed.count < 40 else { return nil }
        let ranked = CommandOption.all.map { ($0.long, Self.distance(typed, Array($0.long.utf8))) }
        guard let best = ranked.min(by: { $0.1 < $1.1 }), best.1 <= (typed.count < 5 ? 1 : 2) else {
            return nil
        }
        return "did you mean --\(best.0)?"
    }

    /// How many letters must change (Levenshtein).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (index, letter) in left.enumerated() {
            var previous = row[0]
            row[0] = index + 1
            for column in right.indices {
                let changed = previous + (right[column] == letter ? 0 : 1)
                previous = row[column + 1]
                row[column + 1] = min(changed, previous + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }

    private static let behindHost = "write the IP behind the host: www.example.com:443:203.0.113.7"
    private static let withAt = "write the IP with @: sni-probe www.example.com @203.0.113.7"

    private static let hints: [String: String] = [
        "--resolve": behindHost,
        "--connect-to": behindHost,
        "--connect": withAt,
        "-connect": withAt,
        "--ip": withAt,
        "-I": withAt,
        "-u": "targets need no option: sni-probe www.example.com @203.0.113.7",
        "--url": "targets need no option: sni-probe https://www.example.com/",
        "--host": "targets need no option: sni-probe www.example.com @203.0.113.7",
        "--port": "write the port behind the host: www.example.com:8443",
        "-p": "write the port behind the host: www.example.com:8443",
        "-servername": "the host is the name; to send another one use --sni NAME",
        "--servername": "the host is the name; to send another one use --sni NAME",
        "--sni-name": "the host is the name; to send another one use --sni NAME",
        "-noservername": "use --no-sni",
        "-showcerts": "use --pem",
        "-CAfile": "use --ca FILE",
        "-CApath": "use --ca DIR",
        "--cacert": "use --ca FILE",
        "--capath": "use --ca DIR",
        "--rootcert": "use --ca FILE",
        "-verify_hostname": "the host is always what the certificate is checked against",
        "--verify": "the certificate is always checked",
        "-tls1_2": "use --tls 1.2",
        "-tls1_3": "use --tls 1.3",
        "--tlsv1.2": "use --tls 1.2",
        "--tlsv1.3": "use --tls 1.3",
        "--request": "use --method NAME",
        "--max-time": "use --timeout TIME",
        "-m": "use --timeout TIME",
        "-w": "use --min-days N, or --timeout TIME",
        "--warning": "use --min-days N",
        "--critical": "use --min-days N",
        "-c": "use --jobs N",
        "--concurrency": "use --jobs N",
        "--threads": "use --jobs N",
        "--parallel": "probes always run side by side: --jobs N says how many",
        "-l": "use --file FILE",
        "--list": "use --file FILE",
        "--targets": "use --file FILE",
        "-o": "the shell does that: sni-probe … > FILE",
        "--output": "the shell does that: sni-probe … > FILE",
        "-L": "redirects are shown, not followed",
        "--location": "redirects are shown, not followed",
        "-s": "use --quiet",
        "--silent": "use --quiet",
        "--pinnedpubkey": "use --expect pin-sha256:BASE64",
        "-starttls": "sni-probe speaks TLS from the start only",
        "--starttls": "sni-probe speaks TLS from the start only",
        "--proxy": "sni-probe connects directly, through no proxy",
        "-x": "sni-probe connects directly, through no proxy",
        "--no-color": "use --color never",
        "--nocolor": "use --color never",
    ]
}
