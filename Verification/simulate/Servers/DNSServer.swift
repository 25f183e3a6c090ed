internal import DirectCore

/// A server of plain DNS: it judges the questions in datagrams and on streams, and answers by its plan.
struct DNSServer {
    private let world: World
    private let place: (service: Int, server: Int)
    private let service: ResolverPlan.Service
    private let server: ResolverPlan.Server

    /// `nil` if the plan has no such server.
    init?(_ world: World, at place: (service: Int, server: Int)) {
        guard let resolvers = world.plan.resolvers else { return nil }
        self.world = world
        self.place = place
        service = resolvers.services[place.service]
        server = service.servers[place.server]
    }

    // MARK: Datagrams

    /// Gets a datagram.
    func receive(_ bytes: [UInt8], on socket: SimulatedDatagramSocket) {
        switch server.fate {
        case .works: break
        case .refuses:
            world.kernel.count("fault: resolver at a port that refuses")
            return world.kernel.refuse(socket)
        default: return
        }
        guard var question = world.datagramQuestions[socket.number] ?? newQuestion(bytes, from: socket) else {
            return
        }
        if question.question.plain(bytes) != question.plain {
            world.fault("resolver", "another question on the same socket: \(bytes)")
        }
        question.arrivals += 1
        world.datagramQuestions[socket.number] = question
        let hasEDNS = bytes.count > question.question.end
        Task { [self, question] in await answer(question, hasEDNS: hasEDNS, on: socket) }
    }

    private func newQuestion(_ bytes: [UInt8], from socket: SimulatedDatagramSocket) -> DatagramQuestion? {
        let judge = ResolverJudge(world: world)
        guard let question = ResolverQuestion(message: bytes), let host = judge.host(of: question) else {
            world.fault("resolver", "the question \(bytes)")
            return nil
        }
        world.kernel.count("resolver: question in a datagram")
        // Without EDNS it is asked again, because the server did not know that.
        if bytes.count > question.end { judge.judge(question, host: host) }
        let manner = world.manner(for: question, about: host, at: place)
        return DatagramQuestion(question: question, host: host, manner: manner, bytes: bytes)
    }

    private func answer(_ question: DatagramQuestion, hasEDNS: Bool, on socket: SimulatedDatagramSocket) async
    {
        let kernel = world.kernel
        await kernel.sleep(microseconds: server.delay)
        switch question.manner {
        case .isSilent: return
        case .ignoresEDNS where hasEDNS: return
        case .losesFirst where question.arrivals == 1: return
        case .isLate: await kernel.sleep(microseconds: service.attemptLimit * 2)
        case .isTruncated, .closes, .breaksOff:
            world.truncatedQuestions[question.plain] = question.manner
            // What it contains does not count.
            kernel.answer(message(question, naming: [World.forgedAddress], flags: 0x83), to: socket)
            return
        case .wantsPlain where hasEDNS:
            return kernel.answer(message(question, naming: [], code: 1), to: socket)
        case .wantsPlainBriefly where hasEDNS:
            return kernel.answer(header(question, code: 1), to: socket)
        case .refusesBriefly: return kernel.answer(header(question, code: 5), to: socket)
        case .sendsNoise:
            let whole = message(question, naming: addresses(for: question))
            for noise in [Array(whole.dropLast()), Array(whole.prefix(9)), Array(whole.dropLast(5)), []] {
                kernel.answer(noise, to: socket)
            }
            return
        case .isForged:
            for forgery in forgeries(of: question) { kernel.answer(forgery, to: socket) }
        default: break
        }
        kernel.answer(await answer(question), to: socket)
    }

    /// Answers that others send: with another identifier, to another question, or malformed.
    private func forgeries(of question: DatagramQuestion) -> [[UInt8]] {
        let good = message(question, naming: [World.forgedAddress])
        var otherIdentifier = good
        otherIdentifier[1] ^= 0x55
        let otherName = message(question, naming: [World.forgedAddress], name: "other.test")
        var isQuery = good
        isQuery[2] &= 0x7F
        var other = good
        other[question.question.end - 3] ^= 29
        return [otherIdentifier, otherName, isQuery, other, Array(good.dropLast(2))]
    }

