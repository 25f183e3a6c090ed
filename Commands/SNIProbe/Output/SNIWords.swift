internal import DirectHTTP

/// The SNI verdict in words.
struct SNIWords {
    let record: ProbeRecord
    let style: Style

    /// The sentence after the label `SNI`. `nil` if there was no second handshake, or it tells nothing.
    var text: String? {
        let wasSent = record.sni.sent != nil
        switch record.sni.verdict {
        case .unknown: return unknown
        case .neededStrict where wasSent: return "needed: without it this IP \(refusal)"
        case .needed, .neededStrict:
            return "needed: with\(wasSent ? "out" : "") it this IP serves \(names(record.observation.second))"
        case .noDifference: return noDifference
        case .changesCertificate:
            return "changes the certificate, and both are for \(record.target.name)"
        case .varies: return "unknown: the answers of this IP vary"
        case .selectsWrong, .refused: return other(wasSent)
        }
    }

    /// Returns a failed handshake in words.
    static func text(of failure: HandshakeFailure) -> String {
        switch failure {
        case .alert(let alert): alert.words
        case .closed: "closed"
        case .reset: "reset"
        case .silentTLS, .silentTCP: "no answer"
        default: "failed"
        }
    }

    private var noDifference: String? {
        guard record.served != nil else { return nil }
        let isWrong = record.matchedName == nil
        return isWrong
            ? "makes no difference: this is the IP's default certificate"
            : "not needed: the same certificate without it"
    }

    private var unknown: String? {
        guard record.served != nil, let second = record.observation.second else { return nil }
        switch second.failure {
        case .silentTLS?, .silentTCP?: return "unknown: no answer without it"
        case nil, .cancelled?:
            return record.observation.isHalfConfirmed ? "unknown: \(record.observation.withMoreTime)" : nil
        default: return "unknown: the handshake without it failed"
        }
    }

    /// The result of the second handshake, if the one with SNI was refused or got a wrong certificate.
    private func other(_ wasSent: Bool) -> String {
        let place = wasSent ? "without it this IP" : "with it this IP"
        guard record.observation.second?.served != nil else { return "\(place) \(refusal)" }
        let other = "\(place) serves \(names(record.observation.second))"
        guard wasSent else {
            return "\(other), which is wrong" + (record.matchedName == nil ? " as well" : "")
        }
        return record.sni.verdict == .refused ? other : "the name selects this certificate; \(other)"
    }

    private func names(_ handshake: Handshake?) -> String {
        guard let leaf = handshake?.served?.chain.leaf else { return "another" }
        let names = ServedNames(leaf)
        let text = style.safe(names.first(2), upTo: 130)
        let more = names.count > 2 ? " and \(Words.grouped(names.count - 2)) more" : ""
        return text + more + record.observation.oftenWithTheOther
    }

    /// The refusal of the second handshake.
    private var refusal: String {
        let reason = record.observation.second?.failure.map(Self.text) ?? "unknown"
        return "refuses the handshake (\(reason))" + record.observation.oftenWithTheOther
    }
}
