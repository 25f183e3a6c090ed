internal import DirectHTTP1
internal import DirectIO

/// One request and its response on one connection, from the first byte sent to the last one read.
struct Exchange {
    let connection: Connection
    let timeouts: Timeouts.Nanoseconds
    /// When the whole call has to be over.
    var end: Instant

    /// How a body that is made while it is sent is framed; asks the body, which may read from the disk.
    func framing(of body: StreamedBody) async throws(CallFailure) -> BodyFraming {
        do {
            return try await body.measure(connection.loop).map(BodyFraming.length) ?? .chunked
        } catch let fault as RequestBodyFault {
            throw .failed(.request, .requestBody(fault))
        } catch let error as SystemError {
            throw .failed(.request, .system(error))
        } catch {
            throw error is CancellationError && Task.isCancelled
                ? .cancelled : .failed(.request, .bodySource(error))
        }
    }

    /// Writes the head, and as much of the body as goes with it, to the connection's buffer.
    func compose(
        _ request: Request,
        _ url: HTTPURL,
        _ defaults: Headers,
        _ asked: ExchangeOptions.Box?,
        streamed: BodyFraming
    ) throws(CallFailure) -> (count: Int, rest: Upload.Content?) {
        connection.beginExchange(request.method, upgrade: asked?.options.upgrade.isEmpty == false)
        switch request.body.content {
        case .none: return (try writeHead(of: request, url, defaults, asked, .none), nil)
        case .bytes(let bytes):
            let count = try writeHead(of: request, url, defaults, asked, .length(UInt64(bytes.count)))
            if bytes.isEmpty { return (count, nil) }
            if let asked, asked.options.expectsContinue { return (count, .bytes(bytes, from: 0)) }
            let taken = unsafe bytes.copyPrefix(to: connection.buffer, at: count)
            return (count + taken, taken < bytes.count ? .bytes(bytes, from: taken) : nil)
        case .stream(let body):
            let count = try writeHead(of: request, url, defaults, asked, streamed)
            if case .length(let length) = streamed { return (count, .stream(body, length: length)) }
            return (count, .stream(body, length: nil))
        }
    }

    /// Waits for leave to send the body, and not for long (RFC 9110, section 10.1.1). Returns a final head if the
    /// server refuses, and nothing if the body is to be sent.
    func awaitLeave(_ asked: ExchangeOptions) async throws(CallFailure) -> ResponseHead? {
        let patience = patience(.response, stall: timeouts.continue)
        let start = Instant.now
        while true {
            switch try nextEvent(.response) {
            case .head(let head): return head
            case .interim(let head):
                if head.status == .continue { return nil }
                asked.onInterim?(head)
            case .needsMore:
                do throws(CallFailure) {
                    try await fill(patience, from: start, nil)
                } catch {
                    guard error.isTimeout, Instant.now < end else { throw error }
                    return nil
                }
            case .content, .trailers, .end: throw .failed(.response, .http(.closedBeforeResponse))
            }
        }
    }

