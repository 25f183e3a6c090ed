internal import DirectCore

/// A server of a resolver's service: it judges what it is asked, and answers as the plan says.
final class ResolverServer: @unchecked Sendable {
    private let world: World
    private let connection: SimulatedConnection
    private let place: (service: Int, server: Int)
    private let service: ResolverPlan.Service
    private let server: ResolverPlan.Server

    /// `nil` if the plan has no such server.
    init?(_ world: World, connection: SimulatedConnection, at place: (service: Int, server: Int)) {
        guard let resolvers = world.plan.resolvers else { return nil }
        self.world = world
        self.connection = connection
        self.place = place
        service = resolvers.services[place.service]
        server = service.servers[place.server]
    }

    /// Serves a connection that has just been accepted.
    func serve() async {
        var wire: any Wire = SocketWire(connection)
        let certificate = Material.Certificate(of: server.fate)
        if service.isSecure {
            let name = Material.resolverName
            wire = TLSWire(over: wire, name: name, certificate, as: HostPlan(), in: world.kernel)
        }
        let http = HTTPWire(wire)
        do throws(WireError) {
            while let head = try await http.head() {
                if service.isSecure, certificate != .valid {
                    world.fault("proof", "a resolver that has proved nothing is asked for \(head.target)")
                }
                guard try await answer(head, on: http) else { return }
            }
            await http.wire.close(politely: true)
        } catch {
            await http.wire.close(politely: false)
        }
    }

    /// Answers one question. Returns false if the connection is over.
    private func answer(_ head: ReceivedHead, on http: HTTPWire) async throws(WireError) -> Bool {
        let judge = ResolverJudge(world: world)
        judge.judge(head, serverName: (http.wire as? TLSWire)?.serverName, isSecure: service.isSecure)
        let body = try await body(of: head, on: http)
        if service.format == .alibaba, head.target == "/100000/ss" { return try await sendList(on: http) }
        guard let question = ResolverQuestion(head, body: body, format: service.format),
            let host = judge.host(of: question)
        else {
            world.fault("resolver", "the question \(head.method) \(head.target)")
            throw .broken
        }
        world.kernel.count("resolver: question over HTTP")
        judge.judge(question, host: host)
        let manner = world.manner(for: question, about: host, at: place)
        await world.kernel.sleep(microseconds: server.delay)
        return try await reply(manner, to: question, host: host, on: http)
    }

    private func body(of head: ReceivedHead, on http: HTTPWire) async throws(WireError) -> [UInt8] {
        guard let length = head.length else { return [] }
        let reader = UploadReader(http, of: head)
        var body: [UInt8] = []
        while body.count < length { body += try await reader.next(length) }
        return body
    }

    private func reply(
        _ manner: ResolverPlan.Manner,
        to question: ResolverQuestion,
        host: Int,
        on http: HTTPWire
    ) async throws(WireError) -> Bool {
        var addresses = question.addresses(ofHost: host, in: world)
        let records = await world.records(for: question, ofHost: host, within: service.attemptLimit)
        var (name, code) = (question.name, records == nil ? 2 : 0)
        guard await waitsAndAnswers(manner, on: http) else { return false }
        switch manner {
        case .otherName: name = "other.test"
        case .noSuchName: (addresses, code) = ([], 3)
        case .noAddresses: addresses = []
        case .refuses: (addresses, code) = ([], 5)
        case .addsAddress: addresses = [World.strayAddress] + addresses
        default: break
        }
        let seconds = world.plan.resolvers?.lifetime ?? 0
        let (media, bytes) = question.answer(
            addresses,
            name: name,
            seconds: seconds,
            code: code,
            records: manner.isGood || manner == .isLate ? records ?? [] : [],
            format: service.format
        )
        if [.answers, .isLate, .addsAddress].contains(manner) || isTakenForOwn(manner) {
            // HTTPDNS has a time of its own, whatever HTTP says (RFC 8484, section 5.1, is for DNS).
            let freshness =
                [.dnsPod, .alibaba].contains(service.format) ? nil : world.plan.resolvers?.freshness
            world.noteAnswer(addresses, ofHost: host, seconds: min(seconds, freshness ?? .max))
        }
        return try await write(bytes, media: media, as: manner, on: http)
    }

    /// Waits as the manner says. Returns false if there is no answer then, and the connection is over.
    private func waitsAndAnswers(_ manner: ResolverPlan.Manner, on http: HTTPWire) async -> Bool {
        switch manner {
        case .isLate: await world.kernel.sleep(microseconds: service.attemptLimit * 2)
        case .isSilent: await world.kernel.sleep(microseconds: 100_000_000)
        default: break
        }
        guard [.isSilent, .closes].contains(manner) else { return true }
        await http.wire.close(politely: true)
        return false
    }

