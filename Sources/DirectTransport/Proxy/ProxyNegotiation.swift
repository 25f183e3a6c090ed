internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// The messages exchanged with a proxy to open a tunnel: an HTTP `CONNECT` request (RFC 9110, section 9.3.6)
/// or SOCKS version 5 (RFC 1928).
///
/// With HTTP it is one request and its response: 2xx opens the tunnel, interim responses are skipped, and any
/// other response becomes a `ReceivedResponse` with the beginning of its body. With SOCKS it is two or three
/// messages, each with a reply: the greeting, the user name and password if the proxy requires them, and the
/// request to connect.
///
/// - One time limit covers all of it. Each wait ends with it, so a proxy that sends a byte per second cannot
///   extend it; what it sends without a wait is bounded by the limits of heads.
/// - No byte after the proxy's reply may be consumed: it would belong to the server. SOCKS replies are read
///   by their exact length. Bytes after the response to `CONNECT` are kept where the server may send first.
///   Else they are an error, because in TLS and in HTTP the client sends first.
/// - If it fails, the connection to the proxy is closed. If it succeeds, the caller takes the transport over
///   and detaches the `Connection` used here, which then neither moves bytes on it nor closes it.
package struct ProxyNegotiation {
    /// The connection to the proxy. It is not in the pool.
    package let connection: Connection
    package let entry: ProxyEntry
    let target: ProxyTarget
    /// The credentials that the proxy's authenticator has made; `nil` for those of the settings.
    var authorization: [UInt8]?
    /// The deadline of the whole negotiation.
    package let deadline: Deadline

    /// Opens the tunnel. Afterwards all bytes on the transport are exchanged with the target. Returns those
    /// of them that came with the reply, which a server that may not speak first must not have sent.
    package func open(serverMaySpeakFirst: Bool) async throws(AttemptFailure) -> [UInt8] {
        do throws(TransportError) {
            if entry.proxy.speaksHTTP { try await negotiateHTTP() } else { try await negotiateSOCKS() }
            guard serverMaySpeakFirst || !connection.hasUnparsedBytes else { throw fault(.notAProxy(nil)) }
            return connection.takeUnparsed()
        } catch {
            throw AttemptFailure(phase: .proxy, cause: error, consequence: error.consequence)
        }
    }

    /// Sends `CONNECT` and reads the response.
    private func negotiateHTTP() async throws(TransportError) {
        let authority = target.authority
        var headers = HTTPHeaders()
        do throws(ProxyError) {
            let configured = authorization == nil ? try entry.authorization() : nil
            let value = authorization ?? configured.map { Array($0.utf8) }
            if let value { headers.add("Proxy-Authorization", bytes: value) }
        } catch {
            throw fault(error)
        }
        connection.beginExchange(.connect)
        let request = RequestHead(.connect, target: authority, authority: authority, headers: headers)
        connection.reserve(request.sizeBound)
        let count = try unsafe request.write(.proxy, into: connection.buffer)
        try await unsafe connection.writeAll(
            UnsafeRawBufferPointer(rebasing: connection.buffer[0..<count]),
            deadline: deadline
        )
        let head = try await receiveHead()
        guard head.status.isSuccess else {
            let limit = deadline.shortened(to: connection.loop.now.advanced(byNanoseconds: Self.bodyTime))
            throw fault(.refused(ReceivedResponse(head, body: await bodyPrefix(until: limit))))
        }
    }

    /// Returns the head of the final response.
    private func receiveHead() async throws(TransportError) -> ResponseHead {
        while true {
            switch try nextEvent() {
            case .head(let head): return head
            case .interim: continue
            case .needsMore: try await fill(until: deadline)
            case .content, .trailers, .end: throw fault(.notAProxy(nil))
            }
        }
    }

    /// Returns the beginning of the body of a refusal: at most `bodyPrefixLimit` bytes, fewer if reading
    /// fails or the time is over before. The head has everything that decides, so a proxy that does not send
    /// its body must not hold up the answer to a 407, or the error.
    private func bodyPrefix(until limit: Deadline) async -> [UInt8] {
        var body: [UInt8] = []
        do throws(TransportError) {
            while body.count < Self.bodyPrefixLimit {
                switch try nextEvent() {
                case .content(let range):
                    unsafe body += UnsafeRawBufferPointer(rebasing: connection.buffer[range])
                case .needsMore: try await fill(until: limit)
                case .trailers: continue
                default: return body
                }
            }
        } catch {
            return body
        }
        return Array(body.prefix(Self.bodyPrefixLimit))
    }

    private func nextEvent() throws(TransportError) -> ResponseReader.Event {
        do throws(HTTP1Error) {
            return try connection.nextEvent()
        } catch {
            throw fault(.notAProxy(error))
        }
    }

    private func fill(until deadline: Deadline) async throws(TransportError) {
        while true {
            let step = connection.fill()
            if case .moved = step { return }
            try await connection.wait(for: step, as: .reader, deadline)
        }
    }

    /// Runs the SOCKS negotiation.
    private func negotiateSOCKS() async throws(TransportError) {
        let messages = SOCKSMessages(credentials: entry.proxy.credentials)
        // Built before anything is sent: if the request is not possible, the negotiation must not begin.
        let request = try convertingErrors { () throws(ProxyError) in try messages.request(for: target) }
        try await send(try convertingErrors { () throws(ProxyError) in try messages.greeting() })
        let selection = try await receive(2)
        if try convertingErrors({ () throws(ProxyError) in try messages.wantsCredentials(selection) }) {
            try await send(messages.authentication())
            let reply = try await receive(2)
            try convertingErrors { () throws(ProxyError) in try messages.checkAuthentication(reply) }
        }
        try await send(request)
        // The fifth byte is the length of the name, if the reply has one.
        let head = try await receive(5)
        let rest = try convertingErrors { () throws(ProxyError) in try messages.remainingLength(after: head) }
        _ = try await receive(rest)
    }

    /// Sends all of the bytes.
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
            if case .moved(let moved) = step {
                unsafe bytes += room[0..<moved]
            } else {
                try await connection.wait(for: step, as: .reader, deadline)
            }
        }
        return bytes
    }

    /// Runs the body, and converts its error to a `TransportError` of the proxy phase.
    private func convertingErrors<Value>(
        _ body: () throws(ProxyError) -> Value
    ) throws(TransportError) -> Value {
        do throws(ProxyError) {
            return try body()
        } catch {
            throw fault(error)
        }
    }

    private func fault(_ fault: ProxyError) -> TransportError { .failed(.proxy, .proxy(fault)) }

    private static let bodyPrefixLimit = 4096
    private static let bodyTime: UInt64 = 1_000_000_000
}

