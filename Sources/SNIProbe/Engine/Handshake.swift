internal import DirectCore
internal import DirectHTTP

/// One TLS handshake of a probe, with its result.
///
/// `make` connects, then drives the handshake until it succeeds, fails, or the deadline has passed. The deadline
/// is the one of the whole probe.
///
/// - Certificates are not verified during the handshake. The chain is examined afterwards, so that a wrong
///   certificate is a result like any other.
/// - The time to load the trust roots counts for neither `tcpTime` nor `tlsTime`.
/// - After the deadline the handshake is tried once more, because input may have arrived before the task ran.
struct Handshake: Sendable {
    /// The server name that was sent. `nil` if none was.
    var serverName: String?
    var outcome: Result<Served, Refusal>
    var tcpTime: Duration?
    var tlsTime: Duration?
    /// Whether the server requested a client certificate. It is also set if the handshake failed after that.
    var asksForCertificate = false
    /// Whether the server sent at least one byte.
    var hasBegun = false
    /// The first bytes that the server sent, if they are not TLS.
    var answer: [UInt8] = []

    /// The result of a successful handshake.
    struct Served: Sendable {
        let facts: SurveyFacts
        let chain: ExaminedChain
    }
}

/// An open connection of a probe, after the handshake if it uses TLS.
struct OpenConnection: Sendable {
    let wire: Wire
    let tls: SurveyConnection?

    func close() {
        tls?.close()
        wire.close()
    }
}

extension Handshake {
    /// Connects and performs the handshake. The caller must close the connection, if one is returned.
    static func make(
        with address: IPAddress,
        _ port: UInt16,
        serverName: String?,
        offersHTTP: Bool,
        tools: ProbeTools,
        on loop: EventLoop,
        by deadline: Instant
    ) async -> (handshake: Handshake, connection: OpenConnection?) {
        let start = loop.now
        var handshake = Handshake(serverName: serverName, outcome: .failure(.dropped))
        let wire: Wire
        switch await Wire.open(address, port: port, on: loop, by: deadline) {
        case .success(let opened): wire = opened
        case .failure(let refusal):
            handshake.outcome = .failure(refusal)
            return (handshake, nil)
        }
        handshake.tcpTime = loop.now.since(start)
        // This wait is not part of any measured time: loading the roots may take longer than the whole handshake.
        let context = await tools.context.value()
        let ready = loop.now
        let outcome = await secure(
            wire,
            serverName: serverName,
            offersHTTP: offersHTTP,
            context: context,
            handshake: &handshake
        )
        handshake.tlsTime = loop.now.since(ready)
        handshake.hasBegun = !wire.firstBytes.isEmpty
        if case .failure(.notTLS) = outcome { handshake.answer = wire.firstBytes }
        switch outcome {
        case .success(let tls):
            guard let chain = tls.served else {
                wire.close()
                handshake.outcome = .failure(.broken(.other, reason: "the server sent no certificate"))
                return (handshake, nil)
            }
            handshake.outcome = .success(Served(facts: tls.facts, chain: tools.chains.examine(chain)))
            return (handshake, OpenConnection(wire: wire, tls: tls))
        case .failure(let refusal):
            handshake.outcome = .failure(refusal)
            wire.close()
            return (handshake, nil)
        }
    }

    private static func secure(
        _ wire: Wire,
        serverName: String?,
        offersHTTP: Bool,
        context: Result<SurveyContext, TLSError>,
        handshake: inout Handshake
    ) async -> Result<SurveyConnection, Refusal> {
        let tls: SurveyConnection
        do throws(TLSError) {
            tls = try SurveyConnection(
                context: try context.get(),
                serverName: serverName,
                offersHTTP: offersHTTP,
                transport: wire.transport
            )
        } catch {
            return .failure(.broken(.other, reason: "\(error)"))
        }
        defer { handshake.asksForCertificate = tls.wasAskedForCertificate }
        var isLast = false
        while true {
            let point: WaitPoint?
            switch tls.handshake() {
            case .done: return .success(tls)
            case .wantsRead: point = wire.socket.input
            case .wantsWrite: point = wire.socket.output
            case .again: point = nil
            case .failed(let error): return .failure(Refusal(error, firstBytes: wire.firstBytes))
            }
            let refusal = if let point { await wire.wait(for: point) } else { await wire.takeTurn() }
            guard let refusal else { continue }
            // Input that has arrived in the meantime still counts: if this task ran late, it is not the server's
            // fault.
            if refusal == .silentTLS, !isLast {
                isLast = true
                continue
            }
            return .failure(refusal)
        }
    }
}
