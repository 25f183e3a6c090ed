import DirectCore
import DirectProxy
import DirectTestCommands
import DirectTestPeers
import Testing

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
