internal import DirectCore

/// A request that a server has received, and the reply of the plan that it gets.
struct AnsweredRequest {
    let head: ReceivedHead
    let host: Int
    /// The number of the call, and the place of the reply among those of the call.
    let number: Int
    let place: Int
    let reply: ReplyPlan
    /// The connection, and the place of the request among those on it.
    let connection: SimulatedConnection
    let turn: Int
    let certificate: Material.Certificate
}

/// Sends one reply of the plan.
struct ReplySender {
    private let world: World
    private let http: HTTPWire
    private let request: AnsweredRequest
    private var reply: ReplyPlan { request.reply }
    private var place: Int { request.place }
    private var number: Int { request.number }
    private var host: Int { request.host }
    private var head: ReceivedHead { request.head }
    /// The body, coded if the request accepts that.
    private let body: [UInt8]
    private let coding: String?
    /// What is sent for a download; `nil` for anything else.
    private let file: FileReply?

    init(_ world: World, on http: HTTPWire, to request: AnsweredRequest) {
        (self.world, self.http, self.request) = (world, http, request)
        let (reply, number) = (request.reply, request.number)
        let pattern = Pattern.reply(request.place, ofCall: number, isCoded: reply.isCoded)
        let plain = Pattern.bytes(pattern, count: reply.size)
        let accepted = request.head.value(of: "accept-encoding") ?? ""
        let isSilent = reply.emptyMembers != nil && accepted.contains("gzip")
        let codings = reply.isCoded ? ["gzip", "deflate"].filter(accepted.contains) : []
        coding = codings.isEmpty ? nil : isSilent ? "gzip" : codings[number % codings.count]
        file = Self.file(for: request, in: world)
        // Content of gzip may be in several members (RFC 1952, section 2.2).
        let isSplit = coding == "gzip" && !isSilent && (number / 2 + request.place) % 2 == 0
        let half = isSplit ? plain.count / 2 : 0
        var coded = coding.map { coding in
            let parts = half > 0 ? [plain[..<half], plain[half...]] : [plain[...]]
            return parts.flatMap {
                Coding.compress(Array($0), isGzip: coding == "gzip", isNoise: pattern >= 0)
            }
        }
        if isSilent, let members = reply.emptyMembers {
            coded = coded.map { Array(repeatElement($0, count: members).joined()) }
        }
        body = file?.body ?? coded ?? plain
    }

    /// Returns what is sent for a download.
    private static func file(for request: AnsweredRequest, in world: World) -> FileReply? {
        let fault = request.reply.rangeFault
        guard request.reply.status == 200, let judge = DownloadJudge(world, number: request.number),
            let content = world.content(
                forCall: request.number,
                host: request.host,
                at: request.connection.place,
                certificate: request.certificate
            ),
            let validator = world.plan.files?[content.file].validator
        else { return nil }
        let file = FileReply(request.head, content: content, validator: validator, fault: fault, now: .now)
        if let fault { world.kernel.count("fault: part \(fault)") }
        world.kernel.count("server: file, status \(file.status)")
        judge.note(file, validator: validator)
        return file
    }

    private var isHead: Bool { head.method == "HEAD" }
    private var status: Int { file?.status ?? reply.status }

    /// Sends the reply. Returns false if the connection has to end.
    func send() async throws(WireError) -> Bool {
        if reply.ending != .complete { world.kernel.count("fault: reply \(reply.ending)") }
        if reply.ending == .closesBefore { return false }
        for _ in 0..<reply.interim {
            world.kernel.count("server: interim response")
            try await write(Array("HTTP/1.1 103 Early Hints\r\nLink: </style>\r\n\r\n".utf8))
        }
        world.kernel.count("server: status \(status)")
        let text = headText
        let fields = text.split(separator: "\r\n").dropFirst().map { String($0) }
        world.calls[number].sentFields[place, default: []].append(fields)
        if let stop = reply.stop, stop.isInHead, reply.ending == .stalls {
            try await write(Array(text.utf8.prefix(stop == .status ? 10 : 30)))
            return try await stall()
        }
        if let segment = segment(head: text) {
            world.calls[number].sentBodies[place] = body.count
            try await write(segment)
            world.calls[number].bodyEnd = world.kernel.now
            return true
        }
        try await write(Array(text.utf8))
        if let tls = http.wire as? TLSWire, world.plan.hosts[host].updatesKeys {
            world.kernel.count("server: key update")
            try await tls.updateKeys()
        }
        if !isHead {
            if reply.ending == .floods {
                try await flood()
            } else {
                try await sendBody()
            }
        }
        world.calls[number].bodyEnd = world.kernel.now
        // What comes from now on belongs to the next request.
        if !reply.isEarly || !head.hasBody { request.connection.sentSinceRequest = 0 }
        switch reply.ending {
        case .complete: break
        case .stalls:
            return try await stall()
        case .floods: return false
        case .addsBytes:
            // Never a response: one that came a moment later could be the response to the next request.
            if reply.framing != .untilClose { try await write(Array("\0bad".utf8)) }
        case .closes, .breaksOff, .closesBefore: return false
        case .addsResponse: break
        }
        return reply.framing != .untilClose || isHead
    }

