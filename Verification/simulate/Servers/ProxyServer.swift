internal import DirectCore

/// The world's proxy: by CONNECT or SOCKS it passes connections on to the hosts; plain requests it forwards.
///
/// It does not connect anywhere itself: behind a tunnel the host's server takes over the same stream.
final class ProxyServer: @unchecked Sendable {
    private let world: World
    private let connection: SimulatedConnection

    init(_ world: World, connection: SimulatedConnection) {
        self.world = world
        self.connection = connection
    }

    func serve(_ socket: SocketWire, port: Int) async {
        do throws(WireError) {
            var wire: any Wire = socket
            if port == 3129 {
                wire = TLSWire(
                    over: socket,
                    name: Material.proxyName,
                    world.plan.peers?.hasWrongProxy == true ? .otherName : .valid,
                    as: HostPlan(),
                    in: world.kernel
                )
            }
            let http = HTTPWire(wire)
            if port == 1080 { try await serveSOCKS(http) } else { try await serveHTTP(http) }
        } catch {
            await socket.close(politely: false)
        }
    }

    private func serveHTTP(_ http: HTTPWire) async throws(WireError) {
        guard let head = try await http.head() else { return await http.wire.close(politely: true) }
        try await serve(head, on: http)
    }

    private func serve(_ head: ReceivedHead, on http: HTTPWire) async throws(WireError) {
        if world.plan.peers?.hasWrongProxy == true, world.plan.client.acceptsAnyCertificate != true {
            world.kernel.count("judge: proof of a proxy")
            world.fault("proof", "\(head.method) was sent to a proxy that has not proved its name")
        }
        guard head.method == "CONNECT" else {
            connection.times.tunnel = world.kernel.now
            // A plain request, and those that follow it: they may be for different hosts.
            let server = OriginServer(world, connection: connection, host: nil)
            return await server.serve(http, first: head)
        }
        if let challenge = world.proxyGate?.challenge(for: head, target: head.target, call: 0, on: connection)
        {
            let text = "HTTP/1.1 407 Log in\r\nProxy-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n"
            try await reply(Array(text.utf8), on: http)
            connection.times.tunnel = world.kernel.now
            return try await serveHTTP(http)
        }
        checkSecrets(head)
        world.kernel.count("proxy: CONNECT")
        let port = head.target.split(separator: ":").last.flatMap { Int($0) } ?? 0
        guard head.target == head.value(of: "host"), let host = host(of: head.target) else {
            world.fault("proxy", "CONNECT \(head.target)")
            throw .broken
        }
        if let status = world.plan.peers?.refusal { return try await refuse(status, on: http) }
        // Framing means nothing here (RFC 9112, section 6.3), and interim responses may come first.
        let framing = ["", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"][connection.number % 3]
        let interim = connection.number % 4 == 0 ? "HTTP/1.1 103 Soon\r\nX: y\r\n\r\n" : ""
        try await reply(Array("\(interim)HTTP/1.1 200 Connected\r\n\(framing)\r\n".utf8), on: http)
        connection.times.tunnel = world.kernel.now
        await OriginServer(world, connection: connection, host: host, port: port)
            .serve(http.wire, certificate: .valid)
    }

    /// Refuses a tunnel. Nothing may be sent into it, and no other request may follow but a better CONNECT.
    private func refuse(_ status: Int, on http: HTTPWire) async throws(WireError) {
        let more = status == 407 ? "Proxy-Authenticate: Basic realm=\"proxy\"\r\n" : ""
        try await reply(Array("HTTP/1.1 \(status) No\r\n\(more)Content-Length: 0\r\n\r\n".utf8), on: http)
        connection.times.tunnel = world.kernel.now
        world.kernel.count("judge: refused tunnel")
        guard status != 204 else {
            // Any success opens a tunnel (RFC 9110, section 9.3.6), here to a server that is silent.
            return await http.wire.close(politely: true)
        }
        if try await !http.bytes(1).isEmpty { world.fault("proxy", "bytes for a tunnel that was refused") }
        await http.wire.close(politely: true)
    }

    private func checkSecrets(_ head: ReceivedHead) {
        let text = String(decoding: head.bytes, as: UTF8.self)
        if text.reveals("secret-of-host") { world.fault("secrets", "the proxy got: \(text)") }
        guard world.proxyGate == nil else { return }
        if (head.value(of: "proxy-authorization") != nil) != world.plan.client.hasProxyCredentials {
            world.fault("proxy", "credentials of the proxy: \(text)")
        }
    }

    /// Returns the host of `name:port`.
    private func host(of authority: String) -> Int? {
        guard let colon = authority.lastIndex(of: ":") else { return nil }
        return host(
            named: String(authority[..<colon]),
            port: String(authority[authority.index(after: colon)...])
        )
    }

    private func host(named name: String, port: String) -> Int? {
        let plain = name.hasPrefix("[") ? String(name.dropFirst().dropLast()) : name
        guard let port = Int(port) else { return nil }
        let host =
            IPAddress(plain).flatMap { world.place(of: $0, port: port)?.host }
            ?? world.host(named: "\(plain):\(port)") ?? world.host(named: plain)
        guard let host, world.serves(port, of: host) else { return nil }
        if world.plan.peers?.exceptions?.covers(host) == true {
            world.fault("proxy", "\(name) is an exception")
        }
        judgeForm(isAddress: IPAddress(plain) != nil, name, host: host)
        return host
    }

    /// The proxy is asked for the address that the client has chosen, and for the name where it has none: a
    /// proxy that looks the name up goes wherever its own resolver leads.
    private func judgeForm(isAddress: Bool, _ name: String, host: Int) {
        let plan = world.plan
        world.kernel.count("judge: name or address for a proxy")
        let client = plan.client
        let isByClient =
            client.proxy == .socks || client.proxy == .socksLocal || client.resolvesForProxy == true
        // A request's own addresses are those of its first host only.
        guard isByClient || client.resolving != .request else { return }
        let isChosen = isByClient || client.resolving == .map && plan.resolvers == nil
        if isAddress != isChosen { world.fault("proxy", "\(name) is asked for, chosen here: \(isChosen)") }
    }

    private func serveSOCKS(_ http: HTTPWire) async throws(WireError) {
        let methods = try await take(Int(try await take(2, from: http)[1]), from: http)
        let hasCredentials = world.plan.client.hasProxyCredentials
        let method: UInt8 = hasCredentials ? 2 : 0
        guard methods.contains(method) else {
            world.fault("proxy", "SOCKS methods \(methods)")
            throw .broken
        }
        try await reply([5, method], on: http)
        if hasCredentials {
            _ = try await take(Int(try await take(2, from: http)[1]), from: http)
            let password = try await take(Int(try await take(1, from: http)[0]), from: http)
            let isRight = String(decoding: password, as: UTF8.self) == World.proxySecret
            try await reply([1, isRight ? 0 : 1], on: http)
            guard isRight else { throw .broken }
        }
        let kind = try await take(4, from: http)[3]
        let name: String
        switch kind {
        case 1, 4:
            let address = IPAddress(bytes: try await take(kind == 1 ? 4 : 16, from: http))
            name = address.map { "\($0)" } ?? ""
        default:
            name = String(
                decoding: try await take(Int(try await take(1, from: http)[0]), from: http),
                as: UTF8.self
            )
        }
        let port = try await take(2, from: http)
        let number = Int(port[0]) << 8 | Int(port[1])
        guard let host = host(named: name, port: "\(number)") else {
            world.fault("proxy", "SOCKS to \(name)")
            throw .broken
        }
        world.kernel.count("proxy: SOCKS")
        // The address that it has connected from may have any of the three forms (RFC 1928, section 6).
        let bound = [[1, 0, 0, 0, 0], [4] + [UInt8](repeating: 0, count: 16), [3, 2, 0x61, 0x62]]
        try await reply([5, 0, 0] + bound[connection.number % 3] + [0, 0], on: http)
        connection.times.tunnel = world.kernel.now
        await OriginServer(world, connection: connection, host: host, port: number)
            .serve(http.wire, certificate: .valid)
    }

    /// Sends a reply of the proxy itself, as slowly as the plan says.
    private func reply(_ bytes: [UInt8], on http: HTTPWire) async throws(WireError) {
        guard let pause = world.plan.client.proxyPause else { return try await http.wire.write(bytes) }
        world.kernel.count("fault: slow proxy")
        for byte in bytes {
            await world.kernel.sleep(microseconds: pause)
            try await http.wire.write([byte])
        }
    }

    private func take(_ count: Int, from http: HTTPWire) async throws(WireError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try await http.bytes(count - bytes.count)
            if more.isEmpty { throw .broken }
            bytes += more
        }
        return bytes
    }
}
