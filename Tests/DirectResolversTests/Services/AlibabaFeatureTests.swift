import DirectCore
import DirectHTTP
import DirectIO
import DirectTestCommands
import DirectTestResolvers
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectResolvers

@Suite("Features of Alibaba's services", .idleLimit)
struct AlibabaFeatureTests {
    private static let answer = #"{"host":"a.test","ips":["192.0.2.1"],"ttl":57}"#
    private let names = ["a", "b", "c", "d", "e", "f", "g"].map { DomainName.test("\($0).test") }

    @Test("SDNS parameters are sent in both versions, and signed in version 2")
    func sdns() throws {
        let time = UnixTime(seconds: 1_700_000_000)
        let custom = SDNSParameters(values: ["region": "north"])
        let two = AlibabaTwoFormat(
            account: "100000",
            secret: Secret("secret"),
            clientAddress: nil,
            custom: custom
        )
        let target = try two.questions(.test("a.test"), families: .both, at: time)[0].target
        // by openssl dgst -sha256 -hmac secret, of
        // "dn=a.test&exp=1700000300&id=100000&m=0&q=4,6&sdns-region=north&v=1.0"
        #expect(
            target.hasSuffix(
                "&sdns-region=north&s=54eb09959f2e5ce6495639581798edea40105a1326a1e92831c3d6c10e598400"
            )
        )
        let plain = SDNSParameters(values: ["b_2": "x=y/z", "A-1": "1"])
        let one = AlibabaOneFormat(account: "100000", secret: nil, clientAddress: nil, custom: plain)
        #expect(
            try one.questions(.test("a.test"), families: .v4, at: time)[0].target
                == "/100000/d?host=a.test&query=4&sdns-A-1=1&sdns-b_2=x%3Dy%2Fz"
        )
    }

    /// A service whose clock is ahead by so many seconds, and which takes signatures of five minutes.
    private func clockServer(_ security: FixtureSecurity, ahead seconds: Int64, of loop: EventLoop) throws
        -> FixtureServer
    {
        try FixtureServer.start(security) { request in
            let now = loop.date.advanced(bySeconds: seconds)
            let end = request.query?.split(separator: "&").first { $0.hasPrefix("t=") }?.dropFirst(2)
            let left = (end.flatMap { Int64($0) } ?? 0) - now.seconds
            let date: FixtureHeaders = ["Date": HTTPDate.text(now)]
            guard (0...600).contains(left) else {
                return .text(#"{"code":"SignatureExpired"}"#, status: 403, date)
            }
            return .text(Self.answer, status: 200, date)
        }
    }

    @Test(
        "A signature that a wrong clock has spoiled is made anew by the server's, over https, within a day",
        arguments: [(3600, 2), (-80_000, 2), (200_000, 1), (0, 1)]
    )
    func serverTime(ahead: Int64, requests: Int) async throws {
        let loop = EventLoop.still
        for isSecure in [true, false] {
            let identity = [testAuthority.certificate(for: "127.0.0.1")]
            let security: FixtureSecurity = isSecure ? .tls(certificates: identity) : .plain
            let server = try clockServer(security, ahead: ahead, of: loop)
            let servers: ServiceServers =
                isSecure ? .https([server.endpoint]) : .insecureHTTP([server.endpoint])
            let resolver = AlibabaHTTPDNS(
                account: "1",
                secret: "s",
                servers,
                .trusting { ($0.loop, $0.maximumAttempts) = (loop, 1) }
            )
            let isRight = ahead == 0 || isSecure && requests == 2
            #expect((try? await resolver.answer(on: loop).endpoints) == (isRight ? ["192.0.2.1"] : nil))
            #expect(server.requests.count == (isSecure ? requests : 1))
            guard isRight else { continue }
            // It is known now.
            _ = try await resolver.answer(on: loop)
            #expect(server.requests.count == (isSecure ? requests : 1) + 1)
        }
    }

    @Test("A malformed address of one family does not take the other's, and the answer lacks that family")
    func oneFamilyMalformed() async throws {
        let texts: [(AlibabaHTTPDNS.Version, String)] = [
            (.one, #"{"host":"a.test","ips":["192.0.2.1"],"ipsv6":["zz"],"ttl":57}"#),
            (
                .two,
                #"{"code":"success","data":{"answers":[{"dn":"a.test","v4":{"ips":["192.0.2.1"],"ttl":57},"#
                    + #""v6":{"ips":["fe80::1%eth0"],"ttl":57}}]}}"#
            ),
        ]
        for (version, text) in texts {
            let server = try FixtureServer.saying(text)
            let servers = ServiceServers.insecureHTTP([server.endpoint])
            let answer = try await AlibabaHTTPDNS(account: "1", servers, version: version, .trusting())
                .answer()
            #expect(answer.endpoints == ["192.0.2.1"] && answer.lacks == .family)
        }
    }

    @Test("SDNS parameters that would change the query or its signature are refused, and not quoted")
    func badSDNS() async throws {
        let server = try FixtureServer.saying(Self.answer)
        let wrong: [[String: String]] = [
            ["": "1"], ["a b": "1"], ["a&b": "1"], ["ключ": "1"], ["k": "a&b"], ["k": "hunter2 "], ["k": "é"],
        ]
        for version in [AlibabaHTTPDNS.Version.one, .two] {
            for sdns in wrong {
                let servers = ServiceServers.insecureHTTP([server.endpoint])
                let resolver = AlibabaHTTPDNS(
                    account: "1",
                    servers,
                    version: version,
                    sdns: sdns,
                    .trusting()
                )
                let complaint = try await resolver.complaint()
                #expect(complaint.contains("an SDNS ") && !complaint.contains("hunter2"))
                #expect(!complaint.contains("a&b"))
            }
        }
        #expect(server.requests.isEmpty)
    }

    /// Answers questions for several names, in the form of either version; `c.test` has no address.
    private func batchServer() throws -> FixtureServer {
        try FixtureServer.start { request in
            let parameters = (request.query ?? "").split(separator: "&").map {
                $0.split(separator: "=", maxSplits: 1)
            }
            func value(_ name: String) -> String? {
                parameters.first { $0.first == Substring(name) }?.last.map {
                    String($0).replacing("%2C", with: ",")
                }
            }
            if let names = value("dn")?.split(separator: ",") {
                let answers = names.map { name in
                    let list = name == "c.test" ? "" : "\"192.0.2.\(Array(name.utf8)[0])\""
                    return "{\"dn\":\"\(name)\",\"v4\":{\"ips\":[\(list)],\"ttl\":60}}"
                }
                return .text(
                    "{\"code\":\"success\",\"mode\":0,\"data\":{\"answers\":[\(answers.joined(separator: ","))]}}"
                )
            }
            // An entry for each name and type, as the service's own client for Android reads them.
            let answers = (value("host")?.split(separator: ",") ?? []).flatMap { name in
                let number = Array(name.utf8)[0]
                let v4 = name == "c.test" ? "" : "\"192.0.2.\(number)\""
                let v6 = name == "a.test" ? "\"2001:db8::1\"" : ""
                return [(v4, 1), (v6, 28)].map { list, type in
                    "{\"host\":\"\(name)\",\"client_ip\":\"1.2.3.4\",\"ips\":[\(list)],\"type\":\(type),\"ttl\":60}"
                }
            }
            return .text("{\"dns\":[\(answers.joined(separator: ","))]}")
        }
    }

    @Test("A cache is filled with five names a request, in both versions", arguments: [1, 2])
    func batch(_ version: Int) async throws {
        let server = try batchServer()
        let resolver = AlibabaHTTPDNS(
            account: "100000",
            .insecureHTTP([server.endpoint]),
            version: version == 1 ? .one : .two,
            .trusting()
        )
        let cache = CachingResolver(resolver, .init(), loop: .still)
        let failures = await cache.warmUp(names)
        #expect(failures.keys.map(\.text) == ["c.test"] && cache.count == 7)
        #expect(server.requests.count == 2)
        let first = cache.contents.first?.endpoints
        #expect(first == (version == 1 ? ["192.0.2.97", "2001:db8::1"] : ["192.0.2.97"]))
        if version == 1 {
            let targets = server.requests.map(\.target).sorted()
            #expect(
                targets == [
                    "/100000/resolve?host=a.test,b.test,c.test,d.test,e.test&query=4,6",
                    "/100000/resolve?host=f.test,g.test&query=4,6",
                ]
            )
        }
        // Known answers, also negative ones, are not asked for again.
        #expect(await cache.warmUp(names).keys.map(\.text) == ["c.test"] && server.requests.count == 2)
    }

    @Test("A name that is given twice is asked for once", arguments: [1, 2])
    func repeatedNames(_ version: Int) async throws {
        let server = try batchServer()
        let resolver = AlibabaHTTPDNS(
            account: "100000",
            .insecureHTTP([server.endpoint]),
            version: version == 1 ? .one : .two,
            .trusting()
        )
        let asked = [names[0], names[1], .test("A.test"), names[0], names[1], names[0]]
        let answers = await resolver.resolve(asked, port: 443, context: ResolveContext(on: .still))
        #expect(try answers[names[0]]?.get().endpoints.first == "192.0.2.97")
        #expect(try answers[names[1]]?.get().endpoints == ["192.0.2.98"])
        #expect(answers.count == 2 && server.requests.count == 1)
    }

    @Test("Questions for several names are signed as the service demands")
    func batchSignature() throws {
        let time = UnixTime(seconds: 1_700_000_000)
        let one = AlibabaOneFormat(account: "1", secret: Secret("secret"), clientAddress: nil)
        // md5 of "a.test,b.test-secret-1700000300", as md5sum has it
        #expect(
            try one.question(Array(names.prefix(2)), families: .v4, at: time).target
                == "/1/sign_resolve?host=a.test,b.test&query=4&t=1700000300&s=cbbe1176507446f46ebc358d6676e91d"
        )
        let two = AlibabaTwoFormat(account: "100000", secret: Secret("secret"), clientAddress: nil)
        #expect(
            try two.question(Array(names.prefix(2)), families: .both, at: time).target
                .hasSuffix("&s=df84403bdfc7743e4936d010e1c0ef933bf74bdebe55e34cf257ba11d956bd1a")
        )
    }

    @Test(
        "A name that is missing in an answer for several fails alone, and one that nobody asked for is ignored"
    )
    func missingName() async throws {
        let server = try FixtureServer.saying(
            #"{"dns":[{"host":"A.test","ips":["192.0.2.1"],"ttl":9},{"host":"evil.test","ips":["192.0.2.6"],"ttl":9}]}"#
        )
        let resolver = AlibabaHTTPDNS(account: "1", .insecureHTTP([server.endpoint]), .trusting())
        let asked = Array(names.prefix(2))
        let answers = await resolver.resolve(asked, port: 443, context: ResolveContext(on: .still))
        #expect(try answers[names[0]]?.get().endpoints == ["192.0.2.1"] && answers.count == 2)
        let error = try #require(throws: ResolverError.self) { try answers[names[1]]?.get() }
        #expect("\(error.reason)" == "the answer makes no sense: the answer does not have the name")
    }

    @Test("Queries of the public DNS with an account are signed")
    func publicDNS() async throws {
        let key = AlibabaDNSKey(account: "9000", id: "id", secret: Secret("secret"))
        // sha256 of "9000secret1700000000a.testid", as sha256sum has it
        #expect(
            try key.parameters(for: .test("a.test"), at: UnixTime(seconds: 1_700_000_000))
                == "&uid=9000&ak=id&key=54c6f6d5831423ff03673dc69f25852d62ea5642d7ae04d36a847259afdd472d&ts=1700000000"
        )
        let server = try FixtureServer.saying(
            #"{"Status":0,"Answer":[{"name":"a.test.","TTL":60,"type":1,"data":"192.0.2.1"}]}"#
        )
        let resolver = AlibabaPublicDNS(
            account: "9 0",
            accessKeyID: "i&d",
            accessKeySecret: "hunter2",
            .insecureHTTP([server.endpoint]),
            .trusting { $0.families = .v4 }
        )
        #expect(try await resolver.endpoints() == ["192.0.2.1"] && resolver.name == "Alibaba Public DNS")
        let target = try #require(server.requests.first?.target)
        #expect(
            target.hasPrefix("/resolve?name=a.test&type=1&uid=9%200&ak=i%26d&key=") && target.contains("&ts=")
        )
        #expect(!target.contains("hunter2"))
        #expect(AlibabaPublicDNS.servers.endpoints == ["223.5.5.5", "223.6.6.6"])
    }
}

