internal import TLSFixtures

/// The addresses of a vector, each with a running server.
struct RoutePlan {
    let stage: VectorServers
    /// The port of the URL. All servers share it, except at addresses that have their own.
    let port: UInt16
    private let vector: RouteVector
    /// The addresses as they are given to the client.
    private let texts: [String]
    /// The index of the server at each address, or `nil` if the text is not an address.
    private let places: [Int?]
    private let countsRequests: [Bool]

    /// - Parameter slowness: How many times as long as usual the pauses of servers are.
    init(
        _ vector: RouteVector,
        _ folder: VectorFolder,
        _ certificates: CertificateFolder,
        slowness: Int = 1
    ) throws {
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
                slowness: slowness,
                from: certificates
            )
            if address.hasOwnPort { texts[index] = server.authority }
            places[index] = servers.count
            servers.append(server)
            endsByItself.append(setup.endsByItself)
            countsRequests.append(setup.script == nil)
        }
        stage = VectorServers(servers: servers, endsByItself: endsByItself)
        port = shared.number
        self.texts = texts
        self.places = places
        self.countsRequests = countsRequests
    }

    /// Returns the addresses from this source as they are given to the client. `nil` if there are none,
    /// unless the vector tests an empty list.
    func texts(of source: RouteVector.Source) -> [String]? {
        let chosen = texts.indices.filter { vector.addresses[$0].source == source }.map { texts[$0] }
        return chosen.isEmpty && !(vector.addresses.isEmpty && source == .request) ? nil : chosen
    }

    /// The addresses whose servers say nothing while the client gives them time, as the client reports them,
    /// and whether they accept connections.
    func quietAddresses(_ folder: VectorFolder) -> [String: Bool] {
        let dialling = vector.dialling
        let time: Duration = dialling.keepsOrder ? .seconds(3600) : .milliseconds(dialling.stagger)
        var quiet: [String: Bool] = [:]
        for (text, address) in zip(texts, vector.addresses) {
            guard let setup = address.server.flatMap(folder.server), setup.isQuiet(for: time) else {
                continue
            }
            quiet[complete(text)] = setup.connecting == .accepted
        }
        return quiet
    }

    /// Compares what happened at the addresses with the expectation.
    func differences(_ records: [[ConnectionRecord]], seen: RequestOutcome, givesReasons: Bool)
        -> [Difference]
    {
        var differences: [Difference] = []
        for (index, expected) in vector.endings.enumerated() {
            let what = "address \(index + 1) (\(vector.addresses[index].server ?? texts[index]))"
            if let attempts = seen.attempts {
                let text = complete(texts[index])
                let got = attempts.first { $0.address == text || $0.address == texts[index] }?.ending
                // A client that gives no reasons only tells whether it tried the address and whether that
                // answered.
                let simple = { (ending: Ending) in
                    givesReasons || ending == .answered || ending == .untried ? ending : .other("failed")
                }
                differences += Difference.between(
                    what,
                    expected: simple(expected),
                    got: simple(got ?? .untried)
                )
            }
            // If the client does not report attempts, the server's records show them.
            guard let place = places[index], case .some = records[place].first else { continue }
            if expected == .untried {
                differences.append(Difference(what: what, expected: "untried", got: "tried"))
            }
        }
        // Scripts do not parse requests, so their requests are not counted.
        if !vector.isAboutAll, let place = vector.endings.firstIndex(of: .answered).flatMap({ places[$0] }),
            countsRequests[place]
        {
            differences += Difference.between(
                "requests that reached it",
                expected: 1,
                got: records[place].flatMap(\.requests).count
            )
        }
        return differences
    }

    /// The address with the port of the URL, if it has none of its own.
    func complete(_ text: String) -> String {
        if text.hasSuffix("]") { return "\(text):\(port)" }
        if text.hasPrefix("[") { return text }
        let colons = text.count { $0 == ":" }
        return colons == 0 ? "\(text):\(port)" : colons == 1 ? text : "[\(text)]:\(port)"
    }
}
