internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import DirectTransport

/// One question to one DNS server over UDP, and over TCP if the answer is truncated.
///
/// - Each question has a random identifier and a socket of its own, and so a random port. The system drops
///   datagrams from other addresses and ports.
/// - A datagram that is not the answer is ignored, as is a malformed one: it may be forged. At most
///   `mostDatagrams` are looked at.
/// - The case of letters in the question is not varied ("0x20"): some servers do not return it, and would
///   seem silent.
struct DNSExchange {
    let host: DomainName
    let type: UInt16
    let server: Endpoint
    let loop: EventLoop
    /// The moments at which the wait for the server begins and ends; before that, for a descriptor.
    private var start: Instant
    private var end: Instant
    /// Begins the server's time, and returns it; `nil` once it has begun.
    private var limit: (@Sendable () -> Duration)?

    init(
        _ host: DomainName,
        type: UInt16,
        server: Endpoint,
        limit: @escaping @Sendable () -> Duration,
        within context: ResolveContext
    ) {
        (self.host, self.type, self.server, self.limit) = (host, type, server, limit)
        (loop, start, end) = (context.loop, context.loop.now, context.deadline)
    }

    /// Asks, and returns the answer.
    ///
    /// - Throws: A `ResolverError.Reason`, or a `CancellationError`.
    mutating func ask(_ options: DNSQuery.Options) async throws -> DNSAnswer {
        let id = UInt16(truncatingIfNeeded: SystemRandom.word())
        let query = DNSQuery.message(host, type: type, id: id, options)
        switch try await askByDatagram(query, id: id) {
        case .answer(let answer): return answer
        case .truncated(let query): return try await askByStream(query, id: id)
        }
    }

    /// The contents of a datagram.
    private enum Reply {
        case answer(DNSAnswer)
        /// The answer to the query, which was sent last, does not fit.
        case truncated(query: [UInt8])
    }

    private var port: UInt16 { server.port ?? 53 }

    private mutating func askByDatagram(_ query: [UInt8], id: UInt16) async throws -> Reply {
        let socket = try await opened { () throws(Socket.StartFailure) in
            try DatagramSocket.connected(to: server.address, port: port, on: loop)
        }
        defer { socket.close() }
        if let limit = limit.take() {
            start = loop.now
            end = start.advanced(byNanoseconds: limit().clampedNanoseconds)
        }
        // The last one is to be sent as well if the server has little time.
        let third = end.since(loop.now).clampedNanoseconds / UInt64(Self.mostSends)
        let pause = min(max(third, Self.shortestResendTime), Self.resendTime)
        var lastDefect: DNSMessageError?
        var seen = 0
        var sent = 0
        while sent < Self.mostSends {
            // Datagrams get lost, so the question is sent again after a while.
            sent += 1
            // The last one is without EDNS: some routers drop queries that have it.
            let isLast = sent == Self.mostSends
            let message = isLast ? DNSQuery.message(host, type: type, id: id, .plain) : query
            try system { () throws(SystemError) in try socket.send(message) }
            let again = sent < Self.mostSends ? loop.now.advanced(byNanoseconds: pause) : end
            let limit = min(again, end)
            while true {
                if let bytes = try system({ () throws(SystemError) in
                    try socket.receive(upTo: Self.largestDatagram)
                }) {
                    seen += 1
                    guard seen <= Self.mostDatagrams else {
                        throw ResolverError.Reason.malformed(
                            "more than \(Self.mostDatagrams) datagrams that are no answer"
                        )
                    }
                    if Self.isTruncated(bytes, id: id) { return .truncated(query: message) }
                    do throws(DNSMessageError) {
                        return .answer(try DNSAnswer(bytes, to: host, type: type, id: id))
                    } catch {
                        lastDefect = error
                        continue
                    }
                }
                switch await socket.input.wait(until: limit, on: loop) {
                case .ready: continue
                case .expired: break
                case .cancelled: throw CancellationError()
                }
                break
            }
            if loop.now >= end { break }
        }
        if let lastDefect, lastDefect.kind != .notTheAnswer {
            throw ResolverError.Reason.malformed("\(lastDefect)")
        }
        throw timeIsOver
    }

