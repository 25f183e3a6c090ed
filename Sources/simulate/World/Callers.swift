internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// The client's users: each call of the plan is made by a task of its own.
final class Callers: @unchecked Sendable {
    private let world: World
    private let plan: Plan
    private let kernel: Kernel
    private var client: HTTPClient?
    private var done = 0

    init(_ world: World) {
        self.world = world
        plan = world.plan
        kernel = world.kernel
        client = HTTPClient(ClientMaker(world).configuration)
    }

    var areDone: Bool { done == plan.calls.count }

    /// Starts the tasks. Each waits for its time.
    func begin() {
        for number in plan.calls.indices {
            let client = client
            let task: Task<Void, Never>
            if plan.calls[number].isOnLoop {
                task = Task(executorPreference: world.loop) { [self] in await make(number, with: client) }
            } else {
                task = Task { [self] in await make(number, with: client) }
            }
            guard let cancellation = plan.calls[number].cancellation else { continue }
            let time = UInt64(plan.calls[number].start + cancellation) * 1000
            kernel.after(nanoseconds: time) { [self] in
                guard !world.calls[number].isOver else { return }
                kernel.note("cancel", place: number)
                kernel.count("caller: cancellation")
                task.cancel()
            }
        }
        // The tasks hold the client from now on, or nobody does.
        if plan.client.isReleasedEarly { client = nil }
    }

    private func make(_ number: Int, with client: HTTPClient?) async {
        let call = plan.calls[number]
        guard let client else { return }
        await kernel.sleep(microseconds: call.start)
        kernel.note("call", place: number)
        kernel.explain("  call \(number) is \(call.kind) of \(url(number))")
        kernel.count("caller: \(call.kind)")
        let start = kernel.now
        let judge = CallJudge(world, number: number, start: start)
        do {
            if call.kind == .prewarm {
                try await client.prewarm(request(number), connections: call.count)
                judge.note("prewarmed")
            } else {
                try await judge.judge(fetch(number, with: client))
            }
        } catch {
            judge.judge(error)
        }
        world.calls[number].isOver = true
        done += 1
        if done == plan.calls.count {
            kernel.isClientReleased = true
            self.client = nil
        }
    }

    /// Sends the request and reads the response as the plan says.
    private func fetch(_ number: Int, with client: HTTPClient) async throws -> ReceivedResponse {
        let call = plan.calls[number]
        let request = request(number)
        if call.reading == .fetch {
            let response = try await client.fetch(request)
            return ReceivedResponse(response.status.code, response.headers, response.body, isWhole: true)
        }
        let response = try await client.send(request)
        var body: [UInt8] = []
        if call.reading != .none {
            for try await piece in response.body {
                body += piece
                if call.reading == .firstPiece { break }
                if call.reading == .slowly { await kernel.sleep(microseconds: 5000) }
            }
        }
        let isWhole = call.reading != .none && call.reading != .firstPiece
        return ReceivedResponse(response.status.code, response.headers, body, isWhole: isWhole)
    }

    private func url(_ number: Int) -> String { world.url(ofHost: plan.calls[number].host, call: number) }

    private func request(_ number: Int) -> HTTPClient.Request {
        let call = plan.calls[number]
        var request = HTTPClient.Request(method(of: call.kind), url(number), body: body(number))
        if call.carriesSecrets {
            request.headers.add("Authorization", "Bearer " + world.secret(ofHost: call.host))
            request.headers.add("X-Api-Key", world.secret(ofHost: call.host))
        }
        request.expectsContinue = call.expectsContinue && call.upload > 0
        if let total = call.total { request.timeouts.total = .after(.microseconds(total)) }
        if plan.client.resolving == .request { request.addresses = world.endpoints(ofHost: call.host) }
        return request
    }

    private func method(of kind: CallPlan.Kind) -> HTTPMethod {
        switch kind {
        case .get, .prewarm: .get
        case .head: .head
        case .post, .stream, .streamOfKnownLength: .post
        case .put: .put
        }
    }

    private func body(_ number: Int) -> RequestBody {
        let call = plan.calls[number]
        switch call.kind {
        case .get, .head, .prewarm: return .none
        case .post: return .bytes(Pattern.bytes(number, count: call.upload))
        case .stream, .streamOfKnownLength:
            let length = call.kind == .stream ? nil : UInt64(call.upload)
            return .stream(pieces(number), length: length)
        case .put:
            let pieces = pieces(number)
            return .replayable(length: UInt64(call.upload)) { pieces }
        }
    }

    private func pieces(_ number: Int) -> UploadPieces {
        let call = plan.calls[number]
        return UploadPieces(world: world, body: number, count: call.upload, pause: call.uploadPause)
    }
}

/// A response as the caller has it.
struct ReceivedResponse {
    let status: UInt16
    let headers: HTTPHeaders
    let body: [UInt8]
    /// Whether the caller has read all of the body.
    let isWhole: Bool

    init(_ status: UInt16, _ headers: HTTPHeaders, _ body: [UInt8], isWhole: Bool) {
        self.status = status
        self.headers = headers
        self.body = body
        self.isWhole = isWhole
    }
}

/// A body that is made piece by piece, with pauses.
struct UploadPieces: AsyncSequence, Sendable {
    let world: World
    let body: Int
    let count: Int
    let pause: Int

    func makeAsyncIterator() -> Iterator { Iterator(pieces: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let pieces: UploadPieces
        private var sent = 0

        fileprivate init(pieces: UploadPieces) {
            self.pieces = pieces
        }

        mutating func next() async throws -> [UInt8]? {
            guard sent < pieces.count else { return nil }
            if pieces.pause > 0 { await pieces.world.kernel.sleep(microseconds: pieces.pause) }
            let size = Swift.min(10_000, pieces.count - sent)
            let piece = Pattern.bytes(pieces.body, from: sent, count: size)
            sent += size
            return piece
        }
    }
}
