import DirectCore
import DirectHTTP
import DirectIO
import DirectResolvers
import Foundation
import TLSFixtures

/// The cost of a dead address, a changed one and many callers, over loopback; figures for docs/Resolvers.md.
extension DiallingCosts {
    /// A name with three addresses, the first of which does not answer: how much later than from the second
    /// alone the response comes. curl beside it.
    static func measureFailover(rounds: Int) async throws {
        let addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.4"]
        let port = try SharedPort(on: addresses)
        let authority = TestAuthority()
        let dead = try FixtureServer.unresponsive(on: addresses[0], port: port.number)
        let alive = try addresses.dropFirst().map {
            try FixtureServer.start(.tls(authority.certificate(for: "a.test")), on: $0, port: port.number) {
                _ in
                .text("hello", ["Connection": "close"])
            }
        }
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pem")
        try Data(authority.rootPEM.utf8).write(to: root)
        defer { try? FileManager.default.removeItem(at: root) }
        let url = "https://a.test:\(port.number)/"
        var (ours, own, theirs, theirOwn): ([Duration], [Duration], [Duration], [Duration]) = ([], [], [], [])
        for _ in 0..<rounds {
            own.append(try await timeOfGet(url, at: Array(addresses[1...1]), trusting: authority))
            ours.append(try await timeOfGet(url, at: addresses, trusting: authority))
        }
        for _ in 0..<min(rounds, 3) {
            theirOwn.append(
                try timeOfCurl(url, port: port.number, at: Array(addresses[1...1]), root: root.path)
            )
            theirs.append(try timeOfCurl(url, port: port.number, at: addresses, root: root.path))
        }
        print("first of three silent: \(spread(ours)); the second alone: \(spread(own))")
        print("later than the second alone: \(spread(zip(ours, own).map { $0 - $1 }))")
        print("curl --connect-timeout 10: \(spread(theirs)); the second alone: \(spread(theirOwn))")
        withExtendedLifetime((dead, alive)) {}
    }

    /// A client of its own each time: nothing is remembered, no connection kept.
    private static func timeOfGet(
        _ url: String,
        at addresses: [String],
        trusting authority: TestAuthority
    ) async throws -> Duration {
        let client = HTTPClient { $0.tls.roots = .only([.der(authority.rootDER)]) }
        var request = Request(.get, url)
        request.addresses = addresses.map { Endpoint(stringLiteral: $0) }
        let start = ContinuousClock.now
        let response = try await client.fetch(request)
        let time = ContinuousClock.now - start
        guard response.text == "hello" else { throw MeasureError("a wrong response") }
        return time
    }

    private static func timeOfCurl(
        _ url: String,
        port: UInt16,
        at addresses: [String],
        root: String
    ) throws -> Duration {
        let curl = Process()
        curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        curl.arguments = [
            "curl", "-sS", "--cacert", root, "--connect-timeout", "10", "-o", "/dev/null", "-w",
            "%{time_total}",
            "--resolve", "a.test:\(port):\(addresses.joined(separator: ","))", url,
        ]
        let output = Pipe()
        curl.standardOutput = output
        try curl.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        curl.waitUntilExit()
        guard curl.terminationStatus == 0, let seconds = Double(text) else {
            throw MeasureError("curl failed with status \(curl.terminationStatus)")
        }
        return .seconds(seconds)
    }

