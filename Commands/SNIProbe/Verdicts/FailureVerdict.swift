internal import DirectCore
internal import DirectHTTP

/// The fault and the hint for a failure of the first handshake, whose result decides the verdict.
struct FailureVerdict {
    let failure: HandshakeFailure
    let observation: Observation
    let sni: SNIFinding.Verdict
    let settings: ProbeSettings

    var hint: Hint? {
        advice.map { Hint(kind: fault.id, words: $0, place: Hint.Place(of: observation.probe)) }
    }

    var fault: Fault {
        let limit = settings.timeout.text
        return switch failure {
        case .badAddress(let why): Fault(.unreachable, why)
        case .notConnected(let error): connectFault(error)
        case .silentTCP:
            Fault(.timeoutTCP, "no answer to the connection in \(limit)", brief: "no answer in \(limit)")
        case .silentTLS where endsBeforeTLS:
            Fault(.timeoutTLS, "no change to TLS in \(limit)", brief: "no STARTTLS in \(limit)")
        case .silentTLS where observation.first?.hasReceivedBytes == true:
            Fault(.timeoutTLS, "handshake not finished in \(limit)", brief: "unfinished in \(limit)")
        case .silentTLS:
            Fault(.timeoutTLS, "no answer to the handshake in \(limit)", brief: "no handshake in \(limit)")
        case .alert where failure.isAboutClient(observation):
            Fault(.handshakeRefused, "server wants a client certificate")
        case .alert(.protocolVersion): versionFault(.handshakeRefused)
        case .alert(let alert): alertFault(alert)
        case .closed, .reset: lostFault
        case .notTLS(.unknown): Fault(.notTLS, "not TLS: the server speaks something else", brief: "not TLS")
        case .notTLS(let other):
            Fault(
                .notTLS,
                "not TLS: the server speaks \(other.rawValue)",
                brief: "not TLS: \(other.rawValue)"
            )
        case .noUpgrade(let bytes, _): noUpgrade(Words.lastLine(bytes))
        case .noTunnel(let why):
            Fault(.unreachable, "the proxy gives no connection: \(why)", brief: "no connection by the proxy")
        case .broken where failure.lacksSecureRenegotiation:
            Fault(
                .handshakeBroken,
                "server lacks secure renegotiation (RFC 5746)",
                brief: "no secure renegotiation"
            )
        case .broken where failure.isAboutVersions: versionFault(.handshakeBroken)
        case .broken(_, let why):
            Fault(.handshakeBroken, "the handshake failed: \(why)", brief: "handshake: \(why)")
        case .cancelled: Fault(.handshakeBroken, "not finished")
        }
    }

    /// Whether the dialogue of `--starttls` did not get to TLS.
    var endsBeforeTLS: Bool { settings.upgrade != nil && observation.first?.endsBeforeTLS == true }

    private func noUpgrade(_ line: String) -> Fault {
        Fault(.notTLS, "the server does not change to TLS: \(line)", brief: "no STARTTLS: \(line)")
    }

    private func versionFault(_ id: Fault.ID) -> Fault {
        let (first, last) = (settings.versions.lowerBound, settings.versions.upperBound)
        let versions = first == last ? "TLS \(last == .tls12 ? "1.2" : "1.3")" : "TLS 1.2 or 1.3"
        return Fault(id, "server does not support \(versions)", brief: "no \(versions)")
    }

    private func connectFault(_ error: SystemError) -> Fault {
        if error.meansRefused { return Fault(.refused, "connection refused") }
        if error.meansTimedOut { return Fault(.unreachable, "no answer to the connection") }
        return Fault(.unreachable, errnoText(error.code).lowercased())
    }

    private func alertFault(_ alert: TLSAlert) -> Fault {
        let sent = observation.first?.serverName != nil
        if sent, alert == .unrecognizedName || mayRefuseName(alert) && sni == .refused {
            return Fault(.sniRefused, "server refused the name", brief: "refused the name")
        }
        let words = alert.words
        return Fault(.handshakeRefused, "server refused the handshake: \(words)", brief: "refused: \(words)")
    }

    private var lostFault: Fault {
        let verb = failure == .reset ? "reset" : "closed"
        if observation.first?.serverName != nil, sni == .refused {
            return Fault(.sniRefused, "server \(verb) the connection on the name", brief: "refused the name")
        }
        let place = endsBeforeTLS ? "before TLS" : "in the handshake"
        return Fault(.reset, "connection \(verb) \(place)", brief: "\(verb) \(place)")
    }

    /// Whether this is an alert that servers send for unknown names instead of `unrecognized_name`.
    private func mayRefuseName(_ alert: TLSAlert) -> Bool {
        [.handshakeFailure, .accessDenied, .internalError].contains(alert)
    }
}

extension TLSAlert {
    /// The name of the alert, or its number if it has no name.
    var words: String {
        if case .other(let number) = self { "alert \(number)" } else { name }
    }
}

extension HandshakeFailure {
    /// Whether the cause is that the client has no certificate.
    func isAboutClient(_ observation: Observation) -> Bool {
        guard case .alert(let alert) = self else { return false }
        // Before TLS 1.3 a server that requires a client certificate fails the handshake with an ordinary
        // alert.
        return observation.first?.requestsClientCertificate == true || alert == .certificateRequired
    }

    /// Whether OpenSSL refuses the server because it does not support RFC 5746.
    var lacksSecureRenegotiation: Bool {
        if case .broken(_, let reason) = self {
            reason.contains("unsafe legacy renegotiation")
        } else {
            false
        }
    }

    /// Whether the two sides have no TLS version in common.
    var isAboutVersions: Bool {
        switch self {
        case .alert(.protocolVersion), .broken(.noCommonVersion, _): true
        default: false
        }
    }
}
