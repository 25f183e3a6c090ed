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
    /// The exchange in work: its request, the head of its answer, and how far both directions have come.
    private var request: ReceivedRequest
    private var answer: ForwardedResponse?
    private var (up, down) = (Up.content, Down.head)
    /// The bytes of the target that are not used yet, and those that wait for room on either side.
    private var received, toFar, toNear: ArraySlice<UInt8>
    private var report = TunnelReport(road: .http, ending: .complete)

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
        case head, content
        /// It is read to its end.
        case ended
        /// The program has all of it, and the end of the stream behind it.
        case endPassedOn
        /// Both sides speak another protocol from here on.
        case switched
    }

    /// Whether the target has still to say something of the response.
    private var isOpen: Bool { down == .head || down == .content }
    /// Whether the program has the whole answer, and whether it has nothing of one: it can still be refused.
    private var isAnswered: Bool { down == .endPassedOn || down == .ended && toNear.isEmpty }
    private var isUntold: Bool { down == .head && toNear.isEmpty || report.received == 0 }

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
            let hasMore = await nextBegins(until: core.moment(after: .seconds(60)))
            _ = core.note(number, isResting: false)
            guard hasMore,
                let next = await guest.request(&requests, until: core.moment(after: core.limits.head))
            else { break }
            if next.method == .connect {
                kept?.layers.close()
                await guest.connect(next)?(number)
                return
            }
            request = next
        }
        kept?.layers.close()
        guest.near.close()
    }

    /// Waits for the next request. An empty line of an old client begins none (RFC 9112, section 2.2).
    private func nextBegins(until end: Instant) async -> Bool {
        while true {
            while guest.ahead.starts(with: [13, 10]) { guest.ahead = guest.ahead.dropFirst(2) }
            guard guest.ahead.isEmpty || guest.ahead.elementsEqual([13]) else { return true }
            guard (try? await guest.fill(until: end)) != nil else { return false }
        }
    }

    /// Serves a request. Returns whether another may follow.
    private func serve() async -> Bool {
        let start = core.loop.now
        var target: Target?
        do throws(Refusal) {
            let forwarded = try ForwardedRequest(request)
            target = forwarded.target
            let (far, isKept) = try await connection(to: forwarded.target)
            report = guest.report(.http, over: far, since: start)
            var relay = Relay(guest.near, far.layers, core)
            do throws(Fault) {
                report.ending = try await exchange(forwarded, &relay)
            } catch {
                // Without an invitation a program need not send its content.
                report.ending = isAnswered && up == .expecting ? .complete : error.ending
                if !isAnswered {
                    let isStale = isKept && error.ending == .reset(byTarget: true)
                    if isUntold, !isStale, var refusal = error.refusal {
                        far.layers.reset()
                        (refusal.endpoint, refusal.source) = (report.endpoint, report.source)
                        refusal.failed = report.failed
                        throw refusal
                    }
                    // Without an answer the program knows that it may try again, and that one is not whole.
                    await relay.end(error.ending, isByEnd: error.isByEnd)
                }
            }
            core.tell(report, since: start)
            return isAnswered ? await finish(far) : false
        } catch {
            await guest.refuse(error, of: target, to: request)
            return false
        }
    }

    /// Returns a connection to the target, and whether it has served another request.
    private func connection(to target: Target) async throws(Refusal) -> (FarEnd, isKept: Bool) {
        if let far = kept {
            kept = nil
            if far.target.url.origin == target.url.origin,
                case .wantsRead = unsafe far.layers.read(into: core.scratch)
            {
                return (far, true)
            }
            far.layers.close()
        }
        let far = try await core.dialler.dial(target)
        guard far.early.isEmpty else {
            far.layers.reset()
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
        _ relay: inout Relay
    ) async throws(Fault) -> TunnelReport.Ending {
        let (near, far) = (relay.near, relay.far)
        (received, toNear, toFar) = ([], [], forwarded.head[...])
        responses.begin(request.method, upgrade: forwarded.upgrades)
        (up, down, answer) = (forwarded.expects ? .expecting : .content, .head, nil)
        while true {
            let before = (report.sent, report.received)
            var hasRead = false
            if toFar.isEmpty { hasRead = try readRequest() }
            let sending = far.send(&toFar, counting: &report.sent)
            if sending.isOver { (up, toFar) = (.refused, []) }
            // A last record that TLS to an upstream proxy holds is not sent yet.
            if up != .refused, requests.isAtEnd, case .moved = sending { up = .sent }
            // A program that ends its sending after its request has gone, as for most servers: nobody waits
            // for the answer. The request itself goes on to its end.
            let isLeft = near.socket.isHungUp
            if isLeft, requests.isAtEnd, up == .sent || up == .refused, !isAnswered { throw .program }
            do throws(HTTP1Error) {
                if toNear.isEmpty, try readResponse(far) { hasRead = true }
            } catch {
                throw Fault(
                    ending: .reset(byTarget: true),
                    refusal: Refusal(.unreachable, "\(forwarded.target): \(error)")
                )
            }
            let answering = near.send(&toNear, counting: &report.received)
            if answering.isOver { throw .program }
            if down == .switched, toNear.isEmpty, toFar.isEmpty { return await becomeTunnel(far) }
            if isAnswered, up != .sent { passEndOn(of: far) }
            if isAnswered, up == .sent || up == .refused {
                return up == .sent ? .complete : .reset(byTarget: true)
            }
            let hasMoved = hasRead || (report.sent, report.received) != before
            let outcome: Flow.Outcome = sending.isShort || answering.isShort ? .isShort : .waits
            let turn = Relay.Turn(outcome: hasMoved ? .hasMore : outcome, hasMoved: hasMoved, isLeft: isLeft)
            if let ending = await relay.wait(after: turn) { throw Fault(ending: ending) }
        }
    }

    /// Passes the end of a target that has answered on to the program, which goes on with its request or not.
    ///
    /// A target that ends its sending may read on: only a failure tells that it takes no more. The program
    /// also gets an end that it needs to know the end of the content, or not to begin with its own. It gets
    /// it once: the system tells of each call as of an event, and a wait behind it would end at once.
    private func passEndOn(of far: LayerStack) {
        let isHungUp = far.socket.isHungUp
        if down == .ended, isHungUp || answer?.endsByClose == true || up == .expecting {
            guest.socket.finishSending()
            down = .endPassedOn
        }
        if isHungUp, case .failed = unsafe far.read(into: core.scratch) { up = .refused }
    }

    /// Keeps or closes both connections after a response. Returns whether another request may follow.
    private func finish(_ far: FarEnd) async -> Bool {
        if up == .sent, case .reusable = responses.reuse, received.isEmpty {
            kept = far
        } else {
            far.layers.close()
        }
        if up == .sent, down == .ended, answer?.persists == true { return true }
        // After an answer to half a request the rest of it is still to come, and is no request of its own.
        await guest.close(behindHalf: up != .sent)
        return false
    }

    /// Reads more of the request's content. Returns whether there was any.
    private func readRequest() throws(Fault) -> Bool {
        var hasRead = false
        while !requests.isAtEnd {
            if up == .expecting, !guest.ahead.isEmpty { up = .content }
            let next: (event: RequestReader.Event, content: ArraySlice<UInt8>)
            do throws(RequestFault) {
                next = try guest.next(&requests)
            } catch {
                throw Fault(ending: .reset(byTarget: false), refusal: Refusal(error))
            }
            let isChunked = request.framing == .chunked
            switch next.event {
            case .content: toFar += isChunked ? RequestWriter.chunk(next.content) : Array(next.content)
            case .trailers(let trailers): toFar += RequestWriter.lastChunk(trailers)
            case .end: if isChunked { toFar += RequestWriter.lastChunk() }
            case .head: break
            case .needsMore:
                // The rest may be the beginning of a line: it is shown again with more.
                guard toFar.isEmpty, try readPiece() else { return hasRead }
            }
            hasRead = true
        }
        return hasRead
    }

    /// Reads a piece of the program's bytes. Returns whether there was one.
    private func readPiece() throws(Fault) -> Bool {
        switch unsafe guest.near.read(into: core.scratch) {
        case .moved(let count): guest.ahead += unsafe Array(core.scratch[..<count])
        case .again, .wantsRead, .wantsWrite: return false
        // The target sees by itself that the content is cut short.
        case .ended: throw Fault(ending: .reset(byTarget: false), isByEnd: true)
        case .failed: throw .program
        }
        return true
    }

    /// Reads more of the response. Returns whether there was any.
    private func readResponse(_ far: LayerStack) throws(HTTP1Error) -> Bool {
        guard isOpen else { return false }
        var atEnd: Bool?
        switch unsafe far.read(into: core.scratch) {
        case .moved(let count): received += unsafe Array(core.scratch[..<count])
        case .again: return true
        case .wantsRead, .wantsWrite: return false
        case .ended(let isClean): atEnd = isClean
        case .failed: atEnd = false
        }
        while isOpen, try readEvent() {}
        if let atEnd, isOpen {
            _ = try responses.endOfInput(clean: atEnd)
            // The end of the stream is the end of the content.
            down = .ended
        }
        return true
    }

    /// Reads an event of the response. Returns whether there was one.
    private func readEvent() throws(HTTP1Error) -> Bool {
        let bytes = received
        let step = try responses.next(bytes.span)
        received = bytes.dropFirst(step.used)
        let isChunked = answer?.isChunked == true
        switch step.event {
        case .needsMore: return false
        case .interim(let head):
            // HTTP/1.0 has none (RFC 9110, section 15.2).
            if request.version == .http11 {
                toNear += ForwardedResponse(head, framing: .none, to: request, by: Self.name).head
            }
        case .head(let head):
            let answer = ForwardedResponse(
                head,
                framing: responses.framing,
                to: request,
                by: Self.name,
                // What the target does not read any more is in the way of another request, and so is what
                // the program may leave out.
                mayPersist: up == .sent || up == .content && responses.reuseOnceRead == .reusable
            )
            self.answer = answer
            toNear += answer.head
            switch responses.framing {
            case .none: down = .ended
            case .tunnel: down = .switched
            case .length, .chunked, .untilClose: down = .content
            }
        case .content(let range):
            let content = bytes.dropFirst(range.lowerBound).prefix(range.count)
            toNear += isChunked ? RequestWriter.chunk(content) : Array(content)
        case .trailers(let trailers):
            if isChunked { toNear += RequestWriter.lastChunk(trailers) }
            down = .ended
        case .end:
            if isChunked { toNear += RequestWriter.lastChunk() }
            down = .ended
        }
        return true
    }

    private static let name = "direct-proxy"

    /// Both sides speak another protocol from here on. Returns how that ended.
    private func becomeTunnel(_ far: LayerStack) async -> TunnelReport.Ending {
        let tunnel = Tunnel(guest, to: far, early: received, report: report)
        await tunnel.run()
        report = tunnel.report
        return report.ending
    }
}
