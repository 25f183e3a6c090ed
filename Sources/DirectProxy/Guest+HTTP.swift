internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Programs that speak HTTP/1.
extension Guest {
    func serveHTTP(until deadline: Instant) async -> ProxyCore.Work? {
        var limits = HTTP1Limits()
        (limits.headBytes, limits.lineBytes) = (core.limits.headBytes, core.limits.headBytes)
        var reader = RequestReader(limits: limits)
        guard let request = await request(&reader, until: deadline) else { return nil }
        do throws(Refusal) {
            try core.admit(number)
            if request.method == .connect { return await connect(request) }
            let forwarder = Forwarder(self, reader, request)
            return { await forwarder.run(number: $0) }
        } catch {
            let target =
                request.method == .connect
                ? Target(authority: request.target) : (try? ForwardedRequest(request))?.target
            await refuse(error, of: target, to: request)
            return nil
        }
    }

    /// Reads the head of a request of a program that may use the proxy. Returns `nil` after a refusal.
    func request(_ reader: inout RequestReader, until deadline: Instant) async -> ReceivedRequest? {
        var request: ReceivedRequest?
        reader.begin()
        do throws(Refusal) {
            let head = try await head(&reader, until: deadline)
            request = head
            if core.configuration.servesPAC, let place = socket.localEndpoint,
                PACFile.isAskedFor(by: head, at: place)
            {
                await close(after: PACFile.response(for: place))
                return nil
            }
            guard core.access.admits(head.headers) else { throw .noCredentials }
            isAdmitted = true
            return head
        } catch {
            await refuse(error, to: request)
            return nil
        }
    }

    /// Reads until a head is complete.
    private func head(
        _ reader: inout RequestReader,
        until deadline: Instant
    ) async throws(Refusal) -> ReceivedRequest {
        while true {
            do throws(RequestFault) {
                if case .head(let request) = try next(&reader).event { return request }
            } catch {
                throw Refusal(error)
            }
            do throws(Lost) {
                try await fill(until: deadline)
            } catch {
                switch error {
                case .gone: throw Refusal(.message(.truncatedHead))
                case .late: throw .slow(core.limits)
                case .cancelled: throw core.isStopped ? .stopped : .crowded
                }
            }
        }
    }

    /// Serves a CONNECT request (RFC 9110, section 9.3.6).
    func connect(_ request: ReceivedRequest) async -> ProxyCore.Work? {
        let target = Target(authority: request.target)
        do throws(Refusal) {
            guard let target else { throw .notAnAuthority }
            // The bytes behind the head are the tunnel's: it has no content whose end would have to be found.
            for name: StaticString in ["content-length", "transfer-encoding"] {
                guard request.headers.index(of: name) == nil else { throw .withContent }
            }
            return try await open(target, .connect, saying: Self.established)
        } catch {
            await refuse(error, of: target, to: request)
            return nil
        }
    }

    /// Answers that there is nothing, and closes: bytes of a tunnel that was not opened must not be read as
    /// a request.
    func refuse(_ refusal: Refusal, of target: Target? = nil, to request: ReceivedRequest?) async {
        tell(refusal, of: target, road: request?.method == .connect ? .connect : .http)
        await close(after: refusal.answer(hasBody: request?.method != .head))
    }

    /// With neither framing field (RFC 9110, section 9.3.6).
    private static let established = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
}
