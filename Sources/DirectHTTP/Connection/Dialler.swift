internal import DirectHTTP1
internal import DirectIO
internal import DirectTLS

/// Why no connection could be made, and where that was tried.
struct DialFailure: Error {
    var cause: CallFailure
    var endpoint: Endpoint?
    var attempts: [Attempt] = []
}

/// Makes connections: one address after the other, each up to the end of its handshake.
struct Dialler: Sendable {
    let settings: HTTPClient.Settings
    let secrets: TLSSecrets

    private var loop: EventLoop { settings.loop }

    /// A connection for the URL's name to the first address on the route that will do.
    ///
    /// An address that cannot be reached gives way to the next one. One that answers with a certificate for
    /// somebody else does not: that is no failure of the network, and trying on would hide it.
    func dial(
        _ url: HTTPURL,
        _ route: Route,
        _ timeouts: Timeouts.Nanoseconds,
        end: Instant
    ) async throws(DialFailure) -> Connection {
        let target = try await resolve(url, route, timeouts, end: end)
        var attempts: [Attempt] = []
        for endpoint in target.endpoints {
            let start = Instant.now
            do throws(AttemptFailure) {
                let plan = Plan(
                    url: url,
                    endpoint: endpoint,
                    target: target,
                    timeouts: timeouts,
                    end: end,
                    earlier: attempts
                )
                return try await connect(plan)
            } catch {
                guard case .failed(let phase, let reason) = error.cause else {
                    throw DialFailure(cause: error.cause, endpoint: endpoint, attempts: attempts)
                }
                attempts.append(
                    Attempt(
                        endpoint: endpoint,
                        phase: phase,
                        reason: reason,
                        elapsed: Instant.now.since(start)
                    )
                )
                guard error.mayTryNext, Instant.now < end else { break }
            }
        }
        guard let last = attempts.last else {
            throw DialFailure(cause: .failed(.resolve, .noAddresses))
        }
        throw DialFailure(
            cause: .failed(last.phase, last.reason),
            endpoint: last.endpoint,
            attempts: attempts
        )
    }

    private struct Target {
        var endpoints: [Endpoint]
        var source: AddressSource
        var resolveTime: Duration?
    }

    private struct Plan {
        var url: HTTPURL
        var endpoint: Endpoint
        var target: Target
        var timeouts: Timeouts.Nanoseconds
        var end: Instant
        var earlier: [Attempt]

        func patience(_ phase: HTTPError.Phase, _ stall: UInt64) -> Patience {
            Patience(phase: phase, stall: stall, end: end, total: timeouts.total)
        }
    }

    private struct AttemptFailure: Error {
        var cause: CallFailure
        var mayTryNext: Bool
    }

    private func resolve(
        _ url: HTTPURL,
        _ route: Route,
        _ timeouts: Timeouts.Nanoseconds,
        end: Instant
    ) async throws(DialFailure) -> Target {
        switch route {
        case .literal(let address, let port):
            return Target(endpoints: [Endpoint(address, port: port)], source: .url)
        case .chosen(let endpoints, let port, let source):
            let complete = endpoints.map { Endpoint($0.address, port: $0.port ?? port) }
            return Target(endpoints: complete, source: source)
        case .system:
            return try await askSystem(url, timeouts, end: end)
        }
    }

    private func askSystem(
        _ url: HTTPURL,
        _ timeouts: Timeouts.Nanoseconds,
        end: Instant
    ) async throws(DialFailure) -> Target {
        let start = Instant.now
        let patience = Patience(phase: .resolve, stall: timeouts.resolve, end: end, total: timeouts.total)
        let name = url.host.description
        let answer: Result<[IPAddress], LookupError>
        do throws(BlockingWork.Abandoned) {
            answer = try await BlockingWork.shared.run(until: patience.deadline(from: start), on: loop) {
                lookUp(name)
            }
        } catch {
            throw DialFailure(cause: error == .cancelled ? .cancelled : patience.timeout)
        }
        switch answer {
        case .success(let addresses):
            let endpoints = addresses.map { Endpoint($0, port: url.port) }
            return Target(endpoints: endpoints, source: .system, resolveTime: Instant.now.since(start))
        case .failure(let error): throw DialFailure(cause: .failed(.resolve, .lookup(error)))
        }
    }

