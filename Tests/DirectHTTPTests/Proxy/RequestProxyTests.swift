import DirectCore
import DirectHTTPRecords
import DirectTestCommands
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("A proxy of one request", .idleLimit)
struct RequestProxyTests {
    private let origin: FixtureServer

    init() throws {
        origin = try FixtureServer.secure("a.test", "b.test", on: "127.0.0.2") { request in
            request.path == "/away" ? .redirect(to: "https://b.test/") : .text(request.path)
        }
    }

    private func proxy(_ address: String, credentials: String? = nil) throws -> FixtureServer {
        let names = ["a.test:443", "b.test:443"]
        let routes = Dictionary(uniqueKeysWithValues: names.map { ($0, origin.authority) })
        let proxy = FixtureProxy(routes, credentials: credentials, refusal: nil)
        return try FixtureServer.start(.plain, on: address, behaviour: .proxy(proxy))
    }

    private func settings(_ server: FixtureServer, user: String = "") throws -> ProxySettings {
        var proxy = try Proxy("http://\(user)proxy.test:\(server.port)")
        proxy.addresses = [server.endpoint]
        return ProxySettings(proxy)
    }

    @Test("It takes the place of the client's proxy, holds for redirects, and no settings mean no proxy")
    func precedence() async throws {
        let (first, second) = (try proxy("127.0.0.3"), try proxy("127.0.0.4"))
        let ofClient = try settings(first)
        let client = HTTPClient.trusting { $0.proxy = ofClient }
        var request = Request(.get, "https://a.test/away")
        request.proxy = try settings(second)
        let response = try await client.fetch(request)
        #expect(response.url.text == "https://b.test/" && response.transaction?.endpoint == second.endpoint)
        #expect(response.history.map { $0.endpoint } == [second.endpoint])
        #expect(first.records.isEmpty && second.records.count == 2)
        request = Request(.get, "https://a.test:\(origin.port)/direct")
        request.proxy = ProxySettings()
        request.addresses = [origin.endpoint]
        #expect(try await client.fetch(request).transaction?.proxy == nil)
        #expect(try await client.get("https://a.test/").transaction?.endpoint == first.endpoint)
    }

    @Test("Connections are shared with requests over an equal proxy alone, that of the client included")
    func pool() async throws {
        let (first, second) = (try proxy("127.0.0.3"), try proxy("127.0.0.4"))
        let ofClient = try settings(first)
        let client = HTTPClient.trusting { $0.proxy = ofClient }
        var uses: [Bool] = []
        for own in [nil, try settings(second), try settings(first), try settings(second), nil] {
            var request = Request(.get, "https://a.test/")
            request.proxy = own
            uses.append(try await client.fetch(request).isReused)
        }
        #expect(uses == [false, false, true, true, true])
        #expect(first.records.count == 1 && second.records.count == 1)
        #expect(Set(client.connections.compactMap(\.proxy)).count == 2)
    }

    @Test("Credentials stay with their proxy: other ones are another connection, and no server gets any")
    func credentials() async throws {
        let server = try proxy("127.0.0.3")
        let client = HTTPClient.trusting()
        for user in ["ann:1@", "bob:2@", "", "ann:1@"] {
            var request = Request(.get, "https://a.test/")
            request.proxy = try settings(server, user: user)
            #expect(try await client.fetch(request).status == 200)
        }
        let heads = server.records.map { $0.receivedText.prefix { $0 != "\u{16}" } }
        #expect(server.records.count == 3)
        #expect(heads[0].contains("Basic YW5uOjE=") && heads[1].contains("Basic Ym9iOjI="))
        #expect(!heads[2].contains("Proxy-Authorization"))
        #expect(origin.requests.allSatisfy { $0.headers["proxy-authorization"] == nil })
    }

