internal import DirectCore
internal import DirectHTTP

/// The hint for a failure.
extension FailureVerdict {
    private var port: UInt16 { observation.probe.port }
    private var serverName: HintText? {
        observation.first?.serverName.map { $0 == observation.probe.target.name ? "\(.host)" : "\($0)" }
    }

    /// The advice, or `nil` if there is none for this failure.
    var advice: HintText? {
        switch failure {
        case .silentTLS where losesLongHello, .closed where losesLongHello, .reset where losesLongHello:
            HintWriter.longHello(observation.sizes)
        case .badAddress: nil
        case .notConnected(let error) where error.meansRefused:
            "nothing listens on port \(port) there, or a firewall rejects it"
        case .notConnected:
            "\(.ip) cannot be reached from here: check the IP, the route and the firewall"
        case .silentTCP: "the machine is down, the IP is wrong, or a firewall drops packets to port \(port)"
        case .silentTLS where endsBeforeTLS, .closed where endsBeforeTLS, .reset where endsBeforeTLS:
            "nothing there answers as --starttls expects it: port \(port) may begin with TLS, then leave out --starttls; or "
                + "it speaks another protocol"
        case .silentTLS where observation.first?.hasReceivedBytes == true:
            "the server began to answer but did not continue: it is overloaded, or its large packets are lost on the "
                + "path (MTU)"
        case .silentTLS: silence
        case .alert where failure.isAboutClient(observation): HintWriter.clientCertificate(settings)
        case .alert where observation.hellos.contains { HelloWords(finding: $0).isHybridAlone }:
            "it takes X25519MLKEM768 only, and refuses clients without it: let it take X25519 as well"
        case .alert where failure.isAboutVersions, .broken where failure.isAboutVersions: versions
        case .alert(let alert): advice(on: alert)
        case .closed where mayRefuseHeader, .reset where mayRefuseHeader,
            .notTLS(.http) where mayRefuseHeader:
            HintWriter.unexpectedHeader
        case .closed, .reset: lost
        case .notTLS where settings.upgrade != nil && !endsBeforeTLS:
            "the server has agreed to change to TLS, and goes on without it: look at its log"
        case .notTLS(let other) where other.upgrade != nil && firstBytes.greetsByRefusing: Self.turnedAway
        case .notTLS(.http): "try http://\(.host):\(port)/ or another port"
        case .noUpgrade(let bytes, let part): noUpgrade(bytes, at: part)
        case .noTunnel(let why) where why.contains(" 502") || why.contains(" 504"):
            "the proxy does not reach \(.ip), port \(port), itself: check the IP, and its route and firewall"
        case .noTunnel:
            "ask who runs the proxy whether it may connect to \(.ip), port \(port); for 407 it wants SNI_PROBE_PROXY_USER"
        case .notTLS(.http2):
            "the server speaks HTTP/2 in clear text (h2c, as gRPC does): try the port that speaks TLS"
        case .notTLS(let other) where other.upgrade != nil: upgrade(other)
        case .notTLS: "another service answers on port \(port): try the port that speaks TLS from the start"
        case .broken where failure.lacksSecureRenegotiation:
            "the server is older than RFC 5746 (2010), and OpenSSL 3, as in current clients, refuses it: update its TLS "
                + "library"
        case .broken(_, let reason) where reason.contains("too small"):
            "the server's keys for the exchange are too weak for current clients: have it offer ECDHE, or groups of "
                + "at least 2048 bits"
        case .broken: "it violates the TLS protocol: compare --tls 1.2 and --tls 1.3, or another IP"
        case .cancelled: nil
        }
    }

    /// Whether a long hello written here met the same end, and a short one did not.
    private var losesLongHello: Bool { observation.sizes?.lost != nil }

    /// Whether the server may have taken the header of `--proxy-protocol` for its client's first bytes. A
    /// server of web pages answers such a request in clear text, also where it speaks TLS.
    private var mayRefuseHeader: Bool { settings.proxyHeader != nil && sni != .refused }

    /// The first bytes that are not TLS.
    private var firstBytes: [UInt8] { observation.first?.nonTLSBytes ?? [] }

    private static let turnedAway: HintText =
        "the server turns this client away before TLS: its words say why; try later, or from an address that it accepts"

    private func noUpgrade(_ bytes: [UInt8], at part: StartTLS.Part) -> HintText {
        if bytes.starts(with: "4".utf8), part == .request {
            return "TLS is set up there, but does not work for now: look at the server's log"
        }
        let isError = bytes.starts(with: "ERROR: ".utf8)
        guard isError || part != .request && bytes.turnsAway else {
            return "TLS is not set up there for this protocol, or port \(port) speaks another one"
        }
        return isError || part == .greeting
            ? Self.turnedAway
            : "the server refuses how this client introduces itself, before it is asked for TLS: its words say why"
    }

