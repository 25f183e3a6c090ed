/// The options of the command, in the order of the help.
enum CommandOption: String, CaseIterable {
    case resolve = "--resolve"
    case connectTo = "--connect-to"
    case map = "--map"
    case doh = "--doh"
    case refuseOthers = "--refuse-others"
    case allowPrivate = "--allow-private"
    case upstream = "--proxy"
    case limit = "--limit"
    case listen = "--listen"
    case listenBeyond = "--listen-beyond-loopback"
    case open = "--open"
    case pac = "--pac"
    case report = "--report"
    case json = "--json"
    case quiet = "--quiet"
    case help = "--help"
    case version = "--version"

    /// What stands for its value; `nil` if it takes none.
    var value: String? {
        switch self {
        case .resolve: "HOST:PORT:ADDR[,ADDR]"
        case .connectTo: "HOST:PORT:ADDR:PORT"
        case .map, .report: "FILE"
        case .doh: "URL@ADDR"
        case .upstream: "URL"
        case .limit: "NAME=NUMBER"
        case .listen: "[ADDR:]PORT"
        case .refuseOthers, .allowPrivate, .listenBeyond, .open, .pac, .json, .quiet, .help, .version: nil
        }
    }

    /// Whether it adds to what was given before, or says the same again.
    var repeats: Bool {
        switch self {
        case .doh, .upstream, .report: false
        default: true
        }
    }

    /// What it does.
    var help: [String] {
        switch self {
        case .resolve:
            ["dials ADDR for this host and port, as curl has it;", "HOST may be *.example.com or *, PORT *"]
        case .connectTo: ["the same with a port; an empty HOST or PORT is any"]
        case .map: ["takes such entries from FILE, one a line, or lines", "as in /etc/hosts"]
        case .doh:
            [
                "asks this DNS server for hosts that no entry names:",
                "https://dns.example/dns-query@192.0.2.53",
            ]
        case .refuseOthers: ["refuses hosts that no entry names, nor the server of", "--doh (403)"]
        case .allowPrivate:
            [
                "dials private, loopback and link-local addresses,",
                "cloud metadata too, that a resolver names, or the",
                "program itself",
            ]
        case .upstream: ["asks this proxy for the chosen addresses, by CONNECT,", "also for http URLs"]
        case .limit:
            [
                "tunnels, waiting, headBytes, or a time in seconds:",
                "head, dial, idle, halfClosed, drain",
            ]
        case .listen: ["listens there; without it at a free port of 127.0.0.1"]
        case .listenBeyond: ["lets --listen take an address that others reach"]
        case .open:
            ["takes any program of this machine, without", "credentials: for those that cannot send any"]
        case .pac: ["serves a file that tells browsers of it, and prints", "its URL on the last line"]
        case .report: ["writes a line for each tunnel; - is standard error"]
        case .json: ["writes these lines as JSON"]
        case .quiet: ["says nothing of its own"]
        case .help: ["prints this"]
        case .version: ["prints the version"]
        }
    }

    /// The text of `--help`.
    static var helpText: String {
        var text = """
            usage: direct-proxy [options] [-- PROGRAM [ARGUMENT...]]

            A proxy on this machine: programs that use it reach the addresses that you
            choose, under the names that they ask for. TLS and the check of certificates
            stay theirs. With PROGRAM it runs it with the proxy in its environment, and
            ends with its exit status; otherwise it prints the proxy's URL and serves
            until it is interrupted.

              direct-proxy --resolve www.example.com:443:192.0.2.10 -- \\
                curl https://www.example.com/


            """
        for option in allCases {
            var first = "  \(option.rawValue)" + (option.value.map { " \($0)" } ?? "")
            if first.count > 27 {
                text += first + "\n"
                first = ""
            }
            for line in option.help {
                text += first + String(repeating: " ", count: max(0, 28 - first.count)) + line + "\n"
                first = ""
            }
        }
        return text + """

            exit status: the program's; 64 the command line or a line of a map, 66 a file
            that cannot be read or written, 69 it cannot listen, 126 or 127 the program
            does not start

            """
    }
}