    /// The response, and one that nobody has asked for, which the client reads together with it: otherwise it
    /// could take that for the response to a later request. `nil` if the reply has none, or there is no room.
    private func segment(head: String) -> [UInt8]? {
        guard reply.ending == .addsResponse, reply.framing == .length, !isHead, !body.isEmpty,
            !reply.isEarly || !self.head.hasBody
        else { return nil }
        let surplus = "HTTP/1.1 200 Surplus\r\nContent-Length: 0\r\n\r\n"
        let bytes = Array(head.utf8) + body + Array(surplus.utf8)
        let (network, connection) = (world.plan.network, request.connection)
        // With the records of two layers of TLS.
        let most = min((network.segmentLimit + 1) / 2, connection.down.room) - 100
        guard bytes.count <= most, world.plan.hosts[host].pieceSize == nil, !connection.hasMarks else {
            return nil
        }
        (world.calls[number].bodyBegin, connection.sentSinceRequest) = (world.kernel.now, 0)
        return bytes
    }

    /// Sends nothing more for a long time.
    private func stall() async throws(WireError) -> Bool {
        // To HEAD there is nothing more to come, and the client may use the connection for its next request.
        if !isHead || reply.stop?.isInHead == true { world.calls[number].stalled = world.kernel.now }
        if let stop = reply.stop { world.kernel.count("fault: stop in a line, \(stop)") }
        request.connection.beginAbsence()
        await world.kernel.sleep(microseconds: 100_000_000)
        request.connection.endAbsence()
        return false
    }

    private var headText: String {
        let version = [.isOld, .isOldAndKept].contains(reply.word) ? "1.0" : "1.1"
        var text = "HTTP/\(version) \(status) Status\r\nX-Reply: \(place)\r\nX-Call: \(number)\r\n"
        text += "X-Connection: \(request.connection.number)\r\nX-Turn: \(request.turn)\r\n"
        if let user = head.value(of: "authorization") { text += "X-User: \(user)\r\n" }
        let isFlood = reply.ending == .floods && !isHead
        switch reply.framing {
        case _ where status == 204 || status == 304: break
        case _ where isFlood && [.tinyChunks, .chunkLine, .trailers].contains(reply.flood):
            text += "Transfer-Encoding: chunked\r\n"
        case _ where isFlood: text += "Content-Length: 5000000\r\n"
        case .length: text += "Content-Length: \(body.count)\r\n"
        case .chunked: text += "Transfer-Encoding: chunked\r\n"
        case .untilClose: break
        }
        if isFlood, reply.flood == .emptyMembers {
            text += "Content-Encoding: gzip\r\n"
        } else if let coding {
            world.kernel.count("server: content coded as \(coding)")
            text += "Content-Encoding: \(coding)\r\n"
        }
        for line in file?.lines ?? [] { text += line + "\r\n" }
        // Each reply is another content. Without a validator, an answer to HEAD would confirm what a cache
        // has (RFC 9111, section 4.3.5).
        let isOtherContent = isHead && world.plan.client.caches
        if reply.hasTag == true || isOtherContent { text += "ETag: \"\(number)-\(place)\"\r\n" }
        if reply.isRestored == true {
            let date = UnixTime(seconds: 1_700_000_000 - Int64(number) * 86_400)
            text += "Last-Modified: \(HTTPDate.text(date))\r\n"
        }
        if reply.variesByUser {
            text += "Vary: Authorization\(world.plan.keeping == nil ? "" : ", X-Variant")\r\n"
        }
        if (300..<400).contains(reply.status) {
            let isRelative = reply.word == .relativeLocation && reply.target == host
            let location = isRelative ? "/\(number)" : world.url(ofHost: reply.target, call: number)
            text += "Location: \(location)\r\n"
        }
        if world.plan.calls[number].isPaged == true, place < world.plan.calls[number].replies.count - 1 {
            text += "Link: <\(reply.link(to: place + 1, ofCall: number, in: world))>; rel=\"next\"\r\n"
        }
        if world.plan.hosts[host].strictness == .learned {
            let covers = world.plan.hosts[host].coversSubdomains == true
            text += "Strict-Transport-Security: max-age=3600\(covers ? "; includeSubDomains" : "")\r\n"
            let policy = World.Policy(run: world.plan.run(ofCall: number), host: host)
            world.sentPolicies[policy] = world.sentPolicies[policy] ?? world.kernel.now
        }
        if reply.setsCookie, world.plan.keeping?.cookies != nil {
            text += "Set-Cookie: \(world.newCookie(number, place: place, host: host))\r\n"
        } else if reply.setsCookie {
            text += "Set-Cookie: id=\(world.secret(ofHost: host)); Path=/\r\n"
        }
        if let lifetime = reply.lifetime { text += "Cache-Control: max-age=\(lifetime)\r\n" }
        return text + word + "\r\n"
    }

