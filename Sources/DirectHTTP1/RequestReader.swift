/// What is wrong with a request that was received.
package enum RequestFault: Error, Equatable, Sendable {
    /// The first line does not have the form `METHOD target HTTP/1.x`.
    case malformedRequestLine
    /// The version is neither HTTP/1.0 nor HTTP/1.1.
    case unsupportedVersion
    /// The fields, the framing or the chunks: the same rules as for a response.
    case message(HTTP1Error)
}

extension RequestFault: CustomStringConvertible {
    /// The fault in one line.
    package var description: String {
        switch self {
        case .malformedRequestLine: "the first line is not METHOD target HTTP/1.1"
        case .unsupportedVersion: "the version is neither HTTP/1.0 nor HTTP/1.1"
        case .message(let error): "\(error)"
        }
    }
}

/// The head of a request that was received.
package struct ReceivedRequest: Sendable {
    package let method: HTTPMethod
    /// The request target: visible ASCII, in whatever form.
    package let target: [UInt8]
    package let version: HTTPVersion
    package let headers: HTTPHeaders
    /// The framing of its content. Without framing fields there is none.
    package let framing: BodyFraming
    /// Whether another request may follow on the connection (RFC 9112, section 9.3).
    package let persists: Bool
}

/// Reads the requests of one connection, for a recipient that forwards them.
///
/// It reads what it can share with ``ResponseReader`` by the same code and the same rules, and is strict
/// where recipients disagree: a request with two framings, or a doubtful one, is refused, as the next
/// recipient may see another request in it (RFC 9112, section 11.2). The caller owns the buffer, as there.
package struct RequestReader: ~Copyable {
    /// An event in the input.
    package enum Event {
        /// Offer the unused bytes again, with more bytes after them.
        case needsMore
        /// The head.
        case head(ReceivedRequest)
        /// The content in this range of the input.
        case content(Range<Int>)
        /// The trailer section, if it has fields.
        case trailers(HTTPHeaders)
        /// The request is complete. No more input is read before the next `begin`.
        case end
    }

    /// An event, and the number of input bytes used for it.
    package struct Step {
        package let event: Event
        package let used: Int
    }

    private enum State { case line, fields, length, chunked, trailers, ended }

    private struct Line {
        let method: HTTPMethod
        let target: [UInt8]
        let version: HTTPVersion
        /// The length of the line, with its end.
        let length: Int
    }

    private let limits: HTTP1Limits
    private var heads = HeadReader(leniency: HTTP1Leniency())
    private var chunks = ChunkDecoder(leniency: HTTP1Leniency())
    private var state = State.ended
    private var line: Line?
    private var mayBeginWithEmptyLine = false
    /// The bytes of content that are still to come.
    private var remaining: UInt64 = 0

    /// Creates a reader for a new connection.
    package init(limits: HTTP1Limits = HTTP1Limits()) {
        self.limits = limits.sensible
    }

    /// Whether the request is complete.
    package var isAtEnd: Bool { state == .ended }

    /// Starts a request.
    package mutating func begin() {
        state = .line
        line = nil
        mayBeginWithEmptyLine = true
        heads.expectTrailers()
    }

    /// Returns the next event in the input. After an error the reader must not be used any more.
    package mutating func next(_ input: Span<UInt8>) throws(RequestFault) -> Step {
        try unsafe input.withUnsafeBufferPointer { input throws(RequestFault) in
            if state == .ended { return Step(event: .end, used: 0) }
            guard let base = input.baseAddress, !input.isEmpty else {
                return Step(event: .needsMore, used: 0)
            }
            do throws(HTTP1Error) {
                switch state {
                case .line, .fields: break
                case .length: return content(upTo: input.count)
                case .chunked: return try unsafe nextInChunks(base, count: input.count)
                case .trailers: return try unsafe nextInTrailers(base, from: 0, count: input.count)
                case .ended: return Step(event: .end, used: 0)
                }
            } catch {
                throw .message(error)
            }
            return try unsafe nextInHead(base, count: input.count)
        }
    }

    private mutating func nextInHead(
        _ base: UnsafePointer<UInt8>,
        count: Int
    ) throws(RequestFault) -> Step {
        if mayBeginWithEmptyLine, unsafe base[0] == .carriageReturn {
            guard count > 1 else { return Step(event: .needsMore, used: 0) }
            // Old clients send a line end after a request (RFC 9112, section 2.2).
            guard unsafe base[1] == .lineFeed else { throw .malformedRequestLine }
            mayBeginWithEmptyLine = false
            guard count > 2 else { return Step(event: .needsMore, used: 2) }
            let step = try unsafe nextInHead(base + 2, count: count - 2)
            return Step(event: step.event, used: step.used + 2)
        }
        mayBeginWithEmptyLine = false
        if line == nil { line = try unsafe readLine(base, count: count) }
        guard let line else { return Step(event: .needsMore, used: 0) }
        state = .fields
        let bounds = HeadScanner.Limits(
            bytes: max(0, limits.headBytes - line.length),
            lineBytes: limits.lineBytes,
            fields: limits.fieldCount
        )
        do throws(HTTP1Error) {
            guard
                let length = try unsafe heads.readHead(
                    base + line.length,
                    available: count - line.length,
                    limits: bounds
                )
            else { return Step(event: .needsMore, used: 0) }
            return Step(event: .head(try received(line)), used: line.length + length)
        } catch {
            throw .message(error)
        }
    }

    /// Returns the first line; `nil` if it is not complete.
    private func readLine(_ base: UnsafePointer<UInt8>, count: Int) throws(RequestFault) -> Line? {
        // What is no HTTP at all, such as a ClientHello, is not waited for.
        guard unsafe base[0].isTokenCharacter else { throw .malformedRequestLine }
        let bytes = unsafe UnsafeBufferPointer(start: base, count: min(count, limits.lineBytes + 2))
        guard let end = unsafe bytes.firstIndex(of: .lineFeed) else {
            guard count < limits.lineBytes + 2 else {
                throw .message(.lineTooLong(limit: limits.lineBytes))
            }
            return nil
        }
        guard end > 0, unsafe bytes[end - 1] == .carriageReturn else { throw .malformedRequestLine }
        let text = unsafe Array(bytes[..<(end - 1)])
        let parts = text.split(separator: .space, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty, parts[1].allSatisfy({ (0x21...0x7E).contains($0) }),
            let method = HTTPMethod(validating: String(decoding: parts[0], as: UTF8.self))
        else { throw .malformedRequestLine }
        return Line(
            method: method,
            target: Array(parts[1]),
            version: try Self.version(parts[2]),
            length: end + 1
        )
    }

    private static func version(_ text: ArraySlice<UInt8>) throws(RequestFault) -> HTTPVersion {
        switch String(decoding: text, as: UTF8.self) {
        case "HTTP/1.1": return .http11
        case "HTTP/1.0": return .http10
        case let other where other.hasPrefix("HTTP/"): throw .unsupportedVersion
        default: throw .malformedRequestLine
        }
    }

    private mutating func received(_ line: Line) throws(HTTP1Error) -> ReceivedRequest {
        let fields = heads.fields
        let framing = try Self.framing(fields, version: line.version)
        switch framing {
        case .none, .length(0): state = .ended
        case .length(let length): (state, remaining) = (.length, length)
        case .chunked: (state, chunks) = (.chunked, ChunkDecoder(leniency: HTTP1Leniency()))
        }
        return ReceivedRequest(
            method: line.method,
            target: line.target,
            version: line.version,
            headers: heads.head.headers,
            framing: framing,
            persists: !fields.closes && (line.version == .http11 || fields.keepsAlive)
        )
    }

    /// The framing of the content (RFC 9112, section 6.3).
    private static func framing(
        _ fields: FramingFields,
        version: HTTPVersion
    ) throws(HTTP1Error) -> BodyFraming {
        guard !fields.hasOtherCodings else { throw .unsupportedTransferCoding }
        guard !fields.isDoubtful else { throw .invalidTransferEncoding }
        guard fields.isChunked else { return fields.contentLength.map { .length($0) } ?? .none }
        guard version == .http11 else { throw .transferEncodingInHTTP10 }
        guard fields.contentLength == nil else { throw .transferEncodingWithContentLength }
        return .chunked
    }

    private mutating func content(upTo count: Int) -> Step {
        let used = Int(truncatingIfNeeded: min(remaining, UInt64(count)))
        remaining -= UInt64(used)
        if remaining == 0 { state = .ended }
        return Step(event: .content(0..<used), used: used)
    }

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
        case .content(let range): return Step(event: .content(range), used: position)
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
}
