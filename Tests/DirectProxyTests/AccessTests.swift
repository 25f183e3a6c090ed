import DirectCore
import DirectProxy
import DirectTestCommands
import DirectTestPeers
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite("Access to the proxy", .idleLimit)
struct AccessTests {
    @Test(
        "With its credentials a program gets a tunnel, in any case of the scheme",
        arguments: ["Basic", "bAsIc "]
    )
    func admitted(scheme: String) throws {
        let stage = try Stage { configuration, _ in configuration.access = .credentials }
        let program = try stage.program()
        let field = "Proxy-Authorization: \(scheme) \(try Self.encoded(stage))"
        try program.send("CONNECT \(Stage.name) HTTP/1.1\r\n\(field)\r\n\r\n")
        #expect(try program.text(12) == "HTTP/1.1 200")
    }

    @Test(
        "Without them, or with others, it gets 407 and an end, and bytes behind the head are no request",
        arguments: [
            "", "Proxy-Authorization: Basic\r\n", "Proxy-Authorization: Basic !!\r\n",
            "Proxy-Authorization: Basic ZGlyZWN0Og==\r\n", "Authorization: Basic VALUE\r\n",
            "Proxy-Authorization: Basic VALUEAAAA\r\n", "Proxy-Authorization: Bearer VALUE\r\n",
            "Proxy-Authorization: Basic VALUE\r\nProxy-Authorization: Basic VALUE\r\n",
        ]
    )
    func refused(field: String) async throws {
        let stage = try Stage { configuration, _ in configuration.access = .credentials }
        let field = field.replacing("VALUE", with: try Self.encoded(stage))
        let request = "CONNECT \(Stage.name) HTTP/1.1\r\n\(field)\r\n"
        let good =
            "CONNECT \(Stage.name) HTTP/1.1\r\nProxy-Authorization: Basic \(try Self.encoded(stage))\r\n\r\n"
        let answer = try stage.answer(request + good)
        #expect(answer.hasPrefix("HTTP/1.1 407 "))
        #expect(answer.contains("\r\nProxy-Authenticate: Basic "))
        #expect(answer.ranges(of: "HTTP/1.1").count == 1)
        #expect(await stage.reports(1).map(\.target) == [nil])
    }

    @Test("Credentials are new with each start, and the URL has them")
    func credentials() async throws {
        let proxy = LocalProxy()
        #expect(proxy.proxyURL == nil)
        try proxy.start()
        let first = try #require(proxy.credentials)
        let url = "http://\(first.user):\(first.password)@\(try #require(proxy.endpoints.first))"
        #expect(proxy.proxyURL == url)
        #expect(first.password.count == 32)
        try proxy.start()
        #expect(proxy.credentials?.password != first.password)
        await proxy.stop()
        #expect(proxy.credentials == nil)
    }

