internal import DirectCore
internal import DirectHTTP

/// One TLS handshake of a probe, with its result.
///
/// `perform` connects, then runs the handshake until it succeeds, fails, or the deadline of the whole probe
/// has passed.
///
/// - Certificates are not verified during the handshake. The chain is examined afterwards, so that the
///   handshake succeeds and its parameters are known even if the certificate is wrong.
/// - Neither `tcpTime` nor `tlsTime` includes the time to load the trust roots.
/// - After the deadline the handshake is tried once more, because input may have arrived before the task ran.
struct Handshake: Sendable {
    /// The server name that was sent as SNI; `nil` if none was.
    var serverName: String?
    var outcome: Result<Served, HandshakeFailure>
    /// The time to connect; `nil` if the connection failed.
    var tcpTime: Duration?
    /// The time of the handshake, even of a failed one; `nil` if the connection failed.
    var tlsTime: Duration?
    /// Whether the server sent a CertificateRequest message, even if the handshake failed afterwards.
    var requestsClientCertificate = false
    /// The first authorities of which it wants one, and the number of all.
    var clientAuthorities: (names: [String], count: Int) = ([], 0)
    /// Whether the server sent at least one byte.
    var hasReceivedBytes = false
    /// Whether the hello was longer than a segment of most paths.
    var sentLongHello = false
    /// Whether it failed in the dialogue before TLS.
    var endsBeforeTLS = false
    /// The first bytes that the server sent, if they are not TLS.
    var nonTLSBytes: [UInt8] = []
    /// What the server has answered in place of an encrypted hello.
    var refusal: ECHRefusal?

    /// The certificates and parameters, if it succeeded.
    var served: Served? { try? outcome.get() }
    /// The reason why it failed.
    var failure: HandshakeFailure? { if case .failure(let failure) = outcome { failure } else { nil } }

    /// The result of a successful handshake.
    struct Served: Sendable {
        /// The parameters; `nil` if no connection was made (`sni-probe check`).
        let facts: SurveyFacts?
        let chain: ExaminedChain
        /// The result of checking the OCSP response that the server stapled; `nil` if it stapled none.
        let staple: StapleJudgement?

        /// The hash of the server's own certificate; empty without one.
        var hash: [UInt8] { chain.leaf?.summary.sha256 ?? [] }
    }
}

extension Handshake {
    /// Connects and performs the handshake. The caller must close the connection, if one is returned.
    static func perform(
        with probe: Probe,
        offering offer: SurveyOffer,
        tools: ProbeTools,
        signs: SignsOfLife,
        limit: CallLimit,
        on loop: EventLoop
    ) async -> (handshake: Handshake, connection: Connection?, tls: SurveyConnection?) {
        let start = loop.now
        var handshake = Handshake(serverName: offer.serverName, outcome: .failure(.cancelled))
        let socket: Socket
        do throws(TransportError) {
            socket = try await probe.connect(within: limit, through: tools.settings.proxy, on: loop)
        } catch {
            handshake.outcome = .failure(HandshakeFailure(connecting: error, through: tools.settings.proxy))
            return (handshake, nil, nil)
        }
        handshake.tcpTime = loop.now.since(start)
        do throws(HandshakeFailure) {
            try await Preamble(socket: socket, end: limit.end).run(tools.settings, for: probe)
        } catch {
            socket.close()
            handshake.tlsTime = loop.now.since(start) - (handshake.tcpTime ?? .zero)
            handshake.outcome = .failure(error)
            handshake.endsBeforeTLS = true
            if case .noUpgrade(let bytes, _) = error { handshake.nonTLSBytes = Array(bytes.suffix(64)) }
            return (handshake, nil, nil)
        }
        var handshakeStart = loop.now
        let firstBytes = FirstBytes(of: socket, signs)
        var tls: SurveyConnection?
        let result: Result<(SurveyFacts, ServedChain), TransportError>
        do throws(TransportError) {
            let context = try await tools.context.value()
            // The wait for it is not measured: loading the trust roots may take longer than the handshake.
            handshakeStart = loop.now
            let connection = try surveyConnection(context, offer, over: firstBytes)
            tls = connection
            try await connection.performHandshake(
                over: socket,
                limit.deadline(.tls, stall: limit.timeouts.tls, from: loop.now)
            )
            guard let chain = connection.served else { throw .failed(.tls, .tls(.noPeerCertificate)) }
            result = .success((connection.facts, chain))
        } catch {
            result = .failure(error)
        }
        handshake.tlsTime = loop.now.since(handshakeStart)
        handshake.hasReceivedBytes = !firstBytes.bytes.isEmpty
        handshake.sentLongHello = firstBytes.sentFirst > Self.segment
        handshake.requestsClientCertificate = tls?.hasReceivedCertificateRequest ?? false
        handshake.clientAuthorities = tls?.clientAuthorities ?? ([], 0)
        switch result {
        case .success((let facts, let chain)):
            // Without a verdict the chain is not trusted, and its faults say so.
            let deadline = limit.deadline(.tls, stall: limit.timeouts.tls, from: loop.now)
            try? await chain.trial?.hold(until: deadline, on: loop)
            let staple = facts.staple.flatMap { chain.judge(staple: $0) }
            handshake.outcome = .success(
                Served(facts: facts, chain: tools.chains.examine(chain), staple: staple)
            )
            return (handshake, probe.connection(over: socket, survey: tls), tls)
        case .failure(let error):
            firstBytes.receiveRest()
            socket.close()
            let failure = HandshakeFailure(error, firstBytes: firstBytes.bytes)
            handshake.outcome = .failure(failure)
            if case .notTLS = failure { handshake.nonTLSBytes = firstBytes.bytes }
            if failure.isAboutECH, let tls, let chain = tls.served {
                let fresh = (try? tls.freshConfig) ?? nil
                handshake.refusal = ECHRefusal(fresh: fresh, chain: tools.chains.examine(chain))
            }
            return (handshake, nil, nil)
        }
    }

    private static let segment = 1_400

    private static func surveyConnection(
        _ context: Result<SurveyContext, TLSError>,
        _ offer: SurveyOffer,
        over firstBytes: FirstBytes
    ) throws(TransportError) -> SurveyConnection {
        do throws(TLSError) {
            return try SurveyConnection(context: try context.get(), offering: offer, transport: firstBytes)
        } catch {
            throw .failed(.tls, .tls(error))
        }
    }
}

extension Probe {
    /// Connects to the address, or to the proxy on the way to it. The caller must close the socket.
    func connect(
        within limit: CallLimit,
        through proxy: TunnelProxy?,
        on loop: EventLoop
    ) async throws(TransportError) -> Socket {
        let place = proxy?.endpoint ?? Endpoint(address, port: port)
        let socket = try Network().socket(to: place.address, port: place.port ?? port, on: loop)
        do throws(TransportError) {
            let deadline = limit.deadline(.connect, stall: limit.timeouts.connect, from: loop.now)
            try await socket.waitUntilConnected(deadline)
        } catch {
            socket.close()
            throw error
        }
        return socket
    }

    /// Returns the connection over a socket to the address.
    func connection(over socket: Socket, survey: SurveyConnection?) -> Connection {
        Connection.examining(target.name, at: Endpoint(address, port: port), over: socket, survey: survey)
    }
}
