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
    private var kept: FarEnd?
    /// The exchange in work: its request, and how far both directions have come.
    private var request: ReceivedRequest
    private var (up, down) = (Up.content, Down.head)
    /// The bytes of the target that are not used yet, and those that wait for room on either side.
    private var received, toFar, toNear: ArraySlice<UInt8>
    private var moved: (up: UInt64, down: UInt64) = (0, 0)

    /// The request on its way to the target.
    private enum Up {
        /// The program may wait for an answer to its head before it begins with the content.
        case expecting
        /// Not all of it is sent.
        case content
        case sent
        /// The target takes no more of it. The rest is read and dropped.
        case refused
    }

    /// The response on its way to the program.
    private enum Down {
        case head
        case content(ForwardedResponse)
        /// It is read to its end.
        case ended(ForwardedResponse)
        /// The program has all of it, and the end of the stream behind it.
        case endPassedOn
        /// Both sides speak another protocol from here on.
        case switched

        /// Whether the target has still to say something of it.
        var isOpen: Bool {
            switch self {
            case .head, .content: true
            case .ended, .endPassedOn, .switched: false
            }
        }
    }

    /// Whether the program has the whole answer, and whether it has nothing of one: it can still be refused.
    private var isAnswered: Bool {
        switch down {
        case .ended: toNear.isEmpty
        case .endPassedOn: true
        case .head, .content, .switched: false
        }
    }
    private var isUntold: Bool { if case .head = down, toNear.isEmpty { true } else { moved.down == 0 } }

    /// Why an exchange did not end as it should, and what the program is told if it can be.
    private struct Fault: Error {
        let ending: TunnelReport.Ending
        var refusal: Refusal?

        /// Whether the program has gone by an end of its sending, and not by a reset.
        var isByEnd = false

        static let program = Fault(ending: .reset(byTarget: false))
    }

    init(_ guest: Guest, _ requests: consuming RequestReader, _ first: ReceivedRequest) {
        (self.guest, core, request) = (guest, guest.core, first)
        self.requests = requests
        (received, toFar, toNear) = ([], [], [])
    }

    /// Serves the first request and those that follow. The connection is closed on return.
    func run(number: UInt64) async {
        guest.number = number
        while await serve() {
            guard core.note(number, isResting: true) else { break }
            // The time that a program may take before its next request.
            let end = core.moment(after: .seconds(60))
            let hasMore = guest.ahead.isEmpty ? (try? await guest.fill(until: end)) != nil : true
            _ = core.note(number, isResting: false)
            guard hasMore,
                let next = await guest.request(&requests, until: core.moment(after: core.limits.head))
            else { break }
            if next.method == .connect {
                kept?.end.close()
                await guest.connect(next)?(number)
                return
            }
            request = next
        }
        kept?.end.close()
        guest.socket.close()
    }

    /// Serves a request. Returns whether another may follow.
    private func serve() async -> Bool {
        let start = core.loop.now
        var target: Target?
        do throws(Refusal) {
            let forwarded = try ForwardedRequest(request)
            target = forwarded.target
            let (far, isKept) = try await connection(to: forwarded.target)
            var report = guest.report(.http, over: far, since: start)
            do throws(Fault) {
                report.ending = try await exchange(forwarded, over: far.end)
            } catch {
                // Without an invitation a program need not send its content.
                report.ending = isAnswered && up == .expecting ? .complete : error.ending
                if !isAnswered {
                    let isByTarget = error.ending == .reset(byTarget: true)
                    if isUntold, !isByTarget || !isKept, let refusal = error.refusal {
                        far.end.reset()
                        throw refusal
                    }
                    await breakOff(far.end, error)
                }
            }
            (report.sent, report.received) = moved
            core.tell(report, since: start)
            return isAnswered ? await finish(far) : false
        } catch {
            await guest.refuse(error, of: target, to: request)
            return false
        }
    }

    /// Ends both connections after an exchange without a whole answer. What the one that has gone had said
    /// before was acknowledged, and arrives at the other, as in a tunnel.
    private func breakOff(_ far: any TunnelEnd, _ fault: Fault) async {
        switch fault.ending {
        case .reset(byTarget: true):
            far.reset()
            // Without an answer the program knows that it may try again, and that an answer is not whole.
            await Delivery.end(on: guest.socket, within: core.limits.halfClosed)
            guest.socket.reset()
        case .reset(byTarget: false):
            guest.socket.reset()
            await Delivery.end(on: far.socket, within: core.limits.halfClosed)
            if fault.isByEnd { far.close() } else { far.reset() }
        default:
            guest.socket.reset()
            far.reset()
        }
    }

    /// Returns a connection to the target, and whether it has served another request.
    private func connection(to target: Target) async throws(Refusal) -> (FarEnd, isKept: Bool) {
        if let far = kept {
            kept = nil
            if far.target.url.origin == target.url.origin,
                case .wantsRead = unsafe far.end.read(into: core.scratch)
            {
                return (far, true)
            }
            far.end.close()
        }
        let far = try await guest.reach(target)
        guard far.early.isEmpty else {
            far.end.reset()
            throw Refusal(.unreachable, "\(target): \(HTTP1Error.responseBeforeRequest)")
        }
        return (far, false)
    }

    /// Sends the request and passes the response on. Returns how it ended.
    ///
    /// A target may answer before it has the whole request, and read the rest of it all the same, whether it
    /// keeps the connection or not. It gets the rest until it closes.
    private func exchange(
        _ forwarded: ForwardedRequest,
        over far: any TunnelEnd
    ) async throws(Fault) -> TunnelReport.Ending {
        far.socket.partner = guest.socket
        defer { far.socket.partner = nil }
        (moved, received, toNear, toFar) = ((0, 0), [], [], forwarded.head[...])
        responses.begin(request.method, upgrade: forwarded.upgrades)
        (up, down) = (forwarded.expects ? .expecting : .content, .head)
        var patience = Patience(core)
        while true {
            let before = moved
            var hasRead = false
            if toFar.isEmpty { hasRead = try readRequest() }
            if !Self.send(&toFar, to: far, counting: &moved.up) { (up, toFar) = (.refused, []) }
            if requests.isAtEnd, toFar.isEmpty, up != .refused { up = whatIsSent(far) }
            // A program that ends its sending after its request has gone, as for most servers: nobody waits
            // for the answer. The request itself goes on to its end.
            let isLeft = guest.socket.isHungUp
            if isLeft, requests.isAtEnd, up == .sent || up == .refused, !isAnswered { throw .program }
            do throws(HTTP1Error) {
                if toNear.isEmpty, try readResponse(far) { hasRead = true }
            } catch {
                throw Fault(
                    ending: .reset(byTarget: true),
                    refusal: Refusal(.unreachable, "\(forwarded.target): \(error)")
                )
            }
            guard Self.send(&toNear, to: guest.socket, counting: &moved.down) else { throw .program }
            if case .switched = down, toNear.isEmpty, toFar.isEmpty { return await becomeTunnel(far) }
            if isAnswered, up == .sent { return .complete }
            if isAnswered, isOver(far) { return .reset(byTarget: true) }
            let hasMoved = hasRead || moved != before
            if let ending = await patience.wait(
                on: guest.socket,
                hasMoved: hasMoved,
                hasMore: hasMoved,
                isLeft: isLeft
            ) {
                throw Fault(ending: ending)
            }
        }
    }

    /// Whether all is sent, once nothing waits here: layers of TLS to an upstream proxy may hold the last.
    private func whatIsSent(_ far: any TunnelEnd) -> Up {
        switch far.flush() {
        case .moved: .sent
        case .again, .wantsRead, .wantsWrite: up
        case .ended, .failed: .refused
        }
    }

    /// Whether a target that has answered takes no more of the request. One that ends its sending may read
    /// on: only a failure tells. The program gets the end, as in a tunnel, and goes on with the request or
    /// not. It also gets one that it needs to know the end of the content, or not to begin with its own. It
    /// gets it once: the system tells of each call as of an event, and a wait behind it would end at once.
    private func isOver(_ far: any TunnelEnd) -> Bool {
        if case .ended(let answer) = down, far.socket.isHungUp || answer.endsByClose || up == .expecting {
            guest.socket.finishSending()
            down = .endPassedOn
        }
        if far.socket.isHungUp, case .failed = unsafe far.read(into: core.scratch) { up = .refused }
        return up == .refused
    }

    /// Keeps or closes both connections after a response. Returns whether another request may follow.
    private func finish(_ far: FarEnd) async -> Bool {
        if up == .sent, case .reusable = responses.reuse, received.isEmpty {
            kept = far
        } else {
            far.end.close()
        }
        if up == .sent, case .ended(let answer) = down, answer.persists { return true }
        // After an answer to half a request the rest of it is still to come, and is no request of its own.
        await guest.close(behindHalf: up != .sent)
        return false
    }

    /// Sends the bytes that wait. Returns false if the recipient takes no more.
    private static func send(
        _ bytes: inout ArraySlice<UInt8>,
        to end: any TunnelEnd,
        counting moved: inout UInt64
    ) -> Bool {
        _ = end.flush()
        let (count, takesMore) = unsafe bytes.withUnsafeBytes { unsafe end.send($0) }
        bytes = bytes.dropFirst(count)
        moved += UInt64(count)
        return takesMore
    }

    /// Reads more of the request's content. Returns whether there was any.
    private func readRequest() throws(Fault) -> Bool {
        guard !requests.isAtEnd else { return false }
        // The rest of the last piece may be the beginning of a line: it is shown again with more.
        var needsMore = guest.ahead.isEmpty
        while !requests.isAtEnd {
            if needsMore {
                switch unsafe guest.socket.read(into: core.scratch) {
                case .moved(let count): guest.ahead += unsafe Array(core.scratch[..<count])
                case .again: return true
                case .wantsRead, .wantsWrite: return false
                // The target sees by itself that the content is cut short.
                case .ended: throw Fault(ending: .reset(byTarget: false), isByEnd: true)
                case .failed: throw .program
                }
            }
            if up == .expecting { up = .content }
            do throws(RequestFault) {
                let (event, content) = try guest.next(&requests)
                needsMore = guest.ahead.isEmpty
                switch event {
                case .content:
                    toFar += request.framing == .chunked ? RequestWriter.chunk(content) : Array(content)
                case .trailers(let trailers): toFar += RequestWriter.lastChunk(trailers)
                case .end: if request.framing == .chunked { toFar += RequestWriter.lastChunk() }
                case .needsMore: needsMore = true
                case .head: break
                }
            } catch {
                throw Fault(ending: .reset(byTarget: false), refusal: Refusal(error))
            }
            if needsMore, !toFar.isEmpty { return true }
        }
        return true
    }

    /// Reads more of the response. Returns whether there was any.
    private func readResponse(_ far: any TunnelEnd) throws(HTTP1Error) -> Bool {
        guard down.isOpen else { return false }
        var (hasMoved, atEnd) = (true, Bool?.none)
        switch unsafe far.read(into: core.scratch) {
        case .moved(let count): received += unsafe Array(core.scratch[..<count])
        case .again: break
        case .wantsRead, .wantsWrite: hasMoved = false
        case .ended(let clean): atEnd = clean
        case .failed: atEnd = false
        }
        while down.isOpen, try readEvent() {}
        if let atEnd, down.isOpen {
            _ = try responses.endOfInput(clean: atEnd)
            // The end of the stream is the end of the content.
            if case .content(let answer) = down { down = .ended(answer) }
        }
        return hasMoved || !down.isOpen
    }

    /// Reads an event of the response. Returns whether there was one.
    private func readEvent() throws(HTTP1Error) -> Bool {
        let bytes = received
        let step = try unsafe bytes.withUnsafeBufferPointer { bytes throws(HTTP1Error) in
            try unsafe responses.next(bytes.span)
        }
        received = bytes.dropFirst(step.used)
        switch (step.event, down) {
        case (.interim(let head), _):
            // HTTP/1.0 has none (RFC 9110, section 15.2).
            if request.version == .http11 {
                toNear += ForwardedResponse(head, framing: .none, to: request, by: Self.name).head
            }
        case (.head(let head), _):
            let answer = ForwardedResponse(
                head,
                framing: responses.framing,
                to: request,
                by: Self.name,
                // What the target does not read any more is in the way of another request, and so is what
                // the program may leave out.
                mayPersist: up == .sent || up == .content && responses.reuseOnceRead == .reusable
            )
            toNear += answer.head
            switch responses.framing {
            case .none: down = .ended(answer)
            case .tunnel: down = .switched
            case .length, .chunked, .untilClose: down = .content(answer)
            }
        case (.content(let range), .content(let answer)):
            let content = bytes.dropFirst(range.lowerBound).prefix(range.count)
            toNear += answer.isChunked ? RequestWriter.chunk(content) : Array(content)
        case (.trailers(let trailers), .content(let answer)):
            if answer.isChunked { toNear += RequestWriter.lastChunk(trailers) }
            down = .ended(answer)
        case (.end, .content(let answer)):
            if answer.isChunked { toNear += RequestWriter.lastChunk() }
            down = .ended(answer)
        default: return false
        }
        return true
    }

    private static let name = "direct-proxy"

    /// Both sides speak another protocol from here on. Returns how that ended.
    private func becomeTunnel(_ far: any TunnelEnd) async -> TunnelReport.Ending {
        let tunnel = Tunnel(guest, to: far, early: received)
        let ending = await tunnel.run()
        moved = (moved.up + tunnel.moved.up, moved.down + tunnel.moved.down)
        return ending
    }
}
