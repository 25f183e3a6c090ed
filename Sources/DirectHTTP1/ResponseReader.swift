/// How the end of a response's content is found.
package enum ResponseFraming: Hashable, Sendable {
    case none
    case length(UInt64)
    case chunked
    case untilClose
    /// No more HTTP: all that follows belongs to the tunnel or the new protocol.
    case tunnel
}

/// Reads the responses of one connection, one exchange after the other, from whatever bytes have arrived.
///
/// The caller owns the buffer. Each step says how many bytes it used; offer the rest again, with more behind it.
/// The states and what may happen in them:
///
///     state        bytes mean              then                   end of input
///     idle         nothing yet             -                      end
///     head         status line, fields     interim: head again,   never answered, or cut off
///                                          head: by its framing
///     length       content                 ended after the last   cut off
///     chunked      sizes and content       trailers               cut off
///     trailers     field lines             ended                  cut off
///     untilClose   content                 -                      end if clean, else cut off
///     tunnel       not ours                -                      end
///     ended        the next response's     head by `begin`        end
///     failed       nothing any more        the same fault         the same fault
package struct ResponseReader: ~Copyable {
    package enum Event {
        /// Offer what was not used again, with more bytes behind it.
        case needsMore
        /// A 1xx response other than 101; the final one is still to come.
        case interim(ResponseHead)
        /// The final head; `framing` tells how its content ends.
        case head(ResponseHead)
        /// This range of the input is content.
        case content(Range<Int>)
        /// The trailer section, if it has fields; never to be merged into the head's.
        case trailers(Headers)
        /// The response is complete; nothing more is read before `begin`.
        case end
    }

    package struct Step {
        package let event: Event
        /// How many bytes of the input are done with.
        package let used: Int
    }

    private enum State {
        case idle, head, length, chunked, trailers, untilClose, tunnel, ended, failed
    }

    private let limits: HTTP1Limits
    private var heads: HeadReader
    private var state = State.idle
    /// Why the state is `failed`.
    private var fault: HTTP1Error?
    private let leniency: HTTP1Leniency
    private var chunks = ChunkDecoder(isLenient: false)

    private var isHead = false
    private var isConnect = false
    private var expectsUpgrade = false
    private var headBytesLeft = 0
    private var interims = 0
    /// Bytes of content handed out in this exchange.
    private var received: UInt64 = 0

    /// How the content of the current response ends; known once its head is there.
    package private(set) var framing = ResponseFraming.none
    /// Whether any byte of the current exchange's response has been seen.
    package private(set) var hasStarted = false

    package init(limits: HTTP1Limits = HTTP1Limits(), leniency: HTTP1Leniency = HTTP1Leniency()) {
        self.limits = limits.sensible
        self.leniency = leniency
        heads = HeadReader(leniency: leniency)
    }

    /// Starts an exchange; `upgrade` allows the server to answer 101 and switch protocols.
    package mutating func begin(_ method: Method, upgrade: Bool = false) {
        state = .head
        isHead = method.isHead
        isConnect = method.isConnect
        expectsUpgrade = upgrade
        headBytesLeft = limits.headBytes
        interims = 0
        received = 0
        framing = .none
        hasStarted = false
        heads.expectHead()
    }

    /// Gives memory back that is not needed before the next `begin`.
    package mutating func releaseMemory() {
        heads.releaseMemory()
    }

    /// The next event in the input.
    package mutating func next(_ input: Span<UInt8>) throws(HTTP1Error) -> Step {
        if !input.isEmpty { hasStarted = true }
        do throws(HTTP1Error) {
            return try unsafe input.withUnsafeBufferPointer { input throws(HTTP1Error) in
                guard let base = input.baseAddress, !input.isEmpty else { return try nextWithoutInput() }
                return try unsafe next(base, count: input.count)
            }
        } catch {
            fail(error)
            throw error
        }
    }

    private mutating func next(_ base: UnsafePointer<UInt8>, count: Int) throws(HTTP1Error) -> Step {
        switch state {
        case .head: return try unsafe nextInHead(base, count: count)
        case .length: return nextInLength(count: count)
        case .chunked: return try unsafe nextInChunks(base, count: count)
        case .trailers: return try unsafe nextInTrailers(base, from: 0, count: count)
        case .untilClose, .tunnel: return content(from: 0, to: count)
        case .idle, .ended: return Step(event: .end, used: 0)
        case .failed: throw knownFault
        }
    }

    /// What is due although no bytes are there: the end of a response without content.
    private func nextWithoutInput() throws(HTTP1Error) -> Step {
        switch state {
        case .idle, .ended: Step(event: .end, used: 0)
        case .failed: throw knownFault
        default: Step(event: .needsMore, used: 0)
        }
    }

    @inline(__always)
    private mutating func nextInHead(
        _ base: UnsafePointer<UInt8>,
        count: Int
    ) throws(HTTP1Error) -> Step {
        let bounds = HeadScanner.Limits(
            bytes: headBytesLeft,
            lineBytes: limits.lineBytes,
            fields: limits.fieldCount
        )
        guard let length = try unsafe heads.readHead(base, available: count, limits: bounds) else {
            return Step(event: .needsMore, used: 0)
        }
        headBytesLeft &-= length
        let status = heads.status
        if status.isInformational && status != .switchingProtocols {
            interims += 1
            guard interims <= limits.interimCount else {
                throw .tooManyInterimResponses(limit: limits.interimCount)
            }
            heads.expectHead()
            return Step(event: .interim(heads.head), used: length)
        }
        framing = try framing(of: status)
        enterContent()
        return Step(event: .head(heads.head), used: length)
    }

    /// The length of the content, in the order of RFC 9112, section 6.3.
    @inline(__always)
    private func framing(of status: Status) throws(HTTP1Error) -> ResponseFraming {
        if isConnect && status.isSuccess { return .tunnel }
        if status == .switchingProtocols {
            guard expectsUpgrade else { throw .unsolicitedSwitchingProtocols }
            return .tunnel
        }
        if isHead || status == .noContent || status == .notModified { return .none }
        let fields = heads.fields
        if fields.hasTransferEncoding {
            // With codings that nobody asked for it is no slip of an old server any more.
            if !leniency.acceptsDoubtfulFraming || fields.hasOtherCodings {
                guard heads.version == .http11 else { throw .transferEncodingInHTTP10 }
                guard fields.contentLength == nil else { throw .transferEncodingWithContentLength }
            }
            return fields.isChunked ? .chunked : .untilClose
        }
        if let length = fields.contentLength { return length == 0 ? .none : .length(length) }
        return .untilClose
    }

    @inline(__always)
    private mutating func enterContent() {
        switch framing {
        case .none: state = .ended
        case .length: state = .length
        case .chunked:
            state = .chunked
            chunks = ChunkDecoder(isLenient: leniency.acceptsBareLineFeedsInChunks)
        case .untilClose: state = .untilClose
        case .tunnel: state = .tunnel
        }
    }

    @inline(__always)
    private mutating func nextInLength(count: Int) -> Step {
        guard case .length(let length) = framing else { return Step(event: .needsMore, used: 0) }
        let used = Int(truncatingIfNeeded: min(length &- received, UInt64(count)))
        if received &+ UInt64(used) == length { state = .ended }
        return content(from: 0, to: used)
    }

    @inline(__always)
    private mutating func content(from start: Int, to end: Int) -> Step {
        received &+= UInt64(end &- start)
        return Step(event: .content(start..<end), used: end)
    }

    @inline(__always)
    private mutating func nextInChunks(
        _ base: UnsafePointer<UInt8>,
        count: Int
    ) throws(HTTP1Error) -> Step {
        var position = 0
        let event = try unsafe chunks.next(
            base,
            position: &position,
            count: count,
            extensionLimit: limits.chunkExtensionBytes
        )
        switch event {
        case .needsMore: return Step(event: .needsMore, used: position)
        case .content(let range): return content(from: range.lowerBound, to: range.upperBound)
        case .lastChunk:
            state = .trailers
            heads.expectTrailers()
            return try unsafe nextInTrailers(base, from: position, count: count)
        }
    }

    private mutating func nextInTrailers(
        _ base: UnsafePointer<UInt8>,
        from start: Int,
        count: Int
    ) throws(HTTP1Error) -> Step {
        let bounds = HeadScanner.Limits(
            bytes: limits.trailerBytes,
            lineBytes: limits.lineBytes,
            fields: limits.trailerCount
        )
        guard let read = try unsafe heads.readTrailers(base + start, available: count - start, limits: bounds)
        else { return Step(event: .needsMore, used: start) }
        state = .ended
        let used = start + read.length
        return Step(event: read.trailers.isEmpty ? .end : .trailers(read.trailers), used: used)
    }

    /// What the end of the input means; `clean` if it was a plain FIN without TLS, or TLS's close_notify.
    package mutating func endOfInput(clean: Bool) throws(HTTP1Error) -> Event {
        switch state {
        case .idle, .ended, .tunnel: return .end
        case .untilClose where clean:
            state = .ended
            return .end
        case .failed: throw knownFault
        default:
            let fault = truncation
            fail(fault)
            throw fault
        }
    }

    private mutating func fail(_ fault: HTTP1Error) {
        state = .failed
        self.fault = fault
    }

    private var knownFault: HTTP1Error { fault ?? .truncatedHead }

    private var truncation: HTTP1Error {
        switch framing {
        case .none, .tunnel: hasStarted ? .truncatedHead : .closedBeforeResponse
        case .length(let expected): .truncatedContent(received: received, expected: expected)
        case .chunked: .truncatedChunks(received: received)
        case .untilClose: .truncatedUntilClose(received: received)
        }
    }
}

