import DirectHTTP
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@Suite("Reuse of connections", .idleLimit)
struct KeepAliveTests {
    private let time = HeldTime()
    /// A plain response whose connection goes on.
    private static let ok: ByteScript.Step = .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    private func request(_ name: String, at endpoints: Endpoint...) -> Request {
        var request = Request(.get, "http://\(name)/")
        request.addresses = endpoints
        return request
    }

    /// Lets the loop see everything that has happened to its sockets before.
    private func passTime(_ client: HTTPClient) async throws {
        let server = try FixtureServer.start { _ in .text("pong") }
        for _ in 0..<2 { #expect(try await client.get(server.http()).text == "pong") }
    }

    @Test("Successive requests share a connection, over TLS, too")
    func reuse() async throws {
        let server = try FixtureServer.secure("a.test")
        let client = HTTPClient.trusting()
        for number in 0..<4 {
            let response = try await client.fetch(server.request("https://a.test/\(number)"))
            #expect(response.text == "hello")
            #expect(response.isReused == (number > 0))
            #expect((response.transaction?.connectTime == nil) == (number > 0))
        }
        #expect(server.records.count == 1)
        #expect(server.requests.map(\.target) == ["/0", "/1", "/2", "/3"])
    }

    @Test("Copies of a client share connections, and other clients do not")
    func clients() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let client = HTTPClient.untimed()
        let copy = client
        _ = try await client.get(server.http())
        #expect(try await copy.get(server.http()).isReused)
        #expect(try await !HTTPClient.untimed().get(server.http()).isReused)
        #expect(server.records.count == 2)
    }

    @Test("A connection is reused after each framing of a body, and after no body")
    func framings() async throws {
        let server = try FixtureServer.start { request in
            switch request.path {
            case "/length": .text("12345")
            case "/chunked": .chunked([[1], [2, 3]], trailers: ["X-After": "1"])
            case "/empty": .text("")
            case "/emptychunked": .chunked([])
            case "/204": .status(204)
            case "/304": .status(304, ["Content-Length": "1000"])
            default: .text("head")
            }
        }
        let client = HTTPClient.untimed()
        for path in ["/length", "/chunked", "/empty", "/emptychunked", "/204", "/304", "/length"] {
            _ = try await client.get(server.http(path))
        }
        let head = try await client.fetch(Request(.head, server.http()))
        #expect(head.headers["content-length"] == "4" && head.body.isEmpty)
        #expect(try await client.get(server.http("/length")).text == "12345")
        #expect(server.records.count == 1)
    }

    @Test("A connection is not used for another name, even at the same address with the same certificate")
    func otherName() async throws {
        let certificate = testAuthority.certificate(for: "a.test", "b.test")
        let server = try FixtureServer.start(.tls(certificate)) { .text($0.serverName ?? "-") }
        let client = HTTPClient.trusting()
        for name in ["a.test", "b.test", "a.test", "b.test"] {
            #expect(try await client.fetch(server.request("https://\(name)/")).text == name)
        }
        #expect(server.records.map(\.serverName) == ["a.test", "b.test"])
    }

    @Test("A request uses no connection to an address that it does not name")
    func otherAddress() async throws {
        let servers = try FixtureServer.startOnSamePort(["127.0.0.2", "127.0.0.3"]) {
            .text($0.serverAddress)
        }
        let name = "a.test:\(servers[0].port)"
        let client = HTTPClient.untimed()
        #expect(try await client.fetch(request(name, at: "127.0.0.2")).text == "127.0.0.2")
        #expect(try await client.fetch(request(name, at: "127.0.0.3")).text == "127.0.0.3")
        let either = try await client.fetch(request(name, at: "127.0.0.9", "127.0.0.2"))
        #expect(either.text == "127.0.0.2" && either.isReused)
        #expect(servers.map(\.records.count) == [1, 1])
    }

