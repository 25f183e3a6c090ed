internal import DirectIO
internal import DirectTLS

/// A way to a server, made and checked.
struct Link: Sendable {
    var layers: LayerStack
    /// What was agreed with the server itself; `nil` for plain HTTP, also over TLS to a proxy.
    var tls: TLSFacts?
    /// The IPv6 address behind which a translator has the IPv4 one that was to be dialled.
    var translated: IPAddress?
    var connectTime: Duration
    var tlsTime: Duration?

    /// The last step of making it.
    var phase: HTTPError.Phase { tls == nil ? .connect : .tls }

    func close() {
        layers.close()
    }
}

/// Makes links: connects to one address, and shakes hands with who answers there.
struct LinkMaker: Sendable {
    let destination: Destination
    let limits: DialLimits
    let secrets: TLSSecrets
    let network: Network
    /// `nil` where the system is asked for no names.
    let translation: Translation?
    let loop: EventLoop

    /// A link to this address, whose certificate, if there is to be one, has been accepted.
    func link(to endpoint: Endpoint) async throws(AttemptFailure) -> Link {
        let start = loop.now
        let port = endpoint.port ?? destination.port
        var translated: IPAddress?
        let socket: Socket
        do throws(AttemptFailure) {
            socket = try await openSocket(endpoint.address, port)
        } catch {
            guard let translation, error.meansNoRoute, endpoint.address.unmapped.family == .v4 else {
                throw error
            }
            (socket, translated) = try await open(endpoint.address, port, by: translation, error)
        }
        var link = Link(
            layers: LayerStack(socket),
            translated: translated,
            connectTime: loop.now.since(start)
        )
        guard destination.isSecure else { return link }
        try await secure(&link)
        return link
    }

    /// Puts TLS on a link, or closes it.
    func secure(_ link: inout Link) async throws(AttemptFailure) {
        let start = loop.now
        do throws(AttemptFailure) {
            let tls = try await secure(link.layers.socket, link.layers.transport)
            link.tls = tls.facts
            link.layers.push(tls)
        } catch {
            link.close()
            throw error
        }
        link.tlsTime = loop.now.since(start)
    }

    /// There is no way to the IPv4 address: perhaps it has an IPv6 one on this network. Which one that is, the network
    /// says: the vetting that has seen the IPv4 address sees this one, too.
    private func open(
        _ address: IPAddress,
        _ port: UInt16,
        by translation: Translation,
        _ failure: AttemptFailure
    ) async throws(AttemptFailure) -> (Socket, IPAddress?) {
        let others: [IPAddress]
        do throws(CallFailure) {
            let patience = limits.patience(.connect, limits.timeouts.resolve)
            others = try await translation.translators.addresses(for: address, patience, on: loop)
        } catch {
            throw error.isTimeout ? failure : AttemptFailure(phase: .connect, cause: error)
        }
        var failure = failure
        for other in others {
            let endpoint = Endpoint(other, port: port)
            if let refusal = translation.vetting?.refusal(of: endpoint, for: destination) {
                failure = .failed(.connect, .refused(refusal))
                continue
            }
            do throws(AttemptFailure) {
                return (try await openSocket(other, port), other)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private func openSocket(_ address: IPAddress, _ port: UInt16) async throws(AttemptFailure) -> Socket {
        let socket: Socket
        do throws(CallFailure) {
            socket = try await network.shortage.overcome(limits) { () throws(CallFailure) in
                try network.socket(address, port, loop)
            }
        } catch {
            throw AttemptFailure(phase: .connect, cause: error)
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
    private func secure(_ socket: Socket, _ transport: TLSTransport) async throws(AttemptFailure)
        -> TLSConnection
    {
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
                transport: transport,
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
        let deadline = patience.deadline
        while true {
            let point: WaitPoint?
            switch tls.handshake() {
            case .done: return
            case .wantsRead: point = socket.input
            case .wantsWrite: point = socket.output
            case .again: point = nil
            case .failed(let error): throw .failed(.tls, .tls(error), error.consequence)
            }
            do throws(CallFailure) {
                if let point {
                    try patience.check(await point.wait(until: deadline, on: loop))
                } else {
                    try await patience.takeTurn(on: loop)
                }
            } catch {
                throw AttemptFailure(phase: .tls, cause: error)
            }
        }
    }
}

extension Network {
    fileprivate func socket(
        _ address: IPAddress,
        _ port: UInt16,
        _ loop: EventLoop
    ) throws(CallFailure) -> Socket {
        do throws(Socket.StartFailure) {
            return try connect(address, port, loop)
        } catch {
            switch error {
            case .address(let error): throw .failed(.connect, .address(error))
            case .system(let error): throw .failed(.connect, .system(error))
            }
        }
    }
}

extension Socket {
    fileprivate func waitUntilConnected(_ patience: Patience) async throws(CallFailure) {
        try patience.check(await output.wait(until: patience.deadline, on: loop))
        do throws(SystemError) {
            try finishConnecting()
        } catch {
            throw .failed(.connect, .system(error))
        }
    }
}
