import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestPeers
import DirectTestResolvers
import DirectTestTime
import Dispatch
import TLSFixtures
import Testing

@testable import DirectResolvers

@Suite("DNS over HTTPS", .idleLimit)
struct DNSOverHTTPSTests {
    private let time = HeldTime()

    /// Both families, with times of their own.
    private static func both(_ question: [UInt8]) -> DNSReply {
        var reply = DNSReply.reply(to: question)
        let address = reply.type == 28 ? "2001:db8::1" : "192.0.2.1"
        reply.answers = [.a(DNSReply.question, address, reply.type == 28 ? 600 : 300)]
        return reply
    }

    @Test(
        "Both families are requested by POST or GET, from a server that proves its name",
        arguments: [
            DNSOverHTTPS.Method.post, .get,
        ]
    )
    func bothFamilies(_ method: DNSOverHTTPS.Method) async throws {
        let security = FixtureSecurity.tls(certificates: [testAuthority.certificate(for: "dns.test")])
        let cookie: FixtureHeaders = ["Set-Cookie": "a=b"]
        let server = try FixtureServer.dns(security, headers: cookie, answering: Self.both)
        let servers = ServiceServers.https([server.endpoint], name: "dns.test")
        let resolver = DNSOverHTTPS(servers, method: method, isPadded: true, .trusting())
        _ = try await resolver.answer()
        let answer = try await resolver.answer()
        #expect(answer.endpoints == ["2001:db8::1", "192.0.2.1"])
        #expect(answer.timeToLive == .seconds(300))
        #expect(answer.source == .resolver("DNS over HTTPS"))
        #expect(server.requests.count == 4)
        for request in server.requests {
            #expect(request.serverName == "dns.test" && request.headers["host"] == "dns.test")
            #expect(request.headers["accept"] == "application/dns-message")
            #expect(request.headers["cookie"] == nil)
            #expect(
                method == .get
                    ? request.target.hasPrefix("/dns-query?dns=AAAB") : request.target == "/dns-query"
            )
        }
    }

    @Test("Many questions are asked at the same time: none waits for the connection of another")
    func manyAtOnce() async throws {
        let count = 40
        let arrived = Locked(0)
        let all = DispatchSemaphore(value: 0)
        let server = try FixtureServer.dns { question in
            let number = arrived.withLock { arrived in
                arrived += 1
                return arrived
            }
            if number == count { for _ in 0..<count { all.signal() } }
            all.wait()
            return Self.both(question)
        }
        let resolver = DNSOverHTTPS(.insecureHTTP([server.endpoint]), .trusting { $0.families = .v4 })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let endpoints = try await resolver.endpoints()
                    #expect(endpoints == ["192.0.2.1"])
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A server known by its address proves the address, and another name is refused")
    func byAddress() async throws {
        let certificates = [testAuthority.certificate(for: "127.0.0.1")]
        let server = try FixtureServer.dns(.tls(certificates: certificates), answering: Self.both)
        #expect(try await DNSOverHTTPS(.https([server.endpoint]), .trusting()).endpoints().count == 2)
        #expect(server.requests.first?.serverName == nil)
        let named = DNSOverHTTPS(.https([server.endpoint], name: "dns.test"), .trusting())
        #expect(try await named.complaint().hasPrefix("tls dns.test at 127.0.0.1"))
    }

    @Test(
        "The freshness of the response bounds the lifetime of the answer",
        arguments: [
            (["Cache-Control": "max-age=100"], 100), (["Cache-Control": "max-age=1000"], 300),
            (["Age": "200"], 100), (["Cache-Control": "public, max-age=250", "Age": "100"], 150),
            (["Cache-Control": "no-store"], 0), (["Age": "1000"], 0), ([:], 300),
        ] as [(FixtureHeaders, Int)]
    )
    func freshness(_ headers: FixtureHeaders, _ seconds: Int) async throws {
        let server = try FixtureServer.dns(headers: headers, answering: Self.both)
        let answer = try await DNSOverHTTPS(.insecureHTTP([server.endpoint]), .trusting()).answer()
        #expect(answer.timeToLive == .seconds(seconds))
    }

    @Test(
        "A failure for one family does not discard the addresses of the other, which then live for a short time"
    )
    func halfBroken() async throws {
        let server = try FixtureServer.dns { question in
            var reply = Self.both(question)
            if reply.type == 28 { reply.flags |= 2 }
            return reply
        }
        let answer = try await DNSOverHTTPS(.insecureHTTP([server.endpoint]), .trusting()).answer()
        #expect(answer.endpoints == ["192.0.2.1"] && answer.timeToLive == .seconds(10))
    }

    @Test("Silence for one family delays a list by a second, and the list then lives for a short time")
    func halfSilent() async throws {
        let gate = Gate()
        let server = try FixtureServer.start(.plain) { request in
            let reply = Self.both(try request.dnsMessage)
            if reply.type == 28 { try request.wait(for: gate) }
            return .bytes(reply.bytes, ["Content-Type": "application/dns-message"])
        }
        let resolver = DNSOverHTTPS(
            .insecureHTTP([server.endpoint]),
            .trusting {
                $0.loop = time.loop
            }
        )
        async let asked = resolver.answer(on: time.loop)
        // The list is given without the other family a second after its first addresses.
        try await time.pass(.milliseconds(50))
        try await time.pass(.seconds(1))
        let answer = try await asked
        #expect(answer.endpoints == ["192.0.2.1"] && answer.timeToLive == .seconds(10))
        gate.open()
    }

    @Test("Only the requested families are asked for")
    func families() async throws {
        let server = try FixtureServer.dns(answering: Self.both)
        let resolver = DNSOverHTTPS(.insecureHTTP([server.endpoint]), .trusting { $0.families = .v4 })
        #expect(try await resolver.endpoints() == ["192.0.2.1"])
        #expect(server.requests.count == 1)
    }

    @Test("A denial, or an answer without addresses, is an answer, and no other server is asked")
    func negative() async throws {
        let servers = try [UInt16(3), 0].map { code in
            try FixtureServer.dns { DNSReply.reply(to: $0, code: code) }
        }
        let endpoints = servers.map(\.endpoint)
        let resolver = DNSOverHTTPS(.insecureHTTP(endpoints), .trusting { $0.families = .v4 })
        #expect(try await resolver.complaint() == "the name does not exist")
        #expect(servers[1].requests.isEmpty)
        let empty = DNSOverHTTPS(.insecureHTTP([endpoints[1]]), .trusting())
        #expect(try await empty.complaint() == "the name has no address")
    }

    @Test(
        "The error for a malformed response says what is wrong with it",
        arguments: [
            (
                "application/dns-message", [],
                "the answer makes no sense: the message ends within a header, at byte 0"
            ),
            (
                "application/dns-message", DNSReply(name: DNSReply.name("b.test")).bytes,
                "the answer makes no sense: the message is not the answer to the question, at byte 0"
            ),
            (
                "application/dns-message",
                DNSReply(answers: [.alias(DNSReply.question, DNSReply.question)]).bytes,
                "the answer makes no sense: the message has aliases that do not end, at byte 24"
            ),
            ("application/dns-message", DNSReply(flags: 0x8182).bytes, "the server refused: SERVFAIL"),
            (
                "application/dns-message", DNSReply(flags: 0x8189).bytes,
                "the server refused: DNS response code 9"
            ),
            ("text/html", DNSReply().bytes, "the answer makes no sense: it is not application/dns-message"),
        ] as [(String, [UInt8], String)]
    )
    func broken(_ type: String, _ body: [UInt8], _ words: String) async throws {
        let server = try FixtureServer.start(.plain) { _ in .bytes(body, ["Content-Type": type]) }
        let resolver = DNSOverHTTPS(.insecureHTTP([server.endpoint]), .trusting { $0.families = .v4 })
        #expect(try await resolver.complaint() == words)
    }

    @Test("A huge response, another status and a redirect are errors")
    func refusals() async throws {
        let headers: FixtureHeaders = ["Content-Type": "application/dns-message"]
        let huge = try FixtureServer.start(.plain) { _ in
            .bytes([UInt8](repeating: 0, count: 300_000), headers)
        }
        let gone = try FixtureServer.start(.plain) { _ in .text("x", status: 404) }
        let elsewhere = try FixtureServer.start(.plain) { _ in .redirect(to: "http://localhost:1/") }
        let settings = ServiceSettings.trusting { $0.families = .v4 }
        let hugeWords = try await DNSOverHTTPS(.insecureHTTP([huge.endpoint]), settings).complaint()
        #expect(hugeWords.hasSuffix("the body is larger than 262144 bytes"))
        #expect(
            try await DNSOverHTTPS(.insecureHTTP([gone.endpoint]), settings).complaint()
                == "the server refused: HTTP status 404"
        )
        let redirected = try await DNSOverHTTPS(.insecureHTTP([elsewhere.endpoint]), settings).complaint()
        #expect(redirected == "the server refused: HTTP status 302")
    }
}

