import DirectHTTP1
import Testing

@Suite struct RequestVectorTests {
    @Test func `Every request is written as its vector says, or refused`() throws {
        let vectors = try Vectors.load("request", as: RequestVector.self)
        #expect(vectors.count >= 50)
        for vector in vectors { vector.check() }
    }

    @Test func `Every vector has a name of its own, a reason and a reference`() throws {
        let vectors = try Vectors.load("request", as: RequestVector.self)
        #expect(Set(vectors.map(\.name)).count == vectors.count)
        for vector in vectors {
            #expect(!vector.why.isEmpty && !vector.why.contains("\n"), "\(vector.name)")
            #expect(
                vector.reference.hasPrefix("RFC ") || vector.reference.hasPrefix("CVE-"),
                "\(vector.name)"
            )
        }
    }
}

struct RequestVector: Decodable {
    enum Framing: Decodable {
        case none, chunked
        case length(UInt64)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let length = try? container.decode(UInt64.self) {
                self = .length(length)
            } else {
                self = try container.decode(String.self) == "chunked" ? .chunked : .none
            }
        }
    }

    struct Expectation: Decodable {
        var bytes: Bytes?
        var error: String?
    }

    var name: String
    var why: String
    var reference: String
    var method: Bytes?
    var target: Bytes?
    var authority: Bytes?
    var headers: [[Bytes]]?
    var extra: [[Bytes]]?
    var framing: Framing?
    var expectContinue: Bool?
    var close: Bool?
    var upgrade: Bool?
    var chunk: Int?
    var trailers: [[Bytes]]?
    var expect: Expectation

    func check() {
        do throws(HTTP1Error) {
            let written = try write()
            guard let wanted = expect.bytes?.values else {
                Issue.record("\(name): written, not refused with \(expect.error ?? "an error")")
                return
            }
            if written != wanted { Issue.record("\(name): \(String(decoding: written, as: UTF8.self))") }
        } catch {
            if error.label != expect.error {
                Issue.record("\(name): \(error.label), not \(expect.error ?? "bytes")")
            }
        }
    }

    private func write() throws(HTTP1Error) -> [UInt8] {
        if let chunk {
            return try Self.written(RequestWriter.chunkHeadSizeBound) { buffer throws(HTTP1Error) in
                unsafe RequestWriter.writeChunkHead(size: chunk, into: buffer)
            }
        }
        if let trailers = trailers.map(Self.fields) {
            let bound = RequestWriter.lastChunkSizeBound(trailers: trailers)
            return try Self.written(bound) { buffer throws(HTTP1Error) in
                try unsafe RequestWriter.writeLastChunk(trailers: trailers, into: buffer)
            }
        }
        return try writeHead()
    }

    private func writeHead() throws(HTTP1Error) -> [UInt8] {
        let method = Method(stringLiteral: method?.latin1 ?? "GET")
        let target = target?.values ?? Array("/".utf8)
        let authority = authority?.values ?? Array("a.example".utf8)
        let headers = Self.fields(headers ?? [])
        let extra = Self.fields(extra ?? [])
        let bound = RequestWriter.headSizeBound(
            method: method,
            target: target,
            authority: authority,
            headers: headers,
            extra: extra
        )
        return try Self.written(bound) { buffer throws(HTTP1Error) in
            try unsafe RequestWriter.writeHead(
                method: method,
                target: target,
                authority: authority,
                headers: headers,
                extra: extra,
                framing: bodyFraming,
                expectContinue: expectContinue ?? false,
                close: close ?? false,
                upgrade: upgrade ?? false,
                into: buffer
            )
        }
    }

    private var bodyFraming: BodyFraming {
        switch framing {
        case .length(let length): .length(length)
        case .chunked: .chunked
        case .some(.none), nil: .none
        }
    }

    private static func fields(_ pairs: [[Bytes]]) -> Headers {
        var headers = Headers()
        for pair in pairs { headers.add(pair[0].latin1, bytes: pair[1].values) }
        return headers
    }

    /// What `write` puts into memory that ends just behind the room it asked for.
    static func written(
        _ room: Int,
        _ write: (UnsafeMutableRawBufferPointer) throws(HTTP1Error) -> Int
    ) throws(HTTP1Error) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
        defer { unsafe buffer.deallocate() }
        let count = try unsafe write(buffer)
        return unsafe Array(buffer.prefix(count))
    }
}
