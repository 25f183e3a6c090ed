import DirectCore
import DirectHTTP
import DirectIO
import DirectResolvers
import Foundation
import TLSFixtures

/// Measures what dialling and resolvers cost, for docs/Resolvers.md (scripts/bench dialling).
///
///     dialling messages|map|cache|waiters|failover|flip COUNT
@main
enum DiallingCosts {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        do {
            guard let kind = words.first, let count = words.dropFirst().first.flatMap({ Int($0) }) else {
                throw MeasureError("usage: dialling messages|map|cache|waiters|failover|flip COUNT")
            }
            switch kind {
            case "messages": try readMessages(count)
            case "map", "cache": try await lookUpNames(count, in: kind)
            case "waiters": try await measureWaiters(count)
            case "failover": try await measureFailover(rounds: count)
            case "flip": try await measureFlip(seconds: count)
            default: throw MeasureError("there is no measure \(kind)")
            }
        } catch {
            fail("\(error)")
        }
    }

    /// Ends the run: a limit is missed, or it gives no figures.
    static func fail(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("dialling: \(reason)\n".utf8))
        exit(1)
    }

    /// Reads a message with two addresses again and again.
    private static func readMessages(_ count: Int) throws {
        let host = try DomainName("www.example.com")
        let a: [UInt8] = [0xC0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 1]
        let head: [UInt8] = [0, 0, 0x81, 0x80, 0, 1, 0, 2, 0, 0, 0, 0]
        let bytes = head + Array("\u{3}www\u{7}example\u{3}com\u{0}".utf8) + [0, 1, 0, 1] + a + a
        var addresses = 0
        let start = clock()
        for _ in 0..<count { addresses += try DNSAnswer(bytes, to: host, type: DNSType.a).addresses.count }
        let time = Duration.microseconds(Int64(clock() - start))
        let rate = Int(Double(count) / (time / .seconds(1)))
        print("\(count) messages of \(bytes.count) bytes in \(time): \(rate) a second, \(addresses)")
    }

    /// Fills a map, or a cache, with names of 24 bytes and two addresses each, and looks every one of them
    /// up.
    static func lookUpNames(_ count: Int, in kind: String) async throws {
        let before = residentKibibytes()
        if kind == "map" {
            var map = StaticMap()
            for number in 0..<count { try map.set(endpoints(number), for: .host(.name(name(number)))) }
            try report(count, since: before) { map.endpoints(for: .name($0), port: 443)?.count }
        } else {
            let cache = CachingResolver(Numbered())
            await cache.warmUp((0..<count).lazy.compactMap { try? name($0) })
            let context = ResolveContext()
            try report(count, since: before) {
                try cache.knownAnswer(for: $0, port: 443, context: context)?.endpoints.count
            }
        }
    }

    private static func report(_ count: Int, since before: Int, by lookUp: (DomainName) throws -> Int?) throws
    {
        let memory = residentKibibytes() - before
        let names = try (0..<min(count, 20_000)).map { try name($0 * 7919 % count) }
        var found = 0
        let rounds = 20
        let start = clock()
        for _ in 0..<rounds { for name in names { found += try lookUp(name) ?? 0 } }
        let time = Duration.microseconds(Int64(clock() - start))
        let each = time / (rounds * names.count)
        print("\(count) names: \(memory) KiB more resident, \(each) a look-up, \(found) endpoints")
    }

    fileprivate static func name(_ number: Int) throws -> DomainName {
        let digits = String(number)
        return try DomainName("host-\(String(repeating: "0", count: 6 - digits.count))\(digits).example.com")
    }

    fileprivate static func endpoints(_ number: Int) -> [Endpoint] {
        let bytes = [10, UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
        return [IPAddress(bytes: bytes), IPAddress(bytes: [UInt8](repeating: 0x20, count: 12) + bytes)]
            .compactMap { $0.map { Endpoint($0) } }
    }

    /// Free memory that the allocator keeps for later does not count.
    private static func residentKibibytes() -> Int {
        trimHeap()
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        return (fields.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * 4
    }
}

/// The figures cannot be measured.
struct MeasureError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Knows the address of every name of the measure.
private struct Numbered: Resolver {
    var name: String { "numbered" }
    var dependsOnPort: Bool { false }

    func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        let number = Int(host.text.dropFirst(5).prefix(6)) ?? 0
        return Resolution(
            DiallingCosts.endpoints(number),
            timeToLive: .seconds(3600),
            source: .resolver(name)
        )
    }
}

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
