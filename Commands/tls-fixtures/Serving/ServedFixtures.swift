internal import DirectJSON
internal import TLSFixtures

/// All fixture servers, running: one for each row of `servers.json` and one for each certificate.
struct ServedFixtures {
    private struct Endpoint {
        var name: String
        var does: String
        var ask: [String]
        var server: FixtureServer
    }

    private let endpoints: [Endpoint]
    private let root: String

    /// Starts the servers.
    init(_ folder: VectorFolder) throws {
        let certificates = CertificateFolder(path: folder.certificates)
        var endpoints: [Endpoint] = []
        for setup in folder.servers {
            let server = try setup.start(on: "127.0.0.1", from: certificates)
            let ask = folder.namesAsked(of: setup.name)
            endpoints.append(Endpoint(name: setup.name, does: setup.about, ask: ask, server: server))
        }
        for row in try CertificateIndex.rows(in: folder.certificates) {
            let setup = ServerSetup.plain(certificate: row.name)
            let server = try setup.start(on: row.address, from: certificates)
            let name = "certificate \(row.name)"
            endpoints.append(Endpoint(name: name, does: row.about, ask: row.identities, server: server))
        }
        self.endpoints = endpoints
        root = "\(folder.certificates)/root.pem"
    }

    /// The servers and the root certificate as one JSON object, with one endpoint on each line.
    var map: String {
        let rows = endpoints.map { endpoint in
            JSONValue.object([
                "name": .string(endpoint.name),
                "address": .string(endpoint.server.address),
                "port": .number(Int(endpoint.server.port)),
                "ask": .array(endpoint.ask.map(JSONValue.string)),
                "does": .string(endpoint.does),
            ])
        }
        let list = rows.map { "  \($0)" }.joined(separator: ",\n")
        return "{\"root\": \(JSONValue.string(root)), \"endpoints\": [\n\(list)\n]}\n"
    }

    /// Stops the servers.
    func stop() {
        endpoints.forEach { $0.server.stop() }
    }
}

extension VectorFolder {
    /// Returns the names that the vectors request from a server.
    fileprivate func namesAsked(of server: String) -> [String] {
        var names: [String] = []
        for case .handshake(let vector) in vectors where vector.server == server {
            for name in vector.names where !names.contains(name) { names.append(name) }
        }
        return names.isEmpty ? ["good.test"] : names
    }
}
