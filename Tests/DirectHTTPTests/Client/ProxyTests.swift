import DirectTestResolvers
@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Proxies", .idleLimit)
struct ProxyTests {
    private let time = HeldTime()
    private let origin: FixtureServer

    init() throws {
        origin = try FixtureServer.secure("a.test", on: "127.0.0.2") { request in
            _ = try request.discardBody()
            return .text("\(request.serverName ?? "-") \(request.headers["host"] ?? "-")")
        }
    }

    private func proxyServer(
        _ security: FixtureSecurity = .plain,
        _ routes: [String: String]? = nil,
        credentials: String? = nil,
        refusal: FixtureProxy.Refusal? = nil
    ) throws -> FixtureServer {
        let routes = routes ?? ["a.test:443": origin.authority, "127.0.0.9:443": origin.authority]
        let proxy = FixtureProxy(routes, credentials: credentials, refusal: refusal)
        return try FixtureServer.start(security, on: "127.0.0.3", behaviour: .proxy(proxy))
    }

    private func client(_ server: FixtureServer, _ scheme: String = "http", user: String = "") throws
        -> HTTPClient
    {
        var proxy = try Proxy("\(scheme)://\(user)proxy.test:\(server.port)")
        proxy.addresses = [server.endpoint]
        return HTTPClient.trusting { $0.proxy = ProxySettings(proxy) }
    }

    private func secret(_ server: FixtureServer) -> String { server.records.map(\.receivedText).joined() }

    @Test("An https request uses CONNECT with the name, which also decides SNI, certificate and Host")
    func connect() async throws {
        let server = try proxyServer()
        let client = try client(server)
        var request = Request(
            .get,
            "https://a.test/",
            headers: ["Cookie": "secret=1", "Authorization": "Bearer t"]
        )
        let response = try await client.fetch(request)
        #expect(response.text == "a.test a.test")
        #expect(response.transaction?.proxy == "http://proxy.test:\(server.port)")
        #expect(response.transaction?.source == .proxy)
        #expect(response.transaction?.endpoint == server.endpoint)
        #expect(response.transaction?.tls?.version == .tls13)
        request.headers = [:]
        #expect(try await client.fetch(request).isReused)
        let head = secret(server).prefix(60)
        #expect(head.hasPrefix("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n"), "\(head)")
        #expect(origin.requests.first?.headers["cookie"] == "secret=1")
        #expect(client.connections.first?.proxy == "http://proxy.test:\(server.port)")
    }

    @Test("User and password are sent only to the proxy, and a refusal is an error with status and message")
    func credentials() async throws {
        let server = try proxyServer(credentials: "me:s:cret")
        let response = try await client(server, user: "me:s%3Acret@").get("https://a.test/")
        #expect(response.status == 200)
        #expect(secret(server).contains("Proxy-Authorization: Basic bWU6czpjcmV0\r\n"))
        #expect(origin.requests.allSatisfy { $0.headers["proxy-authorization"] == nil })
        for user in ["", "me:wrong@"] {
            let error = try await httpError { try await client(server, user: user).get("https://a.test/") }
            #expect(error.phase == .proxy)
            let refusal = try #require(error.refusal)
            #expect(refusal.status == 407)
            #expect(refusal.headers["proxy-authenticate"] == "Basic realm=\"fixture\"")
            #expect(String(decoding: refusal.body, as: UTF8.self) == "who? me")
            #expect(!error.description.contains("wrong"))
        }
    }

    @Test("A request's own Proxy-Authorization is not sent to the server behind a tunnel")
    func ownField() async throws {
        let server = try proxyServer()
        let request = Request(.get, "https://a.test/", headers: ["Proxy-Authorization": "Basic eDp5"])
        _ = try await client(server).fetch(request)
        #expect(origin.requests.first?.headers["proxy-authorization"] == nil)
    }

    @Test("A proxy's refusal is an error with its status, and no byte of the request is sent")
    func refused() async throws {
        let server = try proxyServer(refusal: .response("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"))
        let error = try await httpError { try await client(server).get("https://a.test/") }
        #expect(error.phase == .proxy)
        #expect(error.refusal?.status == 503)
        #expect(error.endpoint == server.endpoint)
        #expect(origin.records.isEmpty)
        let silent = try proxyServer(refusal: .response("SSH-2.0-OpenSSH\r\n\r\n"))
        #expect(try await httpError { try await client(silent).get("https://a.test/") }.phase == .proxy)
        let early = try proxyServer(refusal: .response("HTTP/1.1 200 OK\r\n\r\nunasked"))
        #expect(try await httpError { try await client(early).get("https://a.test/") }.phase == .proxy)
    }

