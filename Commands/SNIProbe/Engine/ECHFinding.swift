internal import DirectCore
internal import DirectHTTP

/// What the HTTPS records of a host say of Encrypted Client Hello (RFC 9849), and what came of it at an
/// address.
struct ECHFinding: Sendable {
    let replies: [RecordReply]
    /// One for each configuration that a record has for the address.
    var trials: [ECHTrial] = []

    enum Verdict: String, CaseIterable, Sendable {
        /// No resolver has answered.
        case unknown
        /// No record has a configuration.
        case notOffered = "not_offered"
        /// A record has one, and this OpenSSL cannot use it.
        case notDone = "not_done"
        case accepted
        /// The server has other keys, and says so under a certificate for the public name.
        case staleKeys = "stale_keys"
        /// The server proves its public name, and has no keys: clients go on without.
        case refused
        /// The server has taken the outer hello for a plain one: clients with ECH do not connect.
        case ignored
        /// The handshake has failed for another reason.
        case failed
    }

    /// The configurations for this endpoint, each once.
    func configs(for endpoint: Endpoint, port: UInt16) -> [ECHConfigList] {
        let records = replies.compactMap { reply in
            HTTPSRecords(reply.records).record(for: endpoint, port: port)
                ?? reply.records.first { $0.encryptedClientHello != nil }
        }
        var configs: [ECHConfigList] = []
        for case let config? in records.map(\.encryptedClientHello) where !configs.contains(config) {
            configs.append(config)
        }
        return configs
    }

    /// The verdict on all configurations: that of the first that is not accepted.
    var verdict: Verdict {
        if let trial = trials.first(where: { $0.verdict != .accepted }) ?? trials.first {
            return trial.verdict
        }
        let isOffered = replies.contains { $0.records.contains { $0.encryptedClientHello != nil } }
        return isOffered ? .notDone : replies.contains(where: \.isKnown) ? .notOffered : .unknown
    }
}

/// The handshake with one configuration.
struct ECHTrial: Sendable {
    let publicName: ECHPublicName
    let handshake: Handshake
    /// The handshake with the keys that a refusal has named, if it was made.
    var retry: Handshake?

    var verdict: ECHFinding.Verdict {
        if handshake.served != nil { return .accepted }
        guard let refusal = handshake.refusal else { return .failed }
        guard refusal.proves(publicName) else { return .ignored }
        return refusal.fresh == nil ? .refused : .staleKeys
    }
}

/// What a server has answered in place of an encrypted client hello: as if the outer one were meant.
struct ECHRefusal: Sendable {
    /// The configurations that the server has now.
    let fresh: ECHConfigList?
    let chain: ExaminedChain

    /// Whether the certificate is for the public name, and trusted (RFC 9849, section 6.1.7).
    func proves(_ name: ECHPublicName) -> Bool {
        chain.judgement.isTrusted && chain.match(try? .name("\(name)")) != nil
    }
}
