package import DirectCore
package import DirectHTTP1
internal import DirectIO

/// One request and its response on one connection, from the first byte sent to the last one read.
///
/// The steps, in order:
/// - `compose` writes the head, and as much of a body in memory as fits, to the connection's buffer.
/// - `send` sends as much of that as the socket takes without waiting. It returns a copy of the rest: from
///   then on the buffer is used for the response.
/// - With `Expect: 100-continue` the task waits for the server's answer before the body is sent.
/// - The rest of the request goes to an ``Upload``, whose task sends it while this one reads.
/// - `receiveHead` skips interim responses and returns the final head; ``BodyReading`` reads the body.
///
/// The value has no state of its own: the parser's is in the connection, the sender's in the upload. It holds
/// no lease: if a step throws, the caller ends the lease. Every wait ends by the phase's time limit, which
/// progress restarts, by the deadline of the call, or by cancellation.
package struct Exchange {
    package let connection: Connection
    /// The limits of the whole call.
    package var limit: CallLimit

    /// Makes a value of its parts.
    package init(_ connection: Connection, within limit: CallLimit) {
        self.connection = connection
        self.limit = limit
    }

    var timeouts: Timeouts.Nanoseconds { limit.timeouts }

    /// Writes the head, and as much of the body as is sent with it, to the connection's buffer.
    ///
    /// - Parameters:
    ///   - streamed: the framing of a streamed body.
    ///   - written: the head, if it has been written already.
    /// - Returns: the number of bytes to send, and the part of the body that is left; `nil` if there is none.
    package func compose(
        _ message: borrowing OutgoingMessage,
        to url: HTTPURL,
        streamed: BodyFraming,
        written: [UInt8]? = nil
    ) throws(TransportError) -> (count: Int, rest: Upload.Content?) {
        let announced = message.announcements
        connection.beginExchange(message.method, upgrade: announced.upgrade)
        let count: Int
        if let written {
            count = written.count
            connection.reserve(count + message.body.bytesWorthSendingAtOnce)
            unsafe connection.buffer.copyBytes(from: written)
        } else {
            let framing: BodyFraming =
                switch message.body {
                case .none: .none
                case .bytes(let bytes): .length(UInt64(bytes.count))
                case .stream: streamed
                }
            let isProxied = connection.isProxied
            let head = message.head(
                to: url,
                isProxied: isProxied,
                as: isProxied ? connection.forwarding : nil
            )
            connection.reserve(head.sizeBound + message.body.bytesWorthSendingAtOnce)
            count = try unsafe head.write(framing: framing, announcing: announced, into: connection.buffer)
        }
        switch message.body {
        case .none: return (count, nil)
        case .bytes(let bytes):
            if bytes.isEmpty { return (count, nil) }
            if let options = message.options,
                options.options.expectsContinue || options.options.sendingRate != nil
            {
                return (count, .bytes(bytes, from: 0))
            }
            let taken = unsafe bytes.copyPrefix(to: connection.buffer, at: count)
            return (count + taken, taken < bytes.count ? .bytes(bytes, from: taken) : nil)
        case .stream(let body):
            if case .length(let length) = streamed { return (count, .stream(body, length: length)) }
            return (count, .stream(body, length: nil))
        }
    }

    /// Waits for the server's permission to send the body, at most for the limit `continue` (RFC 9110,
    /// section 10.1.1).
    ///
    /// - Returns: the final head if the server refuses the body, `nil` if the body is to be sent; and whether
    ///   the server has asked for it.
    @inline(never)
    func awaitContinue(
        _ options: ExchangeOptions,
        sending unsent: [UInt8]?
    ) async throws(TransportError) -> (refusal: ResponseHead?, isAskedFor: Bool) {
        if let unsent { try await sendHead(unsent) }
        // The request has not been sent whole.
        let deadline = limit.deadline(.write, stall: timeouts.continue, from: connection.loop.now)
        while true {
            switch try nextEvent(.response) {
            case .head(let head): return (head, false)
            case .interim(let head):
                if head.status == .continue { return (nil, true) }
                options.onInterim?(ReceivedResponse(head, body: []))
            case .needsMore:
                do throws(TransportError) {
                    let step = connection.fill()
                    _ = try await waitIfNeeded(after: step, deadline, upload: nil)
                } catch {
                    guard error.isTimeout, connection.loop.now < limit.end else { throw error }
                    return (nil, false)
                }
            case .content, .trailers, .end: throw .failed(.response, .http(.closedBeforeResponse))
            }
        }
    }

    /// Sends the composed bytes as far as the socket takes them without waiting.
    ///
    /// - Returns: the rest, which may be empty if only the end of the last record waits for room; `nil` if
    ///   all was sent.
    package func send(_ count: Int) throws(TransportError) -> [UInt8]? {
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
    package func sendHead(_ rest: [UInt8]) async throws(TransportError) {
        let deadline = limit.deadline(.write, from: connection.loop.now)
        connection.reserve(rest.count)
        unsafe connection.buffer.copyBytes(from: rest)
        try await unsafe connection.writeAll(
            UnsafeRawBufferPointer(rebasing: connection.buffer[0..<rest.count]),
            deadline: deadline
        )
    }

    /// Returns the final head; interim ones are skipped (RFC 9110, section 15.2).
    package func receiveHead(
        from sent: Instant,
        _ upload: Upload?,
        options: ExchangeOptions.Box?
    ) async throws(TransportError) -> ResponseHead {
        let connection = connection
        var deadline = limit.deadline(.response, from: sent)
        var monitor = ThroughputMonitor(timeouts.speed)
        // Whether bytes have arrived since the deadline was set.
        var hasProgress = false
        while true {
            // Without bytes there is no event.
            switch connection.hasUnparsedBytes ? try nextEvent(.response) : .needsMore {
            case .head(let head):
                // Another request may follow it. A task that was cancelled in the meantime must not send one.
                if !head.status.isSuccess, Task.isCancelled { throw .cancelled }
                return head
            case .interim(let head):
                try restart(&deadline, stall: timeouts.response, after: upload)
                hasProgress = false
                if let options, head.status != .continue {
                    options.options.onInterim?(ReceivedResponse(head, body: []))
                }
            case .needsMore:
                // Only here: almost every head arrives whole.
                if hasProgress {
                    try restart(&deadline, stall: timeouts.read, after: upload)
                    hasProgress = false
                }
                // Usually the response is still on its way. To ask OpenSSL for it takes as long as a tenth of
                // the request.
                let step = connection.mayHaveInput ? connection.fill() : .wantsRead
                if case .moved(let count) = step {
                    hasProgress = true
                    monitor.count(count)
                } else if case .wantsRead = step, upload == nil, !monitor.isOn {
                    // The path of almost every request, with one frame less.
                    try deadline.check(
                        await connection.socket.input.wait(until: deadline.instant, on: connection.loop)
                    )
                } else {
                    try await waitForHead(after: step, &deadline, upload: upload, monitor: &monitor)
                }
            case .content, .trailers, .end: throw .failed(.response, .http(.closedBeforeResponse))
            }
        }
    }

    @inline(never)
    private func waitForHead(
        after step: Connection.Step,
        _ deadline: inout Deadline,
        upload: Upload?,
        monitor: inout ThroughputMonitor
    ) async throws(TransportError) {
        if upload?.isSending == true {
            _ = try await waitIfNeeded(after: step, deadline, upload: upload)
            // The server's time to answer begins when all has been sent, before this wait or during it.
            deadline.extend(from: connection.loop.now)
        } else if connection.hasResponseBegun {
            _ = try await waitIfNeeded(after: step, deadline, upload: upload, monitor: &monitor)
        } else {
            _ = try await waitIfNeeded(after: step, deadline, upload: upload)
        }
    }

    /// Restarts the deadline of a response after progress. Throws if the call is over: there is no wait that
    /// would end it while a server keeps sending. The rest of what has arrived by then is read.
    @inline(never)
    private func restart(
        _ deadline: inout Deadline,
        stall: IdleLimit,
        after upload: Upload?
    ) throws(TransportError) {
        deadline = limit.deadline(.response, stall: stall, from: connection.loop.now)
        try connection.checkEnd(of: limit, upload?.isSending == true ? .write : .response)
    }

    /// Returns the parser's next event in the received bytes.
    func nextEvent(_ phase: TransportError.Phase) throws(TransportError) -> ResponseReader.Event {
        do throws(HTTP1Error) {
            return try connection.nextEvent()
        } catch {
            throw .failed(phase, .http(error))
        }
    }

    /// Waits for the event that the step needs. Returns false if the stream has ended and the response with
    /// it.
    @inline(never)
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
            let isSending = upload?.isSending ?? false
            try await connection.wait(for: step, as: .reader, isSending ? deadline.whileSending : deadline)
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
        guard monitor.isOn, upload?.isSending != true else {
            return try await waitIfNeeded(after: step, deadline, upload: upload)
        }
        return try await monitor.check(deadline, on: connection.loop) { deadline throws(TransportError) in
            try await waitIfNeeded(after: step, deadline, upload: upload)
        }
    }

    /// Waits until the request has been sent whole and its source has ended, after the end of its response.
    ///
    /// Only a broken connection ends the wait early: a server may have closed its own side and still read
    /// (RFC 9112, section 9.6). Bytes behind the response, or the end, prevent the reuse of the connection,
    /// and nothing else.
    func awaitEnd(of upload: Upload) async throws(TransportError) {
        if try await watch(upload, keepingUpTo: 0) { connection.retire() }
        try await upload.waitForEnd()
    }

    /// Waits until the request has been sent whole, after the server has switched to another protocol. Bytes
    /// of that protocol are kept for its reader.
    func awaitEnd(ofSwitching upload: Upload) async throws(TransportError) {
        _ = try await watch(upload, keepingUpTo: Self.longestEarlyData)
        try await upload.waitForEnd()
    }

    /// Watches the connection until no more is sent, the server has sent more than `limit` bytes, or it
    /// has finished sending. Returns whether the server came first.
    ///
    /// - Throws: the failure of a connection that breaks. The source of the body may pause for as long as it
    ///   likes.
    private func watch(_ upload: Upload, keepingUpTo limit: Int) async throws(TransportError) -> Bool {
        let deadline = self.limit.deadline(.write, stall: .endsWithUpload, from: connection.loop.now)
        while upload.isSending {
            guard connection.unparsedCount <= limit else { return true }
            connection.socket.input.clear()
            // Checked again after the wait point was cleared, because the upload's end is signalled there.
            guard upload.isSending else { break }
            let step = connection.fill()
            switch step {
            case .wantsRead, .wantsWrite, .again:
                // And again, because `fill` clears the wait point as well, before it reads.
                if upload.isSending { try await connection.wait(for: step, as: .reader, deadline) }
            case .moved: continue
            case .ended: return true
            case .failed(let reason): throw upload.failure ?? .failed(.write, reason)
            }
        }
        return false
    }

    private static let longestEarlyData = 65_536
}

/// The part of a body that has been received and not been read yet.
struct BufferedContent {
    var content: [UInt8] = []
    /// The trailer fields; `nil` if there were none.
    var trailers: HTTPHeaders?
    /// Whether the body ends here.
    var isAtEnd = false
}

extension Exchange {
    /// Takes the content among the bytes that have been received; stops where more bytes are needed.
    func takeBuffered() throws(TransportError) -> BufferedContent {
        var taken = BufferedContent()
        while !taken.isAtEnd {
            switch try nextEvent(.body) {
            case .content(let range):
                let content = unsafe UnsafeRawBufferPointer(rebasing: connection.buffer[range])
                // An array made from a buffer has exactly its size; most bodies arrive in one piece.
                if taken.content.isEmpty {
                    taken.content = unsafe [UInt8](content)
                } else {
                    unsafe taken.content += content
                }
            case .trailers(let fields): taken.trailers = fields
            case .end: taken.isAtEnd = true
            case .needsMore, .interim, .head: return taken
            }
        }
        return taken
    }
}