    private func connect(_ plan: Plan) async throws(AttemptFailure) -> Connection {
        let start = Instant.now
        let socket = try await openSocket(plan)
        let connected = Instant.now
        var tls: TLSConnection?
        if plan.url.scheme == .https {
            do throws(AttemptFailure) {
                tls = try await secure(socket, plan)
            } catch {
                socket.close()
                throw error
            }
        }
        let facts = ConnectionFacts(
            name: plan.url.host.description,
            endpoint: plan.endpoint,
            source: plan.target.source,
            tls: tls?.facts,
            failedAttempts: plan.earlier,
            resolveTime: plan.target.resolveTime,
            connectTime: connected.since(start),
            tlsTime: tls == nil ? nil : Instant.now.since(connected)
        )
        let reader = ResponseReader(limits: settings.limits, leniency: settings.leniency)
        return Connection(socket: socket, tls: tls, facts: facts, reader: reader)
    }

    private func openSocket(_ plan: Plan) async throws(AttemptFailure) -> Socket {
        let socket: Socket
        do throws(Socket.StartFailure) {
            let port = plan.endpoint.port ?? plan.url.port
            socket = try Socket.connecting(to: plan.endpoint.address, port: port, on: loop)
        } catch {
            let reason: HTTPError.Reason =
                switch error {
                case .address(let error): .address(error)
                case .system(let error): .system(error)
                }
            throw AttemptFailure(cause: .failed(.connect, reason), mayTryNext: true)
        }
        let patience = plan.patience(.connect, plan.timeouts.connect)
        do throws(CallFailure) {
            try await socket.waitUntilConnected(patience)
        } catch {
            socket.close()
            throw AttemptFailure(cause: error, mayTryNext: true)
        }
        return socket
    }

    /// No byte of a request is written before this has returned: the certificate has been accepted by then.
    private func secure(_ socket: Socket, _ plan: Plan) async throws(AttemptFailure) -> TLSConnection {
        let context: TLSContext
        do throws(CallFailure) {
            // No part of the handshake: only the limit for everything bounds it.
            context = try await secrets.context(plan.patience(.tls, .max), on: loop)
        } catch {
            throw AttemptFailure(cause: error, mayTryNext: false)
        }
        let tls: TLSConnection
        do throws(TLSError) {
            tls = try TLSConnection(
                context: context,
                identity: try plan.url.host.serverIdentity,
                transport: socket.transport,
                sessions: secrets.sessions,
                port: plan.url.port
            )
        } catch {
            throw AttemptFailure(cause: .failed(.tls, .tls(error)), mayTryNext: false)
        }
        let patience = plan.patience(.tls, plan.timeouts.tls)
        let deadline = patience.deadline(from: .now)
        while true {
            let point: WaitPoint
            switch tls.handshake() {
            case .done: return tls
            case .wantsRead: point = socket.input
            case .wantsWrite: point = socket.output
            case .failed(let error):
                throw AttemptFailure(
                    cause: .failed(.tls, .tls(error)),
                    mayTryNext: !error.concernsCertificate
                )
            }
            do throws(CallFailure) {
                try patience.check(await point.wait(until: deadline, on: loop))
            } catch {
                throw AttemptFailure(cause: error, mayTryNext: true)
            }
        }
    }
}

extension Socket {
    fileprivate func waitUntilConnected(_ patience: Patience) async throws(CallFailure) {
        try patience.check(await output.wait(until: patience.deadline(from: .now), on: loop))
        do throws(SystemError) {
            try finishConnecting()
        } catch {
            throw .failed(.connect, .system(error))
        }
    }
}

extension Host {
    /// What the server's certificate must prove. The address that is dialled has no part in it.
    fileprivate var serverIdentity: ServerIdentity {
        get throws(TLSError) {
            switch self {
            case .name(let name): try .name(name.description)
            case .address(let address): try .address(address.withoutZone.description)
            }
        }
    }
}

extension TLSError {
    /// Whether the server was reached and is the wrong one, so that another address must not hide it.
    fileprivate var concernsCertificate: Bool {
        switch self {
        case .certificateRejected, .nameMismatch, .keyNotPinned, .noPeerCertificate, .badIdentity,
            .badSettings:
            true
        default: false
        }
    }
}
