import DirectResolvers
@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestResolvers
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("IPv4 addresses on a network with IPv6 only", .idleLimit)
struct TranslationTests {
    /// RFC 6052, section 2.4, with the address of the examples replaced by a public one.
    @Test(
        "An address is embedded in a prefix of any length, around the ninth byte",
        arguments: [
            ("2001:db8:c000:aa::", "2001:db8:102:304::"),
            ("2001:db8:1c0:0:aa::", "2001:db8:101:203:4::"),
            ("2001:db8:122:c000:0:aa00::", "2001:db8:122:102:3:400::"),
            ("2001:db8:122:3c0:0:aa::", "2001:db8:122:301:2:304::"),
            ("2001:db8:122:344:c0:0:aa00:0", "2001:db8:122:344:1:203:400:0"),
            ("2001:db8:122:344::192.0.0.170", "2001:db8:122:344::1.2.3.4"),
            ("64:ff9b::192.0.0.171", "64:ff9b::1.2.3.4"),
        ]
    )
    func synthesis(answer: String, expected: String) throws {
        let prefix = try #require(NAT64Prefix(discoveredIn: address(answer)))
        #expect(prefix.synthesizedAddress(for: address("1.2.3.4")) == IPAddress(expected))
        #expect(prefix.synthesizedAddress(for: address("::ffff:1.2.3.4")) == IPAddress(expected))
    }

    @Test("Addresses outside the public internet are never embedded")
    func special() throws {
        let prefix = try #require(NAT64Prefix(discoveredIn: address("64:ff9b::192.0.0.170")))
        for text in [
            "127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        ] {
            #expect(prefix.synthesizedAddress(for: address(text)) == nil, "\(text)")
        }
        #expect(prefix.synthesizedAddress(for: address("2001:db8::1")) == nil)
    }

    @Test("An answer without the well-known addresses gives no prefix")
    func noPrefix() {
        for text in ["2001:db8::1", "64:ff9b::1.2.3.4", "192.0.0.170", "::ffff:192.0.0.170"] {
            #expect(NAT64Prefix(discoveredIn: address(text)) == nil, "\(text)")
        }
    }

    @Test("An unreachable IPv4 address is dialled behind the prefix, and remains the endpoint")
    func dialled() async throws {
        let server = try FixtureServer.secure("a.test", on: "::1")
        let asked = Locked(0)
        let connection = try await dial("1.2.3.4", to: server) { _ in
            asked.withLock { $0 += 1 }
            return .success([IPAddress("192.0.0.170"), IPAddress("64:ff9b::192.0.0.170")].compactMap(\.self))
        }
        #expect(connection.facts.endpoint == Endpoint(stringLiteral: "1.2.3.4:443"))
        let now = Instant(nanoseconds: 0)
        let record = ExchangeRecord(
            connection: connection.facts,
            start: now,
            sent: now,
            response: now,
            .dialled
        )
        let transaction = HTTPTransaction(record: record)
        #expect(transaction.translatedAddress == IPAddress("64:ff9b::1.2.3.4"))
        #expect(connection.facts.search.failedAttempts.isEmpty)
        #expect(asked.withLock { $0 } == 1)
        connection.close()
    }

