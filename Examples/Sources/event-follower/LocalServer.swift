import DirectHTTP
import TLSFixtures

extension EventFollower {
    /// Follows a server inside this process, which ends the connection after each event, and the stream after
    /// three.
    static func followLocalServer() async throws {
        let server = try FixtureServer.start { request in
            let next = (request.headers["last-event-id"].flatMap(Int.init) ?? 0) + 1
            guard next <= 3 else { return .status(204) }
            return .text(
                "retry: 100\nid: \(next)\ndata: event \(next)\n\n",
                ["Content-Type": "text/event-stream"]
            )
        }
        var received: [String] = []
        for try await event in HTTPClient().events(from: "http://\(server.address):\(server.port)/") {
            print("\(event.type) \(event.id): \(event.data)")
            received.append(event.data)
        }
        precondition(received == ["event 1", "event 2", "event 3"] && server.requests.count == 4)
    }
}
