internal import DirectHTTP1
internal import DirectIO

/// One request and its response on one connection, from the first byte sent to the last one read.
struct Exchange {
    let connection: Connection
    let timeouts: Timeouts.Nanoseconds
    /// When the whole call has to be over.
    var end: Instant
    var limit: CallLimit { CallLimit(end: end, total: timeouts.total) }

    /// How a body that is made while it is sent is framed; asks the body, which may read from the disk.
    func framing(of body: StreamedBody) async throws(CallFailure) -> BodyFraming {
        try await body.framing(on: connection.loop, within: limit)
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
        let patience = patience(.response, stall: timeouts.continue, from: connection.loop.now)
        while true {
            switch try nextEvent(.response) {
            case .head(let head): return head
            case .interim(let head):
                if head.status == .continue { return nil }
                asked.onInterim?(head)
            case .needsMore:
                do throws(CallFailure) {
                    let step = connection.fill()
                    // Bytes that keep coming and say nothing must not hold the body back either.
                    try patience.check(at: connection.loop.now)
                    _ = try await goesOn(after: step, patience, nil)
                } catch {
                    guard error.isTimeout, connection.loop.now < end else { throw error }
                    return nil
                }
            case .content, .trailers, .end: throw .failed(.response, .http(.closedBeforeResponse))
            }
        }
    }

    /// Sends what has been composed, as far as there is room at once. Returns the rest, which may be empty where only
    /// the end of the last record waits for room; `nil` if all has gone.
    func send(_ count: Int) throws(CallFailure) -> [UInt8]? {
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: connection.buffer[0..<count])
        var sent = 0
        while sent < count {
            let step = unsafe connection.write(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
            switch step {
            case .moved(let some): sent += some
            case .again, .wantsInput, .wantsRoom: return unsafe [UInt8](bytes[sent...])
            case .ended: throw .failed(.write, .connectionClosed)
            case .failed(let reason): throw .failed(.write, reason)
            }
        }
        return connection.hasUnsentBytes ? [] : nil
    }

    /// Sends the rest of a head behind which the body waits for leave.
    func sendHead(_ rest: [UInt8]) async throws(CallFailure) {
        let patience = patience(.write, stall: timeouts.write, from: connection.loop.now)
        connection.reserve(rest.count)
        unsafe connection.buffer.copyBytes(from: rest)
        try await unsafe connection.writeAll(
            UnsafeRawBufferPointer(rebasing: connection.buffer[0..<rest.count]),
            patience
        )
    }

