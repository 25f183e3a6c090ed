@testable import DirectCore
import DirectTestCommands
import DirectTestPeers
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP
@testable import DirectIO

@Suite("Sockets with small buffers", .idleLimit)
struct SmallBufferTests {
    @Test("An upload and a response larger than the socket buffers do not wait for each other")
    func writesFirst() async throws {
        let size = 16 << 20
        let server = try FixtureServer.scripted([
            .awaitBytes(1), .send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"),
            .flood([UInt8](repeating: 120, count: 65_536), times: size / 65_536), .awaitClose,
        ])
        try limitReceiving(at: server.endpoint)
        var network = Network()
        let connect = network.connect
        network.connect = { address, port, options, loop throws(Socket.StartFailure) in
            let socket = try connect(address, port, options, loop)
            #expect(throws: Never.self) { try limitSending(to: server.endpoint) }
            return socket
        }
        let client = HTTPClient(HTTPClient.untimed().configuration, network: network)
        let request = Request(.post, server.http(), body: .bytes(pattern(at: 0, count: 14_000)))
        let body = try await client.send(request).body.collect(upTo: size)
        #expect(body.count == size)
        try await server.waitUntil { records in
            records.first.map { isPattern(Array($0.received.suffix(14_000)), at: 0) } == true
        }
    }
}
