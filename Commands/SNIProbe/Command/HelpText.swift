/// The output of `--help`, generated from the option table.
enum HelpText {
    static var text: String {
        var text = head
        for group in CommandOption.Group.allCases {
            text += "\n\(group.rawValue)\n"
            for option in CommandOption.all where option.group == group { text += lines(option) }
        }
        return text + "\n" + tail
    }

    private static func lines(_ option: CommandOption) -> String {
        let short = option.short.map { "-\($0), " } ?? "    "
        let name = "  \(short)--\(option.long)" + (option.value.map { " \($0)" } ?? "")
        var result = ""
        var first = name
        if name.count > column - 1 {
            result = name + "\n"
            first = ""
        }
        for line in option.help {
            result += first + String(repeating: " ", count: column - first.count) + line + "\n"
            first = ""
        }
        return result
    }

    private static let column = 26

    static let synopsis = "sni-probe [options] TARGET... [@IP[,IP...]]..."

    static let reportSynopsis = "sni-probe report [options] FILE..."

    static let checkSynopsis = "sni-probe check [options] FILE [NAME]..."

    private static let head = """
        usage: \(synopsis)
               \(reportSynopsis)
               \(checkSynopsis)

        Connects to the IPs you choose, sends the host's name (SNI), checks the
        certificate against it, and says what is wrong and what to do about it.

        TARGET  www.example.com            handshake only
                www.example.com:8443       another port
                https://www.example.com/x  handshake and an HTTP/1.1 request
                http://www.example.com/x   a request without TLS
                www.example.com@IP[,IP]    with IPs of its own (one word, for lists)
                www.example.com:443:IP     as curl --resolve writes it
        @IP     @203.0.113.7  @[2001:db8::7]:8443  @203.0.113.0/28
                used by every TARGET that has none; without any, the host is resolved
                and all its addresses are probed
        FILE    the JSON lines of earlier runs, made into one summary or report;
                takes --format text|json|sarif, --output, --skip-bad, --quiet;
                or certificates, judged for each NAME as if a server sent them;
                takes --key and the options of what to accept and of output

        """

    private static let tail = """
        exit codes: 0 all passed, 1 several reasons, 6 name not resolved, 7 refused,
        22 HTTP status, 28 timeout, 35 handshake, 56 HTTP, 60 certificate, 90 not what
        was asked for (--expect --same --critical-days --strict), 64 usage, 66 file


        """
}
