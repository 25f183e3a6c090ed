internal import DirectHTTP

/// The caller of a connection that has switched protocols, and its judge: all bytes arrive, in both
/// directions, and an end that is not the server's is an error.
struct RawStreamJudge {
    let world: World
    let number: Int

    func converse(_ response: HTTPClient.Response, sending pieces: UploadPieces) async throws {
        guard let place = response.headers["X-Reply"].flatMap({ Int($0) }) else {
            return world.fault("response", "call \(number) got a response that no server has sent")
        }
        let stream = try response.takeStream()
        async let writing: Void = write(pieces, to: stream)
        var body: [UInt8] = []
        while let piece = try await stream.read(upTo: 10_000, timeout: .seconds(60)) { body += piece }
        try await writing
        world.kernel.count("judge: raw stream")
        // Both ends of the upload are compared at the end of the world.
        world.calls[number].reply = place
        // Without a close_notify, anybody on the way may have cut the stream.
        let host = world.host(named: "\(response.url.host)")
        if response.transaction?.tls != nil, host.map({ world.plan.hosts[$0].isRude }) == true {
            world.fault("raw stream", "call \(number) has taken a cut for the end")
        }
        let size = world.plan.calls[number].replies[place].size
        if body.count != size || !Pattern.matches(body, body: Pattern.reply(place, ofCall: number), from: 0) {
            world.fault("raw stream", "call \(number) got \(body.count) bytes of \(size), or other ones")
        }
    }

    private func write(_ pieces: UploadPieces, to stream: RawStream) async throws {
        for try await piece in pieces { try await stream.write(piece) }
        try await stream.finishWriting()
    }
}

/// The caller of server-sent events, and its judge: each event comes once, in order, and whole, however many
/// connections it takes.
struct EventJudge {
    /// The events of a call, and their number.
    static let events = 9
    static func event(_ id: Int, ofCall number: Int) -> String { "event \(id) of call \(number)" }

    let world: World
    let number: Int

    func follow(_ request: HTTPClient.Request, with client: HTTPClient) async throws {
        var last = 0
        for try await event in client.events(from: request) {
            world.kernel.count("judge: event")
            let expected = Self.event(last + 1, ofCall: number)
            if event.id != "\(last + 1)" || event.data != expected {
                world.fault("events", "call \(number) got \(event.id), \(event.data) after event \(last)")
            }
            last += 1
        }
        if last != Self.events {
            world.fault("events", "those of call \(number) ended after \(last)")
        }
    }
}
