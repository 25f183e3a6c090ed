import DirectHTTP
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("Methods of the client", .idleLimit)
struct ClientMethodTests {
    private let client = HTTPClient.untimed()

    /// What the server has got: method, target, length, body and one field.
    private static func echo(_ request: FixtureRequest) throws -> FixtureReply {
        let length = request.headers["content-length"] ?? "-"
        let words = [request.method, request.target, length, try request.text, request.headers["x-a"] ?? "-"]
        return .text(words.joined(separator: " "), ["X-Words": words.joined(separator: " ")])
    }

    @Test("Each method sends its name, its body and its fields, to URLs as text and to parsed ones")
    func methods() async throws {
        let server = try FixtureServer.start { try Self.echo($0) }
        let (text, fields): (String, HTTPHeaders) = (server.http("/p?q"), ["X-A": "b"])
        let url = try HTTPURL(text)
        #expect(try await client.get(text, headers: fields).text == "GET /p?q -  b")
        #expect(try await client.get(url, headers: fields).text == "GET /p?q -  b")
        #expect(try await client.delete(text, headers: fields).text == "DELETE /p?q -  b")
        #expect(try await client.delete(url, headers: fields).text == "DELETE /p?q -  b")
        #expect(try await client.post(text, .text("x"), headers: fields).text == "POST /p?q 1 x b")
        #expect(try await client.post(url, .text("x"), headers: fields).text == "POST /p?q 1 x b")
        #expect(try await client.put(text, .text("x"), headers: fields).text == "PUT /p?q 1 x b")
        #expect(try await client.put(url, .text("x"), headers: fields).text == "PUT /p?q 1 x b")
        #expect(try await client.patch(text, .text("x"), headers: fields).text == "PATCH /p?q 1 x b")
        #expect(try await client.patch(url, .text("x"), headers: fields).text == "PATCH /p?q 1 x b")
    }

    @Test("A response to `head` has fields and no body")
    func head() async throws {
        let server = try FixtureServer.start { try Self.echo($0) }
        let url = try HTTPURL(server.http("/p"))
        for response in [try await client.head(server.http("/p")), try await client.head(url)] {
            #expect(response.headers["X-Words"] == "HEAD /p -  -" && response.body.isEmpty)
        }
    }

    @Test("A `post` without a body has a length of zero")
    func emptyPost() async throws {
        let server = try FixtureServer.start { try Self.echo($0) }
        #expect(try await client.post(server.http("/p")).text == "POST /p 0  -")
        #expect(
            try await client.post(HTTPURL(server.http("/p")), headers: ["X-A": "b"]).text == "POST /p 0  b"
        )
    }

    @Test("A component with dots and slashes reaches the server inside its segment")
    func components() async throws {
        let server = try FixtureServer.start { .text($0.target) }
        let url = try HTTPURL(server.http("/items")).appending(path: "../admin?all#x").appending(query: [
            "q": "a&b=c"
        ])
        #expect(try await client.get(url).text == "/items/..%2Fadmin%3Fall%23x?q=a%26b%3Dc")
    }

    @Test("A URL that is set on a request drops the addresses of another host, and keeps those of its own")
    func setURL() throws {
        var request = HTTPClient.Request(.get, "https://a.test/x")
        request.addresses = ["192.0.2.1"]
        request.setURL(try HTTPURL("https://a.test/y"))
        #expect(try request.url.text == "https://a.test/y" && request.addresses == ["192.0.2.1"])
        request.setURL(try HTTPURL("https://b.test/"))
        #expect(try request.url.text == "https://b.test/" && request.addresses == nil)
        var invalid = HTTPClient.Request(.get, "nowhere")
        invalid.setURL(try HTTPURL("https://b.test/"))
        #expect(try invalid.url.host.description == "b.test")
    }

    @Test("Connections for a parsed URL can be made ahead")
    func prewarm() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        try await client.prewarm(HTTPURL(server.http()))
        #expect(try await client.get(server.http()).transaction?.isReused == false)
        #expect(server.records.count == 1)
    }
}