    @Test("TLS to the server runs inside TLS to the proxy, each with its own name")
    func nested() async throws {
        let server = try proxyServer(.tls(testAuthority.certificate(for: "proxy.test")))
        let client = try client(server, "https")
        let body = pattern(at: 0, count: 300_000)
        let response = try await client.fetch(Request(.post, "https://a.test/", body: .bytes(body)))
        #expect(response.text == "a.test a.test")
        #expect(server.records.map(\.serverName) == ["proxy.test"])
        #expect(origin.records.map(\.serverName) == ["a.test"])
        #expect(origin.requests.first?.bodyCount == 300_000)
        #expect(try await client.get("https://a.test/").isReused)
    }

    @Test(
        "An http request to an address chosen by the client uses a tunnel through the TLS proxy",
        arguments: AddressChoice.allCases
    )
    func tunnelOfPlainHTTP(choice: AddressChoice) async throws {
        let plain = try FixtureServer.start(on: "127.0.0.2") { request in
            .text("\(request.target) \(request.headers["host"] ?? "-") \(try request.discardBody())")
        }
        let server = try proxyServer(
            .tls(testAuthority.certificate(for: "proxy.test")),
            ["127.0.0.9:80": plain.authority]
        )
        var proxy = try Proxy("https://proxy.test:\(server.port)")
        proxy.addresses = [server.endpoint]
        proxy.lookup = choice == .requestByProxy ? .byProxy : .byClient
        let client = HTTPClient.trusting { [proxy] in
            $0.proxy = ProxySettings(proxy)
            if choice == .resolver { $0.resolver = ScriptedResolver("map", ["127.0.0.9"]) }
        }
        var request = Request(.post, "http://a.test/x", headers: ["Authorization": "Bearer t"])
        request.body = .bytes(pattern(at: 0, count: 200_000))
        if choice != .resolver { request.addresses = ["127.0.0.9"] }
        for isReused in [false, true] {
            let response = try await client.fetch(request)
            #expect(response.text == "/x a.test 200000")
            #expect(response.isReused == isReused)
            // The handshake with the proxy gives no information about the server.
            #expect(response.transaction?.tls == nil)
        }
        let record = try #require(server.records.first)
        #expect(server.records.count == 1 && record.serverName == "proxy.test")
        // The bytes that the proxy has decrypted: CONNECT, and the request after it.
        #expect(record.receivedText.hasPrefix("CONNECT 127.0.0.9:80 HTTP/1.1\r\n"))
        #expect(record.receivedText.contains("\r\n\r\nPOST /x HTTP/1.1\r\n"))
        #expect(record.receivedText.contains("Authorization: Bearer t\r\n"))
        #expect(record.receivedCount > 400_000 && record.socketByteCount > record.receivedCount)
    }

    enum AddressChoice: CaseIterable {
        case request
        case requestByProxy
        case resolver
    }

    @Test("A proxy is not shown the certificate for the servers behind it")
    func clientCertificate() async throws {
        var asking = FixtureTLSSettings(certificates: [testAuthority.certificate(for: "proxy.test")])
        asking.clientCertificates = .requested
        let server = try proxyServer(.tls(asking))
        let own = testAuthority.certificate(for: "me.test")
        var proxy = try Proxy("https://proxy.test:\(server.port)")
        proxy.addresses = [server.endpoint]
        let client = HTTPClient.trusting { [proxy] in
            $0.proxy = ProxySettings(proxy)
            $0.tls.clientIdentity = ClientIdentity(
                certificateChain: Array(own.pem.utf8),
                privateKey: Array(own.keyPEM.utf8)
            )
        }
        #expect(try await client.get("https://a.test/").status == 200)
        #expect(server.records.map { $0.tls?.clientCertificate == nil } == [true])
    }

    @Test("A proxy with a certificate for another name receives no request")
    func wrongProxy() async throws {
        let server = try proxyServer(.tls(testAuthority.certificate(for: "a.test")))
        let error = try await httpError { try await client(server, "https").get("https://a.test/") }
        #expect(error.phase == .proxy)
        #expect(error.tlsError == .nameMismatch(expected: "proxy.test", served: ["a.test"]))
        #expect(server.records.allSatisfy { $0.receivedCount == 0 })
    }

