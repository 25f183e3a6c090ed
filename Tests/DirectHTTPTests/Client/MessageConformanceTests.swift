import DirectHTTP
import DirectTestCommands
import DirectTestData
import Synchronization
import TLSFixtures
import Testing

/// The cases about messages of the conformance list that Swift's other clients are measured by, under its
/// names.
@Suite("Conformance of messages", .idleLimit)
struct MessageConformanceTests {
    private let client = HTTPClient.untimed()

    private func answer(to text: String) async throws -> BufferedResponse {
        let server = try FixtureServer.start { _ in .raw(text, then: .close) }
        return try await client.get(server.http())
    }

    @Test("NotHTTP: a response that is not HTTP is an error")
    func notHTTP() async throws {
        let error = try await httpError { try await answer(to: "SSH-2.0-OpenSSH_9.2\r\n") }
        #expect(error.protocolError == .notHTTP)
    }

    @Test("BadHTTPCase: a version in the wrong case is an error")
    func badHTTPCase() async throws {
        let error = try await httpError {
            try await answer(to: "Http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        #expect(error.protocolError == .notHTTP)
    }

    @Test(
        "NoReason: a status line without a reason is accepted",
        arguments: ["HTTP/1.1 200", "HTTP/1.1 200 "]
    )
    func noReason(line: String) async throws {
        let response = try await answer(to: "\(line)\r\nContent-Length: 2\r\n\r\nok")
        #expect(response.status == 200 && response.reason.isEmpty && response.text == "ok")
    }

    @Test(
        "ConflictingContentLength: different lengths are an error",
        arguments: ["10, 4", "10\r\nContent-Length: 4"]
    )
    func conflictingContentLength(lengths: String) async throws {
        let error = try await httpError {
            try await answer(to: "HTTP/1.1 200 OK\r\nContent-Length: \(lengths)\r\n\r\n0123456789")
        }
        #expect(error.protocolError == .conflictingContentLengths)
    }

    @Test("Ok: an empty response with status 200 is delivered")
    func ok() async throws {
        let server = try FixtureServer.start { _ in .status(200) }
        let response = try await client.get(server.http("/ok"))
        #expect(response.status == .ok && response.body.isEmpty && response.version == .http11)
    }

    @Test("NotFound: a response with status 404 is delivered with its body")
    func notFound() async throws {
        let server = try FixtureServer.start { _ in .text("no such thing", status: 404) }
        let response = try await client.get(server.http())
        #expect(response.status == .notFound && response.text == "no such thing")
    }

    @Test("StatusOutOfRangeButValid: a response with status 999 is delivered")
    func statusOutOfRange() async throws {
        let response = try await answer(to: "HTTP/1.1 999 Odd\r\nContent-Length: 3\r\n\r\nodd")
        #expect(response.status.code == 999 && response.reason == "Odd" && response.text == "odd")
    }

    @Test(
        "Gzip, Deflate, Identity: the coding is offered and decoded",
        arguments: ["gzip", "deflate", "identity"]
    )
    func codings(coding: String) async throws {
        let plain = pattern(at: 0, count: 100_000)
        let server = try FixtureServer.start { request in
            let isOffered = request.headers["accept-encoding"]?.contains(coding) == true
            guard isOffered, coding != "identity" else { return .bytes(plain) }
            let coded = deflated(plain, windowBits: coding == "gzip" ? 31 : 15)
            return .bytes(coded, ["Content-Encoding": coding])
        }
        let response = try await client.get(server.http())
        #expect(response.body == plain)
        #expect(response.headers["content-encoding"] == (coding == "identity" ? nil : coding))
    }

    @Test(
        "Brotli: the coding is offered and decoded",
        .enabled(if: DecodingSettings().codings.contains(.brotli), "needs the trait Brotli")
    )
    func brotli() async throws {
        let coded: [UInt8] = [
            0x8B, 0x05, 0x80, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 0x2C, 0x20, 0x77, 0x6F, 0x72, 0x6C, 0x64, 0x03,
        ]
        let server = try FixtureServer.start { request in
            let isOffered = request.headers["accept-encoding"]?.contains("br") == true
            return isOffered ? .bytes(coded, ["Content-Encoding": "br"]) : .status(406)
        }
        #expect(try await client.get(server.http()).text == "hello, world")
    }

    @Test("CustomHeader: a custom field is sent and received")
    func customHeader() async throws {
        let server = try FixtureServer.start { .text("ok", ["X-Back": $0.headers["x-custom"] ?? "none"]) }
        let response = try await client.get(server.http(), headers: ["X-Custom": "some value"])
        #expect(response.headers["X-BACK"] == "some value")
    }

    @Test("ClientSendsEmptyHeaderValue: an empty value is sent")
    func emptyHeaderValue() async throws {
        let server = try FixtureServer.start { .text($0.headers["x-empty"].map { "[\($0)]" } ?? "none") }
        #expect(try await client.get(server.http(), headers: ["X-Empty": ""]).text == "[]")
    }

    @Test("ClientSendsMultiValueHeader: several values of a name are sent in order")
    func clientMultiValue() async throws {
        let server = try FixtureServer.start {
            .text($0.headers.all("x-many").joined(separator: "|"))
        }
        let headers: HTTPHeaders = ["X-Many": "a", "X-Other": "x", "x-many": "b, c"]
        #expect(try await client.get(server.http(), headers: headers).text == "a|b, c")
    }

    @Test("ServerSendsMultiValueHeader: several values of a name are received in order")
    func serverMultiValue() async throws {
        let server = try FixtureServer.start { _ in
            .text("ok").adding("X-Many", value: "a").adding("X-Other", value: "x").adding(
                "x-many",
                value: "b, c"
            )
        }
        #expect(try await client.get(server.http()).headers.values(for: "X-Many") == ["a", "b, c"])
    }

    @Test("URLParams: path and query are sent unchanged")
    func urlParams() async throws {
        let server = try FixtureServer.start { .text($0.target) }
        let target = "/path%20x?key=value&empty=&k%C3%A4=%26&key=again"
        #expect(try await client.get(server.http(target)).text == target)
    }

    @Test("GetConvenience: `get` sends a GET for the URL")
    func getConvenience() async throws {
        let server = try FixtureServer.start { .text("\($0.method) \($0.target)") }
        #expect(try await client.get(server.http("/x")).text == "GET /x")
    }

    @Test("PostConvenience: `post` sends its body with its content type")
    func postConvenience() async throws {
        let server = try FixtureServer.start {
            .text("\($0.method) \($0.headers["content-type"] ?? "-") \(try $0.text)")
        }
        let response = try await client.post(server.http(), .text("said"))
        #expect(response.text == "POST text/plain; charset=utf-8 said")
    }

    @Test("BasicRedirect: each redirecting status is followed", arguments: [301, 302, 303, 307, 308])
    func basicRedirect(status: Int) async throws {
        let server = try FixtureServer.start { request in
            request.target == "/there" ? .text("there") : .redirect(to: "/there", status: status)
        }
        let response = try await client.get(server.http())
        #expect(response.text == "there" && response.history.map(\.status?.code) == [UInt16(status)])
    }

    @Test("InfiniteRedirect: redirects without end are an error at the limit")
    func infiniteRedirect() async throws {
        let server = try FixtureServer.start { .redirect(to: "\($0.target)x") }
        let error = try await httpError { try await client.get(server.http("/")) }
        guard case .redirect(.tooMany(limit: 20, isLoop: false)) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(server.requests.count == 21)
    }

    @Test("BasicCookieSetAndUse: a cookie that was set is sent")
    func cookies() async throws {
        let server = try FixtureServer.start { request in
            request.target == "/set"
                ? .text("set", ["Set-Cookie": "name=value; Path=/"])
                : .text(request.headers["cookie"] ?? "none")
        }
        let client = HTTPClient.untimed { $0.cookies = CookieJar() }
        #expect(try await client.get(server.http("/see")).text == "none")
        _ = try await client.get(server.http("/set"))
        #expect(try await client.get(server.http("/see")).text == "name=value")
    }

    @Test("ETag: a 304 becomes the cached 200 with the newer fields")
    func etag() async throws {
        let server = try FixtureServer.start { request in
            let fields: FixtureHeaders = [
                "ETag": "\"one\"", "Cache-Control": "no-cache", "X-Number": "\(request.numberOnConnection)",
            ]
            return request.headers["if-none-match"] == "\"one\""
                ? .status(304, fields) : .text("kept", fields)
        }
        let client = HTTPClient.untimed { $0.cache = .memory() }
        let first = try await client.get(server.http())
        let second = try await client.get(server.http())
        #expect(first.status == 200 && first.text == "kept" && second.status == 200 && second.text == "kept")
        #expect(second.cacheUse == .revalidated && second.headers["X-Number"] != first.headers["X-Number"])
        #expect(server.requests.map { $0.headers["if-none-match"] } == [nil, "\"one\""])
    }

    @Test("StressTest: each of many concurrent requests gets its own response")
    func stress() async throws {
        let server = try FixtureServer.start { .text("\($0.target) \(try $0.text)") }
        let client = HTTPClient.untimed { $0.maximumConnectionsPerOrigin = 20 }
        let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    let response = try await client.post(server.http("/\(number)"), .text("body \(number)"))
                    return response.text == "/\(number) body \(number)" ? 0 : 1
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(wrong == 0 && server.requests.count == 1000 && server.records.count <= 20)
    }
}