@Suite("Rotation of a service's servers", .idleLimit)
struct ServiceRotationTests {
    private let time = HeldTime()

    private static func good(_ question: [UInt8]) -> DNSReply {
        var reply = DNSReply.reply(to: question)
        if reply.type == 1 { reply.answers = [.a(DNSReply.question, "192.0.2.1")] }
        return reply
    }

    @Test("A dead server and a faulty one are followed by the next, and not asked again for a while")
    func rotation() async throws {
        let dead = try FixtureServer.refusing()
        let broken = try FixtureServer.saying("oops", status: 500)
        let good = try FixtureServer.dns(answering: Self.good)
        let settings = ServiceSettings.trusting { $0.families = .v4 }
        let servers = ServiceServers.insecureHTTP([dead.endpoint, broken.endpoint, good.endpoint])
        let resolver = DNSOverHTTPS(servers, settings)
        for _ in 0..<3 { #expect(try await resolver.endpoints() == ["192.0.2.1"]) }
        #expect(broken.requests.count == 1 && good.requests.count == 3)
    }

    @Test("After forgetAll the first server is asked again, although it has failed")
    func forgetAll() async throws {
        let broken = try FixtureServer.saying("oops", status: 500)
        let text = #"{"Status":0,"Answer":[{"name":"a.test.","TTL":60,"type":1,"data":"192.0.2.1"}]}"#
        let good = try FixtureServer.saying(text)
        let servers = ServiceServers.insecureHTTP([broken.endpoint, good.endpoint])
        let settings = ServiceSettings.trusting { $0.families = .v4 }
        let resolvers: [any Resolver] = [
            DNSOverJSON(servers, settings),
            AlibabaPublicDNS(account: "1", accessKeyID: "a", accessKeySecret: "s", servers, settings),
        ]
        for (number, resolver) in resolvers.enumerated() {
            for _ in 0..<2 { #expect(try await resolver.endpoints() == ["192.0.2.1"]) }
            #expect(broken.requests.count == 2 * number + 1)
            resolver.forgetAll()
            #expect(try await resolver.endpoints() == ["192.0.2.1"])
            #expect(broken.requests.count == 2 * number + 2)
        }
    }

    @Test("If all servers fail, the error names each, and the question ends")
    func allFail() async throws {
        let broken = try (0..<5).map { try FixtureServer.saying("oops", status: 500 + $0) }
        let settings = ServiceSettings.trusting { $0.families = .v4 }
        let resolver = DNSOverHTTPS(.insecureHTTP(broken.map(\.endpoint)), settings)
        let error = try await #require(#expect(throws: ResolverError.self) { try await resolver.answer() })
        #expect(error.server == broken[2].endpoint && error.source == "DNS over HTTPS")
        #expect(error.earlier.map(\.server) == [broken[0].endpoint, broken[1].endpoint])
        #expect(error.description.contains("HTTP status 501"))
        #expect(broken.map(\.requests.count) == [1, 1, 1, 0, 0])
    }

    @Test("A silent server is followed by the next when its time is over")
    func silent() async throws {
        let silent = try FixtureServer.unresponsive()
        let good = try FixtureServer.dns(answering: Self.good)
        let settings = ServiceSettings.trusting {
            $0.families = .v4
            $0.loop = time.loop
        }
        let resolver = DNSOverHTTPS(.insecureHTTP([silent.endpoint, good.endpoint]), settings)
        async let answer = resolver.answer(on: time.loop)
        try await time.pass(.seconds(3))
        #expect(try await answer.endpoints == ["192.0.2.1"])
    }

    @Test(
        "Behind a silent server the next one is asked within a chain's time for a step, and the chain's answer says so"
    )
    func silentInChain() async throws {
        let silent = try FixtureServer.unresponsive()
        let good = try FixtureServer.dns(answering: Self.good)
        let service = DNSOverHTTPS(
            .insecureHTTP([silent.endpoint, good.endpoint]),
            .trusting {
                $0.families = .v4
                $0.loop = time.loop
            }
        )
        let last = StaticMap()
        async let answer = ChainResolver(service, last).answer(on: time.loop)
        try await time.pass(.milliseconds(1500))
        #expect(try await answer.source == .resolver("DNS over HTTPS"))
        #expect(try await answer.failures.map(\.server) == [silent.endpoint])
        // It is not asked again for a while.
        #expect(try await ChainResolver(service, last).answer("b.test", on: time.loop).failures.isEmpty)
    }

    @Test(
        "A server that is silent until its caller has no more time has failed: the next question goes to another one"
    )
    func silentUntilDeadline() async throws {
        let peer = try DNSPeer { _ in [] }
        defer { peer.stop() }
        let silent = Endpoint(IPAddress(.v4, high: 0, low: 0x7F00_0001), port: peer.port)
        let service = ServiceClient(
            DatagramFormat(subnet: nil),
            .insecureHTTP([silent, "192.0.2.53"]),
            .trusting { $0.loop = time.loop }
        )
        let client = HTTPClient {
            $0.loop = time.loop
            $0.resolver = ClosureResolver(
                "service",
                answer: { host, _, context in try await service.resolve(host, context: context) }
            )
            $0.timeouts.resolve = .milliseconds(1200)
        }
        func first() -> Endpoint? {
            service.list.withLock { $0.order(at: time.loop.now).first?.endpoint }
        }
        #expect(first() == silent)
        async let late = #expect(throws: HTTPError.self) { try await client.get("http://a.test/") }
        while peer.questions.count < 2 { await time.settle() }
        try await time.pass(.milliseconds(1200))
        _ = await late
        // The client does not wait until the question has ended.
        while first() == silent {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test("Callers behind a cache that have two seconds get the answer of the second server")
    func hastyCallers() async throws {
        let silent = try FixtureServer.unresponsive()
        let good = try FixtureServer.dns(answering: Self.good)
        let service = DNSOverHTTPS(
            .insecureHTTP([silent.endpoint, good.endpoint]),
            .trusting {
                $0.families = .v4
                $0.loop = time.loop
            }
        )
        let cache = CachingResolver(service, loop: time.loop)
        let context = ResolveContext(within: .seconds(2), on: time.loop)
        async let answer = cache.resolve(.test("a.test"), port: 443, context: context)
        try await time.pass(.seconds(1))
        #expect(try await answer.endpoints == ["192.0.2.1"])
    }

    @Test("A missing or malformed server is an error of the first question")
    func noServer() async throws {
        #expect(
            try await DNSOverHTTPS(.https([])).complaint() == "the server refused: there is no server to ask"
        )
        #expect(
            try await DNSOverHTTPS(.https(["dns.test"])).complaint()
                == "\"dns.test\" is not an IPv4 or IPv6 address"
        )
        let nameless = DNSOverHTTPS(.https(["192.0.2.1"], name: "a b"))
        #expect(try await nameless.complaint().hasPrefix("the server refused: the servers' name is invalid"))
    }

    @Test("A client resolves through the service and reports it, and the name remains the URL's")
    func client() async throws {
        let target = try FixtureServer.start(.tls(certificates: [testAuthority.certificate(for: "www.test")]))
        { _ in
            .text("hello")
        }
        let dns = try FixtureServer.dns { question in
            var reply = DNSReply.reply(to: question)
            if reply.type == 1 { reply.answers = [.a(DNSReply.question, "127.0.0.1")] }
            return reply
        }
        let service = DNSOverHTTPS(.insecureHTTP([dns.endpoint]), .trusting())
        let resolver = CachingResolver(ChainResolver(service, SystemResolver()), loop: .still)
        let client = HTTPClient {
            $0.loop = .still
            $0.tls.roots = .only([.der(testAuthority.rootDER)])
            $0.resolver = resolver
        }
        let first = try await client.get("https://www.test:\(target.port)/")
        #expect(first.transaction?.source == .resolver("DNS over HTTPS"))
        #expect(try await client.get("https://www.test:\(target.port)/").text == "hello")
        #expect(dns.requests.count == 2)
        #expect(target.requests.first?.serverName == "www.test")
    }

    @Test("Servers that answered last come first, and failed ones last")
    func order() {
        var rotation = ServerRotation(count: 3, badTime: 100)
        func at(_ time: UInt64) -> Instant { Instant(nanoseconds: time) }
        #expect(rotation.order(at: at(1)) == [0, 1, 2])
        rotation.recordFailure(of: 0, at: at(1))
        #expect(rotation.order(at: at(2)) == [1, 2, 0])
        rotation.recordFailure(of: 1, at: at(2))
        rotation.recordFailure(of: 2, at: at(3))
        #expect(rotation.order(at: at(4)) == [0, 1, 2])
        #expect(rotation.order(at: at(101)) == [0, 1, 2])
        rotation.noteSuccess(of: 2)
        #expect(rotation.order(at: at(101)) == [2, 0, 1])
        #expect(rotation.order(at: at(200)) == [2, 0, 1])
    }
}
