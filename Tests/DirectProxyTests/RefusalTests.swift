import DirectCore
import DirectHTTP
import DirectIO
import DirectProxy
import DirectTestCommands
import DirectTestPeers
import DirectTestResolvers
import DirectTestTime
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite("Refusals of the proxy", .idleLimit)
struct RefusalTests {
    private let time = HeldTime()

    @Test(
        "A CONNECT that is none is refused with 400",
        arguments: [
            "CONNECT a.nowhere.test HTTP/1.1\r\n", "CONNECT a.nowhere.test: HTTP/1.1\r\n",
            "CONNECT a.nowhere.test:0 HTTP/1.1\r\n", "CONNECT a.nowhere.test:65536 HTTP/1.1\r\n",
            "CONNECT a.nowhere.test:+443 HTTP/1.1\r\n", "CONNECT u@a.nowhere.test:443 HTTP/1.1\r\n",
            "CONNECT a.nowhere.test:443/ HTTP/1.1\r\n", "CONNECT http://a.nowhere.test:443 HTTP/1.1\r\n",
            "CONNECT ::1:443 HTTP/1.1\r\n", "CONNECT [::1:443 HTTP/1.1\r\n",
            "CONNECT [1.2.3.4]:443 HTTP/1.1\r\n",
            "CONNECT 0x7f000001:443 HTTP/1.1\r\n", "CONNECT 2130706433:443 HTTP/1.1\r\n",
            "CONNECT [fe80::1%25lo]:443 HTTP/1.1\r\n", "CONNECT a.nowhere.test#b:443 HTTP/1.1\r\n",
            "CONNECT a.nowhere.test:443 HTTP/1.1\r\nContent-Length: 0\r\n",
            "CONNECT a.nowhere.test:443 HTTP/1.1\r\nContent-Length: 5\r\n",
            "CONNECT a.nowhere.test:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
            "CONNECT a.nowhere.test:443 HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "GET / HTTP/1.1\r\nHost: a.nowhere.test\r\n", "GET * HTTP/1.1\r\n", "\u{16}\u{3}\u{1}",
        ]
    )
    func forms(_ head: String) throws {
        #expect(try Stage().answer(head + "\r\n").hasPrefix("HTTP/1.1 400 "))
    }

