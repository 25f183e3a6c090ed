import DirectHTTP
import TLSFixtures

/// The servers of the tour: four addresses of the loopback network, one port, one authority.
struct Stage {
    static let first = "127.0.0.2"
    static let second = "127.0.0.3"
    static let impostor = "127.0.0.4"
    static let dead = "127.0.0.5"

    let port: UInt16
    private let authority: TestAuthority
    private let servers: [String: FixtureServer]
    private let sharedPort: SharedPort

    init() throws {
        let authority = TestAuthority("Tour Authority")
        self.authority = authority
        sharedPort = try SharedPort(on: [Self.first, Self.second, Self.impostor, Self.dead])
        port = sharedPort.number
        let names = [
            Self.first: ["red.test", "amber.test"],
            Self.second: ["green.test", "red.test"],
            // Signed by the same authority and valid for this address: it deceives a client that verifies the
            // address.
            Self.impostor: [Self.impostor],
        ]
        var servers: [String: FixtureServer] = [:]
        for (address, names) in names {
            let certificates = names.map { authority.certificate(for: $0) }
            servers[address] = try FixtureServer.start(
                .tls(certificates: certificates),
                on: address,
                port: port
            ) { request in
                .text("Hello, \(request.serverName ?? "client without SNI")! This is \(address).\n")
            }
        }
        servers[Self.dead] = try FixtureServer.refusing(on: Self.dead, port: port)
        self.servers = servers
    }

    /// Makes a client that trusts the tour's authority only.
    func client(_ map: StaticMap = StaticMap()) -> HTTPClient {
        let root = CertificateSource.pem(Array(authority.rootPEM.utf8))
        return HTTPClient {
            $0.tls.roots = .only([root])
            $0.addresses = map
        }
    }

    /// The URL of a name at the servers' port.
    func url(_ name: String) -> String { "https://\(name):\(port)/" }

    /// Makes a request for a name at these addresses; with `nil` the client's map decides.
    func request(_ name: String, at addresses: [String]?) throws -> HTTPClient.Request {
        var request = HTTPClient.Request(.get, url(name))
        request.addresses = try addresses?.map { try Endpoint($0) }
        return request
    }

    /// Returns the server at an address.
    func server(at address: String) throws -> FixtureServer {
        guard let server = servers[address] else { throw Missing(what: "a server at \(address)") }
        return server
    }

    /// Returns the latest request that the server at this address has read.
    func lastRequest(at address: String) throws -> RequestRecord {
        guard let request = try server(at: address).requests.last else {
            throw Missing(what: "a request at \(address)")
        }
        return request
    }

    /// Waits for the end of a connection that had this name in SNI, and returns its record.
    func refusedConnection(at address: String, for name: String) async throws -> ConnectionRecord {
        let ended: @Sendable (ConnectionRecord) -> Bool = { $0.serverName == name && $0.end != nil }
        let records = try await server(at: address).waitUntil { $0.contains(where: ended) }
        guard let record = records.last(where: ended) else { throw Missing(what: "a refused connection") }
        return record
    }
}

/// A server, request or connection that should exist and does not.
struct Missing: Error, CustomStringConvertible {
    let what: String
    var description: String { "\(what) is missing" }
}
