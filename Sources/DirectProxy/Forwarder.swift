internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Forwards the requests of one program for `http` URLs, one after the other, each with its response.
///
/// Both directions move at the same time, in one task, as in a ``Tunnel``: a server may answer before it
/// has the whole request. All of it is parsed and written anew, so no byte that a recipient could take
/// for another message passes.
@safe
final class Forwarder: @unchecked Sendable {
    private let guest: Guest
    private let core: ProxyCore
    private var requests: RequestReader
    private var responses = ResponseReader()
    /// The connection of the last request, if it can be used again.
    private var kept: (far: FarEnd, target: Target)?
    /// The bytes of the target that are not used yet, and those that wait for room on either side.
    private var received, toFar, toNear: ArraySlice<UInt8>
    private var place: Room.Place?
    /// The exchange in work: its request, whether that is read to its end, and the head of its answer.
    private var request: ReceivedRequest
    private var isRead = false
    private var answer: ForwardedResponse?
    /// Whether the response is read to its end, and whether the target has the whole request.
    private var hasEnded = false, isWhole = false
    /// Whether the target takes no more of the request.
    private var isFarGone = false
    private var moved: (up: UInt64, down: UInt64) = (0, 0)

    /// Whether the program has the whole answer.
    private var isAnswered: Bool { hasEnded && toNear.isEmpty && responses.framing != .tunnel }

    /// Why an exchange did not end as it should.
    private enum Fault: Error {
        case program, malformed(RequestFault), target(HTTP1Error), late, stopped

        var ending: TunnelReport.Ending {
            switch self {
            case .program, .malformed: .reset(byTarget: false)
            case .target: .reset(byTarget: true)
            case .late: .idle
            case .stopped: .stopped
            }
        }
    }

    init(
        _ guest: Guest,
        _ requests: consuming RequestReader,
        _ first: ReceivedRequest,
        in place: consuming Room.Place
    ) {
        (self.guest, core, request) = (guest, guest.core, first)
        self.requests = requests
        self.place = consume place
        (received, toFar, toNear) = ([], [], [])
    }

    /// Serves the first request and those that follow. The connection is closed on return.
    func run(number: UInt64) async {
        while await serve(number) {
            guard core.note(number, isResting: true) else { break }
            let hasMore = await isThereMore()
            _ = core.note(number, isResting: false)
            let end = guest.moment(after: core.limits.head)
            guard hasMore, let next = await guest.request(&requests, until: end) else { break }
            if next.method == .connect {
                kept?.far.end.close()
                guard let place = place.take(), let tunnel = await guest.connect(next, in: place) else {
                    return
                }
                return await tunnel(number)
            }
            request = next
        }
        kept?.far.end.close()
        guest.socket.close()
    }

    /// Waits for the next request.
    private func isThereMore() async -> Bool {
        guard guest.ahead.isEmpty else { return true }
        return (try? await guest.fill(until: guest.moment(after: Self.patience))) != nil
    }

    /// Serves a request. Returns whether another may follow.
    private func serve(_ number: UInt64) async -> Bool {
        let start = core.loop.now
        var target: Target?
        do throws(Refusal) {
            let forwarded = try ForwardedRequest(request)
            target = forwarded.target
            let (far, isKept) = try await connection(to: forwarded.target)
            var report = guest.report(.http, to: forwarded.target, over: far, since: start)
            do throws(Fault) {
                report.ending = try await exchange(forwarded, over: far)
            } catch _ where isAnswered {
                // The rest of its request has not come, of which the program knows.
                report.ending = .complete
            } catch {
                far.end.reset()
                if moved.down == 0 || answer == nil && toNear.isEmpty {
                    // Nothing of an answer has gone to the program: it can be told.
                    switch error {
                    case .malformed(let fault): throw Refusal(fault)
                    case .target(let fault) where !isKept:
                        throw Refusal(kind: .unreachable, line: "\(forwarded.target): \(fault)")
                    default: break
                    }
                }
                report.ending = error.ending
                // Without an answer the program knows that it may try again, and that an answer is not
                // whole.
                if case .target = error {
                    await Delivery.end(on: guest.socket, within: core.limits.halfClosed)
                }
                guest.socket.reset()
            }
            (report.sent, report.received) = moved
            report.time = core.loop.now.since(start)
            core.configuration.onEvent?(.ended(report))
            return isAnswered ? await finish(far, forwarded.target, number) : false
        } catch {
            await guest.refuse(error, of: target, to: request)
            return false
        }
    }

    /// Returns a connection to the target, and whether it has served another request.
    private func connection(to target: Target) async throws(Refusal) -> (FarEnd, isKept: Bool) {
        if let (far, last) = kept {
            kept = nil
            if last.url.origin == target.url.origin,
                case .wantsRead = unsafe far.end.read(into: core.scratch)
            {
                return (far, true)
            }
            far.end.close()
        }
        let far = try await guest.reach(target)
        guard far.early.isEmpty else {
            far.end.reset()
            throw Refusal(kind: .unreachable, line: "\(target): \(HTTP1Error.responseBeforeRequest)")
        }
        return (far, false)
    }

