internal import DirectHTTP
internal import DirectHello

/// Everything that was observed in one probe, without a judgement.
struct Observation: Sendable {
    var probe: Probe
    /// The start of the probe in milliseconds since 1970.
    var time: Int64
    /// The first handshake, which decides whether the probe passes. `nil` without TLS.
    var first: Handshake?
    /// The second handshake, for comparison: without SNI if the first was made with SNI, otherwise with SNI.
    var second: Handshake?
    /// The first and the second handshake once more, if their results were surprising.
    var firstAgain: [Handshake] = []
    var secondAgain: [Handshake] = []
    /// Whether there was too little time to confirm them.
    var isCutShort = false
    /// The first handshake again, as often as `--repeat` says.
    var repeats: [Handshake] = []
    /// One handshake for each other kind of key, and version of TLS, with `--deep`.
    var otherKeys: [OtherKey] = []
    /// What the issuers say of the certificates of ``served``, by their hashes, with `--revocation`.
    var revocations: [[UInt8]: Revocation] = [:]
    /// The HTTPS records and Encrypted Client Hello, with `--ech`.
    var ech: ECHFinding?
    /// What hellos written here have found, with `--versions`, `--post-quantum` and `--long-hello`.
    var hellos: [HelloFinding] = []
    /// The reason why the connection of a request without TLS failed.
    var connectFailure: HandshakeFailure?
    /// The time to connect, without TLS.
    var tcpTime: Duration?
    var exchange: ExchangeOutcome?
    var total: Duration?
    var attempts = 1

    /// The failure of the first handshake, or of the connection if the probe does not use TLS.
    var firstFailure: HandshakeFailure? { connectFailure ?? first?.failure }

    /// All handshakes like the first, which all offered the same.
    var firsts: [Handshake] { (first.map { [$0] } ?? []) + firstAgain + repeats }
    /// What the handshakes like the first got, once for each certificate.
    var answers: [Handshake.Served] {
        var hashes: Set<[UInt8]> = []
        return firsts.compactMap(\.served).filter { hashes.insert($0.hash).inserted }
    }
    /// All that is served with the name, those for other kinds of keys and versions included.
    var served: [Handshake.Served] { answers + otherKeys.compactMap(\.served) }
    /// What the issuer of the first certificate says of it.
    var revocation: Revocation? { (first?.served).flatMap { revocations[$0.hash] } }
    /// All handshakes like the second.
    var seconds: [Handshake] { (second.map { [$0] } ?? []) + secondAgain }

    /// The duration of each phase that was reached.
    var phases: [(name: String, time: Duration?)] {
        [
            ("dns", probe.resolveTime), ("tcp", first?.tcpTime ?? tcpTime),
            ("tls", first?.served == nil ? nil : first?.tlsTime), ("first_byte", exchange?.firstByteTime),
            ("total", total),
        ]
    }

    /// Whether the server has answered in any way, if only by refusing the connection.
    var hasAnswer: Bool {
        switch firstFailure {
        case .silentTCP?, .silentTLS?: first?.hasReceivedBytes ?? false
        case nil where first == nil: exchange?.failure != .timedOut || exchange?.firstByteTime != nil
        default: true
        }
    }
}

/// A handshake that accepted only one kind of key, or version of TLS, to see a certificate that the first did
/// not get.
struct OtherKey: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case ec = "EC"
        case rsa = "RSA"
        case tls12 = "TLS 1.2"
        case tls13 = "TLS 1.3"

        /// The version of TLS that is the kind; `nil` for a kind of key.
        var version: TLSVersion? { [.tls12: .tls12, .tls13: .tls13][self] }
    }

    let kind: Kind
    let handshake: Handshake

    /// The certificate and the chain, if the server has one of this kind.
    var served: Handshake.Served? {
        guard let served = handshake.served, let leaf = served.chain.leaf else { return nil }
        return kind.version != nil || leaf.key.type.hasPrefix(kind.rawValue) ? served : nil
    }
}

/// The result of a request.
struct ExchangeOutcome: Sendable {
    var head: ResponseHead?
    var bodyCount = 0
    var bodyHash: [UInt8]?
    var firstByteTime: Duration?
    var failure: Failure?
    /// Whether the first bytes received are the start of a TLS record.
    var beginsAsTLS = false
    /// Whether the first bytes received are those of an HTTP/2 server.
    var beginsAsHTTP2 = false
    /// Whether the server asked to renegotiate, as servers do to request a client certificate after the
    /// request.
    var wasAskedToRenegotiate = false

    /// The reason why there is no complete response.
    enum Failure: Sendable, Hashable {
        case timedOut
        case broken(String)
        /// The request was sent without TLS, but the server answered with TLS.
        case speaksTLS
        /// The connection ended without close_notify where only its end marks the end of the body.
        case uncleanEnd
        /// The request is invalid and was not sent.
        case unsendable(String)
    }
}
