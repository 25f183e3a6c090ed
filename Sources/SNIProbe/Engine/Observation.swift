internal import DirectHTTP

/// Everything that was seen of one probe, before anybody judged it.
struct Observation: Sendable {
    var probe: Probe
    /// Milliseconds since 1970, when it began.
    var time: Int64
    /// The handshake that counts. Nothing for a request without TLS.
    var first: Handshake?
    /// The other handshake: without a name where the first one had one, and the other way round.
    var second: Handshake?
    /// Why a request without TLS got no connection.
    var refusal: Refusal?
    /// How the connecting went, where there was no TLS.
    var tcpTime: Duration?
    var exchange: ExchangeOutcome?
    var total: Duration?
    var attempts = 1

    var refusedFirst: Refusal? {
        if let refusal { return refusal }
        if case .failure(let refusal)? = first?.outcome { return refusal }
        return nil
    }
}

/// What came of a request.
struct ExchangeOutcome: Sendable {
    var head: ResponseHead?
    var bodyCount = 0
    var bodyHash: [UInt8]?
    var firstByteTime: Duration?
    var failure: Failure?
    /// Whether what came begins as a record of TLS does.
    var beginsAsTLS = false

    enum Failure: Sendable, Hashable {
        case timedOut
        case broken(String)
        /// The request went out without TLS, and what came back is TLS.
        case speaksTLS
        /// The request itself cannot be sent.
        case unsendable(String)
    }
}
