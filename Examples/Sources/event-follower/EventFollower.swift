// Follows a stream of server-sent events and prints them. When the connection ends or breaks it connects
// again, after the last event that it has seen.
//
//   event-follower URL [LAST-EVENT-ID]
//   event-follower                        with a server of its own

import DirectHTTP

@main
struct EventFollower {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let url = arguments.first else { return try await followLocalServer() }
        let request = HTTPClient.Request(.get, url)
        let last = arguments.dropFirst().first ?? ""
        for try await event in HTTPClient().events(from: request, lastEventID: last) {
            print("\(event.type) \(event.id): \(event.data)")
        }
    }
}
