internal import CSimulation
internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// The client's users: each call of the plan is made by a task of its own.
final class Callers: @unchecked Sendable {
    let world: World
    let plan: Plan
    let kernel: Kernel
    private var client: HTTPClient?
    private var done = 0
    /// Whether a program that keeps files has more to do.
    private var isRunning = false

    init(_ world: World) {
        self.world = world
        plan = world.plan
        kernel = world.kernel
        if plan.keeping == nil { client = world.newClient(ClientMaker(world).configuration) }
    }

    var areDone: Bool { done == plan.calls.count && !isRunning }

    /// Starts the tasks. Each waits for its time.
    func begin() {
        if let keeping = plan.keeping {
            isRunning = true
            Task {
                await makeRuns(keeping)
                isRunning = false
            }
            return
        }
        var numbers = plan.calls.indices[...]
        while let first = numbers.popFirst() {
            let more = numbers.prefix { plan.calls[$0].follows }
            numbers = numbers.dropFirst(more.count)
            _ = start([first] + more, with: client)
        }
        // From now on only the tasks hold the client, if there are any.
        if plan.client.isReleasedEarly { client = nil }
    }

    /// Starts the task of calls that follow each other. A cancellation ends the whole task.
    func start(_ numbers: [Int], with client: HTTPClient?) -> Task<Void, Never> {
        let work = { @Sendable [self] in
            for number in numbers { await make(number, with: client) }
        }
        let task =
            plan.calls[numbers[0]].isOnLoop
            ? Task(executorPreference: world.loop, operation: work) : Task(operation: work)
        guard let cancellation = plan.calls[numbers[0]].cancellation else { return task }
        let time = UInt64(plan.calls[numbers[0]].start + cancellation) * 1000
        kernel.after(nanoseconds: time) { [self] in
            guard let current = numbers.first(where: { !world.calls[$0].isOver }) else { return }
            kernel.note("cancel", place: current)
            kernel.count("caller: cancellation")
            for number in numbers where !world.calls[number].isOver {
                world.calls[number].cancelled = kernel.now
            }
            task.cancel()
        }
        return task
    }

    private func make(_ number: Int, with client: HTTPClient?) async {
        let call = plan.calls[number]
        guard var client else { return }
        if call.isAlone == true {
            let run = world.runs.last { $0.number == plan.run(ofCall: number) }
            client = world.newClient(ClientMaker(world, run: run, alone: number).configuration)
        }
        if !call.follows || call.start > 0 { await kernel.sleep(microseconds: call.start) }
        if call.follows, call.work > 0 {
            kernel.count("caller: work between calls")
            kernel.work(microseconds: call.work)
        }
        kernel.note("call", place: number)
        kernel.explain("  call \(number) is \(call.kind) of \(world.url(ofCall: number))")
        kernel.count("caller: \(call.kind)")
        if call.isVictim == true { kernel.count("caller: victim") }
        let judge = CallJudge(world: world, number: number, start: kernel.now)
        world.calls[number].start = kernel.now
        world.activeCalls += 1
        defer { HedgeJudge(world: world, number: number).judgeEnd(reply: world.calls[number].reply) }
        do {
            if call.kind == .prewarm {
                try await client.prewarm(request(number), connections: call.count)
                judge.note("prewarmed")
            } else if let download = DownloadJudge(world, number: number) {
                try await save(number, with: client, judge: download)
            } else if call.isPaged == true {
                try await PageJudge(world, number, call.host).follow(request(number), with: client)
            } else if call.kind == .events {
                try await EventJudge(world: world, number: number).follow(request(number), with: client)
            } else if let response = try await fetch(number, with: client) {
                judge.judge(response)
            }
        } catch {
            judge.judge(error)
            PeerJudge(world: world, number: number, host: call.host).judge(error)
            DownloadJudge(world, number: number)?.judge(error)
        }
        world.activeCalls -= 1
        world.calls[number].isOver = true
        world.calls[number].end = kernel.now
        done += 1
        if done == plan.calls.count {
            kernel.isClientReleased = true
            self.client = nil
        }
    }

    /// Sends the request and reads the response as the plan says. Returns `nil` if it has switched protocols.
    private func fetch(_ number: Int, with client: HTTPClient) async throws -> ReceivedResponse? {
        let call = plan.calls[number]
        let request = request(number)
        if call.reading == .fetch, call.kind != .raw, call.kind != .tunnel {
            return ReceivedResponse(try await client.fetch(request))
        }
        let response = try await client.send(request)
        if response.status.code == 101 || call.kind == .tunnel {
            try await RawStreamJudge(world: world, number: number).converse(response, sending: pieces(number))
            return nil
        }
        var body: [UInt8] = []
        if call.reading != .none {
            for try await piece in response.body {
                body += piece
                if call.reading == .firstPiece { break }
                if call.reading == .slowly { await pause(number, after: piece.count) }
            }
        }
        let isWhole = call.reading != .none && call.reading != .firstPiece
        return ReceivedResponse(
            status: response.status.code,
            headers: response.headers,
            body: body,
            isWhole: isWhole,
            transaction: response.transaction,
            retryStop: response.retryStop
        )
    }

