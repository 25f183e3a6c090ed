@testable import DirectCore
import DirectIO
@testable import DirectTransport
import Testing

@Suite("Places that are lent to requests")
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

    @Test("Urgent requests may exceed both limits by the places that are lent and one, and others may not")
    func bound() throws {
        var pool = FakePool(.init(perOrigin: 2, total: 2))
        let held = try [lease(&pool, a), lease(&pool, a)]
        _ = try ticket(&pool, a)
        for (_, origin) in held { pool.lend(origin, toAnyone: false) }
        #expect(pool.takeActions().grants.isEmpty)
        let urgent = try [a, b, b].map { try lease(&pool, $0, isUrgent: true) }
        _ = try ticket(&pool, a, isUrgent: true)
        _ = try ticket(&pool, b)
        #expect(pool.openCount == 5)
        // Those beyond the limits are not kept.
        for (member, origin) in urgent.reversed() { pool.checkIn(member, to: origin, at: now) }
        let actions = pool.takeActions()
        #expect(actions.close.count == 3)
        #expect(actions.grants.count == 1 && actions.grants.first?.member == nil)
        #expect(pool.openCount == 3)
    }

    @Test("An urgent request that waits is the next one, and goes on when a place is lent")
    func waiting() throws {
        var pool = FakePool(.init(perOrigin: 1))
        let (member, origin) = try lease(&pool, a)
        let other = try ticket(&pool, a)
        let urgent = try ticket(&pool, a, isUrgent: true)
        pool.lend(origin, toAnyone: false)
        #expect(pool.takeActions().grants.map(\.ticket) == [urgent])
        pool.release(origin)
        pool.reclaim(origin, fromAnyone: false)
        #expect(pool.takeActions().grants.isEmpty)
        pool.checkIn(member, to: origin, at: now)
        #expect(pool.takeActions().grants.map(\.ticket) == [other])
    }

    @Test("A place that is taken back before an urgent request has come is lent no longer")
    func reclaimed() throws {
        var pool = FakePool(.init(perOrigin: 1))
        let (_, origin) = try lease(&pool, a)
        pool.lend(origin, toAnyone: true)
        pool.reclaim(origin, fromAnyone: true)
        _ = try ticket(&pool, a, isUrgent: true)
        #expect(origin.lent.count == 0 && pool.lent.count == 0)
    }

    @Test(
        "With all places lent to anyone one other request at a time has a place, up to the limit once more",
        arguments: [PoolLimits(perOrigin: 2), PoolLimits(total: 2)]
    )
    func anyone(limits: PoolLimits) throws {
        var pool = FakePool(limits)
        var held = try [lease(&pool, a), lease(&pool, a)]
        let tickets = try (0..<3).map { _ in try ticket(&pool, a) }
        pool.lend(held[0].1, toAnyone: true)
        #expect(pool.takeActions().grants.isEmpty)
        for (index, ticket) in tickets.prefix(2).enumerated() {
            let origin = held[index + 1].1
            pool.lend(origin, toAnyone: true)
            #expect(pool.takeActions().grants.map(\.ticket) == [ticket])
            held.append((FakeMember(), origin))
            pool.admit(held[index + 2].0, to: origin, since: now)
        }
        pool.lend(held[3].1, toAnyone: true)
        #expect(pool.takeActions().grants.isEmpty && pool.openCount == 4)
        // An urgent one waits for none of them.
        _ = try lease(&pool, a, isUrgent: true)
    }

    @Test("An urgent request has a place beside the one request that is not")
    func both() throws {
        var pool = FakePool(.init(perOrigin: 1))
        let (_, origin) = try lease(&pool, a)
        pool.lend(origin, toAnyone: true)
        _ = try lease(&pool, a)
        _ = try ticket(&pool, a)
        _ = try lease(&pool, a, isUrgent: true)
        #expect(origin.open == 3)
    }
}
