extension CommandOption {
    /// What a probe sends.
    static let sendingOptions = [
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
            key: .startTLS,
            long: "starttls",
            value: "PROTOCOL",
            completion: .words(StartTLS.allCases.map(\.rawValue)),
            group: .sending,
            help: ["smtp, imap, pop3, ftp, ldap, postgres, mysql, ..."],
            manual:
                "Ask the server in this protocol to change to TLS: \(StartTLS.allCases.map(\.rawValue).joined(separator: ", ")). "
                + "For targets that are hosts, not URLs. Without a port, the port is that of the protocol."
        ),
        CommandOption(
            key: .proxyHeader,
            long: "proxy-protocol",
            value: "VERSION",
            completion: .words(["1", "2"]),
            group: .sending,
            help: ["begin with a PROXY header, version 1 or 2"],
            manual:
                "Begin each connection with the header by which load balancers tell who the client is (the PROXY protocol of "
                + "HAProxy), in version 1 or 2. It has the addresses of the connection itself."
        ),
        CommandOption(
            key: .alpn,
            long: "alpn",
            value: "LIST",
            group: .sending,
            help: ["offer these protocols, such as h2,http/1.1"],
            manual:
                "Offer these protocols by ALPN, separated by commas, in all handshakes. If not given, http/1.1 is offered with "
                + "a URL, and else nothing. No request is sent to a server that chooses another protocol than http/1.1."
        ),
        CommandOption(
            key: .certificate,
            long: "cert",
            value: "FILE",
            completion: .file,
            group: .sending,
            help: ["the client's certificate and chain, in PEM"],
            manual:
                "Show this certificate, with its chain and in PEM, to servers that ask for one. The file may have the key "
                + "as well."
        ),
        CommandOption(
            key: .privateKey,
            long: "key",
            value: "FILE",
            completion: .file,
            group: .sending,
            help: ["its key, in PEM and not encrypted"],
            manual: "The key of --cert, in PEM and not encrypted."
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
}
