package import DirectCore
package import DirectIO
package import DirectTLS

/// An established transport to a server, verified if it uses TLS.
struct EstablishedTransport: Sendable {
    var layers: LayerStack
    /// The first bytes of the server, if they came with the reply of its proxy.
    var early: [UInt8] = []
    /// The result of the TLS handshake with the server itself; `nil` for plain HTTP, also over TLS to a
    /// proxy.
    var tls: TLSFacts?
    /// The IPv6 address that was dialled in place of an IPv4 one, behind a NAT64 translator.
    var translated: IPAddress?
    var connectTime: Duration
    var tlsTime: Duration?

    /// The last phase of establishing it.
    var phase: TransportError.Phase { tls == nil ? .connect : .tls }

    func close() {
        layers.close()
    }
}

/// Connects to one address of a leg's party, and performs the TLS handshake with the server there.
struct Connector: Sendable {
    let leg: Leg
    let journey: Journey
    /// The way to translated addresses; `nil` if the system's resolver must not be asked for names.
    let translation: Translation?
    /// What TLS needs; `nil` if the destination uses none.
    private let security: Security?
    /// What is done about Encrypted Client Hello; `nil` if that was not asked for.
    var ech: ECHOffer?

    var destination: Destination { leg.destination }
    var profile: ConnectionProfile { leg.profile }
    var loop: EventLoop { journey.loop }

    private struct Security {
        let context: TLSContext
        /// The identity that the server has to prove.
        let identity: ServerIdentity
        /// The time for loading the settings, which counts as time of TLS.
        let loadTime: Duration
    }

    /// Makes a connector. The settings of TLS are loaded here: those that cannot be used are an error before
    /// anything is connected.
    init(_ leg: Leg, on journey: Journey) async throws(DialFailure) {
        (self.leg, self.journey) = (leg, journey)
        let (dialler, loop) = (journey.dialler, journey.loop)
        let mayTranslate = dialler.settings.mayAskSystem && leg.mayAskSystem
        translation =
            mayTranslate
            ? Translation(translators: dialler.network.translators, vetting: dialler.vetting(of: leg)) : nil
        guard leg.destination.isSecure else {
            security = nil
            return
        }
        let start = loop.now
        // Not part of the handshake, whose peer is not to blame for a disk.
        let deadline = journey.deadline(.tls, stall: .loading)
        do throws(TransportError) {
            security = Security(
                context: try await leg.profile.tls.context(deadline, on: loop, log: journey.log),
                identity: ServerIdentity(of: leg.profile.identity?.verified ?? leg.destination.host),
                loadTime: loop.now.since(start)
            )
        } catch {
            throw DialFailure(cause: error)
        }
    }

    /// Connects to this address. If the destination uses TLS, its certificate has been accepted on return.
    func connect(to endpoint: Endpoint) async throws(AttemptFailure) -> EstablishedTransport {
        let start = loop.now
        let port = endpoint.port ?? destination.port
        var translated: IPAddress?
        let socket: Socket
        do throws(AttemptFailure) {
            socket = try await openSocket(endpoint.address, port: port)
        } catch {
            guard let translation, error.meansNoRoute, endpoint.address.unmapped.family == .v4 else {
                throw error
            }
            (socket, translated) = try await open(
                endpoint.address,
                port: port,
                by: translation,
                failure: error
            )
        }
        return try await established(socket, translated: translated, from: start)
    }

    /// Connects to a Unix domain socket, as to an address.
    func connect(to path: UnixSocketPath) async throws(AttemptFailure) -> EstablishedTransport {
        let start = loop.now
        let socket = try await openSocket(to: path)
        return try await established(socket, translated: nil, from: start)
    }

