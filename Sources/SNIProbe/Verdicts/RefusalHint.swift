internal import DirectHTTP

/// What to do where the handshake that counts came to nothing.
struct RefusalHint {
    let refusal: Refusal
    let observation: Observation
    let sni: SNIFinding.Verdict
    let settings: ProbeSettings

    private var host: String { observation.probe.target.name }
    fileprivate var address: String { observation.probe.address.description }
    private var port: UInt16 { observation.probe.port }
    private var serverName: String? { observation.first?.serverName }

    var text: String? {
        switch refusal {
        case .badAddress: nil
        case .notConnected(let error) where error.isRefusal:
            "nothing listens on port \(port) there, or a firewall rejects it"
        case .notConnected:
            "there is no way from here to \(address): check the IP, the route and the firewall"
        case .silentTCP: "the machine is down, the IP is wrong, or a firewall drops packets to port \(port)"
        case .silentTLS: silence
        case .alert(let number): alert(number)
        case .closed, .reset: lost
        case .notTLS(.http): "try http://\(host):\(port)/ or another port"
        case .notTLS: "another service answers on port \(port): try the port that speaks TLS from the start"
        case .broken(let why) where why.contains("unsupported protocol"):
            "the server speaks only versions of TLS that are too old; clients of today refuse them"
        case .broken: nil
        case .dropped: nil
        }
    }

    private var silence: String {
        if serverName != nil, case .success? = observation.second?.outcome {
            return "without the name the same IP answers: something on the way, or the server, filters "
                + "\(serverName ?? host)"
        }
        return
            "the port is open but TLS gets nowhere: a proxy, a filter on the name or an overloaded server. "
            + "Compare with --no-sni"
    }

    private func alert(_ number: UInt8) -> String? {
        // Before TLS 1.3 a server that misses a client's certificate just fails the handshake.
        if observation.first?.asksForCertificate == true { return HintWriter.clientCertificate }
        return switch number {
        case 70 where settings.versions.lowerBound != settings.versions.upperBound:
            "the server speaks only versions of TLS that are too old; clients of today refuse them"
        case 70: "the server does not speak that version of TLS: leave out --tls"
        case 71: "the server wants other ciphers or keys than clients of today offer"
        case 42, 116: HintWriter.clientCertificate
        case 120: "the server speaks another protocol than HTTP/1.1"
        default: refusedName(number)
        }
    }

    private func refusedName(_ number: UInt8) -> String {
        guard let serverName else { return sni == .noDifference ? refusesBoth : noName }
        switch sni {
        case .refused:
            return
                "\(address) refuses \(serverName); without a name it shows its default certificate. Set the "
                + "host up there, or check the IP"
        case .noDifference where number == 112:
            return "\(address) serves other hosts only, by strict SNI; \(serverName) is not among them"
        case .noDifference:
            return refusesBoth
        case .unknown where number != 112:
            return settings.skipsDefault
                ? "without --skip-default sni-probe says whether it is the name that is refused"
                : "it may be the name, or the ciphers: compare with --no-sni"
        default: return "\(address) does not know \(serverName). Set the host up there, or check the IP"
        }
    }

    private var refusesBoth: String {
        "it refuses with the name and without: no certificate is set up there, or it wants ciphers that clients "
            + "of today do not offer"
    }

    private var noName: String {
        observation.probe.target.host.name == nil
            ? "to an IP no name is sent, and this one wants one: sni-probe NAME @\(address)"
            : "no name was sent, and this IP wants one: leave out --no-sni"
    }

    private var lost: String {
        if serverName == nil { return "perhaps it wants a name, and none was sent: " + withName }
        if sni == .refused, let serverName {
            return
                "without the name the same IP answers: it, or something on the way, does not want \(serverName)"
        }
        return "the server, or a filter before it, hangs up without a word: compare another IP, or --no-sni"
    }
}

extension RefusalHint {
    fileprivate var withName: String {
        observation.probe.target.host.name == nil ? "sni-probe NAME @\(address)" : "leave out --no-sni"
    }
}

extension SystemError {
    /// Whether a port answered that nobody listens at it.
    var isRefusal: Bool { SystemError.text(of: code) == "Connection refused" }
}
