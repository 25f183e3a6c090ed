// Lists the containers of a machine by the API of Docker, which listens on a Unix domain socket. The URL
// keeps a name and a path; only the bytes go to the socket.
//
//   unix-client [SOCKET]      /var/run/docker.sock, for example
//   unix-client               with a server of its own

import DirectHTTP

@main
struct UnixClient {
    static func main() async throws {
        if let path = CommandLine.arguments.dropFirst().first {
            for name in try await containers(at: UnixSocketPath(path)) { print(name) }
        } else {
            try await listLocalServer()
        }
    }

    /// Returns the names of the containers.
    static func containers(at socket: UnixSocketPath) async throws -> [String] {
        let daemon = try HTTPURL("http://docker/")
        let client = HTTPClient { $0.unixSockets[daemon.origin] = socket }
        let url = try daemon.appending(path: "v1.43", "containers", "json").appending(query: ["all": "true"])
        let answer = try await client.get(url).requiringSuccess()
        // For more than a list of names, decode it with DirectHTTPJSON.
        return (answer.text ?? "").split(separator: #""Names":["/"#).dropFirst().map { part in
            String(part.prefix { $0 != "\"" })
        }
    }
}
