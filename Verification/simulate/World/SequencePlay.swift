internal import DirectCore
internal import DirectHTTP

/// A vector of several requests that is played beside the calls of a world: its caller, its servers and its
/// judge. A host of its own has all its names.
final class SequencePlay: @unchecked Sendable {
    let vector: SequenceVector
    /// The call, and the host.
    let number: Int
    let host: Int
    /// The nanoseconds after which a step is late: times in vectors are whole seconds, and take none.
    private static let latest: UInt64 = 900_000_000
    /// The step under way, when it was due, and how many of its requests have arrived.
    private var step = 0
    private var due: UInt64 = 0
    private var arrived = 0
    /// The last request that has arrived, and what it was.
    private var last: (request: RequestUnderWay, step: Int, arrival: SequenceVector.Arrival)?
    /// When the step under way began.
    private var begin: UInt64 = 0
    /// Whether requests that were sent twice may have been counted as two.
    private var isUnclear = false

    /// `nil` for a call without such a vector.
    init?(_ plan: Plan, call number: Int) {
        guard let vector = plan.calls[number].sequence.flatMap({ SequenceVector.all[$0] }) else { return nil }
        (self.vector, self.number, host) = (vector, number, plan.calls[number].host)
    }

    /// Whether a name, with or without a port, is one of the vector's.
    func has(_ name: String) -> Bool {
        let name = VectorPlace.plain(String(name.prefix { $0 != ":" }))
        return vector.places.contains { $0.host == name }
    }

    func isSecure(at port: Int) -> Bool { vector.places.contains { $0.port == port && $0.isSecure } }

    // MARK: The caller

    /// Makes the requests, each at its time, and judges what comes of them.
    func play(with client: HTTPClient, in world: World) async throws {
        for (place, step) in vector.steps.enumerated() {
            due = 1_000_000_000 + UInt64(step.time) * 1_000_000_000
            if world.kernel.now < due {
                await world.kernel.sleep(microseconds: Int((due - world.kernel.now + 999) / 1000))
            }
            (self.step, arrived, begin) = (place, 0, world.kernel.now)
            let judge = StepJudge(world: world, name: "\(vector.name), step \(place)", step: step)
            let outcome = await Result {
                try await answer(to: request(step, in: world), of: step, by: client)
            }
            guard world.kernel.now < due + Self.latest, !isUnclear else {
                return world.kernel.count("caller: vector given up")
            }
            try judge.judge(outcome, arrived: arrived)
        }
        world.kernel.count("caller: vector played")
    }

    private func request(_ step: SequenceVector.Step, in world: World) -> HTTPClient.Request {
        var request = HTTPClient.Request(HTTPMethod(stringLiteral: step.method), step.url)
        for field in step.fields { request.headers.add(field.name, field.value ?? "") }
        if let body = step.body {
            let bytes = Array(body.utf8)
            let pieces = AsyncStream { stream in
                stream.yield(bytes)
                stream.finish()
            }
            request.body = step.isSentOnce ? .stream(pieces) : .bytes(bytes)
            // The client writes this field itself.
            request.expectsContinue = request.headers["Expect"] != nil
            request.headers.remove("Expect")
        }
        if world.plan.client.resolving == .request { request.addresses = world.endpoints(ofHost: host) }
        return request
    }

    private func answer(
        to request: HTTPClient.Request,
        of step: SequenceVector.Step,
        by client: HTTPClient
    ) async throws -> StepResult {
        if step.events.isEmpty { return StepResult(try await client.fetch(request)) }
        let response = try await client.send(request)
        var result = StepResult(status: response.status.code)
        for try await event in response.body.events {
            result.events.append([event.type, event.data, event.id])
        }
        return result
    }

    // MARK: The servers

    /// Returns the answer to a request; `nil` if the vector has none.
    func answer(
        _ head: ReceivedHead,
        at place: VectorPlace,
        body: String,
        under request: RequestUnderWay,
        in world: World
    ) -> SequenceVector.Answer? {
        // What the client has given up says nothing about what it does now.
        guard request.connection.isOpenForClient, world.kernel.now < due + Self.latest else { return nil }
        if let challenge = vector.challenges[place.server], head.value(of: challenge.unless) == nil {
            return challenge.answer
        }
        let all = vector.steps[step].arrivals
        let line = "\(head.method) \(place)"
        func isMeant(_ arrival: SequenceVector.Arrival) -> Bool {
            arrival.place == place && arrival.method == head.method
        }
        let isExpected = all.indices.contains(arrived) && isMeant(all[arrived])
        let isRepeated = last.map { isMeant($0.arrival) } == true && mayBeRepeated(by: request, in: world)
        if isRepeated, isExpected, !vector.mayRepeat { isUnclear = true }
        guard isRepeated || isExpected else {
            // A response is not kept if a URL of its group of 256 changes meanwhile (`CacheKey.slot`).
            isUnclear = vector.keepsCache && world.plan.calls.contains { $0.mayChangeCaches }
            if isUnclear { return nil }
            world.fault("vector", "\(vector.name), step \(step): request \(arrived) is \(line)")
            return nil
        }
        if isExpected {
            last = (request, step, all[arrived])
            arrived += 1
        } else {
            last?.request = request
        }
        guard let (_, step, arrival) = last else { return nil }
        let judge = StepJudge(world: world, name: "\(vector.name), step \(step)", step: vector.steps[step])
        if !isUnclear { judge.judge(head, body: body, against: arrival) }
        return arrival.answer
    }

