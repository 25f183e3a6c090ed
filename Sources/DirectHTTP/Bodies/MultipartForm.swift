internal import DirectCore
internal import DirectHTTP1
internal import DirectIO
internal import DirectTransport

/// A form as `multipart/form-data` (RFC 7578), encoded while it is sent.
///
/// Names become part of header lines, so their bytes are checked: control characters are rejected
/// (GHSA-2vrm-gr82-f7m5), and quotes are escaped as browsers do (`%22`).
struct MultipartForm: Sendable {
    let parts: [FormPart]
    let boundary: String

    /// Creates a form with a boundary of 128 random bits: the author of a part cannot guess it, and so cannot
    /// forge another part.
    init(_ parts: [FormPart]) {
        var system = SystemRandom()
        let bits = [system.next(), system.next()].map { Hex.encode(padded: $0) }
        self.init(parts, boundary: "direct-http-" + bits.joined())
    }

    init(_ parts: [FormPart], boundary: String) {
        self.parts = parts
        self.boundary = boundary
    }

    var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    var body: StreamedBody {
        StreamedBody(
            isReplayable: parts.allSatisfy(\.body.isReplayable),
            endsAtOnce: parts.allSatisfy(\.body.endsAtOnce),
            isChunked: parts.contains(where: \.body.isChunked),
            measure: { try await length($0, until: $1) },
            open: { loop in
                var reader = Reader(form: self, loop: loop)
                return RequestBodySource { try await reader.next() }
            }
        )
    }

    /// The length of the whole form; `nil` if the length of a part is unknown.
    private func length(_ loop: EventLoop, until end: Instant) async throws -> UInt64? {
        var total: UInt64? = UInt64(ending.count)
        var streams: Set<ObjectIdentifier> = []
        for index in parts.indices {
            // A stream that can be read only once would be empty where it is used again.
            if case .stream(let body) = parts[index].body.content, !body.isReplayable,
                !streams.insert(ObjectIdentifier(body)).inserted
            {
                throw RequestBodyError.alreadySent
            }
            // Check every part, also after one of unknown length: errors must come out before anything is
            // sent.
            let head = try head(of: index).count
            let content = try await parts[index].body.length(on: loop, until: end)
            guard let sum = total, let content else {
                total = nil
                continue
            }
            let (length, overflow) = content.addingReportingOverflow(UInt64(head))
            let (new, overflowToo) = sum.addingReportingOverflow(length)
            guard !overflow, !overflowToo else { throw RequestBodyError.tooLong }
            total = new
        }
        return total
    }

    /// Returns the delimiter and the header lines of a part.
    private func head(of index: Int) throws(RequestBodyError) -> [UInt8] {
        let part = parts[index]
        guard !part.body.isGzipped else { throw .compressedPart(part: index) }
        guard !part.body.hasTrailers else { throw .partWithTrailers(part: index) }
        guard !part.name.isEmpty, !part.name.hasControls else { throw .invalidPartName(part: index) }
        var head = (index == 0 ? "--" : "\r\n--") + boundary
        head += "\r\nContent-Disposition: form-data; name=\"\(part.name.quoted)\""
        if let fileName = part.fileName {
            guard !fileName.hasControls else { throw .invalidFileName(part: index) }
            head += "; filename=\"\(fileName.quoted)\""
        }
        if let type = part.contentType {
            guard type.isMediaType else { throw .invalidPartContentType(part: index) }
            head += "\r\nContent-Type: \(type)"
        }
        return Array((head + "\r\n\r\n").utf8)
    }

    private var ending: [UInt8] {
        Array(((parts.isEmpty ? "--" : "\r\n--") + boundary + "--\r\n").utf8)
    }

    /// Reads the parts in order, and opens the body of each when its turn comes.
    private struct Reader {
        let form: MultipartForm
        let loop: EventLoop
        private var part = 0
        private var content: RequestBodySource?
        private var isAtEnd = false

        init(form: MultipartForm, loop: EventLoop) {
            self.form = form
            self.loop = loop
        }

        mutating func next() async throws -> [UInt8]? {
            while let content {
                guard let piece = try await content.next() else {
                    self.content = nil
                    break
                }
                if !piece.isEmpty { return piece }
            }
            guard !isAtEnd else { return nil }
            guard part < form.parts.count else {
                isAtEnd = true
                return form.ending
            }
            let head = try form.head(of: part)
            let body = form.parts[part].body
            part += 1
            // Content in memory goes out together with its head.
            if case .bytes(let bytes) = body.content { return head + bytes }
            content = try await body.source(on: loop)
            return head
        }
    }
}

extension RequestBody {
    /// The length of the body; `nil` if it is not known in advance.
    func length(on loop: EventLoop, until end: Instant) async throws -> UInt64? {
        switch content {
        case .none: 0
        case .bytes(let bytes): UInt64(bytes.count)
        case .stream(let body): try await body.measure(on: loop, until: end)
        }
    }

    fileprivate var hasTrailers: Bool {
        if case .stream(let body) = content { body.trailers != nil } else { false }
    }

    fileprivate var endsAtOnce: Bool {
        if case .stream(let body) = content { body.endsAtOnce } else { true }
    }

    fileprivate func source(on loop: EventLoop) async throws -> RequestBodySource {
        switch content {
        case .none: RequestBodySource(of: [])
        case .bytes(let bytes): RequestBodySource(of: bytes)
        case .stream(let body): try await body.open(loop)
        }
    }
}

extension String {
    fileprivate var hasControls: Bool { utf8.contains { $0 < 0x20 || $0 == 0x7f } }

    /// The text as it appears between quotes (WHATWG HTML, section 4.10.21.8). Of the characters to escape,
    /// only the quote can occur here; control characters were rejected before.
    fileprivate var quoted: String {
        utf8.contains(UInt8(ascii: "\"")) ? replacing(scalar: "\"", with: "%22") : self
    }

    /// Whether this is a valid media type: two tokens, optional parameters, printable ASCII only.
    fileprivate var isMediaType: Bool {
        guard utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) else { return false }
        let type = prefix { $0 != ";" && $0 != " " }.split(separator: "/", omittingEmptySubsequences: false)
        return type.count == 2 && type.allSatisfy { HTTPMethod(validating: String($0)) != nil }
    }
}
