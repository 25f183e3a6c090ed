internal import DirectCore
internal import DirectHTTP

/// The hint for a failure of the first handshake, whose result decides the verdict.
struct FailureHint {
    let failure: HandshakeFailure
    let observation: Observation
    let sni: SNIFinding.Verdict
    let settings: ProbeSettings

    private var host: String { observation.probe.target.name }
    fileprivate var address: String { observation.probe.address.description }
    fileprivate var port: UInt16 { observation.probe.port }
    private var serverName: String? { observation.first?.serverName }

    /// The advice, or `nil` if there is none for this failure.
    var text: String? {
        switch failure {
        case .badAddress: nil
        case .notConnected(let error) where error.meansRefused:
            "nothing listens on port \(port) there, or a firewall rejects it"
        case .notConnected:
            "\(address) cannot be reached from here: check the IP, the route and the firewall"
        case .silentTCP: "the machine is down, the IP is wrong, or a firewall drops packets to port \(port)"
        case .silentTLS where observation.first?.hasReceivedBytes == true:
            "the server began to answer but did not continue: it is overloaded, or its large packets are lost on the "
                + "path (MTU)"
        case .silentTLS: silence
        case .alert where failure.isAboutClient(observation): HintWriter.clientCertificate(settings)
        case .alert where failure.isAboutVersions, .broken where failure.isAboutVersions: versions
        case .alert(let alert): advice(on: alert)
        case .closed, .reset: lost
        case .notTLS(.http): "try http://\(host):\(port)/ or another port"
        case .notTLS(.smtp), .notTLS(.imap), .notTLS(.pop):
            "the server changes to TLS on request only: --starttls smtp, imap or pop3 asks it to; or try the port for "
                + "TLS from the start, such as 465 (SMTP), 990 (FTP), 993 (IMAP) or 995 (POP3)"
        case .noUpgrade:
            "TLS is not set up there for this protocol, or port \(port) speaks another one"
        case .notTLS(.http2):
            "the server speaks HTTP/2 in clear text (h2c, as gRPC does): try the port that speaks TLS"
        case .notTLS: "another service answers on port \(port): try the port that speaks TLS from the start"
        case .broken: "it violates the TLS protocol: compare --tls 1.2 and --tls 1.3, or another IP"
        case .cancelled: nil
        }
    }

    /// The cause as far as it is known, which groups records in a summary.
    var cause: Hint.Cause {
        if failure.isAboutClient(observation) { return .clientCertificate }
        if failure.isAboutVersions { return .oldVersions }
        return failure == .alert(.insufficientSecurity) ? .ciphers : .usual
    }

    private var versions: String {
        settings.versions.lowerBound != settings.versions.upperBound
            ? "the server supports only versions of TLS that are too old; current clients refuse them"
            : "the server does not speak that version of TLS: leave out --tls"
    }

    /// Whether the other of the two handshakes, with or without SNI, failed in the same way.
    private var isAlikeOnBothSides: Bool {
        guard case .failure(let other)? = observation.second?.outcome else { return false }
        return other == failure || sni == .noDifference
    }

    private var silence: String {
        if isAlikeOnBothSides {
            return
                "the port is open but the handshake is not answered, with the name and without: a proxy, an overloaded "
                + "server, or a service without TLS"
        }
        let hasOtherAnswer = observation.second?.outcome.hasAnswered == true
        guard let serverName else {
            if hasOtherAnswer {
                return "with the name the same IP answers: it may require one, and none was sent: " + withName
            }
            return
                "the port is open but the handshake is not answered: a proxy, a filter or an overloaded server"
        }
        if hasOtherAnswer {
            return
                "without the name the same IP answers: something on the path, or the server, filters \(serverName)"
                + often + orSeveral
        }
        return
            "the port is open but the handshake is not answered: a proxy, a filter on the name or an overloaded "
            + "server. Compare with --no-sni"
    }

    private func advice(on alert: TLSAlert) -> String? {
        switch alert {
        case .insufficientSecurity: "the server requires ciphers or keys that current clients do not offer"
        case .noApplicationProtocol: "the server speaks another protocol than HTTP/1.1"
        default: refusedName(alert)
        }
    }

    private func refusedName(_ alert: TLSAlert) -> String {
        guard let serverName else { return sni == .noDifference ? refusesBoth : noName }
        switch sni {
        case .refused:
            return
                "\(address) refuses \(serverName)\(often); without a name it shows its default certificate. Set the "
                + "host up there, or check the IP" + orSeveral
        case .noDifference where alert == .unrecognizedName:
            return "\(address) serves other hosts only, by strict SNI; \(serverName) is not among them\(often)"
        case .noDifference:
            return refusesBoth
        case .unknown where alert != .unrecognizedName:
            return settings.skipsDefault
                ? "without --skip-default sni-probe says whether it is the name that is refused"
                : "it may be the name, or the ciphers: compare with --no-sni"
        default: return "\(address) does not know \(serverName). Set the host up there, or check the IP"
        }
    }

    private var refusesBoth: String {
        "it refuses with the name and without: no certificate is set up there, or it requires ciphers that "
            + "current clients do not offer"
    }

    private var noName: String {
        observation.probe.target.host.name == nil
            ? "no name is sent for an IP, but this server requires one: " + withName
            : "no name was sent, but this IP requires one: " + withName
    }

    private var lost: String {
        if isAlikeOnBothSides {
            return
                "the server, or a filter before it, ends the connection without an alert, with the name and without: "
                + "compare another IP. A server behind a load balancer may also expect a PROXY header first: --proxy-protocol 2"
        }
        if serverName == nil { return "it may require a name, and none was sent: " + withName }
        if sni == .refused, let serverName {
            return
                "without the name the same IP answers: it, or something on the path, rejects \(serverName)"
                + often + orSeveral
        }
        return
            "the server, or a filter before it, ends the connection without an alert: compare another IP, or "
            + "--no-sni"
    }
}

extension FailureHint {
    private var often: String { observation.often }
    private var orSeveral: String { observation.orSeveral }

    fileprivate var withName: String {
        guard observation.probe.target.host.name == nil else { return "leave out --no-sni" }
        return "sni-probe NAME\(port == 443 ? "" : ":\(port)") @\(address)"
    }
}

extension Result<Handshake.Served, HandshakeFailure> {
    /// Whether the server answered, even if it rejected the handshake.
    fileprivate var hasAnswered: Bool {
        switch self {
        case .success: true
        case .failure(let failure): failure.isRejection
        }
    }
}