    // MARK: Messages

    /// The message that the manner of its server gives a question. An answer that may be used is noted.
    private func answer(_ question: DatagramQuestion) async -> [UInt8] {
        let limit = service.attemptLimit
        let records = await world.records(for: question.question, ofHost: question.host, within: limit)
        guard let records else { return message(question, naming: [], code: 2) }
        switch question.manner {
        case .serverError: return message(question, naming: [], code: 2)
        case .noSuchName: return message(question, naming: [], code: 3)
        case .refuses: return message(question, naming: [], code: 5)
        case .noAddresses: return message(question, naming: [])
        case .otherName: return message(question, naming: addresses(for: question), name: "other.test")
        default:
            let addresses = addresses(for: question)
            let seconds = world.plan.resolvers?.lifetime ?? 0
            world.noteAnswer(addresses, ofHost: question.host, seconds: seconds)
            return message(question, naming: addresses, records: records)
        }
    }

    /// The header of an answer, without the question.
    private func header(_ question: DatagramQuestion, code: UInt8) -> [UInt8] {
        question.bytes.prefix(2) + [0x81, 0x80 | code, 0, 0, 0, 0, 0, 0, 0, 0]
    }

    private func addresses(for question: DatagramQuestion) -> [IPAddress] {
        let addresses = question.question.addresses(ofHost: question.host, in: world)
        guard question.manner == .addsAddress else { return addresses }
        return [World.strayAddress] + addresses
    }

    private func message(
        _ question: DatagramQuestion,
        naming addresses: [IPAddress],
        name: String? = nil,
        flags: UInt8 = 0x81,
        code: Int = 0,
        records: [[UInt8]] = []
    ) -> [UInt8] {
        var bytes = question.question.answer(
            addresses,
            name: name ?? question.question.name,
            seconds: world.plan.resolvers?.lifetime ?? 0,
            code: code,
            records: records,
            format: .datagram
        ).bytes
        (bytes[0], bytes[1], bytes[2]) = (question.bytes[0], question.bytes[1], flags)
        return bytes
    }

    // MARK: Streams

    /// Serves a connection that has just been accepted.
    func serve(_ connection: SimulatedConnection) async {
        let wire = SocketWire(connection)
        do throws(WireError) {
            var received: [UInt8] = []
            while received.count < 2 || received.count < 2 + (Int(received[0]) << 8 | Int(received[1])) {
                let more = try await wire.read()
                guard !more.isEmpty else { return await wire.close(politely: true) }
                received += more
            }
            let bytes = Array(received.dropFirst(2))
            guard let question = ResolverQuestion(message: bytes),
                let manner = world.truncatedQuestions[question.plain(bytes)],
                let host = ResolverJudge(world: world).host(of: question)
            else {
                world.fault("resolver", "\(bytes) is asked over TCP, although its answer was not truncated")
                throw .broken
            }
            world.kernel.count("resolver: question over TCP")
            await world.kernel.sleep(microseconds: server.delay)
            if manner != .closes {
                let answer = await answer(
                    DatagramQuestion(question: question, host: host, manner: manner, bytes: bytes)
                )
                let whole = [UInt8(answer.count >> 8), UInt8(answer.count & 255)] + answer
                try await wire.write(manner == .breaksOff ? Array(whole.dropLast(whole.count / 2)) : whole)
            }
            // The client closes when it has its answer.
            if manner == .isTruncated { while try await !wire.read().isEmpty {} }
            await wire.close(politely: true)
        } catch {
            await wire.close(politely: false)
        }
    }
}

extension World {
    /// The address in answers that must not be believed.
    static let forgedAddress = address(198, 18, 0, 66)
}
