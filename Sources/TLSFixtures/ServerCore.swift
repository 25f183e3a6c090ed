#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The listener of a server, its accept thread, and the threads of its connections.
///
/// ``stop()`` runs once. It wakes the accept thread through a pipe and joins it, shuts down the open sockets,
/// which ends the blocking calls of the connection threads, joins those, and only then closes the listener.
final class ServerCore: @unchecked Sendable {
    /// The use of the port.
    enum Mode {
        /// Accepts connections with this behaviour.
        case serving(FixtureSecurity, FixtureBehaviour)
        /// Accepts connections, each with the behaviour that it asks for.
        case choosing(ChosenSites)
        /// The port is bound, but does not listen, so that connecting is refused.
        case refusing
        /// The accept queue is kept full, so that connecting hangs.
        case unresponsive
    }

    let address: String
    let port: UInt16
    let recorder = Recorder()
    /// Whether connections are accepted.
    let isAccepting: Bool

    private let choice: Choice
    private let listener: Int32
    /// A pipe whose reading end wakes the accept thread.
    private let wake: (reading: Int32, writing: Int32)
    /// Connections of the server itself that fill the queue of an unresponsive listener.
    private let fillers: [Int32]

    private let accepting = ThreadGroup()
    private let serving = ThreadGroup()
    private let lock = Lock()
    // The lock guards both of these.
    private var openSockets: [Int: Int32] = [:]
    private var isStopped = false

    /// Guarded by the lock, since pausing threads test it.
    private var stopping = false

    private enum Choice {
        case one(ChosenSites.Site)
        case byFirstBytes(ChosenSites)
    }

    init(_ manner: Mode, on address: String, port: UInt16) throws(FixtureError) {
        self.address = address
        choice =
            switch manner {
            case .serving(let security, let behaviour):
                .one(ChosenSites.Site(security: try TLSContext.of(security), behaviour: behaviour))
            case .choosing(let sites): .byFirstBytes(sites)
            case .refusing, .unresponsive: .one(ChosenSites.Site(security: nil, behaviour: .bytes([])))
            }
        listener = try Sockets.bound(to: address, port: port)
        self.port = Sockets.port(of: listener)
        var fillers: [Int32] = []
        var wake: (reading: Int32, writing: Int32) = (-1, -1)
        do throws(FixtureError) {
            wake = try Sockets.pipe()
            switch manner {
            case .serving, .choosing:
                try Sockets.startListening(listener, backlog: 1024)
            case .refusing: break
            case .unresponsive:
                try Sockets.startListening(listener, backlog: 0)
                fillers = try Sockets.fillQueue(of: address, port: self.port)
            }
        } catch {
            for descriptor in [listener, wake.reading, wake.writing] where descriptor >= 0 {
                close(descriptor)
            }
            throw error
        }
        self.wake = wake
        self.fillers = fillers
        switch manner {
        case .serving, .choosing: isAccepting = true
        case .refusing, .unresponsive: isAccepting = false
        }
        if isAccepting { try startAccepting() }
    }

    var isStopping: Bool { Bell.read { stopping } }

    /// Call this only with the lock held.
    var isStoppingInsideBell: Bool { stopping }

    /// Closes the listener and every connection and waits for their threads. Only the first call does
    /// anything.
    func stop() {
        let isFirst = lock.locked {
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        Bell.ring { stopping = true }
        var byte: UInt8 = 0
        _ = write(wake.writing, &byte, 1)
        accepting.waitForOthers()
        // No connection is accepted any more, so the open ones are all there are.
        lock.locked { openSockets.values.forEach { _ = shutdown($0, Int32(SHUT_RDWR)) } }
        serving.waitForOthers()
        // A child process that the host is just forking holds copies of the descriptors until it execs. With
        // close alone the port would go on listening for that moment.
        shutdown(listener, Int32(SHUT_RDWR))
        for descriptor in [listener, wake.reading, wake.writing] + fillers { close(descriptor) }
        recorder.close()
    }

    /// Waits until every connection that has been made is recorded: it makes one more, which is accepted
    /// behind them, and returns its number.
    func settle() async throws -> Int? {
        guard isAccepting else { return nil }
        let known = recorder.records.count
        let probe = try Sockets.connected(to: address, port: port)
        defer { close(probe) }
        let own = Sockets.port(of: probe)
        return try await recorder.wait(for: "the last connection", within: nil) { state in
            state.records.dropFirst(known).first { $0.clientPort == own }?.number
        }
    }

    private func startAccepting() throws(FixtureError) {
        // The client may disconnect between poll and accept. accept must not block until the next one.
        Sockets.setBlocking(listener, blocks: false)
        do {
            try accepting.start { [self] in acceptUntilStopped() }
        } catch {
            for descriptor in [listener, wake.reading, wake.writing] { close(descriptor) }
            throw error
        }
    }

    private func acceptUntilStopped() {
        while true {
            let ready = Sockets.waitReadable([listener, wake.reading])
            if ready[1] { return }
            while let socket = Sockets.acceptOne(listener) { serve(socket) }
            // If descriptors have run out, the listener stays readable, so wait a moment before trying again.
            if errno == EMFILE || errno == ENFILE {
                Bell.wait(atMost: .milliseconds(20)) { stopping }
            }
        }
    }

    /// Records the connection and starts its thread.
    private func serve(_ socket: Int32) {
        let peer = Sockets.peer(of: socket) ?? ("", 0)
        let number = recorder.open { number in
            ConnectionRecord(
                number: number,
                order: ArrivalOrder.next(),
                acceptedAt: .now,
                serverAddress: address,
                serverPort: port,
                clientAddress: peer.address,
                clientPort: peer.port
            )
        }
        lock.locked { openSockets[number] = socket }
        do {
            try serving.start { [self] in run(number, socket: socket) }
        } catch {
            lock.locked { openSockets[number] = nil }
            close(socket)
            recorder.end(number, end: .handlerFailed("\(error)"))
        }
    }

    /// Serves a connection on its thread, from the first byte to the closing of the socket.
    private func run(_ number: Int, socket: Int32) {
        let end: ConnectionEnd
        do {
            let (site, bytes) = try site(for: number, socket: socket)
            let wire = Wire(socket: socket, security: site.security, alreadyRead: bytes) {
                [unowned self] in isStopping
            }
            let connection = FixtureConnection(wire: wire, number: number, core: self)
            end = connection.run(site.behaviour.forConnection(number))
            connection.close(after: end)
        } catch {
            end = .handlerFailed("\(error)")
        }
        lock.locked { openSockets[number] = nil }
        close(socket)
        recorder.end(number, end: end)
    }

    /// Returns what a connection meets, and the bytes that were read to know it.
    private func site(for number: Int, socket: Int32) throws -> (ChosenSites.Site, [UInt8]) {
        switch choice {
        case .one(let site): return (site, [])
        case .byFirstBytes(let sites):
            let (ask, bytes) = FixtureAsk.read(from: socket)
            recorder.update(number) { $0.ask = ask }
            let site = try sites.site(for: ask)
            // A behaviour that answers TLS itself goes on after the ClientHello.
            return (site, site.security == nil && ask != .plain ? [] : bytes)
        }
    }
}
