import DirectHTTP
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("Name and address", .idleLimit)
struct NameAndAddressTests {
    @Test("The name decides SNI, certificate and Host, and the address only where the bytes go")
    func nameAndChosenAddress() async throws {
        let server = try FixtureServer.secure("a.test", on: "127.0.0.2")
        let client = HTTPClient.trusting()
        var request = Request(.get, server.https("a.test", "/where?q=1"))
        request.addresses = ["127.0.0.2"]
        let response = try await client.fetch(request)
        #expect(response.text == "hello")
        let record = try #require(server.records.first)
        #expect(record.serverName == "a.test")
        #expect(record.serverAddress == "127.0.0.2")
        #expect(record.requests.first?.headers.all("host") == ["a.test:\(server.port)"])
        #expect(record.requests.first?.target == "/where?q=1")
        #expect(response.transaction?.name == "a.test")
        #expect(response.transaction?.endpoint == server.endpoint)
        #expect(response.transaction?.source == .request)
        #expect(!response.isReused)
    }

    @Test("A certificate for the dialled address and not for the name is refused before any byte is sent")
    func addressIsNoIdentity() async throws {
        let server = try FixtureServer.secure("127.0.0.3", on: "127.0.0.3")
        let client = HTTPClient.trusting()
        let error = try await httpError { try await client.fetch(server.request(server.https("a.test"))) }
        #expect(error.phase == .tls)
        #expect(error.tlsError == .nameMismatch(expected: "a.test", served: ["127.0.0.3"]))
        let record = try await server.nextRecord()
        #expect(record.receivedCount == 0)
        #expect(record.requests.isEmpty)
        #expect(record.serverName == "a.test")
    }

    @Test("A certificate for another name is refused before any byte of the request is sent")
    func otherName() async throws {
        let server = try FixtureServer.secure("b.test", on: "127.0.0.3")
        let client = HTTPClient.trusting()
        let post = server.request(server.https("a.test"), .post, body: .text("secret"))
        let error = try await httpError { try await client.fetch(post) }
        #expect(error.tlsError == .nameMismatch(expected: "a.test", served: ["b.test"]))
        #expect(try await server.nextRecord().receivedCount == 0)
    }

    @Test("An address in the URL is checked against the certificate's addresses, and no SNI is sent")
    func addressInURL() async throws {
        let server = try FixtureServer.secure("127.0.0.2", on: "127.0.0.2")
        let client = HTTPClient.trusting()
        let response = try await client.get(server.https("127.0.0.2"))
        #expect(response.text == "hello")
        #expect(response.transaction?.source == .url)
        let record = try #require(server.records.first)
        #expect(record.hello != nil && record.serverName == nil)
        #expect(record.requests.first?.host == server.authority)
    }

    @Test("An address in the URL does not match a name that looks like it, nor another address")
    func addressInURLRefused() async throws {
        let client = HTTPClient.trusting()
        let looksLikeIt = try testAuthority.issue(CertificateProfile([.dns("127.0.0.2")]))
        for certificate in [looksLikeIt, testAuthority.certificate(for: "127.0.0.9")] {
            let server = try FixtureServer.start(.tls(certificate), on: "127.0.0.2") { _ in .text("wrong") }
            let error = try await httpError { try await client.get(server.https("127.0.0.2")) }
            guard case .nameMismatch("127.0.0.2", _)? = error.tlsError else {
                Issue.record("\(error)")
                continue
            }
            #expect(try await server.nextRecord().receivedCount == 0)
        }
    }

    @Test("An address in the URL remains the identity when another address is dialled")
    func addressInURLElsewhere() async throws {
        let client = HTTPClient.trusting()
        let right = try FixtureServer.secure("127.0.0.9", on: "127.0.0.2")
        #expect(try await client.fetch(right.request(right.https("127.0.0.9"))).text == "hello")
        #expect(right.requests.first?.host == "127.0.0.9:\(right.port)")
        let wrong = try FixtureServer.secure("127.0.0.2", on: "127.0.0.2")
        let error = try await httpError { try await client.fetch(wrong.request(wrong.https("127.0.0.9"))) }
        #expect(error.tlsError == .nameMismatch(expected: "127.0.0.9", served: ["127.0.0.2"]))
    }

    @Test("An IPv6 address in the URL has brackets in Host and none in the check")
    func addressV6() async throws {
        let server = try FixtureServer.secure("::1", on: "::1")
        let response = try await HTTPClient.trusting().get(server.https("[::1]"))
        #expect(response.text == "hello")
        #expect(server.requests.first?.host == "[::1]:\(server.port)")
        #expect(server.records.first?.serverName == nil)
    }