    /// Sends the request and passes the response on. Returns how it ended.
    ///
    /// A target may answer before it has the whole request, and read the rest of it all the same, whether it
    /// keeps the connection or not. It gets the rest until it closes.
    private func exchange(
        _ forwarded: ForwardedRequest,
        over far: FarEnd
    ) async throws(Fault) -> TunnelReport.Ending {
        far.end.socket.partner = guest.socket
        defer { far.end.socket.partner = nil }
        (moved, received, toNear, toFar) = ((0, 0), [], [], forwarded.head[...])
        responses.begin(request.method, upgrade: forwarded.upgrades)
        (isRead, answer) = (!request.framing.hasContent, nil)
        (hasEnded, isWhole, isFarGone) = (false, false, false)
        var (deadline, wasLate) = (Instant.never, Bool?.none)
        while true {
            var hasMoved = try flush(&toFar, to: far.end, isFar: true)
            if !isRead, toFar.isEmpty, try readRequest() { hasMoved = true }
            isWhole = isRead && toFar.isEmpty && hasSentAll(far)
            // A program that ends its sending after its request has gone, as for most servers: nobody waits
            // for the answer.
            let isLeft = guest.socket.isHungUp
            if isLeft, isRead, !isAnswered { throw .program }
            if !hasEnded, toNear.isEmpty, try readResponse(far) { hasMoved = true }
            if try flush(&toNear, to: .socket(guest.socket), isFar: false) { hasMoved = true }
            if responses.framing == .tunnel, answer != nil, toNear.isEmpty, toFar.isEmpty {
                return await becomeTunnel(far)
            }
            if isAnswered, isWhole || isFarGone || far.end.socket.isHungUp { return .complete }
            let isLate = isLeft || isAnswered
            if hasMoved || isLate != wasLate {
                wasLate = isLate
                let limit = isLate ? core.limits.halfClosed : core.limits.idle
                deadline = guest.moment(after: limit)
            }
            if hasMoved {
                await core.loop.yield()
                if Task.isCancelled { throw .stopped }
                continue
            }
            switch await guest.socket.waitForAny(until: deadline) {
            case .ready: continue
            case .expired: throw .late
            case .cancelled: throw .stopped
            }
        }
    }

    /// Whether layers of TLS to an upstream proxy hold nothing more of the request.
    private func hasSentAll(_ far: FarEnd) -> Bool {
        switch far.end.flush() {
        case .moved: return true
        case .again, .wantsRead, .wantsWrite: return false
        case .ended, .failed:
            isFarGone = true
            return false
        }
    }

    /// Keeps or closes both connections after a response. Returns whether another request may follow.
    private func finish(_ far: FarEnd, _ target: Target, _ number: UInt64) async -> Bool {
        if isWhole, case .reusable = responses.reuse, received.isEmpty {
            kept = (far, target)
        } else {
            far.end.close()
        }
        if isWhole, answer?.persists == true { return true }
        // After an answer to half a request the rest of it is still to come, and is no request of its own.
        // A proxy that stops does not wait for that.
        await guest.close(behindHalf: !isWhole) { core.note(number, isResting: true) }
        return false
    }

    /// Sends the bytes that wait. Returns whether anything was sent.
    private func flush(
        _ bytes: inout ArraySlice<UInt8>,
        to end: TunnelEnd,
        isFar: Bool
    ) throws(Fault) -> Bool {
        _ = end.flush()
        guard !bytes.isEmpty else { return false }
        switch unsafe bytes.withUnsafeBytes({ unsafe end.write($0) }) {
        case .moved(let count):
            bytes = bytes.dropFirst(count)
            if isFar { moved.up += UInt64(count) } else { moved.down += UInt64(count) }
            return true
        case .again: return true
        case .wantsRead, .wantsWrite: return false
        case .ended, .failed:
            guard isFar else { throw .program }
            // Its answer may be there although it takes no more.
            (bytes, isFarGone) = ([], true)
            return false
        }
    }

