internal import TLSFixtures

/// A vector's addresses, each with a server that does what the vector says.
struct RoutePlan {
    let stage: Stage
    /// The URL's port, which all servers share unless an address has one of its own.
    let port: UInt16
    private let vector: RouteVector
    /// How the client is given each address.
    private let texts: [String]
    /// Which of the servers stands at each address; nothing where a text is no address.
    private let places: [Int?]
    private let countsRequests: [Bool]

    init(_ vector: RouteVector, _ folder: VectorFolder, _ certificates: CertificateFolder) throws {
        self.vector = vector
        let addresses = vector.addresses.indices.map { vector.addresses[$0].text ?? "127.0.0.\($0 + 2)" }
        let served = vector.addresses.indices.filter { vector.addresses[$0].server != nil }
        let shared = try SharedPort(
            on: served.isEmpty ? ["127.0.0.1"] : Array(Set(served.map { addresses[$0] }))
        )
        var servers: [FixtureServer] = []
        var endsByItself: [Bool] = []
        var countsRequests: [Bool] = []
        var texts = addresses
        var places = [Int?](repeating: nil, count: addresses.count)
        for index in served {
            let address = vector.addresses[index]
            guard let setup = address.server.flatMap(folder.server) else { continue }
            let server = try setup.start(
                on: addresses[index],
                port: address.hasOwnPort ? 0 : shared.number,
                certificate: address.certificate,
                from: certificates
            )
            if address.hasOwnPort { texts[index] = server.authority }
            places[index] = servers.count
            servers.append(server)
            endsByItself.append(setup.endsByItself)
            countsRequests.append(setup.script == nil)
        }
        stage = Stage(servers: servers, endsByItself: endsByItself)
        port = shared.number
        self.texts = texts
        self.places = places
        self.countsRequests = countsRequests
    }

    /// The addresses that come from there, as the client is given them; nothing if there are none, unless
    /// the vector is about having none.
    func texts(of source: RouteVector.Source) -> [String]? {
        let chosen = texts.indices.filter { vector.addresses[$0].source == source }.map { texts[$0] }
        return chosen.isEmpty && !(vector.addresses.isEmpty && source == .request) ? nil : chosen
    }

    /// How what happened at the addresses differs from what should have.
    func differences(_ records: [[ConnectionRecord]], _ seen: Observation) -> [Difference] {
        var differences: [Difference] = []
        for (index, expected) in vector.endings.enumerated() {
            let what = "address \(index + 1) (\(vector.addresses[index].server ?? texts[index]))"
            if let attempts = seen.attempts {
                let text = complete(texts[index])
                let got = attempts.first { $0.address == text || $0.address == texts[index] }?.ending
                differences += Difference.between(what, expected, got ?? .untried)
            }
            // What the client does not say, the server may know.
            guard let place = places[index], case .some = records[place].first else { continue }
            if expected == .untried {
                differences.append(Difference(what: what, expected: "untried", got: "tried"))
            }
        }
        // Scripts read no requests that they could count.
        if let place = vector.endings.firstIndex(of: .answered).flatMap({ places[$0] }), countsRequests[place]
        {
            differences += Difference.between(
                "requests that reached it",
                1,
                records[place].flatMap(\.requests).count
            )
        }
        return differences
    }

    private func complete(_ text: String) -> String {
        if text.hasSuffix("]") { return "\(text):\(port)" }
        if text.hasPrefix("[") { return text }
        let colons = text.count { $0 == ":" }
        return colons == 0 ? "\(text):\(port)" : colons == 1 ? text : "[\(text)]:\(port)"
    }
}
