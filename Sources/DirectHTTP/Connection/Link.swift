internal import DirectIO
internal import DirectTLS

/// What bytes to a server flow over: a socket, and the TLS on it, agreed and checked.
struct Link: Sendable {
    let socket: Socket
    /// Nothing for plain HTTP.
    var tls: TLSConnection?
    var connectTime: Duration
    var tlsTime: Duration?

    /// The last step of making it.
    var phase: HTTPError.Phase { tls == nil ? .connect : .tls }

    func close() {
        tls?.close()
        socket.close()
    }
}

/// Makes links: connects to one address, and shakes hands with who answers there.
struct LinkMaker: Sendable {
    let destination: Destination
    let limits: DialLimits
    let secrets: TLSSecrets
    let vetting: AddressVetting?
    let loop: EventLoop

    /// A link to this address, whose certificate, if there is to be one, has been accepted.
    func link(to endpoint: Endpoint) async throws(AttemptFailure) -> Link {
        let start = Instant.now
        // Just before it is dialled, whoever named it: nothing can come in between.
        if let vetting,
            let refusal = vetting.refusal(
                of: endpoint.address,
                for: destination.host,
                port: endpoint.port ?? destination.port
            )
        {
            throw .failed(.connect, .refused(refusal))
        }
        let socket = try await openSocket(endpoint)
        var link = Link(socket: socket, connectTime: Instant.now.since(start))
        guard destination.isSecure else { return link }
        let connected = Instant.now
        do throws(AttemptFailure) {
            link.tls = try await secure(socket)
        } catch {
            socket.close()
            throw error
        }
        link.tlsTime = Instant.now.since(connected)
        return link
    }

    private func openSocket(_ endpoint: Endpoint) async throws(AttemptFailure) -> Socket {
        let socket: Socket
        do throws(Socket.StartFailure) {
            let port = endpoint.port ?? destination.port
            socket = try Socket.connecting(to: endpoint.address, port: port, on: loop)
        } catch {
            switch error {
            case .address(let error): throw .failed(.connect, .address(error))
            case .system(let error): throw .failed(.connect, .system(error))
            }
        }
        do throws(CallFailure) {
            try await socket.waitUntilConnected(limits.patience(.connect, limits.timeouts.connect))
        } catch {
            socket.close()
            throw AttemptFailure(phase: .connect, cause: error)
        }
        return socket
    }

    /// No byte of a request is written before this has returned: the certificate has been accepted by then.
    private func secure(_ socket: Socket) async throws(AttemptFailure) -> TLSConnection {
        let context: TLSContext
        do throws(CallFailure) {
            // No part of the handshake: only the limit for everything bounds it.
            context = try await secrets.context(limits.patience(.tls, .max), on: loop)
        } catch {
            throw AttemptFailure(phase: .tls, cause: error, consequence: .stop)
        }
        let tls: TLSConnection
        do throws(TLSError) {
            tls = try TLSConnection(
                context: context,
                identity: try destination.serverIdentity,
                transport: socket.transport,
                sessions: secrets.sessions,
                port: destination.port
            )
        } catch {
            throw .failed(.tls, .tls(error), .stop)
        }
        try await shakeHands(tls, over: socket)
        return tls
    }

    private func shakeHands(_ tls: TLSConnection, over socket: Socket) async throws(AttemptFailure) {
        let patience = limits.patience(.tls, limits.timeouts.tls)
        let deadline = patience.deadline(from: .now)
        while true {
            let point: WaitPoint
            switch tls.handshake() {
            case .done: return
            case .wantsRead: point = socket.input
            case .wantsWrite: point = socket.output
            case .failed(let error): throw .failed(.tls, .tls(error), error.consequence)
            }
            do throws(CallFailure) {
                try patience.check(await point.wait(until: deadline, on: loop))
            } catch {
                throw AttemptFailure(phase: .tls, cause: error)
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