    @Test("A request uses no connection to another port of the same address")
    func otherPort() async throws {
        let first = try FixtureServer.start(on: "127.0.0.2") { _ in .text("first") }
        let second = try FixtureServer.start(on: "127.0.0.2") { _ in .text("second") }
        let client = HTTPClient.untimed()
        #expect(try await client.fetch(request("a.test", at: first.endpoint)).text == "first")
        #expect(try await client.fetch(request("a.test", at: second.endpoint)).text == "second")
    }

    @Test("A request that the system resolves uses no connection to an address that a caller chose")
    func chosenIsNotSystem() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let name = "localhost:\(server.port)"
        let client = HTTPClient.untimed()
        let chosen = try await client.fetch(request(name, at: "127.0.0.1"))
        #expect(chosen.transaction?.source == .request)
        let system = try await client.get("http://\(name)/")
        #expect(system.transaction?.source == .system && !system.isReused)
        #expect(server.records.count == 2)
    }

    @Test("A request to the address in its URL uses no connection to an address that a caller chose")
    func chosenIsNotLiteral() async throws {
        let named = try FixtureServer.start(on: "127.0.0.2") { _ in .text("named") }
        let chosen = try FixtureServer.start(on: "127.0.0.3") { _ in .text("chosen") }
        let client = HTTPClient.untimed()
        #expect(try await client.fetch(chosen.request(named.http())).text == "chosen")
        #expect(try await client.get(named.http()).text == "named")
    }

    @Test(
        "No other request follows a response that ends its connection",
        arguments: [
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nconnection: x, Close\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nX",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n",
        ]
    )
    func endsItsConnection(response: String) async throws {
        let server = try FixtureServer.scripted([.awaitHead, .send(response), .awaitClose])
        let client = HTTPClient.untimed()
        for _ in 0..<2 {
            let answer = try await client.get(server.http())
            #expect(answer.text == "ok" && !answer.isReused)
            // Closed, and not left lying about.
            _ = try await server.nextRecord()
        }
        #expect(server.records.count == 2)
    }

    @Test("A body that ends with the stream leaves no connection")
    func untilClose() async throws {
        let server = try FixtureServer.start { _ in .bytes(Array("ok".utf8), framing: .untilClose) }
        let client = HTTPClient.untimed()
        for _ in 0..<2 { #expect(try await client.get(server.http()).text == "ok") }
        #expect(server.records.count == 2)
    }

    @Test("A connection of HTTP/1.0 with keep-alive is reused")
    func http10() async throws {
        let text = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"
        let server = try FixtureServer.scripted([.awaitHead, .send(text), .awaitHead, .send(text)])
        let client = HTTPClient.untimed()
        for _ in 0..<2 { #expect(try await client.get(server.http()).text == "ok") }
        #expect(server.records.count == 1)
    }

    @Test(
        "Unsolicited bytes of a server are never taken for a response",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "HTTP/1.1 408 Timeout\r\n\r\n", "x",
        ]
    )
    func unsolicited(bytes: String) async throws {
        let mayTalk = Gate()
        let talking: ByteScript = [.awaitHead, Self.ok, .wait(mayTalk), .send(bytes), .halfClose]
        let server = try FixtureServer.start(
            behaviour: .sequence([.bytes(talking), .http { _ in .text("right") }])
        )
        let client = HTTPClient.untimed()
        #expect(try await client.get(server.http()).text == "ok")
        mayTalk.open()
        // The server closes behind the bytes, so they are at the client by now.
        _ = try await server.nextRecord()
        try await passTime(client)
        #expect(try await client.get(server.http()).text == "right")
    }

    @Test("A connection that was closed while idle is not used, even for a POST")
    func closedWhileIdle() async throws {
        let server = try FixtureServer.start { _ in .text("ok").then(.closeUnannounced) }
        let client = HTTPClient.untimed()
        for _ in 0..<3 {
            #expect(try await client.post(server.http(), .text("once")).text == "ok")
            _ = try await server.nextRecord()
            try await passTime(client)
        }
        #expect(server.requests.count == 3)
    }

    @Test("An idle TLS connection that received session tickets is reused")
    func ticketsAreNoNews() async throws {
        let mayTalk = Gate()
        let server = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")) { $0.tickets = 4 },
            behaviour: .bytes([.awaitHead, Self.ok, .wait(mayTalk), .askForNewKeys, .awaitHead, Self.ok])
        )
        let client = HTTPClient.trusting()
        #expect(try await client.fetch(server.request("https://a.test/")).text == "ok")
        mayTalk.open()
        try await passTime(client)
        let second = try await client.fetch(server.request("https://a.test/"))
        #expect(second.text == "ok" && second.isReused)
    }

    @Test("A GET on a dead connection is sent again on a new one")
    func staleGet() async throws {
        for end in [ByteScript.Step.cut, .reset] {
            let server = try FixtureServer.start(
                behaviour: .sequence([
                    .bytes([.awaitHead, Self.ok, .awaitHead, end]), .http { _ in .text("fresh") },
                ])
            )
            let client = HTTPClient.untimed()
            #expect(try await client.get(server.http()).text == "ok")
            let second = try await client.get(server.http())
            #expect(second.text == "fresh" && !second.isReused)
            #expect(server.records.count == 2)
        }
    }

    @Test("A POST on a dead connection is not sent again")
    func stalePost() async throws {
        let server = try FixtureServer.start(
            behaviour: .sequence([
                .bytes([.awaitHead, Self.ok, .awaitHead, .cut]), .http { _ in .text("twice") },
            ])
        )
        let client = HTTPClient.untimed()
        #expect(try await client.get(server.http()).text == "ok")
        let error = try await httpError { try await client.post(server.http(), .text("")) }
        #expect(error.phase == .response)
        #expect(server.records.count == 1)
    }

    @Test("A request on its own new connection is not sent again, whatever its method")
    func freshIsNotRepeated() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .cut])
        let error = try await httpError { try await HTTPClient.untimed().get(server.http()) }
        #expect(error.protocolError == .closedBeforeResponse)
        #expect(server.records.count == 1)
    }

    @Test("A request is not sent again once a byte of its response has arrived")
    func begunIsNotRepeated() async throws {
        for end in [ByteScript.Step.cut, .reset] {
            let server = try FixtureServer.start(
                behaviour: .sequence([
                    .bytes([.awaitHead, Self.ok, .awaitHead, .send("HTTP/1.1 2"), end]),
                    .http { _ in .text("twice") },
                ])
            )
            let client = HTTPClient.untimed()
            #expect(try await client.get(server.http()).text == "ok")
            let error = try await httpError { try await client.get(server.http()) }
            #expect(error.protocolError == .truncatedHead || error.systemError != nil)
            #expect(server.records.count == 1)
        }
    }

    @Test("A request that got a dead connection from the queue is sent again, too")
    func staleAfterQueue() async throws {
        let mayAnswer = Gate()
        let server = try FixtureServer.start(
            behaviour: .sequence([
                .bytes([.awaitHead, .wait(mayAnswer), Self.ok, .awaitHead, .cut]),
                .http { _ in .text("fresh") },
            ])
        )
        let client = time.client { $0.maximumConnectionsPerOrigin = 1 }
        async let first = client.get(server.http("/1"))
        try await server.waitUntil { $0.first?.receivedCount ?? 0 > 0 }
        async let second = client.get(server.http("/2"))
        try await time.waitBegins(for: .seconds(30))
        mayAnswer.open()
        #expect(try await first.text == "ok")
        #expect(try await second.text == "fresh")
    }

    @Test("An idle connection is closed at the idle timeout")
    func idleTimeout() async throws {
        let server = try FixtureServer.secure("a.test")
        let client = time.client { $0.idleTimeout = .seconds(60) }
        _ = try await client.fetch(server.request("https://a.test/"))
        // The pool looks every two seconds.
        try await time.waitBegins(for: .seconds(2))
        time.advance(by: .seconds(59))
        try await time.waitBegins(for: .seconds(2))
        #expect(try await client.fetch(server.request("https://a.test/")).isReused)
        time.advance(by: .seconds(60))
        // Not when a request needs one, but by itself.
        #expect(try await server.nextRecord().end == .clientClosed)
        #expect(try await !client.fetch(server.request("https://a.test/")).isReused)
    }

    @Test("Of too many idle connections the oldest are closed")
    func idleLimit() async throws {
        let client = time.client { $0.maximumIdleConnections = 2 }
        let servers = try (0..<3).map { _ in try FixtureServer.start { _ in .text("hello") } }
        for server in servers {
            _ = try await client.get(server.http())
            time.advance(by: .nanoseconds(1))
        }
        #expect(try await servers[0].nextRecord().end == .clientClosed)
        for server in servers.dropFirst() {
            #expect(try await client.get(server.http()).isReused)
        }
    }

    @Test("The idle connections of a client are closed with its last copy")
    func droppedClient() async throws {
        let server = try FixtureServer.secure("a.test")
        func useOnce() async throws {
            let client = HTTPClient.trusting()
            _ = try await client.fetch(server.request("https://a.test/"))
        }
        try await useOnce()
        #expect(try await server.nextRecord().end == .clientClosed)
    }

    @Test("A body in progress is completed without its client, and then its connection is closed")
    func droppedClientWithBody() async throws {
        let mayGoOn = Gate()
        let server = try FixtureServer.start { _ in
            .written { writer in
                try writer.write("first ")
                try writer.wait(for: mayGoOn)
                try writer.write("last")
            }
        }
        func sendOnly() async throws -> Response {
            try await HTTPClient.untimed().send(Request(.get, server.http()))
        }
        let response = try await sendOnly()
        mayGoOn.open()
        #expect(try await response.body.collect(upTo: 100) == Array("first last".utf8))
        #expect(try await server.nextRecord().end == .clientClosed)
    }

    @Test("An origin gets no more connections than permitted, and the waiting requests are all served")
    func maximumPerOrigin() async throws {
        let server = try FixtureServer.start { .text($0.target) }
        let other = try FixtureServer.start { _ in .text("other") }
        let client = HTTPClient.untimed { $0.maximumConnectionsPerOrigin = 2 }
        try await withThrowingTaskGroup { group in
            for number in 0..<40 {
                group.addTask {
                    let text = try await client.get(server.http("/\(number)")).text
                    #expect(text == "/\(number)")
                }
            }
            group.addTask {
                let text = try await client.get(other.http()).text
                #expect(text == "other")
            }
            try await group.waitForAll()
        }
        #expect(server.records.count <= 2)
        #expect(server.requests.count == 40)
    }

    @Test("The place of a connection that could not be made passes to a waiting request")
    func placePassesOnFailure() async throws {
        let mayFail = Gate()
        let server = try FixtureServer.start(
            behaviour: .sequence([
                .bytes([.awaitHead, .wait(mayFail), .send("nonsense"), .cut]), .http { _ in .text("hello") },
            ])
        )
        let client = time.client { $0.maximumConnectionsPerOrigin = 1 }
        async let failing = httpError { try await client.get(server.http()) }
        try await server.waitUntil { $0.first?.receivedCount ?? 0 > 0 }
        async let waiting = client.get(server.http())
        try await time.waitBegins(for: .seconds(30))
        mayFail.open()
        #expect(try await failing.protocolError == .notHTTP)
        #expect(try await waiting.text == "hello")
    }

    @Test("A place is free again after a failed connection, and after an abandoned body")
    func placeIsFreeAgain() async throws {
        let dead = try FixtureServer.refusing()
        let server = try FixtureServer.start { .pattern(count: $0.target.count << 20) }
        let client = HTTPClient.untimed { $0.maximumConnectionsPerOrigin = 1 }
        for _ in 0..<2 {
            _ = try await httpError { try await client.fetch(request("a.test", at: dead.endpoint)) }
            func dropBody() async throws { _ = try await client.send(request("a.test", at: server.endpoint)) }
            try await dropBody()
        }
        #expect(try await client.fetch(request("a.test", at: server.endpoint)).body.count == 1 << 20)
    }
}
