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

extension Handshake {
    /// Connects and performs the handshake. The caller must close the connection, if one is returned.
    static func make(
        with probe: Probe,
        serverName: String?,
        offersHTTP: Bool,
        tools: ProbeTools,
        limits: DialLimits
    ) async -> (handshake: Handshake, connection: Connection?) {
        let loop = limits.loop
        let start = loop.now
        var handshake = Handshake(serverName: serverName, outcome: .failure(.dropped))
        let socket: Socket
        do throws(TransportError) {
            socket = try await probe.connect(limits)
        } catch {
            handshake.outcome = .failure(Refusal(error, firstBytes: []))
            return (handshake, nil)
        }
        handshake.tcpTime = loop.now.since(start)
        // This wait is not part of any measured time: loading the roots may take longer than the whole handshake.
        let context = await tools.context.value()
        let ready = loop.now
        let firstBytes = FirstBytes(of: socket)
        var tls: SurveyConnection?
        let result: Result<(SurveyFacts, ServedChain), TransportError>
        do throws(TransportError) {
            let survey = try survey(context, serverName: serverName, offersHTTP: offersHTTP, over: firstBytes)
            tls = survey
            try await survey.shakeHands(over: socket, limits.deadline(.tls, stall: .max))
            guard let chain = survey.served else { throw .failed(.tls, .tls(.noPeerCertificate)) }
            result = .success((survey.facts, chain))
        } catch {
            result = .failure(error)
        }
        handshake.tlsTime = loop.now.since(ready)
        handshake.hasBegun = !firstBytes.bytes.isEmpty
        handshake.asksForCertificate = tls?.wasAskedForCertificate ?? false
        switch result {
        case .success((let facts, let chain)):
            handshake.outcome = .success(Served(facts: facts, chain: tools.chains.examine(chain)))
            return (handshake, probe.connection(over: socket, survey: tls))
        case .failure(let error):
            socket.close()
            let refusal = Refusal(error, firstBytes: firstBytes.bytes)
            handshake.outcome = .failure(refusal)
            if case .notTLS = refusal { handshake.answer = firstBytes.bytes }
            return (handshake, nil)
        }
    }

    private static func survey(
        _ context: Result<SurveyContext, TLSError>,
        serverName: String?,
        offersHTTP: Bool,
        over firstBytes: FirstBytes
    ) throws(TransportError) -> SurveyConnection {
        do throws(TLSError) {
            return try SurveyConnection(
                context: try context.get(),
                serverName: serverName,
                offersHTTP: offersHTTP,
                transport: firstBytes.transport
            )
        } catch {
            throw .failed(.tls, .tls(error))
        }
    }
}

extension Probe {
    /// Connects to the address. The caller must close the socket.
    func connect(_ limits: DialLimits) async throws(TransportError) -> Socket {
        let socket = try Network().socket(to: address, port: port, on: limits.loop)
        do throws(TransportError) {
            try await socket.waitUntilConnected(limits.deadline(.connect, stall: .max))
        } catch {
            socket.close()
            throw error
        }
        return socket
    }

    /// Returns the connection over a socket to the address.
    func connection(over socket: Socket, survey: SurveyConnection?) -> Connection {
        Connection.examining(
            target.name,
            at: Endpoint(address, port: port),
            over: socket,
            survey: survey
        )
    }
}
