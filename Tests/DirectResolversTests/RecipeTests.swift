import DirectResolvers
import DirectTestCommands
import DirectTestTime
import Foundation
import TLSFixtures
import Testing

/// The situations of docs/Resolvers.md, from a name to a response, against servers of this machine.
@Suite("Recipes", .idleLimit)
struct RecipeTests {
    /// One address for two names, as at a CDN; it responds with the requested name.
    private let site: FixtureServer
    private let dead: FixtureServer

    init() throws {
        site = try FixtureServer.start(
            .tls(certificates: [
                testAuthority.certificate(for: "www.example.com"),
                testAuthority.certificate(for: "img.example.com"),
            ]),
            on: "127.0.0.2"
        ) { .text("\($0.serverName ?? "-") \($0.headers["host"] ?? "-")") }
        dead = try FixtureServer.refusing(on: "127.0.0.3")
    }

    private func client(_ configure: (inout HTTPClient.Configuration) -> Void = { _ in }) -> HTTPClient {
        var settings = HTTPClient.Configuration()
        settings.tls.roots = .only([.der(testAuthority.rootDER)])
        settings.loop = .still
        configure(&settings)
        return HTTPClient(settings)
    }

    private func expectSite(
        _ response: BufferedResponse,
        _ name: String = "www.example.com",
        from source: AddressSource
    ) {
        #expect(response.text == "\(name) \(name)")
        #expect(response.transaction?.source == source)
        #expect(response.transaction?.endpoint == site.endpoint)
    }

    @Test("One request uses one address: for http, https, and names that share an address")
    func oneAddress() async throws {
        let client = client()
        for name in ["www.example.com", "img.example.com"] {
            var request = Request(.get, "https://\(name)/feed")
            request.addresses = [dead.endpoint, site.endpoint]
            expectSite(try await client.fetch(request), name, from: .request)
        }
        let plain = try FixtureServer.start(on: "127.0.0.4") { .text($0.headers["host"] ?? "-") }
        var request = Request(.get, "http://www.example.com/feed")
        request.addresses = [plain.endpoint]
        #expect(try await client.fetch(request).text == "www.example.com")
    }

    @Test("Curl's resolve list and a hosts file work as the client's map, in a chain, and for one request")
    func lists() async throws {
        let map = try StaticMap(curl: [
            "www.example.com:443:\(dead.authority),\(site.authority)", "*.test:*:127.0.0.1",
        ])
        let mapped = client { $0.addresses = map }
        expectSite(try await mapped.get("https://www.example.com/"), from: .staticMap)
        let chained = client { $0.resolver = ChainResolver(map, SystemResolver()) }
        expectSite(try await chained.get("https://www.example.com/"), from: .staticMap)
        var request = Request(.get, "https://www.example.com/")
        request.addressMap = map
        expectSite(try await client().fetch(request), from: .request)
        let hosts = StaticMap(hosts: "127.0.0.2 www.example.com img.example.com  # staging")
        let staging = client { $0.addresses = hosts }
        let response = try await staging.get("https://img.example.com:\(site.port)/")
        #expect(response.text?.hasPrefix("img.example.com ") == true)
        #expect(response.transaction?.source == .staticMap)
    }

    @Test("A map changes while it is used")
    func liveMap() async throws {
        let live = LiveMap(try StaticMap(curl: ["www.example.com:443:\(dead.authority)"]))
        let client = client { $0.resolver = ChainResolver(live, SystemResolver()) }
        let error = await #expect(throws: HTTPError.self) { try await client.get("https://www.example.com/") }
        // Also where the last word is the next resolver's.
        #expect(error.map { "\($0)".contains("\(dead.authority) (staticMap): connect: ") } == true)
        try live.update { try $0.set([site.endpoint], for: HostPattern("www.example.com"), port: 443) }
        expectSite(try await client.get("https://www.example.com/"), from: .staticMap)
    }

    @Test("HTTPDNS comes before other resolvers, with a cache that is restored after a restart")
    func httpDNS() async throws {
        let body = "{\"host\":\"www.example.com\",\"ips\":[\"127.0.0.2\"],\"ttl\":60}"
        let service = try FixtureServer.start(
            .tls(certificates: [testAuthority.certificate(for: "127.0.0.1")])
        ) { _ in .text(body) }
        let httpdns = AlibabaHTTPDNS(
            account: "100000",
            secret: "secret",
            .https([dead.endpoint, service.endpoint]),
            .trusting { $0.families = .v4 }
        )
        let file = NSTemporaryDirectory() + "recipe-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: file) }
        func resolver() -> CachingResolver {
            var settings = CachingResolver.Settings()
            settings.staleTime = .seconds(3600)
            settings.file = file
            return CachingResolver(ChainResolver(httpdns, SystemResolver()), settings, loop: .still)
        }
        let first = resolver()
        await first.warmUp([try DomainName("www.example.com")])
        let url = "https://www.example.com:\(site.port)/"
        let source = AddressSource(.resolver("Alibaba HTTPDNS"), .cached)
        #expect(try await client { $0.resolver = first }.get(url).transaction?.source == source)
        try await first.save()
        // A new process, as far as the resolver knows.
        let second = resolver()
        #expect(try await client { $0.resolver = second }.get(url).transaction?.source == source)
        #expect(service.requests.count == 1)
    }