    /// Waits for the final head, past any interim ones (RFC 9110, section 15.2).
    func receiveHead(
        from sent: Instant,
        _ upload: Upload?,
        _ asked: ExchangeOptions.Box?
    ) async throws(CallFailure) -> ResponseHead {
        let connection = connection
        var patience = patience(.response, stall: timeouts.response, from: sent)
        var gauge = SpeedGauge(timeouts.speed)
        while true {
            switch try nextEvent(.response) {
            case .head(let head): return head
            case .interim(let head):
                patience = self.patience(.response, stall: timeouts.response, from: connection.loop.now)
                if let asked, head.status != .continue { asked.options.onInterim?(head) }
            case .needsMore:
                let step = connection.fill()
                if case .moved(let count) = step {
                    let now = connection.loop.now
                    patience = self.patience(.response, stall: timeouts.read, from: now)
                    try patience.check(at: now)
                    gauge.count(count)
                } else if case .wantsInput = step, upload == nil, !gauge.isOn {
                    // The way of almost every request, in one frame less.
                    try patience.check(
                        await connection.socket.input.wait(until: patience.deadline, on: connection.loop)
                    )
                } else if upload?.isRunning == true {
                    _ = try await goesOn(after: step, patience, upload)
                    // The server's time to answer begins when all has been sent, be it before or in this wait.
                    patience.extend(from: connection.loop.now)
                } else if connection.hasResponseBegun {
                    _ = try await goesOn(after: step, patience, upload, &gauge)
                } else {
                    _ = try await goesOn(after: step, patience, upload)
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

    /// Waits for what the step wants. False when the stream has ended and so has the response.
    func goesOn(
        after step: Connection.Step,
        _ patience: Patience,
        _ upload: Upload?
    ) async throws(CallFailure) -> Bool {
        if let failure = upload?.hopelessFailure { throw failure }
        switch step {
        case .moved: return true
        case .again, .wantsInput, .wantsRoom:
            // As long as we are sending, the server need not say anything; sending has a limit of its own.
            let isSending = upload?.isRunning ?? false
            try await connection.wait(for: step, as: .reader, isSending ? patience.untilEnd : patience)
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

    /// The same for a response that is coming, which has to keep up the least speed.
    func goesOn(
        after step: Connection.Step,
        _ patience: Patience,
        _ upload: Upload?,
        _ gauge: inout SpeedGauge
    ) async throws(CallFailure) -> Bool {
        // As long as we are sending, the server need not say anything.
        guard gauge.isOn, upload?.isRunning != true else {
            return try await goesOn(after: step, patience, upload)
        }
        let start = connection.loop.now
        let look = start.advanced(byNanoseconds: gauge.timeLeft)
        var goesOn = true
        do throws(CallFailure) {
            goesOn = try await self.goesOn(after: step, patience.shortened(to: look), upload)
        } catch {
            // Time for a look at the speed, and not the end of the wait.
            guard error.isTimeout, look < patience.deadline else { throw error }
        }
        try gauge.enter(waitFrom: start, to: connection.loop.now, patience.phase)
        return goesOn
    }

    /// Waits until the request has been sent whole, when the response has come to its end before.
    ///
    /// Only a broken connection ends this early: a server may have closed its own side and read on (RFC 9112, section
    /// 9.6). Bytes behind the response make the connection useless for another request, and no more.
    func awaitEnd(of upload: Upload) async throws(CallFailure) {
        let patience = patience(.write, stall: .max, from: connection.loop.now)
        while upload.isRunning {
            connection.socket.input.clear()
            // Looked at again behind the clearing, as its end is told at the same point.
            guard upload.isRunning else { break }
            switch connection.hasUnparsedBytes ? .ended(clean: false) : connection.fill() {
            case .wantsInput: try await connection.wait(for: .wantsInput, as: .reader, patience)
            case .wantsRoom: try await connection.wait(for: .wantsRoom, as: .reader, patience)
            case .again: try await connection.wait(for: .again, as: .reader, patience)
            case .moved, .ended:
                connection.retire()
                return try await upload.waitForEnd(patience)
            case .failed(let reason): throw upload.failure ?? .failed(.write, reason)
            }
        }
        if let failure = upload.failure { throw failure }
    }

    /// The limits of a wait that begins at that moment.
    func patience(_ phase: HTTPError.Phase, stall: UInt64, from now: Instant) -> Patience {
        Patience(phase, stall: stall, end: end, total: timeouts.total, from: now)
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

extension StreamedBody {
    /// How it is framed; asks it, which may read from the disk.
    func framing(on loop: EventLoop, within limit: CallLimit) async throws(CallFailure) -> BodyFraming {
        do {
            return try await measure(on: loop, until: limit.end).map(BodyFraming.length) ?? .chunked
        } catch let fault as RequestBodyFault {
            throw .failed(.request, .requestBody(fault))
        } catch let error as SystemError {
            throw .failed(.request, .system(error))
        } catch BlockingWork.Abandoned.expired {
            throw .failed(.request, limit.timeout)
        } catch {
            throw error is CancellationError && Task.isCancelled
                ? .cancelled : .failed(.request, .bodySource(error))
        }
    }
}

extension Request {
    /// The fields of its own, and those that follow from its body and from what it asks for.
    func completedHeaders(_ defaults: Headers) -> Headers {
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
    var tunnelBytes: [UInt8] {
        port == scheme.defaultPort ? authorityBytes + Array(":\(port)".utf8) : authorityBytes
    }
}

extension RequestBody {
    /// Small bodies travel in the same record as the head.
    fileprivate var bytesWorthSendingAtOnce: Int {
        if case .bytes(let bytes) = content { min(bytes.count, 14 * 1024) } else { 0 }
    }
}