    /// Opens a socket to a Unix domain socket. While the server's queue is full, tries again until the time
    /// to connect is over: at an address the system itself would do so.
    private func openSocket(to path: UnixSocketPath) async throws(AttemptFailure) -> Socket {
        let deadline = journey.deadline(.connect)
        while true {
            do throws(AttemptFailure) {
                return try await openSocket(of: .path(path))
            } catch {
                guard error.meansFullBacklog else { throw error }
            }
            let next = loop.now.advanced(byNanoseconds: Self.nanosecondsBetweenAttempts)
            do throws(CancellationError) {
                try await loop.sleep(until: next.atMost(deadline.instant))
            } catch {
                throw AttemptFailure(phase: .connect, cause: .cancelled)
            }
            guard loop.now < deadline.instant else {
                throw AttemptFailure(phase: .connect, cause: deadline.timeout)
            }
        }
    }

    private static let nanosecondsBetweenAttempts: UInt64 = 10_000_000

    /// Makes a transport of a socket that is connected, with TLS if the destination uses it.
    private func established(
        _ socket: Socket,
        translated: IPAddress?,
        from start: Instant
    ) async throws(AttemptFailure) -> EstablishedTransport {
        var established = EstablishedTransport(
            layers: LayerStack(socket),
            translated: translated,
            connectTime: loop.now.since(start)
        )
        try await secure(&established)
        return established
    }

    /// Puts TLS on a transport, if the destination uses it. Closes the transport if this fails.
    func secure(_ established: inout EstablishedTransport) async throws(AttemptFailure) {
        guard let security else { return }
        let start = loop.now
        do throws(AttemptFailure) {
            let (socket, transport) = (established.layers.socket, established.layers.transport)
            let tls = try await secure(socket, transport: transport, security)
            established.tls = tls.facts
            established.layers.push(tls)
        } catch {
            established.close()
            throw error
        }
        established.tlsTime = security.loadTime + loop.now.since(start)
    }

    /// Connects to the IPv6 form of an IPv4 address to which there is no route. The network's NAT64 prefix
    /// determines that address, so the vetting that has seen the IPv4 address checks this one, too.
    private func open(
        _ address: IPAddress,
        port: UInt16,
        by translation: Translation,
        failure: AttemptFailure
    ) async throws(AttemptFailure) -> (Socket, IPAddress?) {
        let others: [IPAddress]
        do throws(TransportError) {
            let deadline = journey.deadline(.connect, stall: journey.limit.timeouts.resolve)
            others = try await translation.translators.addresses(for: address, deadline, on: loop)
        } catch {
            throw error.isTimeout ? failure : AttemptFailure(phase: .connect, cause: error)
        }
        var failure = failure
        for other in others {
            let endpoint = Endpoint(other, port: port)
            if let refusal = translation.vetting?.refusal(of: endpoint, for: destination) {
                failure = .failed(.connect, reason: .refused(refusal))
                continue
            }
            do throws(AttemptFailure) {
                return (try await openSocket(other, port: port), other)
            } catch {
                // A failure to leave this machine for IPv6 as well says less than a missing route.
                if error.concernsAddress || error.isDescriptorShortage { failure = error }
            }
        }
        throw failure
    }

    /// Opens a socket to an address, and waits until it is connected.
    private func openSocket(_ address: IPAddress, port: UInt16) async throws(AttemptFailure) -> Socket {
        let socket = try await openSocket(of: .address(address, port: port))
        // An attempt at a port of this machine without a listener may get the same port for its own side, and
        // is then connected to itself (RFC 9293, section 3.5, simultaneous open). Ports below 1024 are never
        // chosen for that.
        if port >= 1024, let local = socket.localEndpoint, local.port == port,
            local.address == address.reached
        {
            socket.close()
            throw .failed(.connect, reason: .system(.connectedToItself))
        }
        return socket
    }

    private enum Peer {
        case address(IPAddress, port: UInt16)
        case path(UnixSocketPath)
    }

    /// Opens a socket, waiting for a descriptor if necessary, and waits until it is connected.
    @inline(never)
    private func openSocket(of peer: Peer) async throws(AttemptFailure) -> Socket {
        let network = journey.dialler.network
        let socket: Socket
        do throws(TransportError) {
            socket = try await network.shortage.openSocket(journey.room, on: loop) {
                () throws(TransportError) in
                switch peer {
                case .address(let address, let port):
                    try network.socket(to: address, port: port, options: leg.options, on: loop)
                case .path(let path): try network.socket(to: path, on: loop)
                }
            }
        } catch {
            throw AttemptFailure(phase: .connect, cause: error)
        }
        do throws(TransportError) {
            try await socket.waitUntilConnected(journey.deadline(.connect))
        } catch {
            socket.close()
            throw AttemptFailure(phase: .connect, cause: error)
        }
        return socket
    }