    @Test("A name is sent in lower case and without its trailing dot", arguments: ["A.Test", "a.test."])
    func spelling(name: String) async throws {
        let server = try FixtureServer.secure("a.test", on: "127.0.0.2")
        let client = HTTPClient.trusting()
        #expect(try await client.fetch(server.request(server.https(name))).text == "hello")
        #expect(server.records.first?.serverName == "a.test")
        #expect(server.requests.first?.host == "a.test:\(server.port)")
    }

    @Test("The port of an address changes the dialled port, and not Host")
    func portOfAddress() async throws {
        let server = try FixtureServer.secure("a.test", on: "127.0.0.2")
        let client = HTTPClient.trusting()
        _ = try await client.fetch(server.request("https://a.test/"))
        _ = try await client.fetch(server.request("https://a.test:8443/"))
        #expect(server.requests.map(\.host) == ["a.test", "a.test:8443"])
        #expect(server.records.count == 2)
    }

    @Test("Plain HTTP goes to the chosen address with the name in Host, too")
    func plain() async throws {
        let server = try FixtureServer.start(on: "127.0.0.4") { _ in .text("plain") }
        let response = try await HTTPClient.untimed().fetch(server.request("http://a.test/"))
        #expect(response.text == "plain")
        #expect(response.transaction?.tls == nil)
        #expect(server.requests.first?.host == "a.test")
    }

    @Test("An empty list of addresses is an error, and no resolver is asked")
    func emptyList() async throws {
        let server = try FixtureServer.start { _ in .text("never") }
        var request = Request(.get, "http://localhost:\(server.port)/")
        request.addresses = []
        let error = try await httpError { [request] in try await HTTPClient.untimed().fetch(request) }
        #expect(error.phase == .request)
        guard case .noAddresses = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(server.records.isEmpty)
    }

    @Test("A literal that is no address is an error, although others in the list are valid")
    func faultyLiteral() async throws {
        let server = try FixtureServer.start { _ in .text("never") }
        var request = Request(.get, server.http())
        request.addresses = [server.endpoint, "127.0.0.256"]
        let error = try await httpError { [request] in try await HTTPClient.untimed().fetch(request) }
        #expect(error.phase == .request)
        guard case .address(.notAnAddress("127.0.0.256")) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(server.records.isEmpty)
    }

    @Test("A name that no resolver knows is an error of the resolve phase")
    func unknownName() async throws {
        let error = try await httpError { try await HTTPClient.untimed().get("http://nowhere.invalid/") }
        #expect(error.phase == .resolve)
        #expect(error.name == "nowhere.invalid")
        #expect(error.endpoint == nil)
        guard case .lookup = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test("Without addresses the system's resolver is asked")
    func system() async throws {
        let server = try FixtureServer.secure("localhost", on: "127.0.0.1")
        let response = try await HTTPClient.trusting().get(server.https("localhost"))
        #expect(response.transaction?.source == .system)
        #expect(response.transaction?.resolveTime != nil)
        #expect(response.transaction?.endpoint == server.endpoint)
        #expect(server.records.first?.serverName == "localhost")
    }

    @Test("The request's addresses come before the map, the map before a literal, and this before the system")
    func precedence() async throws {
        let addresses = ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"]
        let servers = try FixtureServer.startOnSamePort(addresses) { .text($0.serverAddress) }
        let port = servers[0].port
        let client = HTTPClient.untimed { settings in
            try? settings.addresses.set(["127.0.0.2"], for: .host(HTTPHost("localhost")))
            try? settings.addresses.set(["127.0.0.3"], for: .host(HTTPHost("127.0.0.1")))
        }
        func go(_ host: String, _ addresses: [Endpoint]? = nil) async throws -> (String?, AddressSource?) {
            var request = Request(.get, "http://\(host):\(port)/")
            request.addresses = addresses
            let response = try await client.fetch(request)
            return (response.text, response.transaction?.source)
        }
        #expect(try await go("localhost") == ("127.0.0.2", .staticMap))
        #expect(try await go("localhost", ["127.0.0.4"]) == ("127.0.0.4", .request))
        #expect(try await go("127.0.0.1") == ("127.0.0.3", .staticMap))
        #expect(try await go("127.0.0.1", ["127.0.0.4"]) == ("127.0.0.4", .request))
        #expect(try await go("127.0.0.4") == ("127.0.0.4", .url))
        let unmapped = try await HTTPClient.untimed().get("http://localhost:\(port)/")
        #expect(unmapped.text == "127.0.0.1")
        #expect(unmapped.transaction?.source == .system)
    }
}