    /// Whether the client may not have got the last answer, or has sent its request twice. The loser of a
    /// hedge that ended the step before may still be on its way.
    private func mayBeRepeated(by request: RequestUnderWay, in world: World) -> Bool {
        guard let last else { return false }
        let isHedged = world.plan.client.hedging != nil
        guard last.step == step else {
            let sent = world.lastSends[request.connection.number] ?? .max
            return isHedged && sent <= begin + world.slack
        }
        let connection = last.request.connection
        return vector.mayRepeat || isHedged || connection.isBroken || !connection.isOpenForClient
    }
}

/// What a caller gets for one step of a vector.
private struct StepResult {
    let status: UInt16
    var url, use: String?
    var headers = HTTPHeaders()
    var body: [UInt8] = []
    var events: [[String]] = []
}

extension StepResult {
    init(_ response: HTTPClient.BufferedResponse) {
        self.init(status: response.status.code, url: response.url.text, use: response.cacheUse?.rawValue)
        (headers, body) = (response.headers, response.body)
    }
}

/// Judges one step of a vector: what servers get of it, and what its caller does.
private struct StepJudge {
    let world: World
    let name: String
    let step: SequenceVector.Step

    private func compare(_ what: String, _ got: String?, with expected: String?) {
        guard got != expected else { return }
        world.fault("vector", "\(name): \(what) is \(got ?? "missing"), not \(expected ?? "missing")")
    }

    func judge(_ head: ReceivedHead, body: String, against arrival: SequenceVector.Arrival) {
        world.kernel.count("judge: request of a vector")
        if let expected = arrival.body { compare("body", body, with: expected) }
        if arrival.digest != .null {
            let sent = head.value(of: arrival.place.isProxied ? "proxy-authorization" : "authorization") ?? ""
            compare(
                "digest",
                sent,
                with: DigestGate.answer(to: arrival.digest, method: head.method, in: sent)
            )
        }
        for field in arrival.fields {
            let values = head.fields.filter { $0.name == field.name.lowercased() }.map(\.value)
            let expected = field.value.map { String(decoding: ReplyVector.latin($0), as: UTF8.self) }
            compare(field.name, values.isEmpty ? nil : values.joined(separator: ", "), with: expected)
        }
    }

    /// Judges what the caller gets, and the number of requests. Throws an error that is not the vector's.
    func judge(_ outcome: Result<StepResult, any Error>, arrived: Int) throws {
        // A failure before all requests have arrived is another than the vector's.
        if step.fails, arrived < step.arrivals.count { _ = try outcome.get() }
        try judge(outcome)
        compare("number of requests", "\(arrived)", with: "\(step.arrivals.count)")
    }

    private func judge(_ outcome: Result<StepResult, any Error>) throws {
        let response: StepResult
        do { response = try outcome.get() } catch {
            if step.fails { return }
            guard let error = error as? HTTPError, case .redirect(let reason) = error.reason else {
                throw error
            }
            return compare("error", reason.word, with: step.fault)
        }
        world.kernel.count("judge: response to a request of a vector")
        compare("error", nil, with: step.fails ? "any" : step.fault)
        if let status = step.status { compare("status", "\(response.status)", with: "\(status)") }
        if let url = step.finalURL { compare("URL", response.url, with: url) }
        if let use = step.cacheUse { compare("use of the cache", response.use, with: use) }
        compare("events", "\(response.events)", with: "\(step.events)")
        if let content = step.content {
            let expected = String(decoding: ReplyVector.latin(content), as: UTF8.self)
            compare("content", String(decoding: response.body, as: UTF8.self), with: expected)
        }
        for field in step.responseFields {
            let values = response.headers.values(for: field.name)
            compare(field.name, values.isEmpty ? nil : values.joined(separator: ", "), with: field.value)
        }
    }
}

extension RedirectError {
    /// The word for it in vectors.
    fileprivate var word: String {
        switch self {
        case .tooMany(_, let isLoop): isLoop ? "loop" : "tooMany"
        case .severalLocations: "severalLocations"
        case .location: "badLocation"
        case .downgrade: "downgrade"
        case .bodyNotReplayable: "bodySentOnce"
        case .bodyAcrossOrigins: "bodyAcrossOrigins"
        default: "\(self)"
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