    @Test(
        "The file for browsers is served at the address of the proxy, without credentials, to no other name"
    )
    func pac() throws {
        let stage = try Stage { configuration, _ in
            configuration.access = .credentials
            configuration.servesPAC = true
        }
        let endpoint = try #require(stage.proxy.endpoints.first)
        #expect(stage.proxy.pacURL == "http://\(endpoint)/proxy.pac")
        let answer = try stage.answer("GET /proxy.pac HTTP/1.1\r\nHost: \(endpoint)\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: application/x-ns-proxy-autoconfig\r\n"))
        let file = "function FindProxyForURL(url, host) { return \"PROXY \(endpoint)\"; }\n"
        #expect(answer.hasSuffix("Content-Length: \(file.utf8.count)\r\nConnection: close\r\n\r\n\(file)"))
        for (line, host) in [
            ("GET /proxy.pac", "evil.test"), ("GET /proxy.pac", "192.0.2.1"), ("GET /", "\(endpoint)"),
            ("POST /proxy.pac", "\(endpoint)"), ("GET http://\(endpoint)/proxy.pac", "\(endpoint)"),
        ] {
            let answer = try stage.answer("\(line) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 407 "), "\(line) \(host)")
        }
        let silent = try Stage()
        #expect(silent.proxy.pacURL == nil)
        let other = try #require(silent.proxy.endpoints.first)
        #expect(
            try silent.answer("GET /proxy.pac HTTP/1.1\r\nHost: \(other)\r\n\r\n").hasPrefix("HTTP/1.1 400 ")
        )
    }

    @Test("A proxy with a port of its own begins anew at that port")
    func again() throws {
        var configuration = LocalProxySettings()
        let free = try { () throws -> Endpoint in
            let listener = try Listener.atOwnAddress()
            return Endpoint(listener.address, port: listener.port)
        }()
        configuration.listen = [free]
        let proxy = LocalProxy(configuration)
        for _ in 0..<20 {
            try proxy.start()
            #expect(proxy.endpoints == [free])
        }
    }

    @Test("A report says whether the program had shown its credentials")
    func strangers() async throws {
        let stage = try Stage { configuration, _ in configuration.access = .credentials }
        let field = "Proxy-Authorization: Basic \(try Self.encoded(stage))\r\n\r\n"
        for request in ["x\r\n\r\n", "GET http://a.test/ HTTP/1.1\r\n\r\n", "CONNECT a HTTP/1.1\r\n\(field)"]
        {
            _ = try stage.answer(request)
        }
        #expect(await stage.reports(3).map(\.isByStranger) == [true, true, false])
    }

    @Test("Where the system ends the listening, it listens anew, with new credentials, and tells it")
    func restart() async throws {
        let (news, told) = AsyncStream.makeStream(of: Void.self)
        var configuration = LocalProxySettings()
        configuration.onEvent = { event in
            if case .restarted = event { told.yield() }
            if case .paused = event { Issue.record("\(event)") }
        }
        let proxy = LocalProxy(configuration)
        try proxy.start()
        var next = news.makeAsyncIterator()
        // Sometimes accept(2) tells it first, sometimes the loop.
        for _ in 0..<20 {
            let (before, password) = (try #require(proxy.endpoints.first), proxy.credentials?.password)
            shutdown(try #require(try listening(at: before)), Int32(SHUT_RDWR))
            await next.next()
            // The port may be the same one by chance.
            #expect(proxy.credentials != nil && proxy.credentials?.password != password)
        }
        let after = try #require(proxy.endpoints.first)
        let program = try Peer.connected(to: after)
        try program.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try program.rest().hasPrefix("HTTP/1.1 407 "))
    }

    /// The descriptor of this process that listens there.
    private func listening(at endpoint: Endpoint) throws -> Int32? {
        try openDescriptors().first { descriptor in
            var (listens, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
            guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens == 1 else {
                return false
            }
            let isNamed = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    getsockname(descriptor, $0, &length) == 0
                }
            }
            return isNamed && address.sin_port.bigEndian == endpoint.port
        }
    }

    @Test("It listens on loopback alone, unless a setting with that name says otherwise")
    func loopback() throws {
        var configuration = LocalProxySettings()
        configuration.listen = ["0.0.0.0"]
        #expect(throws: LocalProxyError.beyondLoopback("0.0.0.0")) { try LocalProxy(configuration).start() }
        configuration.listensBeyondLoopback = true
        let proxy = LocalProxy(configuration)
        try proxy.start()
        #expect(proxy.endpoints.count == 1)
    }

    @Test("A port that is taken is an error of one line")
    func portTaken() throws {
        let taken = try Listener()
        var configuration = LocalProxySettings()
        configuration.listen = [Endpoint(taken.address, port: taken.port)]
        let error = #expect(throws: LocalProxyError.self) { try LocalProxy(configuration).start() }
        #expect(error?.description.hasPrefix("cannot listen at 127.0.0.1:\(taken.port): bind: ") == true)
    }

    private static func encoded(_ stage: Stage) throws -> String {
        let credentials = try #require(stage.proxy.credentials)
        return Base64.encode(Array("\(credentials.user):\(credentials.password)".utf8))
    }
}
