internal import CommandKit
internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import DirectResolvers

/// Scenarios of resolvers that are asked over HTTP, and of the file of their answers.
extension Scenario {
    static let resolvers = [encrypted, httpdns, answers]

    private static let encrypted = Scenario(name: "DNS over HTTPS", isSecret: true, hiddenConnections: 2) {
        work in
        try await fetch(in: work) { servers, settings in
            DNSOverHTTPS(.https(servers, name: "dns.test"), settings)
        } port: {
            $0.secure
        }
    }

    private static let httpdns = Scenario(name: "HTTPDNS", hiddenConnections: 2) { work in
        try await fetch(in: work) { servers, settings in
            AlibabaHTTPDNS(account: "account", .insecureHTTP(servers), settings)
        } port: {
            $0.plain
        }
    }

    private static func fetch(
        in work: ScenarioRun,
        _ resolver: ([Endpoint], ServiceSettings) -> any Resolver,
        port: (Stage.Ports) -> UInt16
    ) async throws {
        let client = try work.client { configuration in
            var settings = ServiceSettings()
            settings.tls = configuration.tls
            let server = try Endpoint("127.0.0.1:\(port(work.stage.ports))")
            configuration.addresses = StaticMap()
            configuration.resolver = CachingResolver(resolver([server], settings))
        }
        try await client.fetchSmall(work.secure("/small"))
    }

    /// Answers of an earlier run are read, and those of this one are saved.
    private static let answers = Scenario(
        name: "resolver's file",
        prepare: { work in try Files.write(Array("damaged\n".utf8), to: "\(work.folder)/answers") },
        perform: { work in
            let resolver = CachingResolver(FixedResolver()) { $0.file = "\(work.folder)/answers" }
            let client = try work.client { $0.resolver = resolver }
            _ = try await resolver.resolve(
                DomainName("plain.test"),
                port: 80,
                context: ResolveContext(within: .seconds(10))
            )
            try await resolver.save()
            try await client.fetchSmall(work.plain("/small"))
            let text = Files.read("\(work.folder)/answers").map { String(decoding: $0, as: UTF8.self) }
            try expect(text?.contains("plain.test") == true, "the file has no answer")
        },
        inspect: { work in
            let text = Files.read("\(work.folder)/answers").map { String(decoding: $0, as: UTF8.self) } ?? ""
            return text == "damaged\n" || text.contains("127.0.0.1")
                ? [] : ["the file has \(text.utf8.count) bytes"]
        },
        leavesFiles: true
    )
}

/// Answers every question with the address of the servers.
private struct FixedResolver: Resolver {
    let name = "fixed"

    func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        Resolution(["127.0.0.1"], timeToLive: .seconds(1000), source: .resolver(name))
    }
}
