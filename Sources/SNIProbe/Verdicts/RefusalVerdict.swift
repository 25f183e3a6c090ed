internal import DirectHTTP

/// What it means that the handshake that counts came to nothing, and what to do about it.
struct RefusalVerdict {
    let fault: Fault
    let hint: Hint?

    init(_ refusal: Refusal, _ observation: Observation, _ sni: SNIFinding.Verdict, _ settings: ProbeSettings)
    {
        fault = Self.fault(refusal, observation, sni, Words.span(settings.timeout))
        hint = RefusalHint(refusal: refusal, observation: observation, sni: sni, settings: settings).text.map
        {
            [kind = fault.id] text in Hint(kind: kind, text: text)
        }
    }
}

extension RefusalVerdict {
    private static func fault(
        _ refusal: Refusal,
        _ observation: Observation,
        _ sni: SNIFinding.Verdict,
        _ limit: String
    ) -> Fault {
        switch refusal {
        case .badAddress(let why): Fault(.unreachable, why)
        case .notConnected(let error): connectFault(error)
        case .silentTCP:
            Fault(.timeoutTCP, "no answer to the connection in \(limit)", brief: "no answer in \(limit)")
        case .silentTLS:
            Fault(.timeoutTLS, "no answer to the handshake in \(limit)", brief: "no handshake in \(limit)")
        case .alert(let number): alertFault(number, observation, sni)
        case .closed, .reset: lostFault(refusal, observation, sni)
        case .notTLS(.unknown): Fault(.notTLS, "not TLS: the server speaks something else", brief: "not TLS")
        case .notTLS(let other):
            Fault(
                .notTLS,
                "not TLS: the server speaks \(other.rawValue)",
                brief: "not TLS: \(other.rawValue)"
            )
        case .broken(let why):
            Fault(.handshakeBroken, "the handshake failed: \(why)", brief: "handshake: \(why)")
        case .dropped: Fault(.handshakeBroken, "not finished")
        }
    }

    private static func connectFault(_ error: SystemError) -> Fault {
        if error.isRefusal { return Fault(.refused, "connection refused") }
        let words = SystemError.text(of: error.code).lowercased()
        return Fault(.unreachable, words == "connection timed out" ? "no answer to the connection" : words)
    }

    private static func alertFault(
        _ number: UInt8,
        _ observation: Observation,
        _ sni: SNIFinding.Verdict
    ) -> Fault {
        let sent = observation.first?.serverName != nil
        if sent, number == 112 || refusesName(number) && sni == .refused {
            return Fault(.sniRefused, "server refused the name", brief: "refused the name")
        }
        let name = nameOfAlert(number)
        return Fault(.handshakeRefused, "server refused the handshake: \(name)", brief: "refused: \(name)")
    }

    private static func lostFault(
        _ refusal: Refusal,
        _ observation: Observation,
        _ sni: SNIFinding.Verdict
    ) -> Fault {
        let verb = refusal == .reset ? "reset" : "closed"
        if observation.first?.serverName != nil, sni == .refused {
            return Fault(.sniRefused, "server \(verb) the connection on the name", brief: "refused the name")
        }
        return Fault(.reset, "connection \(verb) in the handshake", brief: "\(verb) in the handshake")
    }

    /// Alerts that servers answer unknown names with, besides the right one.
    private static func refusesName(_ number: UInt8) -> Bool { [40, 49, 80].contains(number) }
}
