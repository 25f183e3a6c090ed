@testable import DirectCore
import DirectIO
@testable import DirectTransport
import Testing

@Suite("Places that are lent to urgent requests")
struct LentPlaceTests {
    private typealias FakePool = Pool<FakeMember>

    private let a = PoolKey(origin: Origin(scheme: .https, host: .init(name: "a.test"), port: 443))
    private let b = PoolKey(origin: Origin(scheme: .https, host: .init(name: "b.test"), port: 443))
    private let now = Instant(nanoseconds: 1)

    /// Opens a connection, and returns it with its origin.
    private func lease(_ pool: inout FakePool, _ key: PoolKey, isUrgent: Bool = false) throws -> (
        FakeMember, FakePool.Record
    ) {
        let turn = pool.checkOut(key, route: .system, isUrgent: isUrgent, at: now)
        guard case .dial(let origin) = turn else { throw Unexpected() }
        let member = FakeMember()
        pool.admit(member, to: origin, since: now)
        return (member, origin)
    }

    private func ticket(_ pool: inout FakePool, _ key: PoolKey, isUrgent: Bool = false) throws -> Int {
        let turn = pool.checkOut(key, route: .system, isUrgent: isUrgent, at: now)
        guard case .wait(let ticket, _) = turn else { throw Unexpected() }
        return ticket
    }

    private struct Unexpected: Error {}

    @Test("An urgent request may exceed both limits by one for each place that is lent, and others may not")
    func bound() throws {
        var pool = FakePool(.init(perOrigin: 2, total: 2))
        let held = try [lease(&pool, a), lease(&pool, a)]
        _ = try ticket(&pool, a)
        for (_, origin) in held { pool.lend(origin) }
        #expect(pool.takeActions().grants.isEmpty)
        let urgent = try [lease(&pool, a, isUrgent: true), lease(&pool, b, isUrgent: true)]
        _ = try ticket(&pool, a, isUrgent: true)
        _ = try ticket(&pool, b)
        #expect(pool.openCount == 4)
        // Those beyond the limits are not kept.
        for (member, origin) in urgent.reversed() { pool.checkIn(member, to: origin, at: now) }
        let actions = pool.takeActions()
        #expect(actions.close.count == 2)
        #expect(actions.grants.count == 1 && actions.grants.first?.member == nil)
        #expect(pool.openCount == 3)
    }

    @Test("An urgent request that waits is the next one, and goes on when a place is lent")
    func waiting() throws {
        var pool = FakePool(.init(perOrigin: 1))
        let (member, origin) = try lease(&pool, a)
        let other = try ticket(&pool, a)
        let urgent = try ticket(&pool, a, isUrgent: true)
        pool.lend(origin)
        #expect(pool.takeActions().grants.map(\.ticket) == [urgent])
        pool.release(origin)
        pool.reclaim(origin)
        #expect(pool.takeActions().grants.isEmpty)
        pool.checkIn(member, to: origin, at: now)
        #expect(pool.takeActions().grants.map(\.ticket) == [other])
    }

    @Test("A place that is taken back before an urgent request has come is lent no longer")
    func reclaimed() throws {
        var pool = FakePool(.init(perOrigin: 1))
        let (_, origin) = try lease(&pool, a)
        pool.lend(origin)
        pool.reclaim(origin)
        _ = try ticket(&pool, a, isUrgent: true)
        #expect(origin.lent == 0 && pool.lentCount == 0)
    }
}