    @Test("A wrong certificate behind the proxy is refused as without a proxy")
    func onCertificateMismatch() async throws {
        let wrong = try FixtureServer.secure("b.test", on: "127.0.0.2")
        let server = try proxyServer(.plain, ["a.test:443": wrong.authority])
        let error = try await httpError { try await client(server).get("https://a.test/") }
        #expect(error.phase == .tls)
        #expect(error.tlsError == .nameMismatch(expected: "a.test", served: ["b.test"]))
        #expect(wrong.requests.isEmpty)
    }

    @Test("An http request is sent to the proxy with its whole URL, Host and password")
    func forwarding() async throws {
        let server = try FixtureServer.start(on: "127.0.0.3") { request in
            .text("\(request.target) \(request.headers["host"] ?? "-")")
        }
        let client = try client(server, user: "me:pw@")
        #expect(
            try await client.get("http://a.test:8080/x?y=1").text == "http://a.test:8080/x?y=1 a.test:8080"
        )
        #expect(server.requests.first?.headers["proxy-authorization"] == "Basic bWU6cHc=")
        #expect(try await client.get("http://a.test:8080/").isReused)
        #expect(try await !client.get("http://b.test/").isReused)
    }

    @Test(
        "A given address is used through the proxy, whichever side resolves names, and the name is kept",
        arguments: [Proxy.Lookup.byClient, .byProxy]
    )
    func pinned(lookup: Proxy.Lookup) async throws {
        let server = try proxyServer()
        var proxy = try Proxy("http://\(server.authority)")
        proxy.lookup = lookup
        let client = HTTPClient.trusting { [proxy] in $0.proxy = ProxySettings(proxy) }
        var request = Request(.get, "https://a.test/")
        request.addresses = ["127.0.0.8", "127.0.0.9"]
        let response = try await client.fetch(request)
        #expect(response.text == "a.test a.test")
        #expect(response.transaction?.endpoint == "127.0.0.9:443")
        #expect(response.transaction?.failedAttempts.map(\.phase) == [.proxy])
        #expect(secret(server).contains("CONNECT 127.0.0.9:443 HTTP/1.1"))
        #expect(try await client.fetch(request).isReused)
    }

    @Test("An address of a map is used through the proxy, and a faulty or empty list is an error")
    func mapped() async throws {
        let server = try proxyServer()
        let map = try StaticMap(curl: ["a.test:443:127.0.0.9"])
        let proxy = try Proxy("http://\(server.authority)")
        let client = HTTPClient.trusting {
            $0.proxy = ProxySettings(proxy)
            $0.addresses = map
        }
        #expect(try await client.get("https://a.test/").transaction?.endpoint == "127.0.0.9:443")
        var request = Request(.get, "https://a.test/")
        for addresses in [[], ["127.0.0.300"]] as [[Endpoint]] {
            request.addresses = addresses
            #expect(try await httpError { try await client.fetch(request) }.phase == .request)
        }
    }

    @Test("A connection to an address that the proxy found serves no request with its own address")
    func apart() async throws {
        let server = try proxyServer()
        let client = try client(server)
        #expect(try await client.get("https://a.test/").transaction?.source == .proxy)
        var request = Request(.get, "https://a.test/")
        request.addresses = ["127.0.0.9"]
        #expect(try await !client.fetch(request).isReused)
        // The proxy's own address is one like any other: there is no way to it here.
        request.addresses = [server.endpoint]
        #expect(try await httpError { try await client.fetch(request) }.phase == .proxy)
    }

    @Test(
        "SOCKS sends the address or the name, as its scheme says, and user and password",
        arguments: ["", "me:pw@"]
    )
    func socks(user: String) async throws {
        let credentials = user.isEmpty ? nil : "me:pw"
        let server = try proxyServer(credentials: credentials)
        var request = Request(.get, "https://a.test/")
        request.addresses = ["127.0.0.9"]
        let byAddress = try await client(server, "socks5", user: user).fetch(request)
        #expect(byAddress.text == "a.test a.test")
        #expect(byAddress.transaction?.endpoint == "127.0.0.9:443")
        request.addresses = nil
        let byName = try await client(server, "socks5h", user: user).fetch(request)
        #expect(byName.text == "a.test a.test")
        #expect(byName.transaction?.endpoint == server.endpoint)
        let plain = try FixtureServer.start(on: "127.0.0.2") { .text($0.target) }
        let other = try proxyServer(.plain, ["b.test:80": plain.authority], credentials: credentials)
        #expect(try await client(other, "socks5h", user: user).get("http://b.test/x").text == "/x")
    }

    @Test("A refusal of a SOCKS proxy is an error with its reason")
    func socksRefused() async throws {
        let closed = try proxyServer(credentials: "me:pw")
        let error = try await httpError { try await client(closed, "socks5h").get("https://a.test/") }
        #expect(error.phase == .proxy && error.description.contains("no authentication method"))
        let wrong = try await httpError {
            try await client(closed, "socks5h", user: "me:no@").get("https://a.test/")
        }
        #expect(wrong.description.contains("rejected the user name and password"))
        let forbidden = try proxyServer(refusal: .reply(2))
        let reply = try await httpError { try await client(forbidden, "socks5h").get("https://a.test/") }
        #expect(reply.description.contains("not allowed"))
    }

    @Test("A proxy that is unreachable or silent is an error of the proxy phase")
    func unreachable() async throws {
        let dead = try FixtureServer.refusing()
        #expect(try await httpError { try await client(dead).get("https://a.test/") }.phase == .proxy)
        let mute = try FixtureServer.start(behaviour: .bytes([.awaitClose]))
        for (number, scheme) in ["http", "https", "socks5h"].enumerated() {
            var proxy = try Proxy("\(scheme)://\(mute.authority)")
            proxy.addresses = [mute.endpoint]
            let client = time.client { [proxy] in
                $0.proxy = ProxySettings(proxy)
                $0.timeouts = Timeouts(connect: .seconds(7), tls: .seconds(7))
            }
            async let failure = httpError { try await client.get("https://a.test/") }
            try await mute.waitUntil { $0.count > number && $0[number].receivedCount > 0 }
            try await time.pass(.seconds(7))
            let error = try await failure
            #expect(error.phase == .proxy)
            #expect(error.isTimeout)
        }
        try await mute.waitUntil { $0.count == 3 && $0.allSatisfy { $0.end != nil } }
    }

    @Test("A request whose address the vetting cannot see is refused")
    func vetting() async throws {
        let server = try proxyServer()
        var proxy = try Proxy("http://\(server.authority)")
        let allowingAll = AddressVetting { _, _, _ in nil }
        let unseen = HTTPClient.trusting { [proxy] in
            $0.proxy = ProxySettings(proxy)
            $0.vetting = allowingAll
        }
        #expect(try await httpError { try await unseen.get("https://a.test/") }.phase == .proxy)
        let guarded = HTTPClient.trusting { [proxy] in
            $0.proxy = ProxySettings(proxy)
            $0.vetting = .publicInternetOnly
        }
        for url in ["https://127.0.0.9/", "http://127.0.0.9/", "http://[::ffff:127.0.0.9]/"] {
            let error = try await httpError { try await guarded.get(url) }
            guard case .refused = error.reason else { throw error }
        }
        #expect(server.records.isEmpty)
        proxy.lookup = .byClient
        let seen = HTTPClient.trusting { [proxy] in
            $0.proxy = ProxySettings(proxy)
            $0.vetting = allowingAll
        }
        var request = Request(.get, "https://a.test/")
        request.addresses = ["127.0.0.9"]
        #expect(try await seen.fetch(request).status == 200)
    }

    @Test("Exceptions are connected to directly")
    func exceptions() async throws {
        let dead = try FixtureServer.refusing()
        let proxy = try Proxy("http://\(dead.authority)"), exceptions = try ProxyExceptions("a.test")
        let client = HTTPClient.trusting { $0.proxy = ProxySettings(proxy, except: exceptions) }
        let response = try await client.fetch(origin.request("https://a.test/"))
        #expect(response.transaction?.proxy == nil)
        #expect(try await httpError { try await client.get("https://b.test/") }.phase == .proxy)
    }
}

extension HTTPError {
    fileprivate var refusal: ReceivedResponse? {
        if case .proxy(.refused(let refusal)) = reason { refusal } else { nil }
    }
}
