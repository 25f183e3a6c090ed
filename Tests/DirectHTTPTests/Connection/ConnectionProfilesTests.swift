import DirectIO
import DirectTLS
@testable import DirectTransport
import Testing

@testable import DirectHTTP

@Suite("The profiles of connections")
struct ConnectionProfilesTests {
    private let profiles = ConnectionProfiles(tls: TLSSettings(), socket: SocketOptions())

    private func box(_ number: Int) throws -> ConnectionSettings.Box {
        var settings = ConnectionSettings()
        settings.tls = TLSSettings()
        settings.tls?.roots = .only([.der([UInt8](repeating: 0, count: 10_000) + Array("\(number)".utf8))])
        return try #require(ConnectionSettings.Box(settings))
    }

    private func profile(_ number: Int) throws -> ConnectionProfile {
        try #require(profiles.profile(for: box(number), isAnonymous: false))
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
        let first = try profile(0).number
        for number in 1..<limit { _ = try profile(number) }
        #expect(try profile(0).number == first)
        let second = try profile(limit).number
        #expect(profiles.count == limit)
        #expect(try profile(0).number == first && profile(limit).number == second)
        #expect(try profile(1).number > second)
        for number in 1000..<2000 { _ = try profile(number) }
        #expect(profiles.count == limit)
    }

    @Test("Settings with the same samples of their bytes are still told apart")
    func equality() throws {
        #expect(try box(11) == box(11) && box(11).hashValue == box(11).hashValue)
        #expect(try box(11) != box(12))
        #expect(try profile(11) !== profile(12))
    }

    @Test("The keys of one origin hash apart by their profiles")
    func hash() throws {
        let origin = Origin(scheme: .https, host: try HTTPHost("a.test"), port: 443)
        let held = try (0..<100).map(profile)
        let hashes = held.map { PoolKey(origin: origin, profile: $0).hashValue }
        #expect(Set(hashes).count == 100)
    }
}