    @Test(
        "Addresses that are not public are refused with 403 for a literal and for a resolver's answer",
        arguments: [
            "127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.1", "[::1]", "[fd00::1]",
            "0.0.0.0", "168.63.129.16",
            "[fe80::1]", "[::ffff:127.0.0.1]", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]",
            "[64:ff9b::a00:1]",
        ]
    )
    func privateAddresses(_ address: String) throws {
        let stage = try Stage { configuration, _ in
            configuration.resolver = ScriptedResolver("evil", [try Endpoint(address)])
        }
        for host in [address, "rebound.test"] {
            let answer = try stage.answer("CONNECT \(host):80 HTTP/1.1\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 403 "), "\(host): \(answer)")
            #expect(answer.hasSuffix("change the vetting\n"))
        }
    }

    @Test("The address that is dialled is judged, not one that was resolved before")
    func rebinding() throws {
        let asked = Locked(0)
        let stage = try Stage { configuration, _ in
            configuration.resolver = ScriptedResolver { _, _ in
                let isFirst = asked.withLock { count in
                    count += 1
                    return count == 1
                }
                return Resolution([isFirst ? "203.0.113.1" : "127.0.0.1"], source: .resolver("rebinding"))
            }
            configuration.vetting = AddressVetting { address, _, _ in
                address == IPAddress("203.0.113.1")
                    ? AddressRefusal(address, "first") : AddressRefusal(address, "second")
            }
        }
        #expect(
            try stage.answer("CONNECT a.test:80 HTTP/1.1\r\n\r\n").contains(
                "203.0.113.1 may not be dialled: first"
            )
        )
        #expect(
            try stage.answer("CONNECT a.test:80 HTTP/1.1\r\n\r\n").contains(
                "127.0.0.1 may not be dialled: second"
            )
        )
    }

    @Test(
        "The proxy is no target of its own, by whatever name and address, even where all addresses are allowed",
        arguments: [
            "127.0.0.1", "127.0.0.2", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]", "own.test", "localhost",
        ]
    )
    func itself(_ host: String) throws {
        let stage = try Stage { configuration, _ in
            configuration.vetting = nil
            configuration.addresses = try StaticMap(curl: ["own.test:*:127.0.0.1"])
        }
        let port = try #require(stage.proxy.endpoints.first?.port)
        let answer = try stage.answer("CONNECT \(host):\(port) HTTP/1.1\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 403 "))
        #expect(answer.hasSuffix("its port there is this proxy itself\n"))
    }

    @Test("Private addresses are dialled where the settings allow them")
    func allowed() throws {
        let stage = try Stage { configuration, _ in configuration.vetting = nil }
        let (program, far) = try stage.tunnel(to: "\(stage.target.address):\(stage.target.port)")
        try far.send("x")
        #expect(try program.text(1) == "x")
    }

    @Test("A host without an address is refused with 502 and the resolver's reason")
    func unknownHost() throws {
        let stage = try Stage { configuration, _ in
            configuration.resolver = ScriptedResolver("the resolver", .noSuchName)
        }
        let answer = try stage.answer("CONNECT none.test:443 HTTP/1.1\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 502 "))
        #expect(
            answer.hasSuffix(
                "none.test:443: the resolver: the name does not exist; name its address in the map\n"
            )
        )
    }

    @Test(
        "Hosts that no map names are refused with 403 where others are, literals too",
        arguments: ["a.test", "1.1.1.1"]
    )
    func others(_ host: String) throws {
        let stage = try Stage { configuration, _ in configuration.others = .refused }
        let answer = try stage.answer("CONNECT \(host):443 HTTP/1.1\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 403 "))
        #expect(answer.contains("name it in a map"))
    }

    @Test("The resolver is asked for matching names alone")
    func matching() throws {
        let resolver = ScriptedResolver("the resolver", .noSuchName)
        let stage = try Stage { configuration, _ in
            configuration.resolver = resolver
            configuration.matching = [try HostPattern("*.asked.test"), try HostPattern("only.test")]
            configuration.others = .refused
        }
        for host in ["a.asked.test", "asked.test", "only.test", "b.only.test"] {
            _ = try stage.answer("CONNECT \(host):443 HTTP/1.1\r\n\r\n")
        }
        #expect(resolver.asked == ["a.asked.test:443", "only.test:443"])
    }

    @Test("Beyond the number of tunnels a program gets 503, and a tunnel again when one has ended")
    func tunnels() async throws {
        let stage = try Stage { configuration, _ in configuration.limits.tunnels = 1 }
        let (program, far) = try stage.tunnel()
        let answer = try stage.answer("CONNECT \(Stage.name) HTTP/1.1\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 503 "))
        #expect(answer.hasSuffix("raise limits.tunnels\n"))
        _ = try stage.answer("GET http://\(Stage.name)/ HTTP/1.1\r\nHost: \(Stage.name)\r\n\r\n")
        #expect(await stage.reports(2).map(\.target) == [Stage.name, Stage.name])
        program.finishSending()
        far.finishSending()
        _ = await stage.reports(3)
        while stage.proxy.tunnelCount > 0 { await Task.yield() }
        _ = try stage.tunnel()
    }

    @Test(
        "Beyond the number of programs without a request the one that has waited longest is refused with 503"
    )
    func waiting() async throws {
        let stage = try Stage { configuration, _ in
            configuration.loop = time.loop
            configuration.limits.waiting = 1
        }
        let slow = try stage.program()
        try slow.send("CONNECT a.")
        _ = try stage.tunnel()
        #expect(try slow.rest().hasPrefix("HTTP/1.1 503 "))
        guard case .refused(503, let line) = await stage.reports(1).first?.ending else {
            return #expect(Bool(false))
        }
        #expect(line.contains("raise limits.waiting"))
    }

    @Test("A head that is slow is refused with 408")
    func slowHead() async throws {
        let stage = try Stage { configuration, _ in
            configuration.loop = time.loop
            configuration.limits.head = .seconds(44)
        }
        let slow = try stage.program()
        try slow.send("CONNECT a.")
        try await time.waitBegins(for: .seconds(44))
        time.advance(by: .seconds(44))
        #expect(try slow.rest().hasPrefix("HTTP/1.1 408 "))
    }

    @Test("An upstream proxy that is the proxy itself is not dialled")
    func ownUpstream() throws {
        // The address is this test's alone: a port that was free there stays so.
        let free = try { () throws -> Endpoint in
            let listener = try Listener.atOwnAddress()
            return Endpoint(listener.address, port: listener.port)
        }()
        let stage = try Stage { configuration, _ in
            configuration.listen = [free]
            configuration.upstream = try Proxy("http://\(free)")
        }
        for request in ["CONNECT \(Stage.name)", "CONNECT 1.1.1.1:80", "GET http://1.1.1.1/"] {
            let answer = try stage.answer("\(request) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 403 "), "\(answer)")
            #expect(answer.hasSuffix("its port there is this proxy itself\n"))
        }
    }

    @Test("Programs that send nothing leave descriptors to others", .ownProcess)
    func silent() async {
        await #expect(processExitsWith: .success) {
            // A quarter of these are for them. Both ends are in this process, so there are plenty left.
            allowDescriptors(256)
            let stage = try Stage { configuration, _ in configuration.loop = HeldTime().loop }
            let programs = try (0...64).map { _ in try stage.program() }
            try #require(try programs[0].rest().hasPrefix("HTTP/1.1 503 "))
            try programs[64].send("CONNECT \(Stage.name) HTTP/1.1\r\n\r\n")
            try #require(try programs[64].text(12) == "HTTP/1.1 200")
        }
    }

    @Test("A program that finds no descriptor left is told so with 503", .ownProcess)
    func descriptors() async {
        await #expect(processExitsWith: .success) {
            allowDescriptors(64)
            let stage = try Stage { configuration, _ in configuration.limits.dial = .seconds(4) }
            var programs: [Peer] = []
            var answer = ""
            repeat {
                let program = try stage.program()
                try program.send("CONNECT \(Stage.name) HTTP/1.1\r\n\r\n")
                answer = try program.text(12)
                if answer != "HTTP/1.1 200" { answer += try program.rest() }
                programs.append(program)
            } while answer == "HTTP/1.1 200"
            try #require(answer.hasPrefix("HTTP/1.1 503 "), "\(answer)")
            try #require(answer.hasSuffix("raise the limit of open files (ulimit -n)\n"))
        }
    }

    @Test("A head beyond its limit is refused with 431 before it is complete")
    func largeHead() throws {
        let stage = try Stage { configuration, _ in configuration.limits.headBytes = 8192 }
        let field = "A: \(String(repeating: "x", count: 4000))\r\n"
        let answer = try stage.answer("CONNECT \(Stage.name) HTTP/1.1\r\n\(field)\(field)\(field)")
        #expect(answer.hasPrefix("HTTP/1.1 431 "))
    }

    @Test("A line may be as long as the head")
    func longLine() throws {
        let stage = try Stage { configuration, _ in configuration.limits.headBytes = 100_000 }
        let field = "A: \(String(repeating: "x", count: 90_000))\r\n"
        let program = try stage.program()
        try program.send("CONNECT \(Stage.name) HTTP/1.1\r\n\(field)\r\n")
        #expect(try program.text(12) == "HTTP/1.1 200")
    }

    @Test(
        "A target that refuses the connection is 502, and the answer and the report name the addresses",
        arguments: ["CONNECT \(Stage.name)", "GET http://\(Stage.name)/"]
    )
    func refusedConnection(request: String) async throws {
        let dead = [try Listener(listening: false), try Listener(listening: false)]
        let endpoints = dead.map { Endpoint($0.address, port: $0.port) }
        let stage = try Stage { configuration, _ in
            let list = endpoints.map(\.description).joined(separator: ",")
            configuration.addresses = try StaticMap(curl: ["*:*:\(list)"])
        }
        let answer = try stage.answer("\(request) HTTP/1.1\r\nHost: \(Stage.name)\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 502 "))
        #expect(endpoints.contains { answer.contains("\(Stage.name) at \($0): connect: ") }, "\(answer)")
        let report = try #require(await stage.reports(1).first)
        #expect(report.failed == endpoints && report.source == .staticMap && report.endpoint == nil)
    }

    @Test("A target that does not answer in HTTP is 502, with its address")
    func noHTTP() async throws {
        let stage = try Stage()
        let program = try stage.program()
        try program.send("GET http://\(Stage.name)/ HTTP/1.1\r\nHost: \(Stage.name)\r\n\r\n")
        let far = try stage.target.accept()
        try far.send("SSH-2.0-x\r\n")
        #expect(try program.rest().hasPrefix("HTTP/1.1 502 "))
        let report = try #require(await stage.reports(1).first)
        #expect(report.endpoint == Endpoint(stage.target.address, port: stage.target.port))
        #expect(report.source == .staticMap && report.failed.isEmpty)
    }
}
