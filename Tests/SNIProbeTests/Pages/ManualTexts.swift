import DirectTestCommands

@testable import SNIProbe

extension CommandOption {
    var completion: CommandPages.Completion {
        switch key {
        case .file, .certificate, .privateKey, .roots, .expect, .baseline, .resume, .output, .modules: .file
        case .resolver: .words(["system", "dns://", "https://", "alibaba://", "dnspod://", "hosts:"])
        case .tls: .words(["1.2", "1.3"])
        case .startTLS: .words(StartTLS.allCases.map(\.rawValue))
        case .proxyHeader: .words(["1", "2"])
        case .method: .words(["GET", "HEAD", "OPTIONS"])
        case .format: .words(["text", "json", "prometheus", "nagios", "junit", "sarif"])
        case .color: .words(["auto", "always", "never"])
        default: .nothing
        }
    }

    /// The text in the manual page: full sentences.
    var manual: String {
        switch key {
        case .file:
            "Read more targets or IPs from this file, one a line; - is standard input. May repeat. Lines "
                + "contain the same words as the command line, or \"IP name ...\" as in hosts(5), or \"IP,name\". Lines with "
                + "IPs only belong to the targets of the command line. A word that begins with # ends the line. A line "
                + "with a single name that ends in a dot, as dig +short prints aliases, is skipped if a target of the "
                + "command line has no IPs of its own."
        case .resolver:
            "Ask this resolver for the IPs of targets that have none. May repeat: all are asked at the same time, each "
                + "IP is probed once, and the summary shows who answers what and whose users get a bad server. SPEC is "
                + "system; dns://IP[:PORT][?subnet=NETWORK/LENGTH]; https://NAME/dns-query@IP (DNS over HTTPS, never without "
                + "the IP); alibaba://ACCOUNT@IP and dnspod://[ID@]IP (HTTPDNS); or hosts:FILE. The secrets of HTTPDNS "
                + "accounts come from the environment: SNI_PROBE_ALIBABA_SECRET and SNI_PROBE_DNSPOD_TOKEN, or the files "
                + "that the same names with _FILE give."
        case .onlyIPv4:
            "Use only the IPv4 addresses that the resolver returns."
        case .onlyIPv6:
            "Use only the IPv6 addresses that the resolver returns."
        case .skipBad:
            "Report the lines of a file that cannot be read, count them, and probe the rest. Without it a "
                + "bad line in a file stops everything before the first probe; in standard input, which is read while "
                + "probing, it stops the reading."
        case .shard:
            "Make only every Nth probe, beginning with the Kth: N machines with the same list and K from 1 to N "
                + "probe all of it together."
        case .serverName:
            "Send this name as SNI instead of the host. The certificate is still checked against the host."
        case .noServerName:
            "Send no name, like a client with the IP in its URL. The certificate is still checked "
                + "against the host."
        case .skipDefault:
            "Leave out the second handshake, which finds out what the IP serves without SNI. It takes half of "
                + "the work, but no extra time."
        case .deep:
            "Make a further handshake for each kind of key, EC and RSA, and with the version of TLS, 1.2 or 1.3, that the "
                + "first one did not get: a server may have a certificate for each, and the one that this client does not get "
                + "may have expired."
        case .ech:
            "Ask for the HTTPS records of each host: the resolvers of --resolver, or the DNS servers of /etc/resolv.conf. "
                + "Show them, probe the addresses that they name as hints, and make a handshake with each configuration of "
                + "Encrypted Client Hello that they have. That needs an OpenSSL from 4.0 on; with an older one only the records "
                + "are shown."
        case .versions:
            "Say which versions of TLS, 1.0 to 1.3, the server speaks, also those that this OpenSSL does not. A ClientHello "
                + "with each version alone is sent over a connection of its own, three times if it is refused. None is "
                + "finished, which servers may log."
        case .postQuantum:
            "Say whether the server exchanges keys by X25519MLKEM768, which withstands quantum computers, and which group it "
                + "chooses otherwise. A ClientHello that offers this group alone is compared with one that offers the others."
        case .longHello:
            "Send a ClientHello of 1,900 bytes, as browsers do since they offer X25519MLKEM768: in one piece and in two; and a "
                + "short one that is cut after 5 bytes, or into two records. A short one in one piece is compared, before and "
                + "after. A long one that gets no answer is the fault hello_lost, the others are the warning hello_pieces. A "
                + "handshake whose long ClientHello got no answer at all is examined so unasked."
        case .tls:
            "Use only this version of TLS, 1.2 or 1.3."
        case .startTLS:
            "Ask the server in this protocol to change to TLS: \(StartTLS.allCases.map(\.rawValue).joined(separator: ", ")). "
                + "For targets that are hosts, not URLs. Without a port, the port is that of the protocol."
        case .proxyHeader:
            "Begin each connection with the header by which load balancers tell who the client is (the PROXY protocol of "
                + "HAProxy), in version 1 or 2. It has the addresses of the connection itself."
        case .proxy:
            "Ask this HTTP proxy for a tunnel to each IP (CONNECT). It gets the IP and never the name. The name and the "
                + "password for it come from the variable SNI_PROBE_PROXY_USER, as NAME:PASSWORD. Resolvers and issuers are not "
                + "asked through it."
        case .modules:
            "Modules for requests to --listen, beside the built-in ones: NAME: OPTIONS on each line, with the options of the "
                + "command line that concern a probe. A # begins a comment."
        case .passphrase:
            "The passphrase of a key or a PKCS#12 file of sni-probe check: file:PATH, of which the first line counts, or env:NAME, a "
                + "variable of the environment."
        case .alpn:
            "Offer these protocols by ALPN, separated by commas, in all handshakes. If not given, http/1.1 is offered with "
                + "a URL, and else nothing. No request is sent to a server that chooses another protocol than http/1.1."
        case .certificate:
            "Show this certificate, with its chain and in PEM, to servers that ask for one. The file may have the key "
                + "as well."
        case .privateKey:
            "The key of --cert, in PEM and not encrypted."
        case .method:
            "The method of the request; GET if not given. It applies to targets that are URLs."
        case .header:
            "Send this header field, 'NAME: VALUE', with the request. May repeat."
        case .insecure:
            "Send the request even if the certificate is wrong. The verdict does not change."
        case .roots:
            "Trust the certificates in this file (PEM or DER) or directory instead of the system's; system names those. May "
                + "repeat: files without a label make one store, and LABEL=FILE, LABEL=DIR or LABEL=system another for each label. "
                + "The first store decides. That another one does not trust the chain is a warning (a fault with --strict)."
        case .revocation:
            "Ask the issuer whether the certificate is revoked: its OCSP responder, or if that gives no answer, for its list, by "
                + "all URLs in their order until one answers. Each question has the time of --timeout, and an answer 16 MiB. Only a trusted chain is asked about, over http, and at "
                + "addresses of the public internet, unless that of the server is none. That there is no answer is a warning."
        case .criticalDays:
            "Fail a certificate that has fewer than N days left. With --format nagios that is CRITICAL. These N, and those of the "
                + "three options that follow, are numbers from 0 to 36500."
        case .warningDays:
            "Warn of a certificate that has fewer than N days left. Without it there is a warning if less than two "
                + "weeks and less than a third of the validity are left."
        case .criticalStatusDays:
            "Fail if a stapled OCSP response, or with --revocation the issuer's answer or list, has fewer than N days left, or "
                + "none. That there is none at all is no fault of this option. With --format nagios it is CRITICAL."
        case .warningStatusDays:
            "Warn of such a response, answer or list that has fewer than N days left. Without it there is a warning for a stapled "
                + "response with less than a quarter of its time left, and none for the issuer's."
        case .strict:
            "Fail every probe that has a warning, with status 90."
        case .expect:
            "Fail every certificate except this one: a PEM file, sha256:HEX of the certificate, or "
                + "pin-sha256:BASE64 of its key. May repeat; one of them must match."
        case .same:
            "Fail IPs of a host that show another certificate than most of them. Results are printed when all are "
                + "there, or 4096 of them."
        case .anyGood:
            "A target of which one IP passes does not fail the run: the exit code is about the others. Each result is shown as "
                + "without it."
        case .baseline:
            "Compare with an earlier run, whose --json output this is. A result that is other than before (the "
                + "certificate, the faults, the SNI verdict) has a warning; the summary counts what is new, gone and other."
        case .status:
            "Accept these HTTP statuses, such as 200,301-308; 200-399 if not given."
        case .timeout:
            "The time limit of a probe, everything included: 5s if not given. Times are written as 500ms, 5s or 2m."
        case .jobs:
            "Run at most N probes at once, from 1 to 1000. If not given, 64 that work, and with those that have received nothing for half "
                + "a second 512. About 8 of the working ones are for one server."
        case .rate:
            "Start at most N probes a second."
        case .retries:
            "Try again up to N times, at most 100, after a refused or lost connection, within the probe's time."
        case .wait:
            "Repeat the failed probes until they pass, for this time at most."
        case .watch:
            "Probe everything again and again, with so much time in between, until a signal ends it. Only changes follow "
                + "the first round: another certificate (with --repeat, another set of them), other faults or warnings, "
                + "another SNI verdict. A file of --output is replaced in each round."
        case .resume:
            "Go on with a run that was interrupted or killed, whose --json output this is: leave out what has a result there. "
                + "A file of --output gets the earlier results too, so it may be the same one. Exit code, summary and metrics are "
                + "about all results. Refused if the options that change what a result means were others."
        case .listen:
            "Serve metrics over HTTP until a signal comes. /metrics has the last round over all targets; the next one begins "
                + "so long after it as --watch says, 1m if not given. /probe?target=TARGET&module=MODULE probes one target at "
                + "once, in the form of blackbox_exporter: TARGET is written as on the command line, and must be one of the "
                + "targets there or in the files. MODULE is tls (if not given), http_2xx, or a protocol of --starttls. At "
                + "most 16 such requests are probed at a time, or as many as --jobs says; 64 more wait."
        case .listenAny:
            "Let requests to --listen name other targets, too. Whoever reaches the port can then make this machine connect "
                + "to all that it can reach."
        case .listenName:
            "Answer requests to --listen that are sent to this name (the field Host) as well. May repeat. Without it they "
                + "have to be for an IP, localhost or the name of this machine: a web page can have a name of its own "
                + "resolved to an IP of this machine, and would then read the answers."
        case .repeats:
            "Make the handshake N times, at most 10000, with each IP, one after the other, and count the distinct answers: behind one IP "
                + "there may be several servers that are not set up alike. A request is sent only once. Each handshake has "
                + "the time of --timeout."
        case .interval:
            "The time from the end of one handshake of --repeat to the next; none if not given."
        case .json:
            "Print one JSON object a line, the same as --format json."
        case .format:
            "The format of the results: text, json, prometheus (for the node exporter's textfile directory), "
                + "nagios, junit (for CI systems), or sarif (for code scanning)."
        case .output:
            "Write the results to this file instead of standard output. The file is replaced as a whole when the run is "
                + "at its end, and keeps its owner and its permissions; it stays as it was if the run is interrupted or its "
                + "input cannot be used. Text and JSON grow in FILE.part, or in FILE.part-1 and so on if there is one, which stays if "
                + "the run is interrupted or killed. A symbolic link stays, and its target is replaced. A file that is read is "
                + "refused. A device, a pipe and an open file such as /dev/stdout are written to at once, as standard output is."
        case .pem:
            "Print the certificates that were served, in PEM, each with a line about it."
        case .verbose:
            "Print everything known of each probe, in the long form."
        case .quiet:
            "Print no results; only the exit code tells."
        case .color:
            "When to use colour: auto (on a terminal), always or never."
        case .demo:
            "Start servers on loopback, good and bad ones, and probe them: a tour of the verdicts that needs no network."
        case .help:
            "Print a summary."
        case .version:
            "Print the version."
        }
    }
}

extension ExitCode {
    /// The codes and their meanings.
    static let meanings: [(code: Int32, meaning: String)] = [
        (passed, "Every probe passed."),
        (severalReasons, "Several probes failed, for different reasons."),
        (6, "The name was not resolved."),
        (7, "Refused, or unreachable."),
        (22, "The HTTP status is outside --status."),
        (28, "No answer within --timeout."),
        (35, "The handshake failed: an alert, the name refused, a reset, no TLS."),
        (56, "The connection was lost in the HTTP exchange."),
        (60, "The certificate is not acceptable: name, dates, issuer."),
        (usage, "The command line cannot be used."),
        (noInput, "A file cannot be read, or there is no target in it."),
        (bug, "A bug in sni-probe."),
        (unwritable, "The results cannot be written, as on a full disk."),
        (90, "The certificate is acceptable, but not for --expect, --same, --critical-days or --strict."),
        (interrupted, "Interrupted."),
    ]
}
