@testable import DirectCore
import DirectIO
import DirectTestCommands
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Unsolicited bytes", .idleLimit)
struct UnsolicitedTests {
    private static let good = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"

    @Test("Bytes that precede the request on a new connection are no response to it")
    func beforeTheRequest() async throws {
        let server = try FixtureServer.scripted([.send(Self.good), .stall])
        let settings = HTTPClient().configuration
        let url = try HTTPURL(server.http())
        let timeouts = Timeouts().nanoseconds
        let connection = try await Dialler(settings.dialConfiguration)
            .dial(
                ConnectionTarget(url, route: .chosen([server.endpoint], port: url.port, source: .request)),
                within: CallLimit(timeouts, until: .never)
            )
        _ = await connection.socket.waitForInput(.reader, until: .never)
        #expect(throws: TransportError.self) { try connection.checkSilence() }
    }

    @Test("After a 408 on a kept connection the request is sent again")
    func goodbye() async throws {
        let server = try FixtureServer.start { request in
            request.connectionNumber == 0 && request.target != "/first"
                ? .status(408, ["Connection": "close"]) : .text("\(request.connectionNumber)")
        }
        let client = HTTPClient()
        #expect(try await client.get(server.http("/first")).text == "0")
        #expect(try await client.get(server.http()).text == "1")
    }

    @Test("A 408 for a request that must not be repeated is its response")
    func goodbyeToPost() async throws {
        let server = try FixtureServer.start { request in
            _ = try request.discardBody()
            return request.target != "/first" ? .status(408, ["Connection": "close"]) : .text("")
        }
        let client = HTTPClient()
        _ = try await client.get(server.http("/first"))
        #expect(try await client.post(server.http(), .text("pay")).status == 408)
    }

    @Test("A 408 on a new connection is an ordinary response")
    func freshGoodbye() async throws {
        let server = try FixtureServer.start { _ in .status(408, ["Connection": "close"]) }
        #expect(try await HTTPClient().get(server.http()).status == 408)
        #expect(server.records.count == 1)
    }

    @Test("A late line end of the previous response is no response, and the request is sent again")
    func lateLineEnd() async throws {
        let server = try FixtureServer.scripted([
            .awaitHead, .send(Self.good), .awaitHead, .send("\r\n"), .awaitClose,
        ])
        let client = HTTPClient()
        #expect(try await client.get(server.http()).text == "good")
        let second = try await client.get(server.http())
        #expect(second.text == "good" && !second.isReused)
    }

    @Test("A request that must not be repeated is not sent on a connection that was closed unseen")
    func closedUnseen() async throws {
        let mayClose = Gate()
        let server = try FixtureServer.scripted([.awaitHead, .send(Self.good), .wait(mayClose), .cut])
        let client = HTTPClient { $0.loop = EventLoop() }
        let second = try await Task(executorPreference: client.executor) {
            _ = try await client.get(server.http())
            mayClose.open()
            // The loop's own thread is kept busy, so the loop sees nothing of the end.
            while server.records.first?.end == nil {}
            return try await client.post(server.http(), .text("pay"))
        }.value
        #expect(second.text == "good" && !second.isReused)
    }
}
