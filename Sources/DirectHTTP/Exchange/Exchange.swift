internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// One request and its response on one connection, from the first byte sent to the last one read.
///
/// The steps, in order:
/// - `compose` writes the head, and as much of a body in memory as fits, to the connection's buffer.
/// - `send` sends as much of that as the socket takes without waiting. It returns a copy of the rest: from then on
///   the buffer is used for the response.
/// - With `Expect: 100-continue` the task waits for the server's answer before the body is sent.
/// - The rest of the request goes to an ``Upload``, whose task sends it while this one reads.
/// - `receiveHead` skips interim responses and returns the final head; ``BodyReading`` reads the body.
///
/// The value has no state of its own: the parser's is in the connection, the sender's in the upload. It holds no
/// lease: if a step throws, the caller ends the lease. Every wait ends by the phase's time limit, which progress
/// restarts, by the deadline of the call, or by cancellation.
struct Exchange {
    let connection: Connection
    let timeouts: Timeouts.Nanoseconds
    /// The deadline of the whole call.
    var end: Instant
    /// The deadline and the total time limit of the call.
    var limit: CallLimit { CallLimit(end: end, total: timeouts.total) }

    /// Returns the framing of a streamed body. Asks the body for its length, which may read from the disk.
    func framing(of body: StreamedBody) async throws(TransportError) -> BodyFraming {
        try await body.framing(on: connection.loop, within: limit)
    }

    /// Writes the head, and as much of the body as is sent with it, to the connection's buffer.
    ///
    /// - Returns: the number of bytes to send, and the part of the body that is left; `nil` if there is none.
    func compose(
        _ request: Request,
        url: HTTPURL,
        defaults: HTTPHeaders,
        asked: ExchangeOptions.Box?,
        streamed: BodyFraming
    ) throws(TransportError) -> (count: Int, rest: Upload.Content?) {
        connection.beginExchange(request.method, upgrade: asked?.options.upgrade.isEmpty == false)
        switch request.body.content {
        case .none:
            return (try writeHead(of: request, url, defaults: defaults, asked: asked, framing: .none), nil)
        case .bytes(let bytes):
            let count = try writeHead(
                of: request,
                url,
                defaults: defaults,
                asked: asked,
                framing: .length(UInt64(bytes.count))
            )
            if bytes.isEmpty { return (count, nil) }
            if let asked, asked.options.expectsContinue { return (count, .bytes(bytes, from: 0)) }
            let taken = unsafe bytes.copyPrefix(to: connection.buffer, at: count)
            return (count + taken, taken < bytes.count ? .bytes(bytes, from: taken) : nil)
        case .stream(let body):
            let count = try writeHead(of: request, url, defaults: defaults, asked: asked, framing: streamed)
            if case .length(let length) = streamed { return (count, .stream(body, length: length)) }
            return (count, .stream(body, length: nil))
        }
    }

    /// Waits for the server's permission to send the body, at most for the limit `continue` (RFC 9110, section
    /// 10.1.1).
    ///
    /// - Returns: the final head if the server refuses the body; `nil` if the body is to be sent.
    func awaitContinue(_ asked: ExchangeOptions) async throws(TransportError) -> ResponseHead? {
        let deadline = deadline(.response, stall: timeouts.continue, from: connection.loop.now)
        while true {
            switch try nextEvent(.response) {
            case .head(let head): return head
            case .interim(let head):
                if head.status == .continue { return nil }
                asked.onInterim?(head)
            case .needsMore:
                do throws(TransportError) {
                    let step = connection.fill()
                    // A server that keeps sending bytes without an answer must not delay the body any longer
                    // either.
                    try deadline.check(at: connection.loop.now)
                    _ = try await waitIfNeeded(after: step, deadline, upload: nil)
                } catch {
                    guard error.isTimeout, connection.loop.now < end else { throw error }
                    return nil
                }
            case .content, .trailers, .end: throw .failed(.response, .http(.closedBeforeResponse))
            }
        }
    }

    /// Sends the composed bytes as far as the socket takes them without waiting.
    ///
    /// - Returns: the rest, which may be empty if only the end of the last record waits for room; `nil` if all was
    ///   sent.
    func send(_ count: Int) throws(TransportError) -> [UInt8]? {
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: connection.buffer[0..<count])
        var sent = 0
        while sent < count {
            let step = unsafe connection.write(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
            switch step {
            case .moved(let some): sent += some
            case .again, .wantsRead, .wantsWrite: return unsafe [UInt8](bytes[sent...])
            case .ended: throw .failed(.write, .connectionClosed)
            case .failed(let reason): throw .failed(.write, reason)
            }
        }
        return connection.hasUnsentBytes ? [] : nil
    }

