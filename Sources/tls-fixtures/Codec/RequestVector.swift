internal import DirectJSON
internal import DirectHTTP1

/// A test of the request writer: a request head, a chunk head or trailers, and the expected bytes or error.
struct RequestVector: Sendable {
    let head: VectorHead
    let message: Message
    let expect: Expectation

    /// The expected bytes, or the label of the expected error.
    enum Expectation: Sendable {
        case bytes([UInt8])
        case error(String)
    }

    /// The part of a request to write.
    enum Message: Sendable {
        case head(RequestHead)
        case chunkHead(Int)
        case trailers(HTTPHeaders)
    }

    /// The arguments of ``RequestWriter``, with the defaults of the vectors.
    struct RequestHead: Sendable {
        var method = HTTPMethod.get
        var target = Array("/".utf8)
        var authority = Array("a.example".utf8)
        var headers = HTTPHeaders()
        var extra = HTTPHeaders()
        var framing = BodyFraming.none
        var expectContinue = false
        var close = false
        var upgrade = false
    }

    init(_ head: VectorHead, _ fields: inout Fields) throws(FieldError) {
        self.head = head
        if let size: Int = try fields.optional("chunk", read: Read.integer) {
            message = .chunkHead(size)
        } else if let trailers = try fields.optional("trailers", read: Read.fields) {
            message = .trailers(trailers)
        } else {
            message = .head(try RequestHead(&fields))
        }
        expect = try fields.required("expect", read: Expectation.init)
    }

    /// Writes the message and compares the result.
    func differences() -> [Difference] {
        let outcome: Outcome
        do throws(HTTP1Error) {
            outcome = .written(try message.bytes())
        } catch {
            outcome = .refused(error.label)
        }
        let wanted: Outcome =
            switch expect {
            case .bytes(let bytes): .written(bytes)
            case .error(let label): .refused(label)
            }
        return Difference.between("outcome", expected: wanted, got: outcome)
    }

    private enum Outcome: Equatable, CustomStringConvertible {
        case written([UInt8])
        case refused(String)

        var description: String {
            switch self {
            case .written(let bytes): "written: \(JSONValue.string(bytes.latin1))"
            case .refused(let label): "refused: \(label)"
            }
        }
    }
}

extension RequestVector.RequestHead {
    fileprivate init(_ fields: inout Fields) throws(FieldError) {
        if let method = try fields.optional("method", read: Read.bytes) {
            self.method = HTTPMethod(stringLiteral: method.latin1)
        }
        target = try fields.optional("target", read: Read.bytes) ?? target
        authority = try fields.optional("authority", read: Read.bytes) ?? authority
        headers = try fields.optional("headers", read: Read.fields) ?? headers
        extra = try fields.optional("extra", read: Read.fields) ?? extra
        framing = try fields.optional("framing", read: Read.framing) ?? framing
        expectContinue = try fields.optional("expectContinue", read: Read.flag) ?? false
        close = try fields.optional("close", read: Read.flag) ?? false
        upgrade = try fields.optional("upgrade", read: Read.flag) ?? false
    }
}

extension RequestVector.Expectation {
    fileprivate init(_ value: JSONValue) throws(FieldError) {
        var fields = try Fields(value)
        let bytes = try fields.optional("bytes", read: Read.bytes)
        let error = try fields.optional("error", read: Read.text)
        try fields.end()
        switch (bytes, error) {
        case (let bytes?, nil): self = .bytes(bytes)
        case (nil, let error?): self = .error(error)
        default: throw FieldError(line: value.line, what: "either bytes or an error is expected")
        }
    }
}

extension RequestVector.Message {
    fileprivate func bytes() throws(HTTP1Error) -> [UInt8] {
        switch self {
        case .chunkHead(let size):
            return try written(RequestWriter.chunkHeadSizeBound) { buffer throws(HTTP1Error) in
                unsafe RequestWriter.writeChunkHead(size: size, into: buffer)
            }
        case .trailers(let trailers):
            let bound = RequestWriter.lastChunkSizeBound(trailers: trailers)
            return try written(bound) { buffer throws(HTTP1Error) in
                try unsafe RequestWriter.writeLastChunk(trailers: trailers, into: buffer)
            }
        case .head(let head):
            let bound = RequestWriter.headSizeBound(
                method: head.method,
                target: head.target,
                authority: head.authority,
                headers: head.headers,
                extra: head.extra
            )
            return try written(bound) { buffer throws(HTTP1Error) in
                try unsafe RequestWriter.writeHead(
                    method: head.method,
                    target: head.target,
                    authority: head.authority,
                    headers: head.headers,
                    extra: head.extra,
                    framing: head.framing,
                    expectContinue: head.expectContinue,
                    close: head.close,
                    upgrade: head.upgrade,
                    into: buffer
                )
            }
        }
    }
}

/// Returns the bytes that `body` writes to a buffer. The allocation is exactly `room` bytes long.
func written(
    _ room: Int,
    body: (UnsafeMutableRawBufferPointer) throws(HTTP1Error) -> Int
) throws(HTTP1Error) -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
    defer { unsafe buffer.deallocate() }
    let count = try unsafe body(buffer)
    return unsafe Array(buffer.prefix(count))
}

extension Read {
    fileprivate static func fields(_ value: JSONValue) throws(FieldError) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for pair in try list(of: pair(of: bytes))(value) { headers.add(pair[0].latin1, bytes: pair[1]) }
        return headers
    }

    fileprivate static func framing(_ value: JSONValue) throws(FieldError) -> BodyFraming {
        switch value.content {
        case .string("none"): return .none
        case .string("chunked"): return .chunked
        case .number: return .length(try integer(value))
        default: throw value.wrong("none, chunked or a number of bytes")
        }
    }
}

extension String {
    /// The characters as bytes. Each must be below U+0100.
    var latin1Bytes: [UInt8] { unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
}

extension [UInt8] {
    /// The bytes as Latin-1 text: one character for each byte.
    var latin1: String {
        var text = String.UnicodeScalarView()
        for byte in self { text.append(Unicode.Scalar(byte)) }
        return String(text)
    }
}