    /// A thousand requests a second on fifty connections for so many seconds, in whose midst the map turns
    /// from one server to another.
    static func measureFlip(seconds: Int) async throws {
        let (workers, interval) = (50, Duration.milliseconds(50))
        let authority = TestAuthority()
        func server(at address: String, saying text: String) throws -> FixtureServer {
            try FixtureServer.start(.tls(authority.certificate(for: "a.test")), on: address) { _ in
                // So long that nearly all connections are busy when the map turns.
                usleep(30_000)
                return .text(text)
            }
        }
        let (a, b) = (try server(at: "127.0.0.2", saying: "A"), try server(at: "127.0.0.3", saying: "B"))
        let live = LiveMap()
        try live.update { try $0.set([endpoint(of: a)], for: HostPattern("a.test")) }
        let client = HTTPClient {
            $0.tls.roots = .only([.der(authority.rootDER)])
            $0.resolver = live
            $0.maximumConnectionsPerOrigin = workers
        }
        try await client.prewarm("https://a.test/", connections: workers)
        let turned = Locked<ContinuousClock.Instant?>(nil)
        let start = ContinuousClock.now
        let tally = await withTaskGroup(of: FlipTally.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var tally = FlipTally()
                    var due = start + interval * worker / workers
                    while due - start < .seconds(seconds) {
                        try? await Task.sleep(until: due, clock: .continuous)
                        due += interval
                        let isAfter = turned.withLock { $0 != nil }
                        tally.note(try? await client.get("https://a.test/").text, isAfter: isAfter)
                    }
                    return tally
                }
            }
            try? await Task.sleep(until: start + .seconds(seconds) / 2, clock: .continuous)
            try? live.update { try $0.set([endpoint(of: b)], for: HostPattern("a.test")) }
            turned.withLock { $0 = .now }
            return await group.reduce(into: FlipTally()) { $0.add($1) }
        }
        let time = ContinuousClock.now - start
        print(
            "\(tally.count) requests in \(time): \(Int(Double(tally.count) / (time / .seconds(1)))) a second,",
            "on at most \(a.records.count) and \(b.records.count) connections"
        )
        print(
            "before the turn \(tally.before), after it \(tally.after) and of these \(tally.late) to where it led before;",
            "\(tally.failed) failed"
        )
        let left = a.records.filter { $0.end == nil }.count
        print("connections still open to where it led before: \(left)")
        guard tally.late == 0, tally.failed == 0, left == 0 else { fail("the bar is not met") }
    }

    /// So many tasks that ask for one name at the same time.
    static func measureWaiters(_ count: Int) async throws {
        let asked = Locked(0)
        let cache = CachingResolver(Slow(asked))
        let host = try DomainName("a.test")
        let start = ContinuousClock.now
        let result = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await cache.resolve(host, port: 443, context: ResolveContext()).endpoints.count
                }
            }
            return try await group.reduce(0, +)
        }
        let queries = asked.withLock { $0 }
        print(
            "\(count) waiters: \(queries) query, \(result) answers, \(ContinuousClock.now - start) with its 200 ms"
        )
        guard queries == 1, result == count else { fail("the bar is not met") }
    }

    private static func endpoint(of server: FixtureServer) -> Endpoint {
        Endpoint(stringLiteral: server.authority)
    }

    /// The median, with the smallest and the largest.
    private static func spread(_ times: [Duration]) -> String {
        let sorted = times.sorted()
        guard let least = sorted.first, let most = sorted.last else { return "-" }
        return
            "\(inMilliseconds(sorted[sorted.count / 2])) (\(inMilliseconds(least)) to \(inMilliseconds(most)))"
    }

    private static func inMilliseconds(_ time: Duration) -> String {
        String(format: "%.1f ms", time / .milliseconds(1))
    }
}

/// The results of the requests of one worker, or of all.
private struct FlipTally: Sendable {
    var before = 0
    var after = 0
    /// Begun after the turn, and answered by the server from before it.
    var late = 0
    var failed = 0

    var count: Int { before + after }

    mutating func note(_ text: String?, isAfter: Bool) {
        if isAfter { after += 1 } else { before += 1 }
        if text == nil { failed += 1 }
        if isAfter, text == "A" { late += 1 }
    }

    mutating func add(_ other: FlipTally) {
        before += other.before
        after += other.after
        late += other.late
        failed += other.failed
    }
}

/// Answers late, so that all callers have asked before.
private struct Slow: Resolver {
    let asked: Locked<Int>
    var name: String { "slow" }

    init(_ asked: Locked<Int>) {
        self.asked = asked
    }

    func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        asked.withLock { $0 += 1 }
        try await Task.sleep(for: .milliseconds(200))
        return Resolution(["192.0.2.1"], source: .resolver(name))
    }
}
