internal import DirectCore

/// One connection of a host's server: it judges what arrives, and replies as the plan says.
final class OriginServer: @unchecked Sendable {
    let world: World
    let plan: Plan
    let kernel: Kernel
    let connection: SimulatedConnection
    /// The host that the connection belongs to; `nil` on the connection of a proxy that forwards requests.
    let ownHost: Int?
    private(set) var certificate = Material.Certificate.valid
    /// Whether it only answers plain requests for a secure host.
    private let onlyRedirects: Bool
    let isSecure: Bool
    var isPolite: Bool { ownHost.map { !plan.hosts[$0].isRude } ?? true }
    /// The number of requests so far.
    private var count = 0

    init(_ world: World, connection: SimulatedConnection, host: Int?, port: Int = 80) {
        onlyRedirects = host.map { world.onlyRedirects(port, of: $0) } ?? false
        isSecure = host.map { world.isSecure(port, of: $0) } ?? false
        self.world = world
        plan = world.plan
        kernel = world.kernel
        self.connection = connection
        ownHost = host
    }

    /// Serves a connection that has just been accepted.
    func serve(
        _ wire: any Wire,
        certificate: Material.Certificate,
        list: AddressPlan.CertificateList? = nil
    ) async {
        guard let ownHost else { return }
        self.certificate = certificate
        let host = plan.hosts[ownHost]
        var top = wire
        if isSecure {
            let name = world.name(ownHost)
            if let list { kernel.count("fault: certificates \(list)") }
            let tls = TLSWire(over: wire, name: name, certificate, list: list, as: host, in: kernel)
            if let staple = host.staple, let bytes = Material.shared.staples[ownHost]?[staple] {
                tls.staple(bytes)
            }
            top = tls
        }
        let isProven =
            !isSecure || certificate == .valid || plan.client.acceptsAnyCertificate == true
        await serve(HTTPWire(top), first: nil, isProven: isProven)
    }

    /// Serves requests until the end of the connection.
    func serve(_ http: HTTPWire, first: ReceivedHead?, isProven: Bool = true) async {
        do throws(WireError) {
            var head = first
            while true {
                if head == nil { head = try await nextHead(http) }
                guard let request = head else { break }
                head = nil
                if !isProven {
                    world.fault("proof", "a request was sent to a server that is not \(request.target)")
                }
                judgeName(http)
                guard try await answer(request, on: http) else { return }
            }
            await http.wire.close(politely: isPolite)
        } catch {
            await http.wire.close(politely: false)
        }
    }

    /// Returns the next head; `nil` at the end, or after the time that an idle connection is kept.
    private func nextHead(_ http: HTTPWire) async throws(WireError) -> ReceivedHead? {
        if let ownHost, let time = plan.hosts[ownHost].idleClose, count > 0 {
            let turn = count
            kernel.after(nanoseconds: UInt64(time) * 1000) { [self, connection] in
                guard count == turn, !http.isReadingRequest, connection.up.available == 0,
                    connection.isOpenForServer
                else { return }
                kernel.count("fault: idle connection closed")
                kernel.serverCloses(connection)
            }
        }
        if count > 0 { (connection.isIdle, connection.times.idle) = (true, kernel.now) }
        let head = try await http.head()
        connection.isIdle = false
        if connection.times.firstRequest == nil { connection.times.firstRequest = kernel.now }
        count += 1
        return head
    }

    /// Judges the server name: a name, and that of the host.
    private func judgeName(_ http: HTTPWire) {
        guard let ownHost, isSecure, let tls = http.wire as? TLSWire else { return }
        kernel.count("judge: server name")
        if tls.isResumed { kernel.count("server: resumed session") }
        if plan.client.isOldTLS, !tls.isOldVersion {
            world.fault("version", "\(world.name(ownHost)) got a newer version of TLS")
        }
        if tls.serverName != world.name(ownHost) {
            world.fault("name", "SNI is \(tls.serverName ?? "missing") at \(world.name(ownHost))")
        }
    }