    /// Pauses behind a piece, and counts the pauses that end after the call's deadline: what had arrived by
    /// then is still read, 256 KiB of it at most and what was in the client's buffers.
    private func pause(_ number: Int, after count: Int) async {
        let call = plan.calls[number]
        let end = call.total.map { (world.calls[number].start ?? 0) + UInt64($0) * 1000 } ?? .max
        var isLate: Bool { kernel.now > end }
        if isLate { world.calls[number].lateBytes += count }
        await kernel.sleep(microseconds: call.pauseOfReader)
        if isLate, world.calls[number].lateBytes <= 400_000 { world.calls[number].latePauses += 1 }
    }

    /// Downloads to a file.
    private func save(_ number: Int, with client: HTTPClient, judge: DownloadJudge) async throws {
        judge.begin()
        world.kernel.count("caller: download")
        let result = try await client.download(request(number), to: judge.path, options: judge.options) {
            [world] progress in world.calls[number].progress = Int(progress.bytes)
        }
        CallJudge(world: world, number: number, start: world.calls[number].start ?? 0).judge(result)
        judge.judge(result)
    }

    private func request(_ number: Int) -> HTTPClient.Request {
        let call = plan.calls[number]
        var url = world.url(ofCall: number)
        if plan.client.hasBase == true, call.host == 0 { url = world.path(ofCall: number) }
        var request = HTTPClient.Request(
            method(of: call.kind),
            call.injection?.url(url) ?? url,
            body: body(number)
        )
        inject(call.injection, into: &request)
        if call.resource != nil || call.download != nil { request.headers.add("X-Call", "\(number)") }
        if let variant = call.variant { request.headers.add("X-Variant", "\(variant)") }
        if call.carriesSecrets {
            request.headers.add("Authorization", "Bearer " + world.secret(ofHost: call.host))
            request.headers.add("X-Api-Key", world.secret(ofHost: call.host))
        }
        if plan.client.logsInPerRequest == true, plan.hosts[call.host].digest != nil {
            request.authenticator = ClientMaker(world).authenticator(ofHost: call.host)
        }
        if call.logsIn == true {
            request.authenticator = .basic(user: World.login.user, password: World.login.password)
        }
        setTransfers(of: &request, number)
        request.expectsContinue = call.expectsContinue && call.upload > 0
        if let total = call.total { request.timeouts.total = .after(.microseconds(total)) }
        if call.kind == .raw { request.upgrade = ["raw"] }
        if call.kind == .tunnel { request.headers.add("X-Call", "\(number)") }
        if let tls = call.tls { request.tls = ClientMaker(world).settings(tls, forHost: call.host) }
        if plan.client.resolving == .request { request.addresses = world.endpoints(ofHost: call.host) }
        return request
    }

    private func inject(_ injection: CallPlan.Injection?, into request: inout HTTPClient.Request) {
        let line = CallPlan.Injection.line
        switch injection {
        case .method: request.method = HTTPMethod(stringLiteral: "GET /x HTTP/1.1\(line)\r\nX:")
        case .fieldName: request.headers.add("X-A: 1\(line)\r\nX-B", "1")
        case .fieldValue: request.headers.add("X-A", "1\(line)")
        default: break
        }
    }

    private func setTransfers(of request: inout HTTPClient.Request, _ number: Int) {
        if let transfers = plan.client.transfers, transfers.isPerRequest {
            request.receivingRate = transfers.receivingRate.map { RateLimit(bytesPerSecond: $0) }
            request.sendingRate = transfers.sendingRate.map { RateLimit(bytesPerSecond: $0) }
        }
        guard plan.calls[number].watchesProgress == true else { return }
        request.onDownload = { [world] in world.calls[number].told.download = Int($0.bytes) }
        request.onUpload = { [world] in world.calls[number].told.upload = Int($0.bytes) }
    }

    private func method(of kind: CallPlan.Kind) -> HTTPMethod {
        switch kind {
        case .get, .prewarm, .raw, .events: .get
        case .head: .head
        case .tunnel: .connect
        case .post, .stream, .streamOfKnownLength, .file: .post
        case .put: .put
        }
    }

    private func body(_ number: Int) -> RequestBody {
        let call = plan.calls[number]
        switch call.kind {
        case .get, .head, .prewarm, .raw, .events, .tunnel: return .none
        case .file:
            let (path, file) = (String(cString: sim_folder()) + "upload\(number)", kernel.disk.makeFile())
            file.bytes = Pattern.bytes(number, count: call.upload)
            kernel.disk.set(file, at: path)
            return .file(path)
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
        return UploadPieces(
            world: world,
            body: number,
            count: call.upload,
            pause: call.uploadPause,
            isOneShot: call.kind.isOneShot
        )
    }
}
