internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// The negotiation with a proxy that precedes a tunnel: `CONNECT`, or the messages of SOCKS version 5.
///
/// With HTTP it is one request and its response: 2xx opens the tunnel, interim responses are skipped, and anything
/// else becomes a `ReceivedResponse` with the beginning of its body. With SOCKS it is up to three messages, each with a
/// reply: the greeting, user name and password if the proxy wants them, and the request to connect.
///
/// - One time limit covers all of it. It is checked after every read, so a proxy that sends a byte per second
///   cannot extend it.
/// - Not one byte beyond the proxy's reply may be consumed: it would belong to the server. SOCKS replies are read
///   by their exact length. Bytes behind the response to `CONNECT` are an error, because in TLS and in HTTP the
///   client speaks first.
/// - If it fails, the connection to the proxy is closed. If it succeeds, the caller takes over the transport, and
///   the `Connection` used here ends (`detach`).
package struct ProxyConversation {
    /// The connection to the proxy. It is not in the pool, and hands its transport over in the end.
    package let connection: Connection
    package let entry: ProxyEntry
    let target: ProxyTarget
    /// The time limits of the whole negotiation.
    package let deadline: Deadline

    /// Asks for a tunnel to the target. Afterwards the bytes on the transport are the target's.
    package func open() async throws(AttemptFailure) {
        do throws(TransportError) {
            if entry.proxy.speaksHTTP { try await askByCONNECT() } else { try await askBySOCKS() }
            // The server sends nothing before the client has sent something.
            guard !connection.hasUnparsedBytes else { throw fault(.notAProxy) }
        } catch {
            throw AttemptFailure(phase: .proxy, cause: error, consequence: error.consequence)
        }
    }

    /// Sends `CONNECT` and reads the response.
    private func askByCONNECT() async throws(TransportError) {
        let authority = target.authority
        var headers = HTTPHeaders()
        do throws(ProxyError) {
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
                extra: HTTPHeaders()
            )
        )
        let count: Int
        do throws(HTTP1Error) {
            count = try unsafe RequestWriter.writeHead(
                method: .connect,
                target: authority,
                authority: authority,
                headers: headers,
                extra: HTTPHeaders(),
                framing: .none,
                into: connection.buffer
            )
        } catch {
            throw .failed(.proxy, .http(error))
        }
        try await unsafe connection.writeAll(
            UnsafeRawBufferPointer(rebasing: connection.buffer[0..<count]),
            deadline: deadline
        )
        let head = try await receiveHead()
        guard head.status.isSuccess else {
            throw fault(.refused(ReceivedResponse(head, body: await beginningOfBody())))
        }
    }

    /// Returns the head of the final response.
    private func receiveHead() async throws(TransportError) -> ResponseHead {
        while true {
            switch try nextEvent() {
            case .head(let head): return head
            case .interim: continue
            case .needsMore: try await fill()
            case .content, .trailers, .end: throw fault(.notAProxy)
            }
        }
    }

    /// Returns the beginning of the body of a refusal, as far as it arrives without an error.
    private func beginningOfBody() async -> [UInt8] {
        var body: [UInt8] = []
        do throws(TransportError) {
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

    private func nextEvent() throws(TransportError) -> ResponseReader.Event {
        do throws(HTTP1Error) {
            return try connection.nextEvent()
        } catch {
            throw .failed(.proxy, .http(error))
        }
    }

    private func fill() async throws(TransportError) {
        while true {
            let step = connection.fill()
            // Checked even if bytes keep coming: one byte per second must not restart the limit.
            try deadline.check(at: connection.loop.now)
            if case .moved = step { return }
            try await connection.wait(for: step, as: .reader, deadline)
        }
    }

    /// Runs the SOCKS negotiation.
    private func askBySOCKS() async throws(TransportError) {
        let dialogue = SOCKSDialogue(credentials: entry.proxy.credentials)
        // Built before anything is sent: for a request that is not possible, no negotiation is begun.
        let request = try reportingErrors { () throws(ProxyError) in try dialogue.request(for: target) }
        try await send(try reportingErrors { () throws(ProxyError) in try dialogue.greeting() })
        let selection = try await receive(2)
        if try reportingErrors({ () throws(ProxyError) in try dialogue.wantsCredentials(selection) }) {
            try await send(dialogue.authentication())
            let reply = try await receive(2)
            try reportingErrors { () throws(ProxyError) in try dialogue.checkAuthentication(reply) }
        }
        try await send(request)
        // The fifth byte is the length of the name, if the reply has one.
        let head = try await receive(5)
        let rest = try reportingErrors { () throws(ProxyError) in try dialogue.lengthOfRest(after: head) }
        _ = try await receive(rest)
    }

    /// Sends the bytes.
    private func send(_ bytes: [UInt8]) async throws(TransportError) {
        connection.reserve(bytes.count)
        unsafe connection.buffer.copyBytes(from: bytes)
        try await unsafe connection.writeAll(
            UnsafeRawBufferPointer(rebasing: connection.buffer[0..<bytes.count]),
            deadline: deadline
        )
    }

    /// Reads exactly `count` bytes: those that follow belong to the server.
    private func receive(_ count: Int) async throws(TransportError) -> [UInt8] {
        var bytes: [UInt8] = []
        connection.reserve(count)
        while bytes.count < count {
            let room = unsafe UnsafeMutableRawBufferPointer(
                rebasing: connection.buffer[0..<count - bytes.count]
            )
            let step = unsafe connection.read(into: room)
            try deadline.check(at: connection.loop.now)
            if case .moved(let moved) = step {
                unsafe bytes += room[0..<moved]
            } else {
                try await connection.wait(for: step, as: .reader, deadline)
            }
        }
        return bytes
    }

    /// Runs the body, and converts its error.
    private func reportingErrors<Value>(
        _ body: () throws(ProxyError) -> Value
    ) throws(TransportError) -> Value {
        do throws(ProxyError) {
            return try body()
        } catch {
            throw fault(error)
        }
    }

    private func fault(_ fault: ProxyError) -> TransportError { .failed(.proxy, .proxy(fault)) }

    private static let bodyLimit = 4096
}

extension TransportError {
    /// The consequence for other addresses of the server or of the proxy: whether one of them may do better.
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
