internal import DirectCore
internal import DirectHello
internal import DirectJSON
internal import TLSFixtures

/// A local badssl: all cases behind one port, chosen by the server name. What does not begin with TLS is
/// answered as HTTP on the same port.
struct BadsslServer {
    /// How it is started.
    struct Options: Equatable {
        var suffix = "badssl.test"
        var listen: Endpoint = "127.0.0.1"
        /// The folder to which root and client certificate are written.
        var files: String?
    }

    let house: BadsslHouse
    let server: FixtureServer
    private let options: Options

    init(_ options: Options) throws {
        self.options = options
        let address = options.listen.address.description
        // The certificates name the port, so it is known before the server starts.
        let reserved = options.listen.port == nil ? try SharedPort(on: [address]) : nil
        guard let port = options.listen.port ?? reserved?.number else { throw FixtureError.stopped }
        let authority = "\(Endpoint(options.listen.address, port: port))"
        let house = try BadsslHouse(suffix: options.suffix, authority: authority)
        let (list, own) = (Self.list(house, options), BadsslRecords())
        let sites = Dictionary(uniqueKeysWithValues: BadsslCase.all.map { (house.name($0.labels), $0) })
        // Such a key takes seconds on a busy machine, and clients have limits.
        _ = try sites[house.name("rsa4096")]?.site(house)
        let revoked = try house.root.revocationListPEM([house.revoked])
        let server = try FixtureServer.start(on: address, port: port) { ask in
            switch ask {
            case .plain:
                FixtureSite(
                    .plain,
                    .http { request in
                        switch request.path {
                        case "/revoked.crl": .text(revoked, ["Content-Type": "application/x-pem-file"])
                        case "/root.pem": .text(house.root.rootPEM)
                        case "/verdicts": .text(own.verdicts)
                        case "/cases": .text(list, ["Content-Type": "application/json"])
                        default: .text("http.\(house.suffix)\n")
                        }
                    }
                )
            case .tls(let name):
                if let known = sites[name ?? house.suffix] {
                    try known.site(house)
                } else {
                    FixtureSite(.plain, .bytes([.alert(112)]))
                }
            }
        }
        withExtendedLifetime(reserved) {}
        own.set { [weak server] in server?.records ?? [] }
        (self.house, self.server) = (house, server)
    }

    func stop() { server.stop() }

    /// Writes what clients need to files, if it is to.
    func writeFiles() throws {
        guard let folder = options.files else { return }
        try FileWriter.makeFolder(folder)
        let client = house.client.pem + house.client.keyPEM
        try FileWriter.write(client, to: "\(folder)/client.pem", isSecret: true)
        // Last, so that who sees it can begin.
        try FileWriter.write(house.root.rootPEM, to: "\(folder)/root.pem", isSecret: false)
    }

    /// What is served, as JSON with a case on each line.
    var list: String { Self.list(house, options) }

    private static func list(_ house: BadsslHouse, _ options: Options) -> String {
        let cases = BadsslCase.all.map { each in
            JSONValue.object([
                "name": .string(house.name(each.labels)), "expected": .string(each.expected.rawValue),
                "badssl": .bool(each.isBadssls), "about": .string(each.about),
            ])
        }
        let missing = BadsslCase.missing.map { name, why in
            JSONValue.object(["name": .string(name), "why": .string(why)])
        }
        let lines = { (rows: [JSONValue]) in rows.map { "  \($0)" }.joined(separator: ",\n") }
        let files = options.files.map(JSONValue.string) ?? .null
        return
            "{\"at\": \(JSONValue.string(house.authority)), \"suffix\": \(JSONValue.string(house.suffix)), "
            + "\"files\": \(files), \"root\": \(JSONValue.string(house.root.rootPEM)),\n"
            + "\"client\": \(JSONValue.string(house.client.pem + house.client.keyPEM)),\n"
            + "\"missing\": [\n\(lines(missing))\n],\n\"cases\": [\n\(lines(cases))\n]}\n"
    }
}

/// What clients have done, as the server saw it. It is given the server after that has started.
private final class BadsslRecords: Sendable {
    private let records = Locked<@Sendable () -> [ConnectionRecord]> { [] }

    func set(_ read: @escaping @Sendable () -> [ConnectionRecord]) { records.withLock { $0 = read } }

    /// A JSON object on a line for each connection with TLS that has ended, in their order.
    var verdicts: String {
        let read = records.withLock { $0 }
        return read().compactMap { record -> String? in
            guard case .tls(let name)? = record.ask, let end = record.end else { return nil }
            let object = JSONValue.object([
                "name": name.map(JSONValue.string) ?? .null,
                "did": .string(Self.deed(record)),
                "end": .string("\(end)"),
            ])
            return "\(object)\n"
        }.joined()
    }

    /// Whether the client sent a request, went on to the key exchange of a suite that is only named, or
    /// neither.
    private static func deed(_ record: ConnectionRecord) -> String {
        if !record.requests.isEmpty { return "asked" }
        return ServerFlight.isKeyExchange(record.received) ? "went on" : "refused"
    }
}
