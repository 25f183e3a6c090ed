import DirectCoding
import DirectCore
import DirectHTTP
import DirectTestCommands
import TLSFixtures
import Testing

/// The whole body of a request, as it came.
private func collected(_ request: FixtureRequest) throws -> [UInt8] {
    var all: [UInt8] = []
    try request.readBody { piece in for index in piece.indices { all.append(piece[index]) } }
    return all
}

@Suite("Compressed request bodies", .idleLimit)
struct CompressedBodyTests {
    private let text = String(repeating: "compress me ", count: 50_000)

    /// A server that sends the body back with its coding, so that the client decodes it.
    private func echo() throws -> FixtureServer {
        try .start(.plain) { request in
            let body = try collected(request)
            return .bytes(body, ["Content-Encoding": request.headers["Content-Encoding"] ?? "identity"])
        }
    }

    private var pieces: [[UInt8]] {
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: 30_000).map {
            Array(bytes[$0..<min($0 + 30_000, bytes.count)])
        }
    }

    private func stream(_ pieces: [[UInt8]]) -> AsyncStream<[UInt8]> {
        AsyncStream { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish()
        }
    }

    @Test("A body in memory has its type, its coding and a length")
    func memory() async throws {
        let server = try echo()
        let request = Request(.post, server.http(), body: try .text(text).gzipped())
        let client = HTTPClient.untimed { $0.decoding.maximumRatio = nil }
        #expect(try await client.fetch(request).text == text)
        let record = try #require(server.requests.last)
        #expect(record.headers["Content-Encoding"] == "gzip")
        #expect(record.headers["Content-Type"] == "text/plain; charset=utf-8")
        #expect(record.headers["Content-Length"].flatMap { Int($0) } == record.bodyCount)
        #expect(record.bodyCount < text.utf8.count / 50)
    }

    @Test("A stream is compressed while it is sent, whatever its pieces", arguments: [1, 9])
    func streamed(level: Int) async throws {
        let server = try echo()
        let client = HTTPClient.untimed { $0.decoding.maximumRatio = nil }
        let pieces = pieces
        for given in [pieces, [[]] + pieces + [[]], []] {
            let body = try RequestBody.stream(stream(given)).gzipped(level: level)
            let response = try await client.fetch(Request(.post, server.http(), body: body))
            #expect(response.body == given.flatMap { $0 })
            #expect(server.requests.last?.headers["Transfer-Encoding"] == "chunked")
            #expect(server.requests.last?.headers["Content-Encoding"] == "gzip")
        }
    }

    @Test("What is not there, or is compressed already, stays as it is; a field of the request stays, too")
    func unchanged() async throws {
        let server = try echo()
        let client = HTTPClient.untimed()
        #expect(try RequestBody.none.gzipped().isGzipped == false)
        #expect(try RequestBody.bytes([]).gzipped().isGzipped == false)
        let twice = try RequestBody.text("hello").gzipped().gzipped()
        #expect(try await client.fetch(Request(.post, server.http(), body: twice)).text == "hello")
        var own = Request(.post, server.http(), body: twice)
        own.headers["Content-Encoding"] = "x-gzip"
        #expect(try await client.fetch(own).text == "hello")
        #expect(server.requests.last?.headers.all("Content-Encoding") == ["x-gzip"])
    }

    @Test("A redirect that keeps the body sends it again, one that drops it drops the coding")
    func redirects() async throws {
        for (status, keeps) in [(307, true), (303, false)] {
            let server = try FixtureServer.start(.plain) { request in
                let body = try collected(request)
                guard request.target == "/" else {
                    return .bytes(
                        body,
                        ["Content-Encoding": request.headers["Content-Encoding"] ?? "identity"]
                    )
                }
                return .status(status, ["Location": "/next"])
            }
            let pieces = pieces
            let bodies = [
                try RequestBody.text(text).gzipped(),
                try RequestBody.replayable { stream(pieces) }.gzipped(),
            ]
            for body in bodies {
                let client = HTTPClient.untimed { $0.decoding.maximumRatio = nil }
                let response = try await client.fetch(Request(.post, server.http(), body: body))
                #expect(response.text == (keeps ? text : ""))
                #expect((server.requests.last?.headers["Content-Encoding"] == "gzip") == keeps)
            }
        }
    }

    @Test("A retry compresses the same bytes again; a body that can be sent once stays so")
    func retries() async throws {
        let server = try FixtureServer.start(.plain) { request in
            _ = try request.discardBody()
            return .status(503)
        }
        let client = HTTPClient.untimed {
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
            $0.retries?.longestDelay = .zero
        }
        let pieces = pieces
        let again = try RequestBody.replayable { stream(pieces) }.gzipped()
        _ = try await client.fetch(Request(.put, server.http(), body: again))
        #expect(server.requests.count == 3 && Set(server.requests.map(\.body)).count == 1)
        let once = try RequestBody.stream(stream(pieces)).gzipped()
        _ = try await client.fetch(Request(.put, server.http(), body: once))
        #expect(server.requests.count == 4)
        let error = try await httpError { try await client.fetch(Request(.put, server.http(), body: once)) }
        guard case .requestBody(.alreadySent) = error.reason else { return #expect(Bool(false), "\(error)") }
    }

    @Test("A source that does not keep its announced length fails, and a part of a form cannot be compressed")
    func faults() async throws {
        let server = try echo()
        let client = HTTPClient.untimed()
        for length in [3, 5] as [UInt64] {
            let body = try RequestBody.stream(stream([[1, 2], [3, 4]]), length: length).gzipped()
            let error = try await httpError {
                try await client.fetch(Request(.post, server.http(), body: body))
            }
            guard case .bodyLength(announced: length, given: _) = error.reason else {
                #expect(Bool(false), "\(error)")
                continue
            }
        }
        let part = FormPart("a", body: try .text("hello").gzipped())
        let form = RequestBody.multipart([part])
        let error = try await httpError { try await client.fetch(Request(.post, server.http(), body: form)) }
        guard case .requestBody(.compressedPart(part: 0)) = error.reason else {
            return #expect(Bool(false), "\(error)")
        }
    }

    @Test("The same bytes give the same gzip member, at any split")
    func splits() throws {
        let bytes = Array("hello hello hello".utf8)
        let whole = try Gzipper(level: 6).compress(bytes, isLast: true)
        for cut in 0...bytes.count {
            let gzipper = try Gzipper(level: 6)
            let parts =
                gzipper.compress(Array(bytes[..<cut]), isLast: false)
                + gzipper.compress(Array(bytes[cut...]), isLast: true)
            #expect(parts == whole)
        }
    }
}
