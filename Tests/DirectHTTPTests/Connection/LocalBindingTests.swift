import DirectTestResolvers
import DirectCore
@testable import DirectHTTP
import DirectIO
import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@Suite("Where connections leave from", .idleLimit)
struct LocalBindingTests {
    private func server(on address: String = "127.0.0.1") throws -> FixtureServer {
        try .start(.plain, on: address) { _ in .text("hello") }
    }

    private func bound(_ server: FixtureServer, _ binding: LocalBinding?) -> Request {
        var request = Request(.get, server.http())
        request.localBinding = binding
        return request
    }

    private func address(_ text: String) throws -> LocalBinding {
        .address(try #require(IPAddress(text)))
    }

    #if os(Linux)
    @Test(
        "A request leaves from its address, else from the client's, else from any; none shares a connection"
    )
    func addresses() async throws {
        let server = try server()
        let binding = try address("127.0.0.6")
        let client = HTTPClient.untimed { $0.localBinding = binding }
        for isReused in [false, true] {
            #expect(try await client.fetch(bound(server, nil)).isReused == isReused)
            #expect(try await client.fetch(bound(server, try address("127.0.0.7"))).isReused == isReused)
        }
        #expect(server.records.map(\.clientAddress) == ["127.0.0.6", "127.0.0.7"])
        _ = try await HTTPClient.untimed().fetch(bound(server, nil))
        #expect(server.records.last?.clientAddress == "127.0.0.1")
    }

    @Test("The client's connections say by what they are kept apart")
    func survey() async throws {
        let server = try server()
        let client = HTTPClient.untimed()
        let relay = try UnixRelay(to: server)
        let bindings: [LocalBinding] = [try address("127.0.0.7"), .interface("lo")]
        for binding in [nil] + bindings { _ = try await client.fetch(bound(server, binding)) }
        var request = bound(server, nil)
        request.unixSocket = relay.path
        _ = try await client.fetch(request)
        request = bound(server, bindings[0])
        request.tcpKeepAlive = TCPKeepAlive(idle: .seconds(9), interval: .seconds(9), count: 9)
        _ = try await client.fetch(request)
        #expect(client.connections.count == 5)
        for (way, binding, socket, isOther) in [
            ("", nil, nil, false), (" from 127.0.0.7", bindings[0], nil, false),
            (" from lo", bindings[1], nil, false), (" at \(relay.path)", nil, relay.path, false),
            (" from 127.0.0.7 with other settings", bindings[0], nil, true),
        ] as [(String, LocalBinding?, UnixSocketPath?, Bool)] {
            let entry = try #require(
                client.connections.first { "\($0)".contains("\(server.port)\(way): 1 open") }
            )
            #expect(entry.localBinding == binding && entry.unixSocket == socket)
            #expect(entry.hasOtherSettings == isOther && entry.connections.count == 1)
        }
    }

    @Test("It holds for redirects to other origins, and for the connection to a proxy")
    func everywhere() async throws {
        let far = try server(on: "127.0.0.2")
        let target = far.http()
        let near = try FixtureServer.start(.plain) { _ in .status(302, ["Location": target]) }
        let client = HTTPClient.untimed()
        _ = try await client.fetch(bound(near, try address("127.0.0.6")))
        #expect(far.records.map(\.clientAddress) == ["127.0.0.6"])
        let routes = FixtureProxy(["\(far.authority)": far.authority])
        let gate = try FixtureServer.start(.plain, on: "127.0.0.3", behaviour: .proxy(routes))
        for scheme in ["socks5h", "socks5"] {
            let proxy = try Proxy("\(scheme)://\(gate.authority)")
            let behind = HTTPClient.untimed { $0.proxy = ProxySettings(proxy) }
            #expect(try await behind.fetch(bound(far, try address("127.0.0.8"))).text == "hello")
            #expect(gate.records.last?.clientAddress == "127.0.0.8")
        }
    }

    @Test("The facts of an exchange have the address and the port that its bytes left from, also to a proxy")
    func localEndpoint() async throws {
        let server = try server()
        let client = HTTPClient.untimed()
        for _ in 0..<2 {
            let transaction = try await client.fetch(bound(server, try address("127.0.0.6"))).transaction
            let record = try #require(server.records.last)
            #expect(transaction?.localEndpoint == Endpoint(stringLiteral: "127.0.0.6:\(record.clientPort)"))
        }
        let routes = FixtureProxy(["\(server.authority)": server.authority])
        let gate = try FixtureServer.start(.plain, on: "127.0.0.3", behaviour: .proxy(routes))
        let proxy = try Proxy("socks5h://\(gate.authority)")
        let behind = HTTPClient.untimed { $0.proxy = ProxySettings(proxy) }
        let facts = try await behind.fetch(bound(server, nil)).transaction
        let port = try #require(gate.records.last?.clientPort)
        #expect(facts?.localEndpoint == Endpoint(stringLiteral: "127.0.0.1:\(port)"))
        let relay = try UnixRelay(to: server)
        var request = Request(.get, "http://docker/")
        request.unixSocket = relay.path
        #expect(try await client.fetch(request).transaction?.localEndpoint == nil)
    }

    @Test("An interface is bound to, and one that does not exist is an error")
    func interfaces() async throws {
        let server = try server()
        let client = HTTPClient.untimed()
        #expect(try await client.fetch(bound(server, .interface("lo"))).text == "hello")
        for name in ["none0", "", String(repeating: "a", count: 40), "lo\0"] {
            let error = try await httpError { try await client.fetch(bound(server, .interface(name))) }
            #expect(error.phase == .connect && error.systemError?.call == "setsockopt")
        }
    }
    #endif