    /// Sends the rest of a head whose body waits for the server's permission.
    func sendHead(_ rest: [UInt8]) async throws(TransportError) {
        let deadline = deadline(.write, stall: timeouts.write, from: connection.loop.now)
        connection.reserve(rest.count)
        unsafe connection.buffer.copyBytes(from: rest)
        try await unsafe connection.writeAll(
            UnsafeRawBufferPointer(rebasing: connection.buffer[0..<rest.count]),
            deadline: deadline
        )
    }

    /// Returns the final head; interim ones are skipped (RFC 9110, section 15.2).
    func receiveHead(
        from sent: Instant,
        _ upload: Upload?,
        asked: ExchangeOptions.Box?
    ) async throws(TransportError) -> ResponseHead {
        let connection = connection
        var deadline = deadline(.response, stall: timeouts.response, from: sent)
        var monitor = ThroughputMonitor(timeouts.speed)
        while true {
            switch try nextEvent(.response) {
            case .head(let head): return head
            case .interim(let head):
                deadline = self.deadline(.response, stall: timeouts.response, from: connection.loop.now)
                if let asked, head.status != .continue { asked.options.onInterim?(head) }
            case .needsMore:
                let step = connection.fill()
                if case .moved(let count) = step {
                    let now = connection.loop.now
                    deadline = self.deadline(.response, stall: timeouts.read, from: now)
                    try deadline.check(at: now)
                    monitor.count(count)
                } else if case .wantsRead = step, upload == nil, !monitor.isOn {
                    // The path of almost every request, with one frame less.
                    try deadline.check(
                        await connection.socket.input.wait(until: deadline.instant, on: connection.loop)
                    )
                } else if upload?.isRunning == true {
                    _ = try await waitIfNeeded(after: step, deadline, upload: upload)
                    // The server's time to answer begins when all has been sent, before this wait or during it.
                    deadline.extend(from: connection.loop.now)
                } else if connection.hasResponseBegun {
                    _ = try await waitIfNeeded(after: step, deadline, upload: upload, monitor: &monitor)
                } else {
                    _ = try await waitIfNeeded(after: step, deadline, upload: upload)
                }
            case .content, .trailers, .end: throw .failed(.response, .http(.closedBeforeResponse))
            }
        }
    }

    /// Returns the parser's next event in the received bytes.
    func nextEvent(_ phase: HTTPError.Phase) throws(TransportError) -> ResponseReader.Event {
        do throws(HTTP1Error) {
            return try connection.nextEvent()
        } catch {
            throw .failed(phase, .http(error))
        }
    }

    /// Waits for the event that the step needs. Returns false if the stream has ended and the response with it.
    func waitIfNeeded(
        after step: Connection.Step,
        _ deadline: Deadline,
        upload: Upload?
    ) async throws(TransportError) -> Bool {
        if let failure = upload?.hopelessFailure { throw failure }
        switch step {
        case .moved: return true
        case .again, .wantsRead, .wantsWrite:
            // While the request is being sent the server need not answer; sending has a limit of its own.
            let isSending = upload?.isRunning ?? false
            try await connection.wait(for: step, as: .reader, isSending ? deadline.untilEnd : deadline)
            return true
        case .ended(let clean):
            do throws(HTTP1Error) {
                try connection.endOfInput(clean: clean)
                return false
            } catch {
                throw upload?.failure ?? .failed(deadline.phase, .http(error))
            }
        case .failed(let reason): throw upload?.failure ?? .failed(deadline.phase, reason)
        }
    }

    /// Does the same for a response that has begun, which must also reach the minimum speed.
    func waitIfNeeded(
        after step: Connection.Step,
        _ deadline: Deadline,
        upload: Upload?,
        monitor: inout ThroughputMonitor
    ) async throws(TransportError) -> Bool {
        // While the request is being sent the server need not answer.
        guard monitor.isOn, upload?.isRunning != true else {
            return try await waitIfNeeded(after: step, deadline, upload: upload)
        }
        let start = connection.loop.now
        let look = start.advanced(byNanoseconds: monitor.timeLeft)
        var waitIfNeeded = true
        do throws(TransportError) {
            waitIfNeeded = try await self.waitIfNeeded(
                after: step,
                deadline.shortened(to: look),
                upload: upload
            )
        } catch {
            // This was only the time to check the speed, and not the deadline.
            guard error.isTimeout, look < deadline.instant else { throw error }
        }
        try monitor.enter(waitFrom: start, to: connection.loop.now, deadline.phase)
        return waitIfNeeded
    }

