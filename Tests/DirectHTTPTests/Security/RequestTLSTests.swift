import DirectCore
import DirectHTTP
import DirectTestCommands
import DirectTLS
import TLSFixtures
import Testing

/// An authority that no client of these tests trusts by itself.
private let stranger = TestAuthority("Strange Root")

@Suite("TLS settings of a request", .idleLimit)
struct RequestTLSTests {
    /// Settings that trust the strange authority alone.
    private var strange: TLSSettings {
        var settings = TLSSettings()
        settings.roots = .only([.der(stranger.rootDER)])
        return settings
    }

    /// Settings equal to those of the tests' clients.
    private static var usual: TLSSettings {
        var settings = TLSSettings()
        settings.roots = .only([.der(testAuthority.rootDER)])
        return settings
    }

    private func strangeServer(
        _ name: String,
        on address: String = "127.0.0.1",
        _ handler: @escaping FixtureHandler = { .text($0.serverName ?? "-") }
    ) throws -> FixtureServer {
        try .start(.tls(stranger.certificate(for: name)), on: address, handler: handler)
    }

    /// A client that connects to this endpoint for b.test.
    private func trusting(
        mapping endpoint: Endpoint,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) throws -> HTTPClient {
        try .untimed {
            $0.tls = Self.usual
            try $0.addresses.set([endpoint], for: try HostPattern("b.test"))
            configure(&$0)
        }
    }

    @Test("They replace the client's, for this request alone")
    func replaced() async throws {
        let server = try strangeServer("a.test")
        let client = HTTPClient.trusting()
        var request = server.request(server.https("a.test"))
        request.tls = strange
        #expect(try await client.fetch(request).text == "a.test")
        request.tls = nil
        let error = try await httpError { try await client.fetch(request) }
        #expect(error.certificateFault?.kind == .unknownIssuer)
    }

    /// Settings of which no two may share a connection or a session, although the server is the same.
    private static var different: [@Sendable (inout Request) throws -> Void] {
        let own = testAuthority.certificate(for: "client.test")
        let identity = ClientIdentity(
            certificateChain: Array(own.pem.utf8),
            privateKey: Array(own.keyPEM.utf8)
        )
        func tls(_ change: @escaping @Sendable (inout TLSSettings) throws -> Void)
            -> @Sendable (inout Request)
            throws -> Void
        {
            {
                var settings = usual
                try change(&settings)
                $0.tls = settings
            }
        }
        return [
            { _ in },
            tls { _ in },
            tls { $0.roots = .only([.pem(Array(testAuthority.rootPEM.utf8))]) },
            tls { $0.maximumVersion = .tls12 },
            tls { $0.minimumVersion = .tls13 },
            tls { $0.clientIdentity = identity },
            tls { $0.pins = try KeyPins(["a.test": [try testAuthority.certificate.pin]]) },
            tls { $0.certificateRules = .webPKI },
            { $0.insecureServerIdentity = .init(verified: try HTTPHost("a.test")) },
            { $0.insecureServerIdentity = .init(verified: try HTTPHost("a.test"), serverName: .none) },
            { $0.insecureServerIdentity = .init(verified: try HTTPHost("b.test")) },
        ]
    }

    @Test("Two settings never share a connection, equal ones do")
    func connections() async throws {
        let server = try FixtureServer.secure("a.test", "b.test")
        let client = HTTPClient.trusting()
        for isRepeated in [false, true] {
            for change in Self.different {
                var request = server.request(server.https("a.test"))
                try change(&request)
                #expect(try await client.fetch(request).isReused == isRepeated)
            }
        }
        #expect(server.records.count == Self.different.count)
    }

    @Test("With a hundred settings in turn, each finds the connection again that it has made")
    func manySettings() async throws {
        let server = try FixtureServer.secure("a.test")
        let client = HTTPClient.trusting()
        for isRepeated in [false, true] {
            for number in 0..<100 {
                var request = server.request(server.https("a.test"))
                request.tls = Self.usual
                request.tls?.maximumCertificateBytes += number + 1
                #expect(try await client.fetch(request).isReused == isRepeated)
            }
        }
        #expect(server.records.count == 100)
    }

    @Test("Two settings never share a session, equal ones do", arguments: [TLSVersion.tls12, .tls13])
    func sessions(version: TLSVersion) async throws {
        let certificates = ["a.test", "b.test"].map { testAuthority.certificate(for: $0) }
        let newest: FixtureTLSSettings.Version = version == .tls12 ? .tls12 : .tls13
        let server = try FixtureServer.start(
            .tls(certificates: certificates) { $0.maximumVersion = newest }
        ) { _ in
            var reply = FixtureReply.text("hello")
            reply.ending = .close
            return reply
        }
        let client = HTTPClient.trusting()
        for isRepeated in [false, true] {
            for change in Self.different {
                var request = server.request(server.https("a.test"))
                try change(&request)
                if version == .tls12, request.tls?.minimumVersion == .tls13 { continue }
                #expect(try await client.fetch(request).transaction?.tls?.resumed == isRepeated)
            }
        }
    }

