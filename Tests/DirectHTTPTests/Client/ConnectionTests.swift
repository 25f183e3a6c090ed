@testable import DirectCore
import DirectIO
import DirectTestCommands
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Idle connections without buffers", .idleLimit)
struct ConnectionTests {
    @Test("A connection that released its buffers while idle is reused")
    func releasedBuffers() async throws {
        let server = try FixtureServer.secure("a.test")
        let settings = HTTPClient.trusting().configuration
        let url = try HTTPURL(server.https("a.test"))
        let route = Route.chosen([server.endpoint], port: url.port, source: .request)
        let connection = try await Dialler(settings.dialConfiguration)
            .dial(ConnectionTarget(url, route: route), within: .none)
        for _ in 0..<3 {
            let exchange = Exchange(connection, within: .none)
            let message = OutgoingMessage(.get, headers: [:])
            let (count, _) = try exchange.compose(message, to: url, streamed: .none)
            #expect(try exchange.send(count) == nil)
            let head = try await exchange.receiveHead(from: .now, nil, options: nil)
            #expect(head.status == .ok)
            var reading = BodyReading(exchange, nil)
            var body = try reading.takeBuffered()
            while let piece = try await reading.next() { body += piece }
            #expect(body == Array("hello".utf8))
            #expect(connection.isIdleAndAlive())
            _ = connection.releaseBuffers()
        }
        connection.close()
        #expect(server.requests.count == 3)
    }
}
