internal import DirectCore
internal import DirectHTTP

/// The bytes that a probe exchanges with a server before TLS: the header of a load balancer, and the dialogue
/// in which a protocol changes to TLS.
///
/// Bytes are received one at a time, so that the dialogue takes nothing of what TLS has to read.
struct Preamble {
    let socket: Socket
    /// The end of the probe.
    let end: Instant

    /// Sends the header and runs the dialogue that the settings ask for.
    func run(_ settings: ProbeSettings, for probe: Probe) async throws(HandshakeFailure) {
        if let proxy = settings.proxy {
            try await openTunnel(proxy, to: Endpoint(probe.address, port: probe.port))
        }
        if let version = settings.proxyHeader {
            try await send(
                version.bytes(from: socket.localEndpoint, to: Endpoint(probe.address, port: probe.port))
            )
        }
        if let upgrade = settings.upgrade { try await run(upgrade, host: probe.target.name) }
    }

    /// Asks a proxy for a tunnel to an address (RFC 9110, section 9.3.6). It never gets the name.
    private func openTunnel(_ proxy: TunnelProxy, to place: Endpoint) async throws(HandshakeFailure) {
        let field = proxy.authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
        var head: [UInt8] = []
        do throws(HandshakeFailure) {
            try await send(Array("CONNECT \(place) HTTP/1.1\r\nHost: \(place)\r\n\(field)\r\n".utf8))
            while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                guard head.count < Self.mostBytes else {
                    throw .broken(.other, reason: "its answer has no end")
                }
                guard let byte = try await receive(upTo: 1, until: end) else { throw .silentTLS }
                head += byte
            }
        } catch {
            throw switch error {
            case .closed: .noTunnel(head.isEmpty ? "closed" : Words.lastLine(head))
            case .reset: .noTunnel("reset")
            case .broken(_, let reason): .noTunnel(reason)
            default: .noTunnel("no answer")
            }
        }
        let line = head.prefix { $0 != 0x0D && $0 != 0x0A }
        let words = line.split(separator: 0x20)
        let isTunnel = words.count > 1 && words[0].starts(with: "HTTP/1.".utf8) && words[1].first == 0x32
        guard isTunnel, words[1].count == 3 else { throw .noTunnel(Words.lastLine(Array(line))) }
    }

    private func run(_ upgrade: StartTLS, host: String) async throws(HandshakeFailure) {
        for (part, step) in upgrade.parts(host: host) {
            switch step {
            case .send(let bytes): try await send(bytes)
            case .receive(let answer):
                var received: [UInt8] = []
                reading: while true {
                    switch answer(received) {
                    case .complete: break reading
                    case .refused: throw .noUpgrade(upgrade.words(of: received), at: part)
                    case .incomplete: break
                    }
                    guard received.count < Self.mostBytes else { throw .noUpgrade(received, at: part) }
                    guard let byte = try await receive(upTo: 1, until: end) else { throw .silentTLS }
                    received += byte
                }
            }
        }
    }

    func send(_ bytes: [UInt8]) async throws(HandshakeFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let outcome = rest.withUnsafeBytes { bytes -> Socket.Outcome in
                guard let base = bytes.baseAddress else { return .moved(0) }
                return socket.send(base, count: bytes.count)
            }
            switch outcome {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wouldBlock:
                guard try await wait(at: socket.output, until: end) else { throw .silentTLS }
            case .endOfStream: throw .closed
            case .failed: throw .reset
            }
        }
    }

    /// Receives what has come; `nil` if nothing comes until this moment.
    func receive(upTo count: Int, until end: Instant) async throws(HandshakeFailure) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        while true {
            switch socket.receive(into: &buffer, count: count) {
            case .moved(let count): return Array(buffer.prefix(count))
            case .wouldBlock: guard try await wait(at: socket.input, until: end) else { return nil }
            case .endOfStream: throw .closed
            case .failed: throw .reset
            }
            if socket.loop.now >= self.end { throw .silentTLS }
        }
    }

    /// Whether something has happened there before this moment.
    private func wait(at point: WaitPoint, until end: Instant) async throws(HandshakeFailure) -> Bool {
        switch await point.wait(until: end, on: socket.loop) {
        case .ready: return true
        case .expired: return false
        case .cancelled: throw .cancelled
        }
    }

    /// The longest answer of a dialogue. Servers with many capabilities send a few kilobytes.
    private static let mostBytes = 64 << 10
}

/// The proxy of `--proxy`, which makes the connections.
struct TunnelProxy: Sendable {
    let endpoint: Endpoint
    /// The value of `Proxy-Authorization`.
    let authorization: String?

    /// - Parameter user: The name and the password, with a colon in between.
    init(_ endpoint: Endpoint, user: String?) {
        self.endpoint = endpoint
        authorization = user.map { "Basic " + Base64.encode(Array($0.utf8)) }
    }
}

/// The header with which a load balancer tells a server who the client is (the PROXY protocol of HAProxy).
enum ProxyHeader: Int, Sendable, CaseIterable {
    case one = 1
    case two = 2

    /// Returns the header for a connection. Without an address of its own the probe says so.
    func bytes(from source: Endpoint?, to destination: Endpoint) -> [UInt8] {
        guard let source, source.address.family == destination.address.family else {
            return self == .one ? Array("PROXY UNKNOWN\r\n".utf8) : Self.signature + [0x20, 0, 0, 0]
        }
        let isV4 = source.address.family == .v4
        let ports = [source.port ?? 0, destination.port ?? 0]
        guard self == .two else {
            let addresses = "\(source.address.withoutZone) \(destination.address.withoutZone)"
            return Array("PROXY TCP\(isV4 ? 4 : 6) \(addresses) \(ports[0]) \(ports[1])\r\n".utf8)
        }
        let body =
            source.address.bytes + destination.address.bytes
            + ports.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        return Self.signature + [0x21, isV4 ? 0x11 : 0x21, 0, UInt8(body.count)] + body
    }

    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
}
