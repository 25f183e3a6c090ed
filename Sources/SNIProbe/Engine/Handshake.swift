internal import DirectHTTP

/// One handshake of a probe, and what came of it.
struct Handshake: Sendable {
    /// The name that was sent.
    var serverName: String?
    var outcome: Result<Served, Refusal>
    var tcpTime: Duration?
    var tlsTime: Duration?
    /// Whether the server wanted to know who we are, also where the handshake came to nothing.
    var asksForCertificate = false
    /// Whether part of an answer came.
    var hasBegun = false
    /// How the server's answer began, where it was no TLS.
    var answer: [UInt8] = []

    /// What a server showed whose handshake went through.
    struct Served: Sendable {
        let facts: SurveyFacts
        let chain: ExaminedChain
    }
}

/// A handshake that went through, with its connection still open.
struct OpenConnection: Sendable {
    let wire: Wire
    let tls: SurveyConnection?

    func close() {
        tls?.close()
        wire.close()
    }
}

extension Handshake {
    /// Connects and shakes hands. The caller closes the connection, if there is one.
    static func make(
        with address: IPAddress,
        _ port: UInt16,
        serverName: String?,
        offersHTTP: Bool,
        _ tools: ProbeTools,
        on loop: EventLoop,
        by deadline: Instant
    ) async -> (handshake: Handshake, connection: OpenConnection?) {
        let start = Instant.now
        var handshake = Handshake(serverName: serverName, outcome: .failure(.dropped))
        let wire: Wire
        switch await Wire.open(address, port, on: loop, by: deadline) {
        case .success(let opened): wire = opened
        case .failure(let refusal):
            handshake.outcome = .failure(refusal)
            return (handshake, nil)
        }
        handshake.tcpTime = Instant.now.since(start)
        // Not part of any time: the roots may take longer to read than the whole handshake.
        let context = await tools.context.value()
        let ready = Instant.now
        let outcome = await secure(wire, serverName, offersHTTP, context, &handshake)
        handshake.tlsTime = Instant.now.since(ready)
        handshake.hasBegun = !wire.firstBytes.isEmpty
        if case .failure(.notTLS) = outcome { handshake.answer = wire.firstBytes }
        switch outcome {
        case .success(let tls):
            guard let chain = tls.served else {
                wire.close()
                handshake.outcome = .failure(.broken("the server showed no certificate"))
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
        _ serverName: String?,
        _ offersHTTP: Bool,
        _ context: Result<SurveyContext, TLSError>,
        _ handshake: inout Handshake
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
            return .failure(.broken("\(error)"))
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
            // What has come in the meantime still counts: that we look late is not the server's fault.
            if refusal == .silentTLS, !isLast {
                isLast = true
                continue
            }
            return .failure(refusal)
        }
    }
}