    @Test(
        "An address that the machine does not have, or of another family, fails the attempt and leaks nothing"
    )
    func unusable() async throws {
        let server = try server()
        let client = HTTPClient.untimed()
        for text in ["203.0.113.1", "::1", "fe80::1%none0"] {
            let error = try await httpError { try await client.fetch(bound(server, try address(text))) }
            #expect(error.phase == .connect)
            #expect(error.systemError?.call == "bind" || text.contains("%"))
        }
        #expect(server.records.isEmpty)
    }

    #if os(Linux)
    @Test("Keep-alive probes are set as the request or the client says, and not without")
    func keepAlive() async throws {
        let server = try FixtureServer.start(.plain) { _ in .bytes([UInt8](repeating: 0, count: 1 << 20)) }
        let client = HTTPClient.untimed {
            $0.tcpKeepAlive = TCPKeepAlive(idle: .seconds(3000), interval: .seconds(10), count: 3)
        }
        var request = Request(.get, server.http())
        #expect(try await probes(client, request, server) == [3000, 10, 3])
        request.tcpKeepAlive = TCPKeepAlive(idle: .milliseconds(999_999_500), interval: .zero, count: 1000)
        #expect(try await probes(client, request, server) == [32_767, 1, 127])
        request.tcpKeepAlive = nil
        #expect(try await probes(.untimed(), request, server) == nil)
    }

    /// The idle time and the interval in seconds and the count of probes, of the client's socket, which is
    /// one of this process; `nil` if there will be no probe.
    private func probes(_ client: HTTPClient, _ request: Request, _ server: FixtureServer) async throws
        -> [Int32]?
    {
        // The body is not read, so nothing closes the connection.
        let response = try await client.send(request)
        defer { withExtendedLifetime((client, response)) {} }
        let record = try #require(server.records.last)
        let descriptor = (Int32(0)..<Int32(4096)).first { descriptor in
            port(of: descriptor, getsockname) == record.clientPort
                && port(of: descriptor, getpeername) == record.serverPort
        }
        let socket = try #require(descriptor)
        guard option(SO_KEEPALIVE, SOL_SOCKET, of: socket) == 1 else { return nil }
        return [TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT].map { option($0, Int32(IPPROTO_TCP), of: socket) }
    }

    private typealias NameFunction = (
        Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?
    ) -> Int32

    private func port(of descriptor: Int32, _ name: NameFunction) -> UInt16? {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(descriptor, $0, &size) }
        }
        let isIPv4 = code == 0 && address.sin_family == sa_family_t(AF_INET)
        return isIPv4 ? UInt16(bigEndian: address.sin_port) : nil
    }

    private func option(_ name: Int32, _ level: Int32, of descriptor: Int32) -> Int32 {
        var value: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        _ = getsockopt(descriptor, level, name, &value, &size)
        return value
    }
    #endif
}

@Suite("A resolver of a request", .idleLimit)
struct RequestResolverTests {
    private let server: FixtureServer
    private let own: ScriptedResolver
    private let clients: ScriptedResolver

    init() throws {
        server = try FixtureServer.start(.plain, on: "127.0.0.2") { .text($0.host ?? "") }
        own = ScriptedResolver("own", [Endpoint(stringLiteral: "127.0.0.2")])
        clients = ScriptedResolver("client", [Endpoint(stringLiteral: "127.0.0.1")])
    }

    private func request(_ path: String = "/") -> Request {
        var request = Request(.get, "http://a.test:\(server.port)\(path)")
        request.resolver = own
        return request
    }

    @Test(
        "It is asked instead of the client's, and its connections serve no request of the client's resolver"
    )
    func asked() async throws {
        let client = HTTPClient.untimed { $0.resolver = clients }
        let first = try await client.fetch(request())
        #expect(first.text == "a.test:\(server.port)" && first.transaction?.source.author == .resolver("own"))
        #expect(try await client.fetch(request()).isReused)
        _ = try? await client.get("http://a.test:\(server.port)/")
        // The other answer does not make this one outdated.
        #expect(try await client.fetch(request()).isReused)
        #expect(own.asked.count == 3 && clients.asked.count == 1)
        #expect(server.records.count == 1)
    }

    @Test("Addresses and maps come before it; redirects to other names ask it, too")
    func order() async throws {
        var chosen = request()
        chosen.addresses = [server.endpoint]
        let client = HTTPClient.untimed { $0.resolver = clients }
        #expect(try await client.fetch(chosen).status == 200)
        #expect(own.asked.isEmpty)
        let port = server.port
        let near = try FixtureServer.start(.plain, on: "127.0.0.2") { _ in
            .status(302, ["Location": "http://b.test:\(port)/"])
        }
        var redirected = Request(.get, "http://a.test:\(near.port)/")
        redirected.resolver = own
        #expect(try await client.fetch(redirected).text == "b.test:\(port)")
        #expect(own.asked.count == 2 && clients.asked.isEmpty)
    }

    @Test("An interceptor that builds the request anew does not lose it")
    func rebuilt() async throws {
        let client = HTTPClient.untimed {
            $0.resolver = clients
            $0.networkInterceptors = [{ try await $1(Request(.get, try $0.url)) }]
        }
        #expect(try await client.fetch(request()).status == 200)
        #expect(clients.asked.isEmpty)
    }

    @Test("Its failure is final: the client's is not asked")
    func failure() async throws {
        let failing = ScriptedResolver("own", .noAddresses)
        var request = request()
        request.resolver = failing
        let error = try await httpError {
            try await HTTPClient.untimed { $0.resolver = clients }.fetch(request)
        }
        #expect(error.phase == .resolve && clients.asked.isEmpty)
    }
}