    /// Performs the handshake. No byte of a request is written before this has returned: by then the
    /// certificate has been accepted.
    private func secure(
        _ socket: Socket,
        transport: any TLSTransport,
        _ security: Security
    ) async throws(AttemptFailure) -> TLSConnection {
        let tls: TLSConnection
        do throws(TLSError) {
            tls = try TLSConnection(
                context: security.context,
                identity: security.identity,
                names: HelloNames(serverName: serverName, ech: ech),
                transport: transport,
                sessions: profile.tls.sessions,
                port: destination.port
            )
        } catch {
            throw .failed(.tls, reason: .tls(error), consequence: .stop)
        }
        do throws(TransportError) {
            let deadline = journey.deadline(.tls)
            try await tls.performHandshake(over: socket, deadline)
        } catch {
            if error.isTimeout { tls.dropOfferedSessions() }
            let consequence = error.consequence
            throw AttemptFailure(
                phase: .tls,
                cause: error,
                consequence: consequence,
                certificates: consequence == .onCertificateMismatch ? tls.presentedChain : nil
            )
        }
        return tls
    }
}

extension AddressVetting {
    /// Returns why the address is refused, or `nil` if it is allowed.
    package func refusal(of endpoint: Endpoint, for destination: Destination) -> AddressRefusal? {
        refusal(of: endpoint.address, for: destination.host, port: endpoint.port ?? destination.port)
    }
}

extension TransportError {
    /// The consequence of a failed handshake for the other addresses.
    fileprivate var consequence: AttemptFailure.Consequence {
        if case .failed(_, .tls(let error)) = self { error.consequence } else { .tryNext }
    }
}

extension Socket {
    /// Waits until the connection is established or has failed.
    package func waitUntilConnected(_ deadline: Deadline) async throws(TransportError) {
        try deadline.check(await output.wait(until: deadline.instant, on: loop))
        do throws(SystemError) {
            try finishConnecting()
        } catch {
            throw .failed(.connect, .system(error))
        }
    }
}

extension TLSLayer {
    /// Performs the handshake over the socket.
    package func performHandshake(over socket: Socket, _ deadline: Deadline) async throws(TransportError) {
        while true {
            let point: WaitPoint
            switch handshake() {
            case .moved: return
            case .wantsRead: point = socket.input
            case .wantsWrite: point = socket.output
            case .again:
                try await deadline.yield(on: socket.loop)
                continue
            case .wantsVerdict:
                try await trial?.hold(until: deadline, on: socket.loop)
                continue
            case .failed(let error): throw .failed(.tls, .tls(error))
            case .ended: throw .failed(.tls, .tls(.truncated))
            }
            try deadline.check(await point.wait(until: deadline.instant, on: socket.loop))
        }
    }
}

extension ChainTrial {
    /// Asks the judge, off the loop. It cannot be interrupted; a verdict after the deadline or after
    /// cancellation is dropped.
    package func hold(until deadline: Deadline, on loop: EventLoop) async throws(TransportError) {
        do throws(BlockingWork.Abandoned) {
            try await chainTrials.run(until: deadline.instant, on: loop) { self.hold() }
        } catch {
            throw deadline.failure(error)
        }
    }
}

/// The judge may wait for another process, which may hang.
private let chainTrials = BlockingWork(threadLimit: 4, most: 64, patience: 1_000_000_000)

extension IPAddress {
    /// The address that a connection to this one reaches: `0.0.0.0` and `::` reach this machine.
    package var reached: IPAddress {
        guard self == IPAddress(family, high: 0, low: 0) else { return withoutZone.unmapped }
        return family == .v4 ? IPAddress(.v4, high: 0, low: 0x7F00_0001) : IPAddress(.v6, high: 0, low: 1)
    }
}
