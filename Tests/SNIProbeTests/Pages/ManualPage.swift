import DirectCore
import DirectTestCommands

@testable import SNIProbe

/// The manual page in man(7) format: what it has before and behind the options.
enum ManualPage {
    private static func escaped(_ text: String) -> String { CommandPages.escaped(text) }

    /// The date of the last change to the content.
    private static let date = "2026-11-21"

    static let head = """
        .\\" Made by scripts/make/pages.
        .TH SNI-PROBE 1 \(date) "sni-probe \(PackageVersion.text)" "direct-http"
        .SH NAME
        sni\\-probe \\- which certificate an IP serves for a name, and what is wrong with it
        .SH SYNOPSIS
        .B sni\\-probe
        [\\fIoptions\\fR] \\fITARGET\\fR... [\\fB@\\fIIP\\fR[,\\fIIP\\fR...]]...
        .br
        .B sni\\-probe report
        [\\fIoptions\\fR] \\fIFILE\\fR...
        .br
        .B sni\\-probe check
        [\\fIoptions\\fR] \\fIFILE\\fR \\fINAME\\fR...
        .SH DESCRIPTION
        Connects to the IPs you choose, sends the host's name (SNI), checks the certificate against it, and says what is
        wrong and what to do about it.
        A second handshake without the name, made at the same time, tells what the IP serves by default.
        It connects to nothing that was not named: no revocation servers (without \\-\\-revocation), no DNS when IPs are given.
        .SH TARGETS
        .TP
        .B www.example.com
        The handshake only, at port 443.
        .TP
        .B www.example.com:8443
        Another port.
        .TP
        .B https://www.example.com/x
        The handshake and an HTTP/1.1 request. Redirects are shown, not followed.
        .TP
        .B http://www.example.com/x
        A request without TLS.
        .TP
        .B www.example.com@203.0.113.7,203.0.113.8
        With IPs of its own.
        .TP
        .B www.example.com:443:203.0.113.7
        The same as curl \\-\\-resolve writes it.
        .TP
        .B @203.0.113.7 @[2001:db8::7]:8443 @203.0.113.0/28
        IPs for every TARGET that has none. Without any, the host is resolved and all its addresses are probed.

        """

    static var rest: String {
        """
        .SH RESULTS
        On a terminal a single result is shown in full; several are shown on one line each, with a summary.
        Otherwise each result is a line of tab\\-separated fields: state (ok, warn, FAIL), host, IP, port, SHA\\-256 of the
        certificate, days left (rounded down), milliseconds, text, URL. A field without a value is \\-. The summary
        then goes to standard error.
        .SS Faults
        The identifiers of JSON and Prometheus output.
        \(faults)
        .SS Warnings
        Remarks on probes that passed; with \\-\\-strict they are faults.
        \(warnings)
        .SS Certificates before they are deployed
        sni\\-probe check judges the certificates in a file (PEM, DER or PKCS#12; \\- is standard input) for each NAME as if a server
        sent them in this order, with the same faults, hints, exit status and formats. With \\-\\-key it tells whether the
        key is that of the first certificate. It takes the options of what to accept and of output. A host called
        "check" is probed as check:443.
        .SS Reports on several runs
        sni\\-probe report reads the output of \\-\\-json of any number of runs, and makes one summary of it, or what
        \\-\\-format says: text, json or sarif. It takes \\-\\-output, \\-\\-skip\\-bad, \\-\\-quiet and
        \\-\\-color as well. The exit status is that of the results. A host called "report" is probed as report:443.
        .SH EXIT STATUS
        The code of the reason, if all failed probes have the same.
        \(exitCodes)
        .PP
        With \\-\\-format nagios: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
        .SH ENVIRONMENT
        .TP
        .B SSL_CERT_FILE, SSL_CERT_DIR
        The roots to trust instead of the system's.
        .TP
        .B NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR
        Whether to use colour, if \\-\\-color is auto.
        .TP
        .B SNI_PROBE_ALIBABA_SECRET, SNI_PROBE_DNSPOD_TOKEN
        The secrets of the HTTPDNS accounts of \\-\\-resolver. With _FILE after the name: a file that has it.
        .TP
        .B LC_ALL, LC_CTYPE, LANG
        Whether characters beyond ASCII are shown.
        .SH EXAMPLES
        .nf
        sni\\-probe www.example.com @203.0.113.7
        dig +short www.example.com | sni\\-probe www.example.com \\-f \\- \\-\\-same
        sni\\-probe \\-\\-demo
        .fi

        """
    }

    private static var exitCodes: String {
        ExitCode.meanings.map { ".TP\n.B \($0.code)\n\(escaped($0.meaning))" }.joined(separator: "\n")
    }

    private static var warnings: String {
        Warning.ID.allCases.map { ".TP\n.B \($0.rawValue)\n\(escaped($0.meaning))" }.joined(separator: "\n")
    }

    private static var faults: String {
        Fault.ID.allCases.map { ".TP\n.B \($0.rawValue)\n\(escaped($0.row.meaning))" }.joined(separator: "\n")
    }
}