    /// What the request's path begins with. It ends within a segment, unless there is one digit only.
    private var nearPath: Substring { head.path.prefix(max(2, head.path.utf8.count - 4)) }

    /// The lines of what the reply says beside its status and its length.
    private var word: String {
        if let word = reply.word { world.kernel.count("server: word \(word)") }
        return switch reply.word {
        case .announcesClose:
            // Options are in any case, and in a list (RFC 9110, section 7.6.1).
            "Connection: \(["close", "Close", "keep-alive, CLOSE"][(number + place) % 3])\r\n"
        case .isOldAndKept: "Connection: keep-alive\r\n"
        case .keepsAlive: "Connection: keep-alive\r\nKeep-Alive: timeout=3600\r\n"
        case .trailers: "Trailer: X-Last\r\n"
        case .retryAfter: "Retry-After: \(number % 2)\r\n"
        case .domainCookie:
            "Set-Cookie: wide=wide-secret\(host)-; Domain=\(world.name(host)); Path=/\r\n"
                + "Set-Cookie: near=\(nearPath); Path=\(nearPath)\r\n"
        case .manyCookies:
            (0..<45).map { "Set-Cookie: many\(number)-\(place)-\($0)=1; Path=/\r\n" }
                .joined()
        case .isOld, .chunkExtensions, .relativeLocation, nil: ""
        }
    }

    private func flood() async throws(WireError) {
        let piece: [UInt8]
        switch reply.flood {
        case .bytes: piece = Array(repeating: 0x61, count: 4096)
        case .tinyChunks: piece = Array("1\r\na\r\n".utf8)
        case .emptyMembers: piece = Coding.compress([], isGzip: true)
        case .chunkLine:
            piece = Array("xxxxxxxx".utf8)
            try await http.wire.write(Array("1;x=".utf8))
        case .trailers:
            piece = Array("X: x\r\n".utf8)
            try await http.wire.write(Array("0\r\n".utf8))
        }
        let pieces = [UInt8](repeatElement(piece, count: max(1, 4096 / piece.count)).joined())
        // Where bytes take the processor's time, that of a flood is longer than most deadlines.
        let count = world.plan.network.byteCost > 0 ? 4_000_000 : 800_000
        try await http.wire.flood(pieces, count: count)
    }

    /// Sends the body, or the beginning of it if the plan says so.
    private func sendBody() async throws(WireError) {
        world.calls[number].bodyBegin = world.kernel.now
        let isCut = reply.ending == .breaksOff || reply.ending == .stalls
        let sent = body.prefix(isCut ? body.count / 2 : body.count)
        world.calls[number].sentBodies[place] = sent.count
        let size = max(1, (sent.count + reply.parts - 1) / max(1, reply.parts))
        var start = 0
        while start < sent.count {
            let part = sent[start..<min(sent.count, start + size)]
            start += part.count
            if start > part.count, reply.pause > 0 { await world.kernel.sleep(microseconds: reply.pause) }
            if reply.framing == .chunked {
                let more = reply.word == .chunkExtensions ? " ; x=\"a;b\";y" : ""
                try await write(Array("\(String(part.count, radix: 16))\(more)\r\n".utf8) + part + [13, 10])
            } else {
                try await write(Array(part))
            }
        }
        if isCut, reply.ending == .stalls, let line = reply.stop?.beginning {
            try await write(Array(line.utf8))
        }
        guard reply.framing == .chunked, !isCut else { return }
        try await write(Array("0\r\n\(reply.word == .trailers ? "X-Last: 1\r\n" : "")\r\n".utf8))
    }

    /// Writes bytes, in small pieces if the host does. As with segments those of long replies grow.
    private func write(_ bytes: [UInt8]) async throws(WireError) {
        guard let size = world.plan.hosts[host].pieceSize, bytes.count < 5000 else {
            return try await http.wire.write(bytes)
        }
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + request.connection.down.grown(size))
            try await http.wire.write(Array(bytes[start..<end]))
            start = end
        }
    }
}

extension ReplyPlan {
    /// The link of a page to the next one: a reference, or a URL that may say less than what is known of TLS.
    func link(to page: Int, ofCall number: Int, in world: World) -> String {
        let host = world.plan.calls[number].host
        let path = "/\(number)?\(page)"
        guard target == host else { return world.origin(target) + path }
        guard number % 2 == 0, framing != .untilClose else { return path }
        return world.url(ofCall: number) + "?\(page)"
    }
}