    private func upgrade(_ other: OtherProtocol) -> HintText {
        let words = other == .mailOrFiles ? "smtp, lmtp or ftp" : other.upgrade?.rawValue ?? ""
        let port: HintText = other.portWithTLS.map { "; or try port \($0), which begins with TLS" } ?? ""
        return "the server changes to TLS on request only: --starttls \(words) asks it to" + port
    }

    private var versions: HintText {
        if observation.hellos.contains(where: { HelloWords(finding: $0).refusesAllVersions }) {
            return
                "it says so to each version from 1.0 to 1.3: TLS is not set up there, or it speaks SSL alone"
        }
        return settings.versions.lowerBound != settings.versions.upperBound
            ? "the server supports only versions of TLS that are too old; current clients refuse them"
            : "the server does not speak that version of TLS: leave out --tls"
    }

    /// Whether the other of the two handshakes, with or without SNI, failed in the same way.
    private var isAlikeOnBothSides: Bool {
        guard let other = observation.second?.failure else { return false }
        return other == failure || sni == .noDifference
    }

    private var silence: HintText {
        if isAlikeOnBothSides {
            return
                "the port is open but the handshake is not answered, with the name and without: a proxy, an overloaded "
                + "server, or a service without TLS"
        }
        let hasOtherAnswer = observation.second?.hasAnswered == true
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

    private func advice(on alert: TLSAlert) -> HintText? {
        switch alert {
        case .insufficientSecurity: "the server requires ciphers or keys that current clients do not offer"
        case .noApplicationProtocol: "the server speaks another protocol than HTTP/1.1"
        default: refusedName(alert)
        }
    }

    private func refusedName(_ alert: TLSAlert) -> HintText {
        guard let serverName else { return sni == .noDifference ? refusesBoth : noName }
        switch sni {
        case .refused:
            return
                "\(.ip) refuses \(serverName)\(often); without a name it shows its default certificate. Set the "
                + "host up there, or check the IP" + orSeveral
        case .noDifference where alert == .unrecognizedName:
            return
                "\(.ip) serves other hosts only, by strict SNI; \(serverName) is not among them\(often)"
        case .noDifference:
            return refusesBoth
        case .unknown where alert != .unrecognizedName:
            return settings.skipsDefault
                ? "without --skip-default sni-probe says whether it is the name that is refused"
                : "it may be the name, or the ciphers: compare with --no-sni"
        default: return "\(.ip) does not know \(serverName). Set the host up there, or check the IP"
        }
    }

    private var refusesBoth: HintText {
        "it refuses with the name and without: no certificate is set up there, or it requires ciphers that "
            + "current clients do not offer"
    }

    private var noName: HintText {
        observation.probe.target.host.name == nil
            ? "no name is sent for an IP, but this server requires one: " + withName
            : "no name was sent, but this IP requires one: " + withName
    }

    private var lost: HintText {
        if observation.first?.hasReceivedBytes == true {
            return
                "it has begun to answer, so it took the connection and the hello, and then ended it without an alert: "
                + "look at the log of the server"
        }
        if settings.upgrade != nil {
            return
                "the server has agreed to change to TLS, and ends the connection then without an alert: look at its log"
        }
        if settings.proxy != nil, sni != .refused {
            return
                "the proxy has given the tunnel, in which the connection ends without a word: look at its log, and at the "
                + "server's"
        }
        if isAlikeOnBothSides {
            return
                "the server, or a filter before it, ends the connection without an alert or another word, with the name "
                + "and without, as one does that expects a load balancer's PROXY header first: --proxy-protocol 2"
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

    private var often: HintText { "\(observation.often)" }
    private var orSeveral: HintText { "\(observation.orSeveral)" }

    private var withName: HintText {
        guard observation.probe.target.host.name == nil else { return "leave out --no-sni" }
        let port = port == 443 ? "" : ":\(port)"
        return "sni-probe NAME\(port) @\(.at)"
    }
}

extension [UInt8] {
    /// Whether they are a refusal to deal with the client: a number of SMTP, FTP or NNTP, or a word of other
    /// protocols.
    fileprivate var turnsAway: Bool {
        (starts(with: "4".utf8) || starts(with: "5".utf8))
            && prefix(3).allSatisfy { (0x30...0x39).contains($0) }
            || ["* BYE", "-ERR", "BYE", "ERROR"].contains { starts(with: $0.utf8) }
    }

    /// Whether they begin a connection with that, which is no answer to a hello that is not understood.
    fileprivate var greetsByRefusing: Bool {
        ["421", "554", "* BYE"].contains { starts(with: $0.utf8) }
    }
}

extension Handshake {
    /// Whether the server answered, even if it rejected the handshake.
    fileprivate var hasAnswered: Bool { failure?.isRejection ?? true }
}
