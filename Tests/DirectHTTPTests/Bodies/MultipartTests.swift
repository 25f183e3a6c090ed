@testable import DirectCore
import DirectHTTP
import DirectTestCommands
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Multipart forms", .idleLimit)
struct MultipartTests {
    private static let echo: FixtureHandler = { request in
        let framing = request.headers["transfer-encoding"] ?? request.headers["content-length"] ?? "none"
        return .text("\(framing)\n\(request.headers["content-type"] ?? "")\n\(try request.text)")
    }

    @Test("A form of plain fields and bytes has exactly the expected bytes and length")
    func exactBytes() async throws {
        let parts = [
            FormPart.field("title", "über\r\nzwei Zeilen"),
            FormPart("data", fileName: "a \"b\".bin", body: .bytes([1, 2], contentType: "image/png")),
            FormPart("empty", body: .none),
        ]
        let expected =
            "--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nüber\r\nzwei Zeilen\r\n"
            + "--B\r\nContent-Disposition: form-data; name=\"data\"; filename=\"a %22b%22.bin\"\r\n"
            + "Content-Type: image/png\r\n\r\n\u{1}\u{2}\r\n"
            + "--B\r\nContent-Disposition: form-data; name=\"empty\"\r\n\r\n\r\n--B--\r\n"
        let form = MultipartForm(parts, boundary: "B")
        let server = try FixtureServer.start(handler: Self.echo)
        let body = RequestBody(.stream(form.body), contentType: form.contentType)
        let answer = try await HTTPClient.untimed().post(server.http(), body).text
        #expect(answer == "\(expected.utf8.count)\nmultipart/form-data; boundary=B\n\(expected)")
        #expect(body.isReplayable)
    }

    @Test("A form without parts is only the final boundary")
    func empty() async throws {
        let server = try FixtureServer.start(handler: Self.echo)
        let body = RequestBody.multipart([])
        let boundary = try boundary(of: body)
        let answer = try await HTTPClient.untimed().post(server.http(), body).text
        #expect(answer == "50\nmultipart/form-data; boundary=\(boundary)\n--\(boundary)--\r\n")
    }

    @Test("A form with a part of unknown length is sent in chunks, and only once")
    func chunked() async throws {
        let server = try FixtureServer.start(handler: Self.echo)
        let pieces = RequestBody.stream(PatternPieces(sizes: [3, 0, 4]))
        let body = RequestBody.multipart([.field("a", "b"), FormPart("s", body: pieces), .field("c", "d")])
        #expect(!body.isReplayable)
        let answer = try #require(try await HTTPClient.untimed().post(server.http(), body).text)
        let content = String(decoding: pattern(at: 0, count: 7), as: UTF8.self)
        #expect(answer.hasPrefix("chunked\n"))
        #expect(answer.contains("name=\"s\"\r\n\r\n\(content)\r\n--"))
    }

    @Test("Each form has a new boundary of 128 random bits")
    func boundaries() throws {
        var seen: Set<String> = []
        for _ in 0..<1000 {
            let boundary = try boundary(of: .multipart([]))
            #expect(boundary.utf8.count == 44 && boundary.hasPrefix("direct-http-"))
            #expect(boundary.dropFirst(12).allSatisfy { $0.isHexDigit })
            seen.insert(boundary)
        }
        #expect(seen.count == 1000)
    }

    @Test("A form whose part can be sent once is refused the second time, and no empty part is sent")
    func sentTwice() async throws {
        let server = try FixtureServer.start(handler: Self.echo)
        let client = HTTPClient()
        let part = FormPart("file", body: .stream(AsyncStream([1, 2, 3])))
        #expect(try await client.post(server.http(), .multipart([part])).status == 200)
        for form in [[part], [.field("before", "1"), part]] {
            let error = try await httpError { try await client.post(server.http(), .multipart(form)) }
            guard error.phase == .request, case .requestBody(.alreadySent) = error.reason else { throw error }
        }
        #expect(server.requests.count == 1)
    }

    @Test("A form with the same stream in two parts is an error")
    func sameStreamTwice() async throws {
        let server = try FixtureServer.start(handler: Self.echo)
        let stream = RequestBody.stream(AsyncStream([1, 2, 3]))
        let form = RequestBody.multipart([FormPart("a", body: stream), FormPart("b", body: stream)])
        let error = try await httpError { try await HTTPClient().post(server.http(), form) }
        guard case .requestBody(.alreadySent) = error.reason else { throw error }
        #expect(server.requests.isEmpty)
    }

    @Test(
        "A part with a control character in its head is refused before anything is sent",
        arguments: ["\r\nX: y", "a\rb", "a\nb", "a\0b", "a\u{7f}b", "\t", "\u{1b}[31m"]
    )
    func injection(text: String) async throws {
        let server = try FixtureServer.start(handler: Self.echo)
        let client = HTTPClient.untimed()
        _ = try await client.get(server.http())
        let parts: [(FormPart, RequestBodyError)] = [
            (.field(text, "v"), .invalidPartName(part: 1)),
            (FormPart("n", fileName: text, body: .none), .invalidFileName(part: 1)),
            (FormPart("n", contentType: "a/b\(text)", body: .none), .invalidPartContentType(part: 1)),
        ]
        for (part, fault) in parts {
            let body = RequestBody.multipart([.field("before", "1"), part])
            let error = try await httpError { try await client.post(server.http(), body) }
            #expect(error.phase == .request)
            guard case .requestBody(fault) = error.reason else {
                Issue.record("\(error)")
                continue
            }
            #expect(!"\(error)".contains(text))
        }
        #expect(try await client.get(server.http()).isReused)
        #expect(server.requests.count == 2)
    }

    @Test(
        "A part without a name, or with an invalid content type, is refused",
        arguments: ["", "png", "a/", "/b", "a/b/c", "a b/c", "é/x"]
    )
    func malformed(type: String) async throws {
        let server = try FixtureServer.start(handler: Self.echo)
        let error = try await httpError {
            try await HTTPClient.untimed().post(
                server.http(),
                .multipart([FormPart("n", contentType: type, body: .none)])
            )
        }
        guard case .requestBody(.invalidPartContentType(part: 0)) = error.reason else {
            Issue.record("\(error)")
            return
        }
        let nameless = try await httpError {
            try await HTTPClient.untimed().post(server.http(), .multipart([.field("", "v")]))
        }
        guard case .requestBody(.invalidPartName(part: 0)) = nameless.reason else {
            Issue.record("\(nameless)")
            return
        }
        #expect(server.requests.isEmpty)
    }

    private func boundary(of body: RequestBody) throws -> String {
        let type = try #require(body.contentType)
        return try #require(type.split(separator: "=").last.map(String.init))
    }
}

extension AsyncStream<[UInt8]> {
    /// One piece, once.
    fileprivate init(_ bytes: [UInt8]) {
        self.init { continuation in
            continuation.yield(bytes)
            continuation.finish()
        }
    }
}