@Suite("Servers that a service names", .idleLimit)
struct ServerListTests {
    private static let answer = #"{"host":"a.test","ips":["192.0.2.1"],"ttl":57}"#

    private let time = HeldTime()

    private func resolver(_ start: FixtureServer, every interval: Duration? = .seconds(28_800))
        -> AlibabaHTTPDNS
    {
        var settings = ServiceSettings()
        settings.loop = time.loop
        let servers = ServiceServers.insecureHTTP([start.endpoint])
        return AlibabaHTTPDNS(account: "100000", servers, updatingServersEvery: interval, settings)
    }

    private func ask(_ resolver: AlibabaHTTPDNS) async throws {
        _ = try await resolver.resolve(.test("a.test"), port: 443, context: ResolveContext(on: time.loop))
    }

    /// Two servers on one port: the first names the second.
    private func servers(_ list: @escaping @Sendable () -> FixtureReply) throws -> [FixtureServer] {
        try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"]) { request in
            request.path == "/100000/ss" ? list() : .text(Self.answer)
        }
    }

    private func paths(_ server: FixtureServer) -> [String] {
        server.requests.map { String($0.target.prefix { $0 != "?" }) }.sorted()
    }

    @Test("The first query goes to a given server, later ones to those that the service names")
    func update() async throws {
        let servers = try servers { .text(#"{"service_ip":["127.0.0.2"],"service_ipv6":["::1"]}"#) }
        let resolver = resolver(servers[0])
        try await ask(resolver)
        let port = servers[0].port
        let expected: [Endpoint] = [
            Endpoint(stringLiteral: "127.0.0.2:\(port)"), Endpoint(stringLiteral: "[::1]:\(port)"),
            servers[0].endpoint,
        ]
        while resolver.servers != expected { await Task.yield() }
        try await ask(resolver)
        #expect(paths(servers[0]) == ["/100000/d", "/100000/ss"] && paths(servers[1]) == ["/100000/d"])
        // Not before the interval is over.
        time.advance(by: .seconds(28_799))
        try await ask(resolver)
        #expect(paths(servers[1]) == ["/100000/d", "/100000/d"])
        time.advance(by: .seconds(1))
        try await ask(resolver)
        while servers.flatMap({ paths($0) }).count(where: { $0 == "/100000/ss" }) < 2 { await Task.yield() }
        // In another network the given servers come first again.
        resolver.forgetAll()
        #expect(resolver.servers == [servers[0].endpoint])
    }

    @Test("Without an interval the service is never asked for its servers")
    func fixed() async throws {
        let servers = try servers { .text(#"{"service_ip":["127.0.0.2"]}"#) }
        try await ask(resolver(servers[0], every: nil))
        #expect(paths(servers[0]) == ["/100000/d"])
    }

    @Test(
        "A list that is empty or malformed changes nothing, and is asked for again after a minute",
        arguments: [
            "{}", #"{"service_ip":[]}"#, #"{"service_ip":["a.test"]}"#, #"{"service_ip":["::1"]}"#, "[]", "",
            #"{"service_ip":"127.0.0.2"}"#,
        ]
    )
    func malformed(_ list: String) async throws {
        let count = Locked(0)
        let servers = try servers {
            count.withLock { $0 += 1 }
            return .text(list)
        }
        let resolver = resolver(servers[0])
        try await ask(resolver)
        while count.withLock({ $0 }) == 0 { await Task.yield() }
        // The update has ended when another one can begin.
        while count.withLock({ $0 }) == 1 {
            time.advance(by: .seconds(60))
            try await ask(resolver)
        }
        #expect(resolver.servers == [servers[0].endpoint])
    }

    @Test("A server list is pure: late outcomes, resets and failures of all servers")
    func list() throws {
        let given: [Endpoint] = ["192.0.2.1:80", "192.0.2.2:80"]
        var list = ServerList(given, badTime: 10, updatedEvery: 1_000_000_000_000)
        let start = Instant(nanoseconds: 100)
        let old = list.order(at: start)
        let first = list.beginUpdate(at: start)
        let version = try #require(first)
        #expect(list.beginUpdate(at: start) == nil)
        let named = ["192.0.2.9", "192.0.2.2", "192.0.2.9"].compactMap { IPAddress($0) }
        list.endUpdate(named, from: version, at: start)
        #expect(list.endpoints == ["192.0.2.9:80", "192.0.2.2:80", "192.0.2.1:80"])
        // An outcome of a server of the former list counts for none of this one.
        list.recordFailure(of: old[0], at: start)
        #expect(list.order(at: start).map(\.endpoint) == list.endpoints)
        list.recordFailure(of: list.order(at: start)[0], at: start)
        #expect(list.order(at: start).map(\.endpoint).last == "192.0.2.9:80")
        // If all fail the service is asked again, but not within a minute.
        list.recordFailureOfAll(at: start)
        #expect(list.beginUpdate(at: start.advanced(byNanoseconds: 59_999_999_999)) == nil)
        let later = start.advanced(byNanoseconds: 60_000_000_000)
        let next = list.beginUpdate(at: later)
        let second = try #require(next)
        list.forgetAll()
        list.endUpdate(named, from: second, at: later)
        #expect(list.endpoints == given && list.beginUpdate(at: later) != nil)
        var many = ServerList(given, badTime: 10, updatedEvery: 1)
        let addresses = (0..<100).compactMap { IPAddress("198.51.100.\($0)") }
        let manyVersion = many.beginUpdate(at: start)
        many.endUpdate(addresses, from: try #require(manyVersion), at: start)
        #expect(many.endpoints.count == 18)
    }
}