    /// Sends an answer, or what the manner makes of it. Returns false if the connection is over.
    private func write(
        _ answer: [UInt8],
        media usual: String,
        as manner: ResolverPlan.Manner,
        on http: HTTPWire
    ) async throws(WireError) -> Bool {
        var (media, bytes) = (usual, answer)
        if manner == .sendsPage { (media, bytes) = ("text/html", Array("<html>Log in</html>".utf8)) }
        if manner == .sendsNoise { bytes = Array("{\"\0,".utf8) + bytes.reversed() }
        let status = manner == .serverError ? 503 : manner == .redirects ? 302 : 200
        var text = "HTTP/1.1 \(status) Status\r\nContent-Type: \(media)\r\nContent-Length: \(bytes.count)\r\n"
        text += "Set-Cookie: id=\(World.resolverSecret); Path=/\r\n"
        if status == 302 { text += "Location: \(world.origin(0))/0\r\n" }
        if let freshness = world.plan.resolvers?.freshness {
            text += "Cache-Control: max-age=\(freshness)\r\n"
        }
        let whole = Array((text + "\r\n").utf8) + bytes
        try await http.wire.write(manner == .breaksOff ? Array(whole.dropLast(bytes.count / 2 + 1)) : whole)
        guard manner == .breaksOff else { return true }
        await http.wire.close(politely: false)
        return false
    }

    /// Answers the question for the servers of the service.
    private func sendList(on http: HTTPWire) async throws(WireError) -> Bool {
        world.kernel.note("list", place: place.service, amount: place.server)
        world.kernel.count("resolver: question for the servers")
        ResolverJudge(world: world).judgeListQuestion(toService: place.service)
        let count = world.listQuestions[connection.address, default: 0]
        world.listQuestions[connection.address, default: 0] += 1
        let manner = server.manners[count % server.manners.count]
        await world.kernel.sleep(microseconds: server.delay)
        guard await waitsAndAnswers(manner, on: http) else { return false }
        var all = service.servers.indices.map { World.resolverAddress($0, ofService: place.service) }
        switch manner {
        case .answers: world.listAnswers[place.service] = world.kernel.now
        case .addsAddress: all = [World.strayAddress] + all
        case .otherName: all.reverse()
        case .noSuchName, .noAddresses, .refuses: all = []
        default: break
        }
        let names = all.map { "\"\($0)\"" }.joined(separator: ",")
        let text = "{\"service_ip\":[\(names)]}"
        return try await write(Array(text.utf8), media: "application/json", as: manner, on: http)
    }

    /// Whether the format does not repeat the name of the question.
    private func isTakenForOwn(_ manner: ResolverPlan.Manner) -> Bool {
        manner == .otherName && service.format == .dnsPod
    }
}

extension World {
    /// Returns the data of the records that a question asks for, late if they are; `nil` for a failure.
    func records(for question: ResolverQuestion, ofHost host: Int, within limit: Int) async -> [[UInt8]]? {
        guard question.types == [ResolverQuestion.recordType] else { return [] }
        let bindings = plan.resolvers?.bindings(ofHost: host) ?? []
        for binding in bindings { kernel.count("resolver: record, \(binding)") }
        if bindings.contains(.late) { await kernel.sleep(microseconds: limit * 2) }
        if bindings.contains(.hint) {
            noteAnswer(currentAddresses(ofHost: host), ofHost: host, seconds: plan.resolvers?.lifetime ?? 0)
        }
        return question.records(ofHost: host, in: self)
    }

    /// Notes a question, and returns what the server does with it.
    func manner(for question: ResolverQuestion, about host: Int, at place: (service: Int, server: Int))
        -> ResolverPlan.Manner
    {
        kernel.note("question", place: host, amount: place.service * 10 + place.server)
        kernel.explain("  question for \(question.name), types \(question.types)")
        let manners = plan.resolvers?.services[place.service].servers[place.server].manners ?? []
        let address = Self.resolverAddress(place.server, ofService: place.service)
        let count = resolverQuestions[address, default: 0]
        resolverQuestions[address] = count + 1
        let manner = manners[min(count, manners.count - 1)]
        if manner != .answers { kernel.count("fault: resolver \(manner)") }
        if !manner.isGood { badAnswers.append(kernel.now) }
        return manner
    }

    /// What resolvers set as a cookie. It may be sent nowhere.
    static let resolverSecret = "secret-of-resolver"

    /// Accepts a connection to a resolver's server, or does with it what the plan says.
    func acceptResolver(_ connection: SimulatedConnection, at place: (service: Int, server: Int), port: Int)
        -> Kernel.Accepting
    {
        guard let service = plan.resolvers?.services[place.service], port == service.port else {
            fault("resolver", "port \(port) of a resolver was dialled")
            return .refused
        }
        let fate = service.servers[place.server].fate
        if fate != .works {
            badAnswers.append(kernel.now)
            kernel.count("fault: resolver at an address that \(fate)")
        }
        switch fate {
        case .refuses: return .refused
        case .silent: return .silent
        default: break
        }
        return .accepted { [self] connection in
            accepted[0].append(connection)
            switch fate {
            case .closes: kernel.serverCloses(connection)
            case .freezes: break
            case _ where service.format == .datagram:
                Task { [self] in await DNSServer(self, at: place)?.serve(connection) }
            default: Task { [self] in await ResolverServer(self, connection: connection, at: place)?.serve() }
            }
        }
    }
}