extension TransportError {
    /// Whether the dialler tries the next address after this failure of a tunnel.
    ///
    /// It does if the proxy could not reach this address (5xx, or the SOCKS codes for a general failure, an
    /// unreachable network or host, a refused connection, an expired TTL and a family that it does not
    /// support), and after an error of the connection to the proxy or of its reply. Any other refusal, such
    /// as of the credentials, would be the same for every address.
    fileprivate var consequence: AttemptFailure.Consequence {
        guard case .failed(_, .proxy(let fault)) = self else { return .tryNext }
        switch fault {
        case .refused(let refusal): return refusal.status.code >= 500 ? .tryNext : .stop
        case .socksReply(let code): return [1, 3, 4, 5, 6, 8].contains(code) ? .tryNext : .stop
        case .notAProxy: return .tryNext
        default: return .stop
        }
    }
}

/// The host or address that a proxy is asked to connect to.
enum ProxyTarget: Sendable {
    /// A host that the proxy resolves if it is a name.
    case host(HTTPHost, port: UInt16)
    /// An address that was chosen on this side.
    case address(IPAddress, port: UInt16)

    var port: UInt16 {
        switch self {
        case .host(_, let port), .address(_, let port): port
        }
    }

    /// The address, without its zone, which means nothing to the proxy; `nil` for a name.
    var address: IPAddress? {
        switch self {
        case .host(let host, _): host.address?.withoutZone
        case .address(let address, _): address.withoutZone
        }
    }

    /// The host and port in the form of the request line of `CONNECT`, always with the port (RFC 9110,
    /// section 9.3.6).
    var authority: [UInt8] {
        var text: [UInt8] = []
        if let address {
            address.appendAuthority(to: &text)
        } else if case .host(.name(let name), _) = self {
            text = name.bytes
        }
        return text + Array(":\(port)".utf8)
    }
}
