import DirectIO
import DirectTLS
@testable import DirectTransport
import Testing

@testable import DirectHTTP

@Suite("The profiles of connections")
struct ConnectionProfilesTests {
    private let profiles = ConnectionProfiles(tls: TLSSettings(), socket: SocketOptions())

    private func box(_ number: Int, behind zeros: Int = 0) throws -> ConnectionSettings.Box {
        var settings = ConnectionSettings()
        settings.tls = TLSSettings()
        settings.tls?.roots = .only([.der([UInt8](repeating: 0, count: zeros) + Array("\(number)".utf8))])
        return try #require(ConnectionSettings.Box(settings))
    }

    private func profile(_ number: Int) throws -> ConnectionProfile {
        try #require(profiles.profile(for: box(number), isAnonymous: false))
    }

    @Test("No limit on the bytes of certificates is too large")
    func largestLimit() {
        var tls = TLSSettings()
        for limit in [Int.max, .max / 4 + 1, -1, .min] {
            tls.maximumCertificateBytes = limit
            #expect(ConnectionProfiles(tls: tls, socket: SocketOptions()).count == 0)
        }
    }

    @Test("A profile is found for as long as something holds it, however many others have been used since")
    func held() throws {
        let held = try (0..<200).map(profile)
        for (number, profile) in held.enumerated() { #expect(try self.profile(number) === profile) }
        #expect(profiles.count == 200)
    }

    @Test("Of those that nothing holds the ones that were used last are kept")
    func recent() throws {
        let limit = ConnectionProfiles.limit
        weak let first = try profile(0)
        weak let second = try profile(1)
        for number in 2..<limit { _ = try profile(number) }
        #expect(try profile(0) === first)
        weak let last = try profile(limit)
        #expect(profiles.count == limit)
        #expect(try profile(0) === first && profile(limit) === last)
        #expect(second == nil)
        for number in 1000..<2000 { _ = try profile(number) }
        #expect(profiles.count == limit)
    }

    @Test("Settings whose hash is the same, because it is one of samples, are still told apart")
    func equality() throws {
        let (one, other) = (try box(11, behind: 10_000), try box(12, behind: 10_000))
        #expect(one.hashValue == other.hashValue && one != other)
        #expect(try one == box(11, behind: 10_000))
        #expect(
            profiles.profile(for: one, isAnonymous: false)
                !== profiles.profile(for: other, isAnonymous: false)
        )
    }

    @Test("The keys of one origin hash apart by their profiles")
    func hash() throws {
        let origin = Origin(scheme: .https, host: try HTTPHost("a.test"), port: 443)
        let held = try (0..<100).map(profile)
        let hashes = held.map { PoolKey(origin: origin, profile: $0).hashValue }
        #expect(Set(hashes).count == 100)
    }
}