extension ResponseReader {
    /// Whether the connection may carry another exchange, as far as this response tells; bytes that follow
    /// it unasked are for the caller to notice.
    ///
    /// The getter changes nothing. It is mutating, and so is `keepAlive`, because Swift copies the whole reader for a call
    /// that only borrows it from an object: 150 instructions of a small request.
    package var reuse: ReuseVerdict {
        mutating get {
            switch state {
            case .idle: .reusable
            case .failed: .close(.failed)
            case .tunnel: .close(.tunnel)
            case .ended: endedVerdict
            case .head, .length, .chunked, .trailers, .untilClose: .close(.unfinished)
            }
        }
    }

    private var endedVerdict: ReuseVerdict {
        let fields = heads.fields
        let isHTTP10 = heads.version == .http10
        if framing == .untilClose { return .close(.untilClose) }
        if fields.closes { return .close(.serverCloses) }
        if fields.hasTransferEncoding && (fields.contentLength != nil || isHTTP10) {
            return .close(.doubtfulFraming)
        }
        // Chunks of an earlier response were in no doubt: there would be no later one.
        if fields.isDoubtful || chunks.isDoubtful { return .close(.doubtfulFraming) }
        if isHTTP10 && !fields.keepsAlive { return .close(.http10) }
        return .reusable
    }

    /// What the server said about how long it keeps the connection.
    package var keepAlive: KeepAliveHint? {
        mutating get { heads.fields.keepAlive }
    }

    /// Whether the content still has transfer codings besides `chunked`, which were never asked for.
    package var hasOtherTransferCodings: Bool { heads.fields.hasOtherCodings }
}
