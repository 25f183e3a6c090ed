/// The framing of a response's content, which determines its end (RFC 9112, section 6.3).
package enum ResponseFraming: Equatable, Sendable {
    /// The response has no content.
    case none
    /// The content has this many bytes.
    case length(UInt64)
    /// The content is in chunks.
    case chunked
    /// The content ends with the stream.
    case untilClose
    /// HTTP ends here: all bytes that follow belong to the tunnel or the new protocol.
    case tunnel
}

/// Reads the responses of one connection, one exchange after the other, from the bytes that have arrived.
///
/// The caller owns the buffer. Each step returns the number of bytes it used. The caller offers the rest
/// again, with more bytes at the end. These are the states:
///
///     state        input is               next state              end of input
///     idle         not expected           head, by `begin`        end
///     head         status line, fields    interim: head again,    closed before a response,
///                                         final: by its framing   or cut off
///     length       content                ended, after the last   cut off
///     chunked      sizes and content      trailers                cut off
///     trailers     field lines            ended                   cut off
///     untilClose   content                -                       end if clean, else cut off
///     tunnel       the tunnel's bytes     -                       end
///     ended        the next response's    head, by `begin`        end
///     failed       not read               -                       the same error again
///
/// In `idle` and `ended` no input is used. A call after an error throws the same error again. Errors depend
/// only on the bytes, never on how they were cut.
package struct ResponseReader: ~Copyable {
    /// An event in the input.
    package enum Event {
        /// Offer the unused bytes again, with more bytes after them.
        case needsMore
        /// A 1xx response other than 101. The final one is still to come.
        case interim(ResponseHead)
        /// The final head. `framing` tells how its content ends.
        case head(ResponseHead)
        /// The content in this range of the input.
        case content(Range<Int>)
        /// The trailer section, if it has fields. They must never be merged into the head's.
        case trailers(HTTPHeaders)
        /// The response is complete. No more input is read before the next `begin`.
        case end
    }

    /// An event, and the number of input bytes used for it.
    package struct Step {
        /// The event.
        package let event: Event
        /// The number of input bytes that the caller may discard.
        package let used: Int
    }

    private enum State {
        case idle, head, length, chunked, trailers, untilClose, tunnel, ended, failed
    }

    private let limits: HTTP1Limits
    private var heads: HeadReader
    private var state = State.idle
    /// The error that made the state `failed`.
    private var fault: HTTP1Error?
    private let leniency: HTTP1Leniency
    private var chunks = ChunkDecoder(leniency: HTTP1Leniency())

    private var isHead = false
    private var isConnect = false
    private var expectsUpgrade = false
    private var headBytesLeft = 0
    private var interims = 0
    /// Whether a head has announced content that its status rules out: a 1xx or 204 (RFC 9110, section 8.6;
    /// RFC 9112, section 6.1). It may still come, and would be the response to the next request.
    private var announcesInVain = false
    /// The number of content bytes handed out in this exchange.
    private var received: UInt64 = 0

    /// The framing of the current response's content. Known once its head has been read.
    package private(set) var framing = ResponseFraming.none
    /// Whether any byte of the current exchange's response has arrived.
    package private(set) var hasStarted = false

    /// Creates a reader for a new connection.
    package init(limits: HTTP1Limits = HTTP1Limits(), leniency: HTTP1Leniency = HTTP1Leniency()) {
        self.limits = limits.sensible
        self.leniency = leniency
        heads = HeadReader(leniency: leniency)
    }

    /// Starts an exchange. `upgrade` allows the server to answer 101 and switch protocols.
    package mutating func begin(_ method: HTTPMethod, upgrade: Bool = false) {
        state = .head
        isHead = method.isHead
        isConnect = method.isConnect
        expectsUpgrade = upgrade
        headBytesLeft = limits.headBytes
        interims = 0
        announcesInVain = false
        received = 0
        framing = .none
        hasStarted = false
        heads.expectHead()
    }

    /// Frees memory that is not needed before the next `begin`.
    package mutating func releaseMemory() {
        heads.releaseMemory()
    }

    /// Returns the next event in the input.
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

    /// The step for empty input.
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
        if status.isInformational || status == .noContent, heads.fields.announceContent {
            announcesInVain = true
        }
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

    /// Determines the framing of the content, in the order of RFC 9112, section 6.3.
    @inline(__always)
    private func framing(of status: HTTPStatus) throws(HTTP1Error) -> ResponseFraming {
        if isConnect && status.isSuccess { return .tunnel }
        if status == .switchingProtocols {
            guard expectsUpgrade else { throw .unsolicitedSwitchingProtocols }
            return .tunnel
        }
        if isHead || status == .noContent || status == .notModified { return .none }
        let fields = heads.fields
        // Content whose coding is not undone must not pass for the content. Where it ends is unknown, too:
        // what the end of the connection cuts off would pass for a whole.
        guard !fields.hasOtherCodings else { throw .unsupportedTransferCoding }
        if fields.isChunked {
            if !leniency.acceptsDoubtfulFraming {
                guard heads.version == .http11 else { throw .transferEncodingInHTTP10 }
                guard fields.contentLength == nil else { throw .transferEncodingWithContentLength }
            }
            return .chunked
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
            chunks = ChunkDecoder(leniency: leniency)
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
        guard let read = try unsafe heads.readTrailers(base + start, available: count - start, limits: limits)
        else { return Step(event: .needsMore, used: start) }
        state = .ended
        let used = start + read.length
        return Step(event: read.trailers.isEmpty ? .end : .trailers(read.trailers), used: used)
    }

    /// Handles the end of the input. `clean` is true for a plain FIN without TLS, and for TLS's close_notify.
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
    /// Whether the connection may be reused, as far as this response tells. The caller must check for
    /// unsolicited bytes after the response.
    ///
    /// The getter changes no state. It is mutating, and so is `keepAlive`, because Swift copies the whole
    /// reader for a call that only borrows it from an object: 150 instructions of a small request.
    package var reuse: ReuseVerdict {
        mutating get {
            switch state {
            case .idle: .reusable
            case .failed: .close(.failed)
            case .tunnel: .close(.tunnel)
            case .ended: reuseOnceRead
            case .head, .length, .chunked, .trailers, .untilClose: .close(.unfinished)
            }
        }
    }

    /// The same for when the response will have been read to its end, as far as its head tells.
    package var reuseOnceRead: ReuseVerdict {
        mutating get {
            let fields = heads.fields
            let isHTTP10 = heads.version == .http10
            if framing == .untilClose { return .close(.untilClose) }
            if fields.closes { return .close(.serverCloses) }
            if fields.isChunked && (fields.contentLength != nil || isHTTP10) {
                return .close(.doubtfulFraming)
            }
            // Chunks of an earlier response were in no doubt: the connection would not have been reused.
            if announcesInVain || fields.isDoubtful || chunks.isDoubtful { return .close(.doubtfulFraming) }
            if isHTTP10 && !fields.keepsAlive { return .close(.http10) }
            return .reusable
        }
    }

    /// The server's hint about how long it keeps the connection.
    package var keepAlive: KeepAliveHint? {
        mutating get { heads.fields.keepAlive }
    }
}