    /// Reads more of the request's content. Returns whether there was any.
    private func readRequest() throws(Fault) -> Bool {
        // The rest of the last piece may be the beginning of a line: it is shown again with more.
        var needsMore = guest.ahead.isEmpty
        while !isRead {
            if needsMore {
                switch unsafe guest.socket.step(readingInto: core.scratch) {
                case .moved(let count): guest.ahead += unsafe Array(core.scratch[..<count])
                case .again: return true
                case .wantsRead, .wantsWrite: return false
                case .ended, .failed: throw .program
                }
            }
            let step: RequestReader.Step
            do throws(RequestFault) {
                step = try unsafe guest.ahead.withUnsafeBufferPointer { bytes throws(RequestFault) in
                    try unsafe requests.next(bytes.span)
                }
            } catch {
                throw .malformed(error)
            }
            let base = guest.ahead.startIndex
            switch step.event {
            case .content(let range):
                let content = guest.ahead[(base + range.lowerBound)..<(base + range.upperBound)]
                toFar += request.framing == .chunked ? Chunk.bytes(content) : Array(content)
            case .trailers(let trailers): toFar += Chunk.last(trailers)
            case .end: if request.framing == .chunked { toFar += Chunk.last(HTTPHeaders()) }
            case .needsMore, .head: break
            }
            guest.ahead = guest.ahead.dropFirst(step.used)
            isRead = requests.isAtEnd
            if case .needsMore = step.event { needsMore = true } else { needsMore = guest.ahead.isEmpty }
            if needsMore, !toFar.isEmpty { return true }
        }
        return true
    }

    /// Reads more of the response. Returns whether there was any.
    private func readResponse(_ far: FarEnd) throws(Fault) -> Bool {
        var atEnd: Bool?
        var hasMoved = true
        switch unsafe far.end.read(into: core.scratch) {
        case .moved(let count): received += unsafe Array(core.scratch[..<count])
        case .again: break
        case .wantsRead, .wantsWrite: hasMoved = false
        case .ended(let clean): atEnd = clean
        case .failed: atEnd = false
        }
        do throws(HTTP1Error) {
            try parse()
            if let atEnd, !hasEnded {
                _ = try responses.endOfInput(clean: atEnd)
                // The end of the stream is the end of the content.
                hasEnded = true
            }
        } catch {
            throw .target(error)
        }
        return hasMoved || hasEnded
    }

    private func parse() throws(HTTP1Error) {
        while !hasEnded, answer == nil || responses.framing != .tunnel {
            let step = try unsafe received.withUnsafeBufferPointer { bytes throws(HTTP1Error) in
                try unsafe responses.next(bytes.span)
            }
            let base = received.startIndex
            let isChunked = answer?.isChunked == true
            switch step.event {
            case .needsMore:
                received = received.dropFirst(step.used)
                return
            case .interim(let head):
                // HTTP/1.0 has none (RFC 9110, section 15.2).
                if request.version == .http11 {
                    toNear += ForwardedResponse(head, framing: .none, to: request).head
                }
            case .head(let head):
                let forwarded = ForwardedResponse(
                    head,
                    framing: responses.framing,
                    to: request,
                    // What the target does not read any more is in the way of another request.
                    mayPersist: isWhole || responses.reuseOnceRead == .reusable
                )
                toNear += forwarded.head
                answer = forwarded
                if responses.framing == .none { hasEnded = true }
            case .content(let range):
                let content = received[(base + range.lowerBound)..<(base + range.upperBound)]
                toNear += isChunked ? Chunk.bytes(content) : Array(content)
            case .trailers(let trailers):
                if isChunked { toNear += Chunk.last(trailers) }
                hasEnded = true
            case .end:
                if isChunked { toNear += Chunk.last(HTTPHeaders()) }
                hasEnded = true
            }
            received = received.dropFirst(step.used)
        }
    }

    /// Both sides speak another protocol from here on. Returns how that ended.
    private func becomeTunnel(_ far: FarEnd) async -> TunnelReport.Ending {
        let tunnel = Tunnel(
            near: .socket(guest.socket),
            far: far.end,
            early: guest.ahead,
            earlyBack: received,
            core: core
        )
        guest.ahead = []
        let ending = await tunnel.run()
        moved = (moved.up + tunnel.moved.up, moved.down + tunnel.moved.down)
        return ending
    }

    /// The time that a program may take before its next request.
    private static let patience: Duration = .seconds(60)
}

/// The chunked coding, as it is written (RFC 9112, section 7.1).
private enum Chunk {
    static func bytes(_ content: ArraySlice<UInt8>) -> [UInt8] {
        guard !content.isEmpty else { return [] }
        return Array("\(String(content.count, radix: 16))\r\n".utf8) + content + RequestWriter.chunkEnd
    }

    /// The last chunk, with the trailers that may be sent on.
    static func last(_ trailers: HTTPHeaders) -> [UInt8] {
        var allowed = trailers
        let room = RequestWriter.lastChunkSizeBound(trailers: trailers)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
        defer { unsafe buffer.deallocate() }
        while true {
            do throws(HTTP1Error) {
                let count = try unsafe RequestWriter.writeLastChunk(trailers: allowed, into: buffer)
                return unsafe Array(buffer[..<count])
            } catch {
                guard case .fieldForbiddenInTrailers(let name) = error else {
                    return Array("0\r\n\r\n".utf8)
                }
                allowed.remove(name)
            }
        }
    }
}
