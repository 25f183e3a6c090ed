internal import DirectHTTP1
internal import DirectIO

/// What is said to a proxy before it leads to the server: one question, at most three, and their answers.
struct ProxyConversation {
    /// The connection to the proxy. It is none of the pool's, and gives its link away in the end.
    let connection: Connection
    let entry: ProxyEntry
    let target: ProxyTarget
    /// One limit for all of it.
    let patience: Patience

    /// Asks for the way to the target. After this the bytes on the link are the target's.
    func open() async throws(AttemptFailure) {
        do throws(CallFailure) {
            if entry.proxy.speaksHTTP { try await askByCONNECT() } else { try await askBySOCKS() }
            // Before the first word of the client nobody has anything to say.
            guard !connection.hasUnparsedBytes else { throw fault(.notAProxy) }
        } catch {
            throw AttemptFailure(phase: .proxy, cause: error, consequence: error.consequence)
        }
    }

    private func askByCONNECT() async throws(CallFailure) {
        let authority = target.authority
        var headers = Headers()
        do throws(ProxyFault) {
            if let authorization = try entry.authorization() {
                headers.add("Proxy-Authorization", authorization)
            }
        } catch {
            throw fault(error)
        }
        connection.beginExchange(.connect)
        connection.reserve(
            RequestWriter.headSizeBound(
                method: .connect,
                target: authority,
                authority: authority,
                headers: headers,
                extra: Headers()
            )
        )
        let count: Int
        do throws(HTTP1Error) {
            count = try unsafe RequestWriter.writeHead(
                method: .connect,
                target: authority,
                authority: authority,
                headers: headers,
                extra: Headers(),
                framing: .none,
                into: connection.buffer
            )
        } catch {
            throw .failed(.proxy, .http(error))
        }
        try await unsafe connection.writeAll(
            UnsafeRawBufferPointer(rebasing: connection.buffer[0..<count]),
            patience
        )
        let head = try await receiveHead()
        guard head.status.isSuccess else {
            let body = await beginningOfBody()
            throw fault(.refused(ProxyRefusal(status: head.status, headers: head.headers, body: body)))
        }
    }

    private func receiveHead() async throws(CallFailure) -> ResponseHead {
        while true {
            switch try nextEvent() {
            case .head(let head): return head
            case .interim: continue
            case .needsMore: try await fill()
            case .content, .trailers, .end: throw fault(.notAProxy)
            }
        }
    }

    /// What it says about its refusal, as far as that comes without trouble.
    private func beginningOfBody() async -> [UInt8] {
        var body: [UInt8] = []
        do throws(CallFailure) {
            while body.count < Self.bodyLimit {
                switch try nextEvent() {
                case .content(let range):
                    unsafe body += UnsafeRawBufferPointer(rebasing: connection.buffer[range])
                case .needsMore: try await fill()
                case .trailers: continue
                default: return body
                }
            }
        } catch {
            return body
        }
        return Array(body.prefix(Self.bodyLimit))
    }

    private func nextEvent() throws(CallFailure) -> ResponseReader.Event {
        do throws(HTTP1Error) {
            return try connection.nextEvent()
        } catch {
            throw .failed(.proxy, .http(error))
        }
    }

    private func fill() async throws(CallFailure) {
        while true {
            let step = connection.fill()
            // Also where bytes keep coming: one a second must not begin the limit anew.
            try patience.check(at: connection.loop.now)
            if case .moved = step { return }
            try await connection.wait(for: step, as: .reader, patience)
        }
    }

    private func askBySOCKS() async throws(CallFailure) {
        let dialogue = SOCKSDialogue(credentials: entry.proxy.credentials)
        // Looked at before a word is said: what cannot be asked is no reason to talk.
        let request = try sound { () throws(ProxyFault) in try dialogue.request(for: target) }
        try await say(try sound { () throws(ProxyFault) in try dialogue.greeting() })
        let choice = try await hear(2)
        if try sound({ () throws(ProxyFault) in try dialogue.wantsCredentials(choice) }) {
            try await say(dialogue.introduction())
            let welcome = try await hear(2)
            try sound { () throws(ProxyFault) in try dialogue.checkWelcome(welcome) }
        }
        try await say(request)
        // The fifth byte says how long a name is, should the answer have one.
        let head = try await hear(5)
        let rest = try sound { () throws(ProxyFault) in try dialogue.lengthOfRest(after: head) }
        _ = try await hear(rest)
    }

    private func say(_ bytes: [UInt8]) async throws(CallFailure) {
        connection.reserve(bytes.count)
        unsafe connection.buffer.copyBytes(from: bytes)
        try await unsafe connection.writeAll(
            UnsafeRawBufferPointer(rebasing: connection.buffer[0..<bytes.count]),
            patience
        )
    }

    /// Exactly so many bytes: what follows them belongs to the server.
    private func hear(_ count: Int) async throws(CallFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        connection.reserve(count)
        while bytes.count < count {
            let room = unsafe UnsafeMutableRawBufferPointer(
                rebasing: connection.buffer[0..<count - bytes.count]
            )
            let step = unsafe connection.read(into: room)
            try patience.check(at: connection.loop.now)
            if case .moved(let moved) = step {
                unsafe bytes += room[0..<moved]
            } else {
                try await connection.wait(for: step, as: .reader, patience)
            }
        }
        return bytes
    }

    private func sound<Value>(
        _ body: () throws(ProxyFault) -> Value
    ) throws(CallFailure) -> Value {
        do throws(ProxyFault) {
            return try body()
        } catch {
            throw fault(error)
        }
    }

    private func fault(_ fault: ProxyFault) -> CallFailure { .failed(.proxy, .proxy(fault)) }

    private static let bodyLimit = 4096
}

extension CallFailure {
    /// Whether another address of the server, or of the proxy, may do better.
    fileprivate var consequence: AttemptFailure.Consequence {
        guard case .failed(_, .proxy(let fault)) = self else { return .tryNext }
        switch fault {
        case .refused(let refusal): return refusal.status.code >= 500 ? .tryNext : .stop
        case .socksReply(let code): return (3...6).contains(code) ? .tryNext : .stop
        case .notAProxy: return .tryNext
        default: return .stop
        }
    }
}