    @Test("Without a prefix, and for special addresses, the failure is that there is no route")
    func noWay() async throws {
        let server = try FixtureServer.secure("a.test", on: "::1")
        for (address, answers) in [("1.2.3.4", []), ("10.0.0.1", ["64:ff9b::192.0.0.170"])] {
            let failure = await #expect(throws: DialFailure.self) {
                try await dial(address, to: server) { _ in .success(answers.compactMap(IPAddress.init)) }
            }
            guard case .failed(.connect, .system(let error)) = failure?.cause else {
                Issue.record("\(failure as Any)")
                continue
            }
            #expect(error.meansNoRoute)
        }
    }

    @Test(
        "That the socket is bound to an IPv4 address does not hide that there is no route; a refusal of the server does"
    )
    func boundToIPv4() async throws {
        let server = try FixtureServer.secure("a.test", on: "::1")
        // EAFNOSUPPORT and ECONNREFUSED.
        for (call, code, isHidden) in [("bind", 97, false), ("connect", 111, true)] as [(String, Int32, Bool)]
        {
            let failure = await #expect(throws: DialFailure.self) {
                try await dial("1.2.3.4", to: server, andThen: SystemError(call, code: code)) { _ in
                    .success([IPAddress("64:ff9b::192.0.0.170")].compactMap(\.self))
                }
            }
            guard case .failed(.connect, .system(let error)) = failure?.cause else {
                Issue.record("\(failure as Any)")
                continue
            }
            #expect(error.meansNoRoute == !isHidden && error.meansRefused == isHidden)
        }
    }

    @Test("A translated address is vetted like the original, and not dialled if it is refused")
    func vetted() async throws {
        let server = try FixtureServer.secure("a.test", on: "::1")
        let seen = Locked<[String]>([])
        let vetting = AddressVetting { address, _, _ in
            seen.withLock { $0.append("\(address)") }
            return address.family == .v6 ? AddressRefusal(address, "inside") : nil
        }
        let failure = await #expect(throws: DialFailure.self) {
            try await dial("1.2.3.4", to: server, with: { $0.vetting = vetting }) { _ in
                .success([IPAddress("fd00::192.0.0.170")].compactMap(\.self))
            }
        }
        guard case .failed(.connect, .refused(let refusal)) = failure?.cause else {
            Issue.record("\(failure as Any)")
            return
        }
        #expect(refusal.address == IPAddress("fd00::1.2.3.4"))
        #expect(seen.withLock { $0 } == ["1.2.3.4", "fd00::102:304"])
        #expect(server.records.isEmpty)
    }

    @Test(
        "A client that never uses the system's resolver does not ask it for a prefix either",
        arguments: [true, false]
    )
    func systemIsNotAsked(_ mayAsk: Bool) async throws {
        let server = try FixtureServer.secure("a.test", on: "::1")
        let asked = Locked<[String]>([])
        let map = StaticMap()
        let resolver = mayAsk ? ChainResolver(map, SystemResolver()) : ChainResolver(map, LiveMap())
        let connection = try? await dial(
            "1.2.3.4",
            to: server,
            with: { $0.resolver = CachingResolver(ObservedResolver(resolver) { _ in }) }
        ) { name in
            asked.withLock { $0.append(name) }
            return .success([IPAddress("64:ff9b::192.0.0.170")].compactMap(\.self))
        }
        #expect((connection != nil) == mayAsk)
        #expect(asked.withLock { $0 } == (mayAsk ? ["ipv4only.arpa"] : []))
        connection?.close()
    }

    @Test(
        "A request whose own resolver never asks the system leads to no question for a prefix either",
        arguments: [true, false]
    )
    func resolverOfRequest(_ mayAsk: Bool) async throws {
        let asked = Locked<[String]>([])
        var network = Network(
            SystemLookups { name in
                asked.withLock { $0.append(name) }
                return .success([IPAddress("64:ff9b::192.0.0.170")].compactMap(\.self))
            }
        )
        network.connect = { _, _, _, _ throws(Socket.StartFailure) in
            // ENETUNREACH
            throw .system(SystemError("connect", code: 101))
        }
        let client = HTTPClient(HTTPClient.Configuration(), network: network)
        var request = Request(.get, "https://a.test/")
        let strict = ScriptedResolver("strict", ["1.2.3.4"])
        request.resolver = mayAsk ? ChainResolver(strict, SystemResolver(), fallback: .never) : strict
        await #expect(throws: HTTPError.self) { try await client.fetch(request) }
        #expect(asked.withLock { $0 } == (mayAsk ? ["ipv4only.arpa"] : []))
    }

    @Test("After a refused connection no translated address is looked up")
    func refused() async throws {
        let server = try FixtureServer.secure("a.test", on: "::1")
        let asked = Locked(0)
        // ECONNREFUSED
        let failure = await #expect(throws: DialFailure.self) {
            try await dial("1.2.3.4", to: server, failingWith: 111) { _ in
                asked.withLock { $0 += 1 }
                return .success([IPAddress("64:ff9b::192.0.0.170")].compactMap(\.self))
            }
        }
        #expect(failure != nil && asked.withLock { $0 } == 0 && server.records.isEmpty)
    }

    private func address(_ text: String) -> IPAddress {
        guard let address = IPAddress(text) else { fatalError(text) }
        return address
    }

    /// Dials on a network without IPv4, where everything behind the prefix is the server.
    private func dial(
        _ address: String,
        to server: FixtureServer,
        failingWith code: Int32 = 101,
        andThen second: SystemError? = nil,
        with configure: (inout HTTPClient.Configuration) -> Void = { _ in },
        _ lookUp: @escaping @Sendable (String) -> Result<[IPAddress], LookupError>
    ) async throws(DialFailure) -> Connection {
        let settings = HTTPClient.trusting(configure).configuration
        var network = Network(SystemLookups(lookUp))
        let port = server.port
        network.connect = { address, _, _, loop throws(Socket.StartFailure) in
            guard address.family == .v6, let local = IPAddress("::1") else {
                // ENETUNREACH, unless said otherwise.
                throw .system(SystemError("connect", code: code))
            }
            if let second { throw .system(second) }
            return try Socket.connecting(to: local, port: port, on: loop)
        }
        let dialler = Dialler(settings.dialConfiguration, network: network)
        guard let url = try? HTTPURL("https://a.test/") else { throw DialFailure(cause: .cancelled) }
        let route = Route.chosen([Endpoint(stringLiteral: address)], port: 443, source: .request)
        return try await dialler.dial(ConnectionTarget(url, route: route), within: .none)
    }
}
