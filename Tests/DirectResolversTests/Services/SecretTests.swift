import DirectCore
import DirectHTTP
import DirectIO
import DirectResolvers
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("Secrets of resolvers", .idleLimit)
struct SecretTests {
    private static let secret = "hunter2"

    private static func resolvers(_ servers: ServiceServers) -> [any Resolver] {
        [
            DNSPodHTTPDNS(servers, id: secret, token: secret),
            AlibabaHTTPDNS(account: secret, secret: secret, servers),
            AlibabaHTTPDNS(account: secret, secret: secret, servers, version: .two),
            AlibabaHTTPDNS(
                account: secret,
                servers,
                sdns: ["key": secret],
                updatingServersEvery: .seconds(60)
            ),
            AlibabaPublicDNS(account: secret, accessKeyID: secret, accessKeySecret: secret, servers),
            DNSOverHTTPS(servers, path: "/\(secret)"), DNSOverJSON(servers, path: "/\(secret)"),
        ]
    }

    @Test("Descriptions and dumps of a resolver have no account, token, secret or path of the service")
    func resolvers() {
        for resolver in Self.resolvers(.insecureHTTP(["127.0.0.1"])) {
            Self.expectHidden(resolver)
            Self.expectHidden(CachingResolver(ChainResolver(resolver, resolver)))
            Self.expectHidden(ResolverMetrics().observing(resolver))
        }
    }

    @Test(
        "Errors of a resolver have no secret of the service, whatever the server did before it failed",
        arguments: [true, false]
    )
    func errors(isMisdirected: Bool) async throws {
        let seen = Locked<Set<String>>([])
        let server = try FixtureServer.start { request in
            // Asked again after 421, it breaks off.
            let isNew = seen.withLock { $0.insert(request.target).inserted }
            return isMisdirected && isNew ? .status(421) : .raw("HTTP/1.1 200", then: .cut)
        }
        let host = try DomainName("a.test")
        for resolver in Self.resolvers(.insecureHTTP([Endpoint(stringLiteral: server.authority)])) {
            let error = await #expect(throws: ResolverError.self) {
                try await resolver.resolve(host, port: 443, context: ResolveContext(within: .seconds(50)))
            }
            if let error { Self.expectHidden(error) }
        }
    }

    private static func expectHidden(_ value: Any, _ location: SourceLocation = #_sourceLocation) {
        var dumped = ""
        dump(value, to: &dumped)
        for text in [dumped, "\(value)", String(reflecting: value)] {
            #expect(!text.contains(secret), "\(type(of: value)): \(text)", sourceLocation: location)
        }
    }
}
