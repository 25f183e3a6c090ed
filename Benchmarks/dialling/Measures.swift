import DirectCore
import DirectHTTP
import DirectIO
import DirectResolvers
import DirectTestData
import Foundation

/// Figures for docs/Resolvers.md, in processor time, and a run of mutated messages as long as one likes.
extension DiallingCosts {
    /// The measure of that name.
    static func measure(_ kind: String, count: Int) async throws {
        switch kind {
        case "messages": try readMessages(count)
        case "map", "cache": try await lookUpNames(count, in: kind)
        case "waiters": try await measureWaiters(count)
        case "failover": try await measureFailover(rounds: count)
        case "flip": try await measureFlip(seconds: count)
        default: throw MeasureError("there is no measure \(kind)")
        }
    }

    /// Reads `count` messages, each changed in a few places; ends with the process if one of them is too
    /// much.
    static func mutateMessages(_ count: Int, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let seeds = sampleMessages
        var (read, refused, addresses) = (0, 0, 0)
        let start = clock()
        for round in 0..<count {
            var bytes = seeds[round % seeds.count]
            for _ in 0...random.below(3) { mutate(&bytes, using: &random) }
            do throws(DNSMessageError) {
                let answer = try DNSAnswer(
                    DNSMessage(bytes),
                    type: random.below(2) == 0 ? DNSType.a : DNSType.aaaa
                )
                read += 1
                addresses += answer.addresses.count
            } catch {
                refused += 1
            }
        }
        let time = Duration.microseconds(Int64(clock() - start))
        print(
            "\(count) mutated messages in \(time) of processor time: \(read) read with \(addresses) addresses, \(refused) refused"
        )
    }

    /// Reads a small message again and again.
    static func readMessages(_ count: Int) throws {
        let bytes = sampleMessages[0]
        let host = try DomainName("www.example.com")
        var addresses = 0
        let start = clock()
        for _ in 0..<count { addresses += try DNSAnswer(bytes, to: host, type: DNSType.a).addresses.count }
        let time = Duration.microseconds(Int64(clock() - start))
        print(
            "\(count) messages of \(bytes.count) bytes in \(time) of processor time: \(perSecond(count, in: time)) a second, \(addresses)"
        )
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

    private static func perSecond(_ count: Int, in time: Duration) -> Int {
        Int(Double(count) / (time / .seconds(1)))
    }

    /// Free memory that the allocator keeps for later does not count.
    private static func residentKibibytes() -> Int {
        trimHeap()
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        return (fields.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * 4
    }

    private static func mutate(_ bytes: inout [UInt8], using random: inout SplitMix64) {
        guard !bytes.isEmpty else { return bytes.append(UInt8(random.below(256))) }
        let place = random.below(bytes.count)
        switch random.below(6) {
        case 0: bytes.remove(at: place)
        case 1: bytes.insert(UInt8(random.below(256)), at: place)
        case 2: bytes[place] = [0, 0xC0, 0xFF, 12, 63, 64, 1, 5][random.below(8)]
        case 3: bytes.removeLast(random.below(bytes.count))
        case 4: bytes += bytes.prefix(random.below(40))
        default: bytes[place] = UInt8(random.below(256))
        }
    }

    /// Two addresses, an alias with an address, two addresses of IPv6, and "no such name" with EDNS.
    private static let sampleMessages: [[UInt8]] = {
        let name = Array("\u{3}www\u{7}example\u{3}com\u{0}".utf8)
        func message(_ flags: UInt8, type: UInt8, counts: [UInt8], _ records: [UInt8]...) -> [UInt8] {
            [0, 0, 0x81, flags, 0, 1] + counts.flatMap { [0, $0] } + name + [0, type, 0, 1]
                + records.flatMap { $0 }
        }
        let a: [UInt8] = [0xC0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 1]
        let aaaa: [UInt8] = [0xC0, 12, 0, 28, 0, 1, 0, 0, 1, 44, 0, 16] + Array(repeating: 0x20, count: 16)
        let alias: [UInt8] = [0xC0, 12, 0, 5, 0, 1, 0, 0, 1, 44, 0, 6, 3, 0x63, 0x64, 0x6E, 0xC0, 16]
        let target: [UInt8] = [0xC0, 45, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 2]
        let options: [UInt8] = [0, 0, 41, 16, 0, 0, 0, 0, 0, 0, 0]
        return [
            message(0x80, type: 1, counts: [2, 0, 0], a, a),
            message(0x80, type: 1, counts: [2, 0, 0], alias, target),
            message(0x80, type: 28, counts: [2, 0, 0], aaaa, aaaa),
            message(0x83, type: 1, counts: [0, 0, 1], options),
        ]
    }()
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
