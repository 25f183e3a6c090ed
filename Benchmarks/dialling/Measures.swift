import DirectCore
import DirectHTTP
import DirectIO
import DirectResolvers
import Foundation

/// Measures what dialling and resolvers cost, for docs/Resolvers.md (scripts/verify/dialling).
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
