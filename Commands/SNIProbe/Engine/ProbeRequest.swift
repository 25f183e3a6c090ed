internal import CommandKit
internal import DirectCore
internal import DirectHTTP

/// The request of a probe and its response, on an open connection, with TLS or without.
///
/// There is no request body, and `Connection: close` is sent, because the connection is not reused.
///
/// - The body of the response is hashed and counted, not stored, so its size is not limited.
/// - A connection lost while writing does not end the exchange: the server may have sent its response before
///   it closed.
/// - `run()` never throws: a failure is stored in the outcome beside everything that was received before it.
struct ProbeRequest {
    let connection: Connection
    let url: HTTPURL
    let settings: ProbeSettings
    let signs: SignsOfLife
    let limit: CallLimit

    private var exchange: Exchange {
        Exchange(connection, within: limit)
    }

    /// Sends the request and reads the response.
    func run() async -> ExchangeOutcome {
        let start = connection.loop.now
        var outcome = ExchangeOutcome()
        do throws(TransportError) {
            try await send()
            try await awaitFirstByte(&outcome, from: start)
            outcome.head = try await exchange.receiveHead(from: connection.loop.now, nil, options: nil)
            try await readBody(&outcome)
        } catch {
            outcome.failure = url.scheme == .http && outcome.beginsAsTLS ? .speaksTLS : .init(error)
        }
        return outcome
    }

    private func send() async throws(TransportError) {
        let message = OutgoingMessage(
            settings.method,
            headers: settings.headers,
            defaults: ["User-Agent": "sni-probe/\(PackageVersion.text)", "Accept": "*/*"],
            options: Self.options
        )
        let (count, _) = try exchange.compose(message, to: url, streamed: .none)
        do throws(TransportError) {
            if let rest = try exchange.send(count) { try await exchange.sendHead(rest) }
        } catch {
            // The response may have arrived already: data that the server sent before it closed can still be
            // read.
            guard error.isLostConnection else { throw error }
        }
    }

    /// Waits for the first bytes of the response, for their time and for what they look like.
    private func awaitFirstByte(_ outcome: inout ExchangeOutcome, from start: Instant)
        async throws(TransportError)
    {
        let deadline = limit.deadline(.response, stall: limit.timeouts.response, from: connection.loop.now)
        while true {
            let step = connection.fill()
            switch step {
            case .moved:
                outcome.firstByteTime = connection.loop.now.since(start)
                // The header of a TLS record with an alert or a handshake message.
                let bytes = connection.peek(9)
                outcome.beginsAsHTTP2 = bytes.beginsAsHTTP2
                outcome.beginsAsTLS = bytes.count >= 2 && (0x15...0x16).contains(bytes[0]) && bytes[1] == 3
                return
            case .again, .wantsRead, .wantsWrite: try await connection.wait(for: step, as: .reader, deadline)
            // Left to the parser, which knows whether that is an error.
            case .ended: return
            case .failed(let reason): throw .failed(.response, reason)
            }
        }
    }

    private func readBody(_ outcome: inout ExchangeOutcome) async throws(TransportError) {
        var body = BodyReading(exchange, nil)
        let hash = RunningSHA256()
        // What came with the head; without content the body is at its end then.
        var next: [UInt8]? = try body.takeBuffered()
        while let piece = next {
            piece.withUnsafeBytes { hash.add($0) }
            outcome.bodyCount += piece.count
            signs.add()
            next = try await body.next()
        }
        outcome.bodyHash = hash.finish()
    }

    private static let options: ExchangeOptions.Box = {
        var options = ExchangeOptions()
        options.closes = true
        return ExchangeOptions.Box(options)
    }()
}

extension ExchangeOutcome.Failure {
    fileprivate init(_ error: TransportError) {
        self =
            switch error {
            case .cancelled, .failed(_, .timedOut): .timedOut
            case .failed(.request, .http(let error)): .unsendable("\(error)")
            case .failed(_, .http(.truncatedUntilClose)): .uncleanEnd
            case .failed(_, .http(let error)): .broken("\(error)")
            case .failed(_, .tls(.connectionLost(let code))) where code != 0: .broken(Words.system(code))
            case .failed(_, .tls(let error)): .broken("\(error)")
            case .failed(_, .system(let error)): .broken(Words.system(error.code))
            case .failed(_, let reason): .broken("\(reason)")
            }
    }
}

extension TransportError {
    /// Whether the connection is lost, and no more than that is known.
    fileprivate var isLostConnection: Bool {
        switch self {
        case .failed(.write, .tls(.connectionLost)), .failed(.write, .system),
            .failed(.write, .connectionClosed):
            true
        default: false
        }
    }
}
