internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// Forwards the requests of one program for `http` URLs, one after the other, each with its response.
///
/// Both directions move at the same time, in one task, as in a ``Tunnel``: a server may answer before it
/// has the whole request. What is read is parsed and written anew, so no byte that a recipient could take
/// for another message passes.
@safe
final class Forwarder: @unchecked Sendable {
    private let guest: Guest
    private let core: ProxyCore
    private var requests: RequestReader
    private var responses = ResponseReader()
    /// The connection of the last request, if it can be used again.
    private var kept: (far: FarEnd, target: Target)?
    /// What has been read from the target and not used, and what waits for room on either side.
    private var received, toFar, toNear: ArraySlice<UInt8>

    /// Why an exchange did not end as it should.
    private enum Fault: Error {
        case program, target(String), late, stopped, early

        var ending: TunnelReport.Ending {
            switch self {
            case .program: .reset(byTarget: false)
            case .target, .early: .reset(byTarget: true)
            case .late: .idle
            case .stopped: .stopped
            }
        }
    }

    init(_ guest: Guest, _ requests: consuming RequestReader) {
        (self.guest, core) = (guest, guest.core)
        self.requests = requests
        (received, toFar, toNear) = ([], [], [])
    }

    /// Serves this request and those that follow. The connection is closed on return.
    func run(_ first: ReceivedRequest) async {
        var request = first
        while await serve(request) {
            guard let next = await nextRequest() else { break }
            request = next
        }
        kept?.far.end.close()
        guest.socket.close()
    }

    private func nextRequest() async -> ReceivedRequest? {
        do throws(Guest.Lost) {
            if guest.ahead.isEmpty { try await guest.fill(until: guest.moment(after: Self.patience)) }
        } catch {
            return nil
        }
        let request: ReceivedRequest
        do throws(RequestFault) {
            requests.begin()
            request = try await guest.head(&requests, until: guest.moment(after: core.limits.head))
        } catch {
            await guest.refuse(Refusal(error), of: nil, road: .http)
            return nil
        }
        guard core.access.admits(request.headers) else {
            await guest.refuse(.noCredentials, of: nil, road: .http)
            return nil
        }
        return request
    }

    /// Returns whether another request may follow.
    private func serve(_ request: ReceivedRequest) async -> Bool {
        let start = core.loop.now
        var target: Target?
        do throws(Refusal) {
            let forwarded = try ForwardedRequest(request)
            target = forwarded.target
            let (far, isKept) = try await connection(to: forwarded.target)
            var report = guest.report(.http, to: forwarded.target, over: far, since: start)
            let goesOn: Bool
            do throws(Fault) {
                goesOn = try await exchange(request, as: forwarded, over: far)
                report.ending = .complete
            } catch {
                far.end.reset()
                if case .target(let why) = error, !isKept {
                    throw Refusal(kind: .unreachable, line: "\(forwarded.target): \(why)")
                }
                report.ending = error.ending
                // Without an answer the program knows that it may try again, and that an answer is not
                // whole.
                guest.socket.reset()
                goesOn = false
            }
            (report.sent, report.received) = moved
            report.time = core.loop.now.since(start)
            core.configuration.onEvent?(.ended(report))
            return goesOn
        } catch {
            await guest.refuse(error, of: target, road: .http)
            return false
        }
    }

    private var moved: (UInt64, UInt64) = (0, 0)

    /// Returns a connection to the target, and whether it has served another request.
    private func connection(to target: Target) async throws(Refusal) -> (FarEnd, isKept: Bool) {
        if let (far, last) = kept {
            kept = nil
            var isAlive = false
            if last.url.origin == target.url.origin,
                case .wantsRead = unsafe far.end.read(into: core.scratch)
            {
                isAlive = true
            }
            if isAlive { return (far, true) }
            far.end.close()
        }
        return (try await guest.reach(target), false)
    }