    /// Whether a datagram says that the answer does not fit. What it contains is not used then.
    private static func isTruncated(_ bytes: [UInt8], id: UInt16) -> Bool {
        bytes.count >= DNSMessage.headerSize && UInt16(bytes[0]) << 8 | UInt16(bytes[1]) == id
            && bytes[2] & 0x82 == 0x82
    }

    /// Asks over TCP, where each message follows its length (RFC 7766, section 8).
    private func askByStream(_ query: [UInt8], id: UInt16) async throws -> DNSAnswer {
        let socket = try await opened { () throws(Socket.StartFailure) in
            try Socket.connecting(to: server.address, port: port, on: loop)
        }
        defer { socket.close() }
        try await wait(at: socket.output)
        try system { () throws(SystemError) in try socket.finishConnecting() }
        try await send([UInt8(query.count >> 8), UInt8(truncatingIfNeeded: query.count)] + query, to: socket)
        let head = try await receive(2, from: socket)
        let message = try await receive(Int(head[0]) << 8 | Int(head[1]), from: socket)
        do throws(DNSMessageError) {
            return try DNSAnswer(message, to: host, type: type, id: id)
        } catch {
            throw ResolverError.Reason.malformed("\(error)")
        }
    }

    private func send(_ bytes: [UInt8], to socket: Socket) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let outcome = unsafe rest.withUnsafeBytes { bytes -> Socket.Outcome in
                guard let base = bytes.baseAddress else { return .moved(0) }
                return unsafe socket.send(base, count: bytes.count)
            }
            switch outcome {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wouldBlock: try await wait(at: socket.output)
            case .endOfStream: throw Self.cutOff
            case .failed(let code): throw ResolverError.Reason.other(SystemError("send", code: code))
            }
        }
    }

    private func receive(_ count: Int, from socket: Socket) async throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let outcome = unsafe bytes.withUnsafeMutableBytes { bytes -> Socket.Outcome in
                guard let base = bytes.baseAddress else { return .moved(0) }
                return unsafe socket.receive(into: base + filled, count: count - filled)
            }
            switch outcome {
            case .moved(let more): filled += more
            case .wouldBlock: try await wait(at: socket.input)
            case .endOfStream: throw Self.cutOff
            case .failed(let code): throw ResolverError.Reason.other(SystemError("recv", code: code))
            }
        }
        return bytes
    }

    private func wait(at point: WaitPoint) async throws {
        switch await point.wait(until: end, on: loop) {
        case .ready: return
        case .expired: throw timeIsOver
        case .cancelled: throw CancellationError()
        }
    }

    /// Opens a socket. While the process has no descriptor for it, closes idle connections or waits.
    private func opened<Opened>(_ open: () throws(Socket.StartFailure) -> Opened) async throws -> Opened {
        while true {
            do throws(Socket.StartFailure) {
                return try open()
            } catch {
                switch error {
                case .address(let error): throw ResolverError.Reason.address(error)
                case .system(let error):
                    guard error.isDescriptorShortage, loop.now < end else {
                        throw ResolverError.Reason.other(error)
                    }
                }
            }
            try await DescriptorShortage().makeRoom(on: loop, until: end)
        }
    }

    private func system<Value>(_ body: () throws(SystemError) -> Value) throws(ResolverError.Reason) -> Value
    {
        do throws(SystemError) { return try body() } catch { throw .other(error) }
    }

    private var timeIsOver: ResolverError.Reason { .timedOut(after: loop.now.since(start)) }

    private static let cutOff = ResolverError.Reason.malformed(
        "the server closed the connection within its answer"
    )
    private static let mostSends = 3
    private static let resendTime: UInt64 = 1_000_000_000
    private static let shortestResendTime: UInt64 = 250_000_000
    private static let mostDatagrams = 64
    private static let largestDatagram = 4096
}