    /// Answers a request. Returns false if the connection is over.
    private func answer(_ head: ReceivedHead, on http: HTTPWire) async throws(WireError) -> Bool {
        if head.value(of: "x-injected") != nil {
            world.fault("injection", "\(head.target) has a line of its own")
        }
        guard let (host, number) = destination(of: head) else { throw .broken }
        (connection.times.lastRequest, connection.sentSinceRequest) = (kernel.now, 0)
        world.calls[number].arrivals.append((connection, kernel.now))
        kernel.note("request", place: number, amount: connection.number)
        kernel.explain("  \(head.method) \(head.target) of call \(number) on connection \(connection.number)")
        kernel.count("server: request")
        let isPlain = onlyRedirects || ownHost == nil
        if isPlain, plan.hosts[host].isSecure {
            return try await redirect(head, host: host, call: number, on: http)
        }
        let proxy = ownHost == nil ? world.proxyGate : nil
        if let challenge = proxy?.challenge(for: head, target: head.target, call: number, on: connection) {
            return try await refuse(head, with: challenge, byProxy: true, on: http)
        }
        judge(head, host: host)
        RequestJudge(world: world, number: number, host: host).judge(head, on: connection)
        if let challenge = world.gate(ofHost: host)?.challenge(
            for: head,
            target: head.path,
            call: number,
            on: connection
        ) {
            return try await refuse(head, with: challenge, on: http)
        }
        PeerJudge(world: world, number: number, host: host)
            .judge(head, on: connection, (http.wire as? TLSWire).map { ($0.isOldVersion, $0.identity) })
        let index = world.calls[number].requests
        world.calls[number].requests += 1
        DownloadJudge(world, number: number)?.judge(head, isFirst: index == 0)
        let replies = plan.calls[number].replies
        let page = plan.calls[number].isPaged == true ? PageJudge(world, number, host).judge(head) : index
        let place = min(page, replies.count - 1)
        let reply = replies[place]
        world.calls[number].tries.append(Try(connection: connection, reply: reply, time: kernel.now))
        let request = RequestUnderWay(connection, reply: place)
        HedgeJudge(world: world, number: number).judgeArrival(head, of: request)
        defer { world.calls[number].underWay.removeAll { $0 === request } }
        if reply.status == 200, plan.calls[number].kind == .events {
            return try await sendEvents(to: head, of: request, call: number, on: http)
        }
        if reply.status == 200, head.value(of: "upgrade") != nil || head.method == "CONNECT" {
            try await converse(call: number, of: request, on: http)
            return false
        }
        if !reply.isEarly { try await readUpload(of: head, call: number, place: place, on: http) }
        if !reply.isEarly || !head.hasBody { note(head, call: number, place: place) }
        if reply.delay > 0 { await kernel.sleep(microseconds: reply.delay) }
        if reply.confirms == true, try await confirm(head, call: number, on: http) {
            request.isAnswered = true
            return true
        }
        let answered = AnsweredRequest(
            head: head,
            host: host,
            number: number,
            place: place,
            reply: reply,
            connection: connection,
            turn: count,
            certificate: certificate
        )
        request.isAnswered = true
        let goesOn = try await ReplySender(world, on: http, to: answered).send()
        if reply.isEarly, head.hasBody {
            guard reply.lateReading > 0 else {
                kernel.count("fault: upload not read")
                await http.wire.close(politely: isPolite && reply.ending != .breaksOff)
                return false
            }
            if goesOn { try await readUpload(of: head, call: number, place: place, on: http, isLate: true) }
        }
        if goesOn, reply.isLast, !head.hasBody || !reply.isEarly {
            kernel.count("judge: announced end")
            if try await http.head() != nil {
                world.fault("reuse", "a request follows the last response on connection \(connection.number)")
            }
            await http.wire.close(politely: isPolite)
            return false
        }
        guard goesOn else {
            // A flood ends its connection itself, when all of it has been sent.
            if ![.stalls, .floods].contains(reply.ending) || head.method == "HEAD" {
                await http.wire.close(politely: isPolite && reply.ending != .breaksOff)
            }
            return false
        }
        return true
    }

    /// Returns the host and the call that the request is for.
    private func destination(of head: ReceivedHead) -> (host: Int, number: Int)? {
        var target = head.target
        var named = head.value(of: "host") ?? ""
        if ownHost == nil {
            // The absolute form, for a proxy that forwards it.
            guard target.hasPrefix("http://"), let slash = target.dropFirst(7).firstIndex(of: "/") else {
                world.fault("proxy", "the target \(target)")
                return nil
            }
            let authority = String(target[target.index(target.startIndex, offsetBy: 7)..<slash])
            if authority != named { world.fault("name", "\(authority) is asked for, and Host is \(named)") }
            named = authority
            target = String(target[slash...])
        }
        if head.method == "CONNECT", let number = Int(head.value(of: "x-call") ?? "") {
            let port = ownHost.map(world.port) ?? 0
            if ownHost == nil || !["\(named)", "\(named):\(port)"].contains(target)
                || !target.hasSuffix(":\(port)")
            {
                world.fault("target", "CONNECT \(target), Host is \(named)")
            }
            return ownHost.map { ($0, number) }
        }
        let isShared = target.hasPrefix("/shared/") || target.hasPrefix("/file/")
        let digits =
            isShared ? head.value(of: "x-call") ?? "" : String(target.dropFirst().prefix { $0 != "?" })
        guard let number = Int(digits), plan.calls.indices.contains(number),
            !isShared || target == world.path(ofCall: number)
        else {
            world.fault("target", "the target \(target)")
            return nil
        }
        guard let host = ownHost ?? world.host(named: named) else {
            world.fault("name", "Host is \(named)")
            return nil
        }
        kernel.count("judge: Host")
        // A plain request for a secure host is for the usual port.
        if named != world.authority(host) {
            world.fault("name", "Host is \(named) at \(world.name(host))")
        }
        return (host, number)
    }

    /// Judges what must not be in a request, and the number of connections.
    func judge(_ head: ReceivedHead, host: Int) {
        kernel.count("judge: secrets")
        for (name, value) in head.fields {
            // Cookies are for all ports of their name (RFC 6265, section 8.5).
            let isForName = name == "cookie" && plan.hosts.contains { $0.sharesName == true }
            for other in plan.hosts.indices
            where other != host && value.reveals(world.secret(ofHost: other))
                && !(isForName && world.name(other) == world.name(host))
            {
                world.fault("secrets", "\(world.name(host)) got \(name): \(value)")
            }
            if value.reveals(World.resolverSecret) {
                world.fault("secrets", "\(world.name(host)) got the cookie of a resolver")
            }
            if ownHost != nil, name == "proxy-authorization" {
                world.fault("secrets", "\(world.name(host)) got credentials of the proxy")
            }
        }
        guard let ownHost, plan.client.proxy == .none, plan.keeping == nil else { return }
        if !world.served[ownHost].contains(where: { $0 === connection }) {
            world.served[ownHost].append(connection)
        }
        world.served[ownHost].removeAll { !$0.isOpenForClient }
        guard let limit = plan.client.perOrigin else { return }
        kernel.count("judge: connections of an origin")
        if world.served[ownHost].count > (plan.asksProgram ? 2 * limit : limit) {
            world.fault("limit", "\(world.served[ownHost].count) connections to \(world.name(ownHost))")
        }
    }
}