    @Test("They hold for redirects within the origin, and end at another origin")
    func redirects() async throws {
        let other = try FixtureServer.secure("b.test", on: "127.0.0.3") { .text($0.serverName ?? "-") }
        let target = other.https("b.test", "/end")
        let server = try strangeServer("a.test", on: "127.0.0.2") { request in
            request.target == "/" ? .status(302, ["Location": "/next"]) : .status(302, ["Location": target])
        }
        let client = try trusting(mapping: other.endpoint)
        var request = server.request(server.https("a.test"))
        request.tls = strange
        request.insecureServerIdentity = .init(
            verified: try HTTPHost("a.test"),
            serverName: .name(try DomainName("front.test"))
        )
        let response = try await client.fetch(request)
        #expect(response.text == "b.test" && response.history.count == 2)
        #expect(server.requests.map(\.serverName) == ["front.test", "front.test"])
        // The other origin is not trusted because the request trusts its authority.
        let stray = try strangeServer("b.test", on: "127.0.0.4")
        let client2 = try trusting(mapping: stray.endpoint)
        let error = try await httpError { try await client2.fetch(request) }
        #expect(error.name == "b.test" && error.certificateFault?.kind == .unknownIssuer)
    }

    @Test("A request with another URL keeps them within the origin only")
    func replacingURL() throws {
        var request = Request(.get, "https://a.test/x")
        request.tls = strange
        request.insecureServerIdentity = .init(verified: try HTTPHost("b.test"))
        let near = try request.replacing(url: "https://a.test/y")
        #expect(near.tls == strange && near.insecureServerIdentity != nil)
        for url in ["https://b.test/", "https://a.test:444/", "http://a.test/"] {
            let far = try request.replacing(url: url)
            #expect(far.tls == nil && far.insecureServerIdentity == nil)
        }
    }

    @Test("An interceptor that builds the request anew does not lose them, nor take them to another origin")
    func rebuilt() async throws {
        let server = try strangeServer("a.test")
        let other = try strangeServer("b.test", on: "127.0.0.2")
        let client = try trusting(mapping: other.endpoint) {
            $0.networkInterceptors = [
                { request, forward in
                    let away = request.headers["X-Away"]
                    return try await forward(Request(.get, try away.map { try HTTPURL($0) } ?? request.url))
                }
            ]
        }
        var request = server.request(server.https("a.test"))
        request.tls = strange
        #expect(try await client.fetch(request).text == "a.test")
        request.headers["X-Away"] = other.https("b.test")
        let error = try await httpError { try await client.fetch(request) }
        #expect(error.certificateFault?.kind == .unknownIssuer)
    }

    @Test(
        "Through a tunnel they are for the server, and the proxy keeps its own",
        arguments: ["https", "socks5h"]
    )
    func proxies(scheme: String) async throws {
        let server = try strangeServer("a.test", on: "127.0.0.2")
        let routes = FixtureProxy(["a.test:443": server.authority])
        let security: FixtureSecurity =
            scheme == "https" ? .tls(testAuthority.certificate(for: "proxy.test")) : .plain
        let gate = try FixtureServer.start(security, on: "127.0.0.3", behaviour: .proxy(routes))
        var proxy = try Proxy("\(scheme)://proxy.test:\(gate.port)")
        proxy.addresses = [gate.endpoint]
        let client = HTTPClient.trusting { [proxy] in $0.proxy = ProxySettings(proxy) }
        var request = Request(.get, "https://a.test/")
        request.tls = strange
        request.insecureServerIdentity = .init(verified: try HTTPHost("a.test"), serverName: .none)
        #expect(try await client.fetch(request).text == "-")
        #expect(try await client.fetch(request).isReused)
        request.insecureServerIdentity = nil
        #expect(try await client.fetch(request).text == "a.test")
    }

    @Test("Their responses are neither stored in the client's cache nor taken from it")
    func cache() async throws {
        let server = try FixtureServer.secure("a.test") {
            .text($0.serverName ?? "-", ["Cache-Control": "max-age=60"])
        }
        let client = HTTPClient.trusting { $0.cache = .memory() }
        var request = server.request(server.https("a.test"))
        request.insecureServerIdentity = .init(verified: try HTTPHost("a.test"), serverName: .none)
        #expect(try await client.fetch(request).text == "-")
        request.insecureServerIdentity = nil
        #expect(try await client.fetch(request).text == "a.test")
        #expect(try await client.fetch(request).cacheUse == .hit)
        request.tls = Self.usual
        #expect(try await client.fetch(request).transaction != nil)
    }

    @Test("A connection opened ahead is one for the settings of its request")
    func prewarmed() async throws {
        let server = try strangeServer("a.test")
        let client = HTTPClient.trusting()
        var request = server.request(server.https("a.test"))
        request.tls = strange
        try await client.prewarm(request)
        #expect(try await client.fetch(request).status == 200)
        #expect(server.records.count == 1)
    }