    @Test("The next resolver in the chain is asked if HTTPDNS fails or its addresses do not answer")
    func wayOut() async throws {
        let empty = try FixtureServer.saying("{\"host\":\"www.example.com\",\"ips\":[],\"ttl\":60}")
        let gone = try FixtureServer.saying("127.0.0.3;127.0.0.5,600")
        let map = try StaticMap(curl: ["www.example.com:*:127.0.0.2"])
        let silent = AlibabaHTTPDNS(
            account: "1",
            .insecureHTTP([empty.endpoint]),
            .trusting { $0.families = .v4 }
        )
        let wrong = DNSPodHTTPDNS(.insecureHTTP([gone.endpoint]), .trusting { $0.families = .v4 })
        for resolver in [silent, wrong] as [any Resolver] {
            let chain = ChainResolver(resolver, map)
            let client = client { $0.resolver = CachingResolver(chain, loop: .still) }
            let response = try await client.get("https://www.example.com:\(site.port)/")
            #expect(response.text?.hasPrefix("www.example.com ") == true)
            #expect(response.transaction?.source == .staticMap)
        }
    }

    @Test("Encrypted DNS works by messages and by JSON, with servers known by address and checked by name")
    func encrypted() async throws {
        let security = FixtureSecurity.tls(certificates: [testAuthority.certificate(for: "dns.test")])
        let messages = try FixtureServer.dns(security) { question in
            var reply = DNSReply.reply(to: question)
            reply.answers = [.a(DNSReply.question, "127.0.0.2")]
            return reply
        }
        let text = """
            {"Status":0,"Answer":[{"name":"www.example.com.","TTL":60,"type":1,"data":"127.0.0.2"}]}
            """
        let json = try FixtureServer.start(security) { _ in .text(text) }
        let settings = ServiceSettings.trusting { $0.families = .v4 }
        let url = "https://www.example.com:\(site.port)/"
        for method in [DNSOverHTTPS.Method.post, .get] {
            let wire = DNSOverHTTPS(
                .https([messages.endpoint], name: "dns.test"),
                method: method,
                isPadded: true,
                settings
            )
            let response = try await client { $0.resolver = CachingResolver(wire, loop: .still) }.get(url)
            #expect(response.transaction?.source == .resolver("DNS over HTTPS"))
        }
        let lines = DNSOverJSON(.https([dead.endpoint, json.endpoint], name: "dns.test"), settings)
        let response = try await client { $0.resolver = CachingResolver(lines, loop: .still) }.get(url)
        #expect(response.transaction?.source == .resolver("DNS over JSON"))
        #expect((messages.requests + json.requests).allSatisfy { $0.serverName == "dns.test" })
    }

    @Test("A vetting checks each address, whatever its source")
    func vetting() async throws {
        let loopback = try AddressRange("127.0.0.0/8")
        let map = try StaticMap(curl: ["www.example.com:443:\(site.authority)"])
        let strict = client {
            $0.addresses = map
            $0.vetting = .publicInternetOnly
        }
        let error = await #expect(throws: HTTPError.self) { try await strict.get("https://www.example.com/") }
        #expect(error.map { "\($0)".contains("loopback") } == true)
        let partner = client {
            $0.addresses = map
            $0.vetting = .publicInternetOnly(allowing: [loopback])
        }
        expectSite(try await partner.get("https://www.example.com/"), from: .staticMap)
        #expect(site.requests.count == 1)
    }

    @Test("A custom resolver answers some names and leaves the others to the next")
    func own() async throws {
        struct Registry: Resolver {
            let name = "service registry"
            let endpoint: Endpoint

            func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws
                -> Resolution
            {
                guard host.isSubdomain(of: try DomainName("example.com")) else {
                    throw ResolverError(name, .notListed)
                }
                return Resolution([endpoint], timeToLive: .seconds(10), source: .resolver(name))
            }
        }
        let registry = Registry(endpoint: site.endpoint)
        let client = client {
            $0.resolver = CachingResolver(ChainResolver(registry, StaticMap()), loop: .still)
        }
        let response = try await client.get("https://www.example.com/")
        expectSite(response, from: .resolver("service registry"))
        let error = await #expect(throws: HTTPError.self) { try await client.get("https://other.test/") }
        #expect(error.map { "\($0)".contains("service registry: the name is not listed") } == true)
    }
}