    /// Waits until the request has been sent whole, after the end of its response.
    ///
    /// Only a broken connection ends the wait early: a server may have closed its own side and still read (RFC
    /// 9112, section 9.6). Bytes behind the response prevent the reuse of the connection, and nothing else.
    func awaitEnd(of upload: Upload) async throws(TransportError) {
        let deadline = deadline(.write, stall: .max, from: connection.loop.now)
        while upload.isRunning {
            connection.socket.input.clear()
            // Checked again after the wait point was cleared, because the upload's end is signalled there.
            guard upload.isRunning else { break }
            switch connection.hasUnparsedBytes ? .ended(clean: false) : connection.fill() {
            case .wantsRead: try await connection.wait(for: .wantsRead, as: .reader, deadline)
            case .wantsWrite: try await connection.wait(for: .wantsWrite, as: .reader, deadline)
            case .again: try await connection.wait(for: .again, as: .reader, deadline)
            case .moved, .ended:
                connection.retire()
                return try await upload.waitForEnd(deadline)
            case .failed(let reason): throw upload.failure ?? .failed(.write, reason)
            }
        }
        if let failure = upload.failure { throw failure }
    }

    /// Returns the deadline of a wait that begins at `now`: the phase's limit, but no later than the call's end.
    func deadline(_ phase: HTTPError.Phase, stall: UInt64, from now: Instant) -> Deadline {
        Deadline(phase, stall: stall, end: end, total: timeouts.total, from: now)
    }

    /// Writes the head to the connection's buffer, and returns its length.
    private func writeHead(
        of request: Request,
        _ url: HTTPURL,
        defaults: HTTPHeaders,
        asked: ExchangeOptions.Box?,
        framing: BodyFraming
    ) throws(TransportError) -> Int {
        let isTunnel = request.method.isConnect
        let isProxied = connection.isProxied
        let forwarding = isProxied ? connection.forwarding : nil
        let target =
            isTunnel ? url.tunnelBytes : forwarding == nil ? url.targetBytes : url.absoluteTargetBytes
        let authority = isTunnel ? target : url.authorityBytes
        let isComplete = asked == nil && request.body.contentType == nil
        var headers = isComplete ? request.headers : request.completedHeaders(defaults)
        // Without a proxy of the client's, the recipient of a CONNECT is the caller's proxy (RFC 9110, section
        // 9.3.6).
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
    /// Returns the framing. Asks the body for its length, which may read from the disk.
    func framing(on loop: EventLoop, within limit: CallLimit) async throws(TransportError) -> BodyFraming {
        do {
            return try await measure(on: loop, until: limit.end).map(BodyFraming.length) ?? .chunked
        } catch let fault as RequestBodyError {
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
    /// Returns the request's own fields, and those that follow from its body and its options.
    func completedHeaders(_ defaults: HTTPHeaders) -> HTTPHeaders {
        var headers = headers
        if let type = body.contentType, !headers.contains("Content-Type"), !defaults.contains("Content-Type")
        {
            headers.add("Content-Type", type)
        }
        if !upgrade.isEmpty { headers.add("Upgrade", upgrade.joined(separator: ", ")) }
        return headers
    }
}

extension HTTPHeaders {
    /// Sends proxy credentials to a proxy only: not to a server behind one, and not without one.
    fileprivate mutating func addressProxy(_ forwarding: Forwarding?) {
        let name = "Proxy-Authorization"
        if forwarding == nil || forwarding?.authorization != nil { remove(name) }
        if let authorization = forwarding?.authorization { add(name, authorization) }
    }
}

extension HTTPURL {
    /// The absolute form, for a request to a proxy (RFC 9112, section 3.2.2).
    fileprivate var absoluteTargetBytes: [UInt8] { Array("http://".utf8) + authorityBytes + targetBytes }

    /// The target of a tunnel: host and port, even the default one (RFC 9110, section 9.3.6).
    var tunnelBytes: [UInt8] {
        port == scheme.defaultPort ? authorityBytes + Array(":\(port)".utf8) : authorityBytes
    }
}

extension RequestBody {
    /// Small bodies are sent in the same record as the head.
    fileprivate var bytesWorthSendingAtOnce: Int {
        if case .bytes(let bytes) = content { min(bytes.count, 14 * 1024) } else { 0 }
    }
}
