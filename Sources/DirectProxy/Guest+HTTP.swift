internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Programs that speak HTTP/1.
extension Guest {
    func serveHTTP(until deadline: Instant) async throws(Lost) -> (@Sendable () async -> Void)? {
        var limits = HTTP1Limits()
        limits.headBytes = core.limits.headBytes
        var reader = RequestReader(limits: limits)
        reader.begin()
        let request: ReceivedRequest
        do throws(RequestFault) {
            request = try await head(&reader, until: deadline)
        } catch {
            await refuse(Refusal(error), of: nil, road: .connect)
            return nil
        }
        guard core.access.admits(request.headers) else {
            await refuse(.noCredentials, of: nil, road: request.method == .connect ? .connect : .http)
            return nil
        }
        if request.method == .connect { return try await connect(request) }
        guard core.reserve(.tunnel) else {
            await refuse(.full(core.limits), of: nil, road: .http)
            return nil
        }
        let forwarder = Forwarder(self, reader)
        return { await forwarder.run(request) }
    }

    /// Reads until a head is complete.
    func head(
        _ reader: inout RequestReader,
        until deadline: Instant
    ) async throws(RequestFault) -> ReceivedRequest {
        while true {
            let step = try next(&reader)
            if case .head(let request) = step { return request }
            do throws(Lost) {
                try await fill(until: deadline)
            } catch {
                throw .message(.truncatedHead)
            }
        }
    }

    private func next(_ reader: inout RequestReader) throws(RequestFault) -> RequestReader.Event {
        let step = try unsafe ahead.withUnsafeBufferPointer { bytes throws(RequestFault) in
            try unsafe reader.next(bytes.span)
        }
        ahead = ahead.dropFirst(step.used)
        return step.event
    }

    /// Serves a CONNECT request (RFC 9110, section 9.3.6).
    private func connect(_ request: ReceivedRequest) async throws(Lost) -> (@Sendable () async -> Void)? {
        let start = loop.now
        let target = Target(authority: request.target)
        do throws(Refusal) {
            guard let target else { throw .notAnAuthority }
            // Where its content ends is not for us to find: what follows the head is the tunnel's.
            for name: StaticString in ["content-length", "transfer-encoding"] {
                guard request.headers.index(of: name) == nil else { throw .connectWithContent }
            }
            guard core.reserve(.tunnel) else { throw .full(core.limits) }
            do throws(Refusal) {
                let far = try await reach(target)
                do throws(Lost) {
                    try await send(Self.established, until: moment(after: core.limits.head))
                } catch {
                    far.end.reset()
                    core.release(.tunnel)
                    throw Refusal.gone
                }
                let told = report(.connect, to: target, over: far, since: start)
                return tunnel(far, to: target, reporting: told, since: start)
            } catch {
                core.release(.tunnel)
                throw error
            }
        } catch {
            await refuse(error, of: target, road: .connect)
            return nil
        }
    }

    func report(
        _ road: TunnelReport.Road,
        to target: Target,
        over far: FarEnd,
        since start: Instant
    ) -> TunnelReport {
        TunnelReport(
            road: road,
            target: target.description,
            endpoint: far.facts.endpoint,
            source: far.facts.source,
            failed: far.facts.search.failedAttempts.map(\.endpoint),
            connecting: loop.now.since(start),
            ending: .complete
        )
    }

    /// Answers that there is nothing, and closes: bytes of a tunnel that was not opened must not be read as
    /// a request.
    func refuse(_ refusal: Refusal, of target: Target?, road: TunnelReport.Road) async {
        tell(refusal, of: target, road: road)
        await close(after: refusal.answer)
    }

    /// Tells a program for which there is no place that there is none, without waiting.
    func dismiss(_ refusal: Refusal) {
        _ = unsafe refusal.answer.withUnsafeBytes { unsafe socket.step(writing: $0) }
        tell(refusal, of: nil, road: .connect)
        socket.close()
    }

    /// With neither framing field (RFC 9110, section 9.3.6).
    private static let established = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
}

extension Refusal {
    init(_ fault: RequestFault) {
        switch fault {
        case .message(.headTooLarge), .message(.lineTooLong), .message(.tooManyFields):
            self.init(kind: .tooLarge, line: "\(fault); raise limits.headBytes")
        default: self.init(kind: .malformed, line: "not a request to a proxy: \(fault)")
        }
    }

    static let noCredentials = Refusal(
        kind: .unauthorized,
        line:
            "the proxy's user and password are missing or wrong; take the proxy's URL, or open it to all programs"
    )
    static let notAnAuthority = Refusal(
        kind: .malformed,
        line: "CONNECT takes a host and a port, such as www.example.com:443"
    )
    static let connectWithContent = Refusal(
        kind: .malformed,
        line: "a CONNECT request must not have Content-Length or Transfer-Encoding"
    )
    static let gone = Refusal(kind: .unreachable, line: "the program has gone")

    static func full(_ limits: LocalProxy.Limits) -> Refusal {
        Refusal(kind: .full, line: "there are \(limits.tunnels) tunnels already; raise limits.tunnels")
    }

    /// The answer in HTTP. The connection ends with it.
    var answer: [UInt8] {
        let body = "\(line)\n"
        var head = "HTTP/1.1 \(kind.status) \(reason)\r\n"
        if kind.status == 407 { head += "Proxy-Authenticate: Basic realm=\"direct-proxy\"\r\n" }
        head += "Content-Type: text/plain; charset=utf-8\r\nContent-Length: \(body.utf8.count)\r\n"
        return Array((head + "Connection: close\r\n\r\n" + body).utf8)
    }

    private var reason: String {
        switch kind {
        case .malformed: "Bad Request"
        case .tooLarge: "Request Header Fields Too Large"
        case .unauthorized: "Proxy Authentication Required"
        case .forbidden: "Forbidden"
        case .unsupported: "Not Implemented"
        case .unknownHost, .unreachable: "Bad Gateway"
        case .late: "Gateway Timeout"
        case .full: "Service Unavailable"
        }
    }
}
