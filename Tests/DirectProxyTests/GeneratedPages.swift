import DirectCore
import DirectTestCommands
import Testing

@testable import direct_proxy

/// The manual page of direct-proxy and its completions, made from its table of options.
enum ProxyPages {
    static let places = CommandPages.places(of: "direct-proxy")

    static func text(_ place: String) -> String { pages.text(place, manual: (head, rest)) }

    private static var pages: CommandPages {
        CommandPages(
            "direct-proxy",
            CommandOption.Group.allCases.map { group in
                (group.rawValue, CommandOption.allCases.filter { $0.group == group }.map(\.page))
            },
            words: .program
        )
    }

    /// The date of the last change to the content.
    private static let date = "2026-11-29"

    private static let head = """
        .\\" Made by scripts/make/pages.
        .TH DIRECT-PROXY 1 \(date) "direct-proxy \(PackageVersion.text)" "direct-http"
        .SH NAME
        direct\\-proxy \\- gives any program the addresses of your choice under the names that it asks for
        .SH SYNOPSIS
        .B direct\\-proxy
        [\\fIoptions\\fR] [\\fB\\-\\-\\fR \\fIPROGRAM\\fR [\\fIARGUMENT\\fR...]]
        .SH DESCRIPTION
        A proxy on this machine: CONNECT, http URLs and SOCKS5 at one port. It dials the addresses of a map under the names
        that programs ask for. TLS, the server's name in it and the check of the certificate stay the program's own.
        .PP
        With PROGRAM it runs it with http_proxy, https_proxy and all_proxy set, in both cases, and no_proxy emptied, and
        ends with its exit status. Signals for direct\\-proxy alone go to the program. Otherwise it prints the proxy's URL
        and serves until a signal comes; a second one breaks off open tunnels.
        .PP
        Programs need the user and the password of that URL, unless \\-\\-open is given. Of those without, the first is
        reported, and the second, the fourth, the eighth.

        """

    private static let rest = """
        .SH MAPS
        A line of a map is HOST:PORT:ADDR[,ADDR], as \\-\\-resolve takes it, or an address and its names, as in hosts(5). What
        follows a # is a comment. HOST may be *.example.com or *, PORT may be *, and an ADDR may have a port of its own.
        .SH EXIT STATUS
        That of the program, or 128 and the number of the signal that ended it.
        .TP
        .B 64
        The command line, or a line of a map, cannot be used.
        .TP
        .B 66
        A file cannot be read or written.
        .TP
        .B 69
        It cannot listen there.
        .TP
        .B 71
        The system refuses a thread.
        .TP
        .B 126, 127
        The program does not start, or is not there.
        .SH EXAMPLES
        .nf
        direct\\-proxy \\-\\-resolve www.example.com:443:192.0.2.10 \\-\\- curl https://www.example.com/
        direct\\-proxy \\-\\-map staging.txt \\-\\-refuse\\-others \\-\\- git clone https://git.example.com/a.git
        direct\\-proxy \\-\\-open \\-\\-listen 8118 \\-\\-map staging.txt \\-\\-report \\-
        .fi

        """
}

extension CommandOption {
    /// The groups of the manual page, with their headings.
    fileprivate enum Group: String, CaseIterable {
        case addresses, proxy = "the proxy", telling = "what it tells"
    }

    fileprivate var group: Group {
        switch self {
        case .resolve, .connectTo, .map, .doh, .refuseOthers, .allowPrivate, .upstream: .addresses
        case .listen, .listenBeyond, .open, .pac, .limit: .proxy
        case .report, .json, .quiet, .help, .version: .telling
        }
    }

    fileprivate var page: CommandPages.Option {
        CommandPages.Option(
            long: String(rawValue.dropFirst(2)),
            value: value,
            summary: help.joined(separator: " "),
            manual: manual,
            completion: completion
        )
    }

    private var completion: CommandPages.Completion {
        switch self {
        case .map, .report: .file
        case .limit: .words(LimitOption.allCases.map { "\($0.rawValue)=" })
        default: .nothing
        }
    }

    /// The text in the manual page: full sentences.
    private var manual: String {
        switch self {
        case .resolve:
            "Dial these addresses for this host and port, as curl has it. May repeat. HOST may be *.example.com or *, PORT may "
                + "be *. An IPv6 address with a port of its own is in brackets. A later entry replaces an earlier one for the "
                + "same host and port."
        case .connectTo:
            "Dial this address and port for this host and port, as curl has it. May repeat. An empty HOST or PORT is any; without "
                + "the last port it is the one that is asked for. Names are not resolved here."
        case .map:
            "Take such entries from a file, one a line, or lines as in hosts(5). May repeat."
        case .doh:
            "Ask this DNS server, over HTTPS, for hosts that no entry names. Its own address stands behind the @, as its name "
                + "cannot be asked of it; more of them are separated by commas."
        case .refuseOthers:
            "Refuse hosts that no entry and no DNS server of --doh names, with status 403. Without it they are dialled by "
                + "the system's answer."
        case .allowPrivate:
            "Dial also loopback, private and link-local addresses that a resolver names, or the program itself. Without it "
                + "these are for entries alone: a web page in a browser may ask the proxy for any address."
        case .upstream:
            "Ask this proxy, http://, https:// or socks5://, for the chosen addresses, by CONNECT also for http URLs. Names "
                + "are looked up here."
        case .limit:
            "Set a limit by its name. May repeat. tunnels: how many at a time. waiting: programs without a tunnel yet. headBytes: "
                + "of a request's head. In seconds: head, until it is complete; dial, to find an address and to connect; idle, "
                + "without a byte in a tunnel; halfClosed, the same once the program has ended its sending; drain, which the end leaves to open tunnels."
        case .listen:
            "Listen at this port of 127.0.0.1, or at this address and port; 0 is any free port, as without the option. May repeat: "
                + "the URL is that of the first."
        case .listenBeyond:
            "Let --listen take an address that other machines reach. They can then use this machine's network."
        case .open:
            "Take any program of this machine, of all users, without credentials: for programs that cannot send any, such as "
                + "Chromium from its command line."
        case .pac:
            "Serve a file that tells browsers of the proxy (proxy auto-configuration), at the URL that is printed on the last line. "
                + "It has no credentials: where a browser asks for none, --open is needed as well."
        case .report:
            "Write a line for each tunnel, and for each request that was forwarded or refused, to a file, or with - to standard "
                + "error. With a program, and without --quiet, that is the default. What is not read in time is left out, "
                + "and counted: the proxy never waits for it."
        case .json:
            "Write these lines as JSON."
        case .quiet:
            "Say nothing but what --report asks for."
        case .help:
            "Print a summary."
        case .version:
            "Print the version."
        }
    }
}

@Suite("Generated files of direct-proxy")
struct ProxyGeneratedFilesTests {
    @Test(
        "Each checked-in file is what its options make; scripts/make/pages writes it anew",
        arguments: ProxyPages.places
    )
    func checkedIn(_ place: String) throws {
        let text = ProxyPages.text(place)
        #expect(try CommandPages.checkedIn(place, made: text, from: #filePath) == text)
    }
}