    /// Sends what has been composed. Only one that finds no room at once has to wait.
    func send(_ count: Int) async throws(CallFailure) {
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: connection.buffer[0..<count])
        let step = unsafe connection.write(bytes)
        if case .moved(count) = step { return }
        let patience = patience(.write, stall: timeouts.write)
        var sent = 0
        // What has gone is gone, and a failure is reported once: neither may be tried again.
        if case .moved(let some) = step {
            sent = some
        } else {
            try await connection.wait(for: step, patience)
        }
        try await unsafe connection.writeAll(UnsafeRawBufferPointer(rebasing: bytes[sent...]), patience)
    }

    /// Waits for the final head, past any interim ones (RFC 9110, section 15.2).
    func receiveHead(
        from sent: Instant,
        _ upload: Upload?,
        _ asked: ExchangeOptions.Box?
    ) async throws(CallFailure) -> ResponseHead {
        let connection = connection
        var since = sent
        while true {
            switch try nextEvent(.response) {
            case .head(let head): return head
            case .interim(let head):
                since = .now
                if let asked, head.status != .continue { asked.options.onInterim?(head) }
            case .needsMore:
                let stall = connection.hasResponseBegun ? timeouts.read : timeouts.response
                let patience = patience(.response, stall: stall)
                let step = connection.fill()
                if case .moved = step {
                    since = .now
                } else if case .wantsInput = step, upload == nil {
                    // The way of almost every request, in one frame less.
                    let deadline = patience.deadline(from: since)
                    try patience.check(
                        await connection.socket.input.wait(until: deadline, on: connection.loop)
                    )
                } else {
                    // The server's time to answer begins when all has been sent, be it before or in this wait.
                    let isSending = upload?.isRunning ?? false
                    if isSending { since = .now }
                    _ = try await goesOn(after: step, patience, from: since, upload)
                    if isSending { since = .now }
                }
            case .content, .trailers, .end: throw .failed(.response, .http(.closedBeforeResponse))
            }
        }
    }

    /// The parser's next event in what has been received.
    func nextEvent(_ phase: HTTPError.Phase) throws(CallFailure) -> ResponseReader.Event {
        do throws(HTTP1Error) {
            return try connection.nextEvent()
        } catch {
            throw .failed(phase, .http(error))
        }
    }

    /// Reads more into the connection's buffer, waiting if need be. The end of the stream is an error, except
    /// where it ends the body: then it brings nothing, and the parser's next event is the end.
    func fill(_ patience: Patience, from now: Instant, _ upload: Upload?) async throws(CallFailure) {
        while true {
            let step = connection.fill()
            if case .moved = step { return }
            if try await !goesOn(after: step, patience, from: now, upload) { return }
        }
    }

    /// Waits for what the step wants. False when the stream has ended and so has the response.
    func goesOn(
        after step: Connection.Step,
        _ patience: Patience,
        from now: Instant,
        _ upload: Upload?
    ) async throws(CallFailure) -> Bool {
        if let failure = upload?.hopelessFailure { throw failure }
        switch step {
        case .moved: return true
        case .again:
            try await patience.takeTurn(from: now)
            return true
        case .wantsInput:
            var patience = patience
            // As long as we are sending, the server need not say anything; sending has a limit of its own.
            if let upload, upload.isRunning { patience.stall = .max }
            try await connection.waitForInput(patience, from: now)
            return true
        case .wantsRoom:
            if let upload, upload.isRunning {
                try await connection.waitCrosswise(patience, from: now)
            } else {
                try await connection.wait(for: step, patience)
            }
            return true
        case .ended(let clean):
            do throws(HTTP1Error) {
                try connection.endOfInput(clean: clean)
                return false
            } catch {
                throw upload?.failure ?? .failed(patience.phase, .http(error))
            }
        case .failed(let reason): throw upload?.failure ?? .failed(patience.phase, reason)
        }
    }

    func patience(_ phase: HTTPError.Phase, stall: UInt64) -> Patience {
        Patience(phase: phase, stall: stall, end: end, total: timeouts.total)
    }

    private func writeHead(
        of request: Request,
        _ url: HTTPURL,
        _ defaults: Headers,
        _ asked: ExchangeOptions.Box?,
        _ framing: BodyFraming
    ) throws(CallFailure) -> Int {
        let isTunnel = request.method.isConnect
        let isProxied = connection.isProxied
        let forwarding = isProxied ? connection.forwarding : nil
        let target =
            isTunnel ? url.tunnelBytes : forwarding == nil ? url.targetBytes : url.absoluteTargetBytes
        let authority = isTunnel ? target : url.authorityBytes
        let isComplete = asked == nil && request.body.contentType == nil
        var headers = isComplete ? request.headers : request.completedHeaders(defaults)
        // Without one of ours, who gets a CONNECT is the caller's own proxy (RFC 9110, section 9.3.6).
        if isProxied || !isTunnel && headers.index(of: "proxy-authorization") != nil {
            headers.addressProxy(forwarding)
        }
        let bound = RequestWriter.headSizeBound(
            method: request.method,
            target: target,
            authority: authority,
            headers: headers,
            extra: defaults
        )
        connection.reserve(bound + request.body.bytesWorthSendingAtOnce)
        do throws(HTTP1Error) {
            return try unsafe RequestWriter.writeHead(
                method: request.method,
                target: target,
                authority: authority,
                headers: headers,
                extra: defaults,
                framing: framing,
                expectContinue: asked?.options.expectsContinue == true,
                upgrade: asked?.options.upgrade.isEmpty == false,
                into: connection.buffer
            )
        } catch {
            throw .failed(.request, .http(error))
        }
    }
}

extension Request {
    /// The fields of its own, and those that follow from its body and from what it asks for.
    fileprivate func completedHeaders(_ defaults: Headers) -> Headers {
        var headers = headers
        if let type = body.contentType, !headers.contains("Content-Type"), !defaults.contains("Content-Type")
        {
            headers.add("Content-Type", type)
        }
        if !upgrade.isEmpty { headers.add("Upgrade", upgrade.joined(separator: ", ")) }
        return headers
    }
}

extension Headers {
    /// What is for the proxy goes to the proxy, and to nobody behind it or without one.
    fileprivate mutating func addressProxy(_ forwarding: Forwarding?) {
        let name = "Proxy-Authorization"
        if forwarding == nil || forwarding?.authorization != nil { remove(name) }
        if let authorization = forwarding?.authorization { add(name, authorization) }
    }
}

extension HTTPURL {
    /// The whole URL, as a request to a proxy names it (RFC 9112, section 3.2.2).
    fileprivate var absoluteTargetBytes: [UInt8] { Array("http://".utf8) + authorityBytes + targetBytes }

    /// Where a tunnel leads: host and port, also the default one (RFC 9110, section 9.3.6).
    fileprivate var tunnelBytes: [UInt8] {
        port == scheme.defaultPort ? authorityBytes + Array(":\(port)".utf8) : authorityBytes
    }
}

extension RequestBody {
    /// Small bodies travel in the same record as the head.
    fileprivate var bytesWorthSendingAtOnce: Int {
        if case .bytes(let bytes) = content { min(bytes.count, 14 * 1024) } else { 0 }
    }
}