    /// Sends the request and passes the response on. Returns whether another request may follow.
    private func exchange(
        _ request: ReceivedRequest,
        as forwarded: ForwardedRequest,
        over far: FarEnd
    ) async throws(Fault) -> Bool {
        far.end.socket.partner = guest.socket
        defer { far.end.socket.partner = nil }
        (moved, received, toNear, toFar) = ((0, 0), [], [], forwarded.head[...])
        responses.begin(request.method, upgrade: forwarded.upgrades)
        var isSent = !request.framing.hasContent
        var answer: ForwardedResponse?
        var hasEnded = false
        var deadline = core.loop.now.advanced(byNanoseconds: core.limits.idle.clampedNanoseconds)
        while true {
            var hasMoved = try flush(&toFar, to: far.end, isFar: true)
            if !isSent, toFar.isEmpty { hasMoved = try readRequest(request, isSent: &isSent) || hasMoved }
            if !hasEnded, toNear.isEmpty {
                hasMoved =
                    try readResponse(far, to: request, answer: &answer, hasEnded: &hasEnded) || hasMoved
            }
            hasMoved = try flush(&toNear, to: .socket(guest.socket), isFar: false) || hasMoved
            if responses.framing == .tunnel, answer != nil, toNear.isEmpty, toFar.isEmpty {
                await becomeTunnel(far)
                return false
            }
            if hasEnded, toNear.isEmpty {
                // An answer to half a request: what is still to come of it is no request of its own.
                let isWhole = isSent && toFar.isEmpty
                if isWhole, case .reusable = responses.reuse, received.isEmpty {
                    kept = (far, forwarded.target)
                } else {
                    far.end.close()
                }
                guard isWhole, answer?.persists == true else {
                    await guest.close(after: [])
                    return false
                }
                return true
            }
            if hasMoved {
                deadline = core.loop.now.advanced(byNanoseconds: core.limits.idle.clampedNanoseconds)
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

    /// Sends what waits. Returns whether anything was sent.
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
            if isFar { moved.0 += UInt64(count) } else { moved.1 += UInt64(count) }
            return true
        case .again: return true
        case .wantsRead, .wantsWrite: return false
        case .ended, .failed:
            guard isFar else { throw .program }
            // Its answer may be there although it takes no more.
            bytes = []
            return false
        }
    }

    /// Reads more of the request's content. Returns whether there was any.
    private func readRequest(_ request: ReceivedRequest, isSent: inout Bool) throws(Fault) -> Bool {
        if guest.ahead.isEmpty {
            switch unsafe guest.socket.step(readingInto: core.scratch) {
            case .moved(let count): guest.ahead = unsafe Array(core.scratch[..<count])[...]
            case .again: return true
            case .wantsRead, .wantsWrite: return false
            case .ended, .failed: throw .program
            }
        }
        while !guest.ahead.isEmpty, !isSent {
            let step: RequestReader.Step
            do throws(RequestFault) {
                step = try unsafe guest.ahead.withUnsafeBufferPointer { bytes throws(RequestFault) in
                    try unsafe requests.next(bytes.span)
                }
            } catch {
                throw .program
            }
            let base = guest.ahead.startIndex
            switch step.event {
            case .content(let range):
                let content = guest.ahead[(base + range.lowerBound)..<(base + range.upperBound)]
                toFar += request.framing == .chunked ? Chunk.bytes(content) : Array(content)
            case .trailers(let trailers):
                toFar += Chunk.last(trailers)
                isSent = true
            case .end:
                if request.framing == .chunked { toFar += Chunk.last(HTTPHeaders()) }
                isSent = true
            case .needsMore, .head: break
            }
            guest.ahead = guest.ahead.dropFirst(step.used)
            if case .needsMore = step.event, !guest.ahead.isEmpty { return try readOn() }
        }
        if !isSent, case .length = request.framing { isSent = requests.isAtEnd }
        return true
    }

    /// Reads more behind a piece that the parser cannot use yet.
    private func readOn() throws(Fault) -> Bool {
        switch unsafe guest.socket.step(readingInto: core.scratch) {
        case .moved(let count):
            guest.ahead += unsafe Array(core.scratch[..<count])
            return true
        case .again: return true
        case .wantsRead, .wantsWrite: return false
        case .ended, .failed: throw .program
        }
    }

    /// Reads more of the response. Returns whether there was any.
    private func readResponse(
        _ far: FarEnd,
        to request: ReceivedRequest,
        answer: inout ForwardedResponse?,
        hasEnded: inout Bool
    ) throws(Fault) -> Bool {
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
            try parse(to: request, answer: &answer, hasEnded: &hasEnded)
            if let atEnd, !hasEnded {
                _ = try responses.endOfInput(clean: atEnd)
                // The end of the stream is the end of the content.
                hasEnded = true
            }
        } catch {
            // Nothing of it has gone to the program: it can be told.
            if answer == nil { throw .target("\(error)") }
            throw .early
        }
        return hasMoved || hasEnded
    }

    private func parse(
        to request: ReceivedRequest,
        answer: inout ForwardedResponse?,
        hasEnded: inout Bool
    ) throws(HTTP1Error) {
        while !hasEnded, answer == nil || responses.framing != .tunnel {
            let step = try unsafe received.withUnsafeBufferPointer { bytes throws(HTTP1Error) in
                try unsafe responses.next(bytes.span)
            }
            let base = received.startIndex
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
                let forwarded = ForwardedResponse(head, framing: responses.framing, to: request)
                toNear += forwarded.head
                answer = forwarded
                if responses.framing == .none { hasEnded = true }
            case .content(let range):
                let content = received[(base + range.lowerBound)..<(base + range.upperBound)]
                toNear += answer?.isChunked == true ? Chunk.bytes(content) : Array(content)
            case .trailers(let trailers):
                if answer?.isChunked == true { toNear += Chunk.last(trailers) }
                hasEnded = true
            case .end:
                if answer?.isChunked == true { toNear += Chunk.last(HTTPHeaders()) }
                hasEnded = true
            }
            received = received.dropFirst(step.used)
        }
    }

    /// Both sides speak another protocol from here on.
    private func becomeTunnel(_ far: FarEnd) async {
        let tunnel = Tunnel(
            near: .socket(guest.socket),
            far: far.end,
            early: guest.ahead,
            earlyBack: received,
            core: core
        )
        guest.ahead = []
        _ = await tunnel.run()
        moved = (moved.0 + tunnel.moved.up, moved.1 + tunnel.moved.down)
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

    /// The last chunk with the trailers that may be sent on; those that may not are left out.
    static func last(_ trailers: HTTPHeaders) -> [UInt8] {
        let room = RequestWriter.lastChunkSizeBound(trailers: trailers)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
        defer { unsafe buffer.deallocate() }
        guard let count = try? unsafe RequestWriter.writeLastChunk(trailers: trailers, into: buffer) else {
            return Array("0\r\n\r\n".utf8)
        }
        return unsafe Array(buffer[..<count])
    }
}