    @Test("The client's authenticator answers a request's proxy only where that has no credentials itself")
    func authenticators() async throws {
        let server = try proxy("127.0.0.3")
        let home = try HTTPURL("http://proxy.test:\(server.port)").origin
        let client = HTTPClient.trusting {
            $0.proxyAuthenticators[home] = .basic(user: "of", password: "client")
        }
        for user in ["", "own:1@"] {
            var request = Request(.get, "https://a.test/")
            request.proxy = try settings(server, user: user)
            _ = try await client.fetch(request)
        }
        let texts = server.records.map(\.receivedText)
        #expect(
            texts.count == 2 && texts[0].contains("Basic b2Y6Y2xpZW50") && texts[1].contains("Basic b3duOjE=")
        )
        // Forwarded requests have another way.
        let forwarding = try FixtureServer.start(on: "127.0.0.4") {
            .text($0.headers["proxy-authorization"] ?? "")
        }
        let origin = try HTTPURL("http://proxy.test:\(forwarding.port)").origin
        let plain = HTTPClient.trusting {
            $0.proxyAuthenticators[origin] = .basic(user: "of", password: "client")
        }
        for (user, expected) in [("", "Basic b2Y6Y2xpZW50"), ("own:1@", "Basic b3duOjE=")] {
            var request = Request(.get, "http://a.test/")
            request.proxy = try settings(forwarding, user: user)
            #expect(try await plain.fetch(request).text == expected)
        }
    }

    @Test(
        "Chosen addresses, exceptions, Unix domain sockets and vetting mean what they mean for a client's proxy"
    )
    func combinations() async throws {
        let server = try proxy("127.0.0.3")
        let own = try settings(server)
        var request = Request(.get, "https://a.test/")
        request.proxy = own
        request.addresses = ["127.0.0.9"]
        let error = try await httpError { try await HTTPClient.trusting().fetch(request) }
        #expect(
            error.phase == .proxy && server.records.map(\.receivedText)[0].hasPrefix("CONNECT 127.0.0.9:443 ")
        )
        request.addresses = nil
        let vetting = HTTPClient.trusting { $0.vetting = .publicInternetOnly }
        let unseen = try await httpError { try await vetting.fetch(request) }
        #expect(unseen.phase == .proxy)
        request = Request(.get, "https://a.test:\(origin.port)/")
        request.addresses = [origin.endpoint]
        request.proxy = ProxySettings(try #require(own.forHTTPS), except: try ProxyExceptions("a.test"))
        #expect(try await HTTPClient.trusting().fetch(request).transaction?.proxy == nil)
        request.addresses = nil
        request.unixSocket = try UnixSocketPath("/nowhere/\(server.port)")
        let noSocket = try await httpError { try await HTTPClient.trusting().fetch(request) }
        #expect(noSocket.phase == .connect && server.records.count == 1)
    }

    @Test("Retries, prewarmed connections and curl commands use it as well")
    func everywhere() async throws {
        let server = try proxy("127.0.0.3")
        let client = HTTPClient.trusting()
        var request = Request(.get, "https://a.test/")
        request.proxy = try settings(server, user: "ann:1@")
        try await client.prewarm(request, connections: 1)
        #expect(try await client.fetch(request).status == 200 && server.records.count == 1)
        let option = "--proxy http://proxy.test:\(server.port)"
        for command in [try client.curlCommand(for: request), try request.curlCommand()] {
            #expect(command.contains(option) && !command.contains("ann:1"))
        }
        request.proxy = ProxySettings()
        #expect(try request.curlCommand().contains("--noproxy"))
    }

    @Test("A network interceptor may set it, and a request that an interceptor builds anew keeps it")
    func interceptors() async throws {
        let server = try proxy("127.0.0.3")
        let own = try settings(server)
        let choosing = HTTPClient.trusting {
            $0.networkInterceptors.append { request, forward in
                var request = request
                request.proxy = own
                return try await forward(request)
            }
        }
        #expect(try await choosing.get("https://a.test/").transaction?.endpoint == server.endpoint)
        let building = HTTPClient.trusting { $0.interceptors.append(anew { _ in }) }
        var request = Request(.get, "https://a.test/")
        request.proxy = own
        #expect(try await building.fetch(request).transaction?.endpoint == server.endpoint)
    }
}