    static let unusableSettings: [@Sendable (inout TLSSettings) -> Void] = [
        {
            $0.minimumVersion = .tls13
            $0.maximumVersion = .tls12
        },
        { $0.cipherSuites = ["TLS_NO_SUCH"] },
        { $0.groups = ["nothing"] },
        { $0.roots = .only([]) },
        { $0.revocationLists = RevocationLists([.der([1, 2])]) },
        { $0.clientIdentity = .pkcs12File("/no/such/file", passphrase: "") },
    ]

    /// Nobody listens at the address: to connect would be another error.
    @Test(
        "Settings that cannot be used are an error before anything is connected, also to a proxy",
        arguments: unusableSettings
    )
    func unusable(_ change: @Sendable (inout TLSSettings) -> Void) async throws {
        var settings = strange
        change(&settings)
        let nobody: Endpoint = "127.0.0.1:1"
        var request = Request(.get, try HTTPURL("https://a.test/"))
        request.tls = settings
        request.addresses = [nobody]
        let direct = try await httpError { try await HTTPClient.trusting().fetch(request) }
        guard case .badSettings? = direct.tlsError else { return #expect(Bool(false), "\(direct)") }
        var proxy = try Proxy("http://proxy.test:1")
        proxy.addresses = [nobody]
        let client = HTTPClient.trusting { [proxy] in $0.proxy = ProxySettings(proxy) }
        let behind = try await httpError { try await client.fetch(request) }
        guard case .badSettings? = behind.tlsError else { return #expect(Bool(false), "\(behind)") }
        request.tls = strange
        let usable = try await httpError { try await HTTPClient.trusting().fetch(request) }
        #expect(usable.tlsError == nil)
    }
}

@Suite("An identity given apart", .idleLimit)
struct ServerIdentityApartTests {
    private let server: FixtureServer

    init() throws {
        server = try FixtureServer.secure("a.test", "b.test") { request in
            .text(
                "\(request.serverName ?? "-") \(request.host ?? "-")",
                ["Strict-Transport-Security": "max-age=60"]
            )
        }
    }

    private func request(_ url: String, _ identity: InsecureServerIdentity) -> Request {
        var request = server.request(url)
        request.insecureServerIdentity = identity
        return request
    }

    @Test("The certificate has to prove that host, and Host stays the URL's")
    func verified() async throws {
        let client = HTTPClient.trusting()
        let url = server.https("c.test")
        let response = try await client.fetch(request(url, .init(verified: try HTTPHost("b.test"))))
        #expect(response.text == "b.test c.test:\(server.port)")
        #expect(response.transaction?.tls?.verifiedName == "b.test")
        let error = try await httpError {
            try await client.fetch(
                request(
                    url,
                    .init(verified: try HTTPHost("c.test"), serverName: .name(try DomainName("a.test")))
                )
            )
        }
        #expect(error.tlsError == .nameMismatch(expected: "c.test", served: ["a.test"]))
    }

    @Test("Another server name, or none, changes nothing of what has to be proved")
    func serverName() async throws {
        let client = HTTPClient.trusting()
        let url = server.https("a.test")
        let verified = try HTTPHost("a.test")
        let none = try await client.fetch(request(url, .init(verified: verified, serverName: .none)))
        #expect(none.text?.hasPrefix("- a.test") == true)
        let front = InsecureServerIdentity(
            verified: verified,
            serverName: .name(try DomainName("front.test"))
        )
        #expect(try await client.fetch(request(url, front)).text?.hasPrefix("front.test a.test") == true)
        let wrong = InsecureServerIdentity(verified: verified, serverName: .name(try DomainName("b.test")))
        let error = try await httpError { try await client.fetch(request(url, wrong)) }
        #expect(error.tlsError == .nameMismatch(expected: "a.test", served: ["b.test"]))
    }

    @Test("The pins of the host that has to be proved hold")
    func pins() async throws {
        let pin = "sha256/" + String(repeating: "A", count: 43) + "="
        let client = try HTTPClient {
            $0.tls.roots = .only([.der(testAuthority.rootDER)])
            $0.tls.pins = try KeyPins(["b.test": [pin]])
        }
        let error = try await httpError {
            try await client.fetch(request(server.https("a.test"), .init(verified: try HTTPHost("b.test"))))
        }
        guard case .keyNotPinned? = error.tlsError else { return #expect(Bool(false), "\(error)") }
    }

    @Test("HSTS is learned from a server that has proved the URL's host only")
    func hsts() async throws {
        let store = HSTSStore()
        let client = HTTPClient.trusting { $0.hsts = store }
        let url = server.https("a.test")
        _ = try await client.fetch(request(url, .init(verified: try HTTPHost("b.test"))))
        #expect(store.entries.count == 0)
        _ = try await client.fetch(server.request(url))
        #expect(store.entries.count == 1)
    }
}
