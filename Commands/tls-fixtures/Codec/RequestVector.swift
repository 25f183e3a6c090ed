internal import DirectJSON
internal import DirectHTTP1

/// A test of the request writer: a request head, a chunk head or trailers, and the expected bytes or error.
struct RequestVector: TopicVector {
    var head: VectorHead
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
    struct RequestHead: Decodable, Sendable {
        @Or<GetMethod> var method: HTTPMethod
        @Or<Root> var target: [UInt8]
        @Or<Example> var authority: [UInt8]
        @Or<NoFields> var headers: HTTPHeaders
        @Or<NoFields> var extra: HTTPHeaders
        @Or<NoBody> var framing: BodyFraming
        @Or<False> var expectContinue: Bool
        @Or<False> var close: Bool
        @Or<False> var upgrade: Bool

        enum GetMethod: Fallback { static let value = HTTPMethod.get }
        enum Root: Fallback { static let value = Array("/".utf8) }
        enum Example: Fallback { static let value = Array("a.example".utf8) }
        enum NoFields: Fallback { static let value = HTTPHeaders() }
        enum NoBody: Fallback { static let value = BodyFraming.none }
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.strict
        head = try VectorHead(from: decoder)
        if let size: Int = try members.optional("chunk") {
            message = .chunkHead(size)
        } else if let trailers: HTTPHeaders = try members.optional("trailers") {
            message = .trailers(trailers)
        } else {
            message = .head(try RequestHead(from: decoder))
        }
        expect = try members.required("expect")
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

extension RequestVector.Expectation: Decodable {
    init(from decoder: any Decoder) throws {
        let members = try decoder.strict
        switch (
            try members.optional("bytes", as: [UInt8].self), try members.optional("error", as: String.self)
        ) {
        case (let bytes?, nil): self = .bytes(bytes)
        case (nil, let error?): self = .error(error)
        default: throw members.value.fault("either bytes or an error is expected")
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
            let request = DirectHTTP1.RequestHead(
                head.method,
                target: head.target,
                authority: head.authority,
                headers: head.headers,
                extra: head.extra
            )
            return try written(request.sizeBound) { buffer throws(HTTP1Error) in
                try unsafe RequestWriter.writeHead(
                    request,
                    framing: head.framing,
                    announcing: .init(
                        expectContinue: head.expectContinue,
                        close: head.close,
                        upgrade: head.upgrade
                    ),
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

extension HTTPHeaders: FromJSON {
    init(_ value: JSONValue) throws(FieldError) {
        self.init()
        for pair in try StrictDecoder.decode([Pair<[UInt8]>].self, from: value) {
            add(pair.elements[0].latin1, bytes: pair.elements[1])
        }
    }
}

extension BodyFraming: FromJSON {
    init(_ value: JSONValue) throws(FieldError) {
        switch value.content {
        case .string("none"): self = .none
        case .string("chunked"): self = .chunked
        case .number: self = .length(try StrictDecoder.decode(from: value))
        default: throw value.wrong("none, chunked or a number of bytes")
        }
    }
}
