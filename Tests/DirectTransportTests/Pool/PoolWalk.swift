@testable import DirectCore
import DirectHTTP1
import DirectIO
import DirectTestData
@testable import DirectTransport

/// A connection as far as the pool knows one.
final class FakeMember: PoolMember {
    var pooledState = PooledState()
    var createdAt = Instant(nanoseconds: 0)
    var keepAlive: KeepAliveHint?
    var tracksResolver = false
    var excess = 0
    let address: Endpoint
    var endpoint: Endpoint? { address }
    let source: AddressSource

    init(_ address: Endpoint = "10.0.0.1:443", _ source: AddressSource = .system) {
        self.address = address
        self.source = source
    }

    func serves(_ route: Route) -> Bool { route.allows(.endpoint(address), from: source) }
}

/// Uses a pool at random, and keeps its own simple books.
struct PoolWalk {
    private typealias FakePool = Pool<FakeMember>

    private struct Books {
        var idle: [FakeMember] = []
        var leased: [FakeMember] = []
        var dialling = 0
        /// The leased ones that have lent their places, and whether to anyone.
        var loans: [Bool] = []
        /// The urgent requests come first.
        var waiting: [(ticket: Int, isUrgent: Bool)] = []
        var origin: FakePool.Record?

        var open: Int { idle.count + leased.count + dialling }
        var isLentToAnyone: Bool { loans.count { $0 } == open }
    }

    private static let perOrigin = 3
    private static let idleLimit = 5
    private static let total = 9
    private static let uses = 12
    private static let idleTime: UInt64 = 40
    private static let addresses: [Endpoint] = ["10.0.0.1:443", "10.0.0.2:443"]

    private var pool = FakePool(
        .init(perOrigin: perOrigin, total: total, idle: idleLimit, idleTime: idleTime, uses: uses)
    )
    private var books: [PoolKey: Books] = [:]
    private var random: SplitMix64
    private var now: UInt64 = 0
    private let keys: [PoolKey]
    private(set) var fault: String?

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        keys = ["a.test", "b.test", "c.test", "d.test"].map {
            PoolKey(origin: Origin(scheme: .https, host: .init(name: $0), port: 443))
        }
    }

    mutating func step() {
        now += UInt64.random(in: 0...6, using: &random)
        let key = keys.randomElement(using: &random) ?? keys[0]
        switch Int.random(in: 0..<16, using: &random) {
        case 0..<5: checkOut(key, route(), isUrgent: Int.random(in: 0..<4, using: &random) == 0)
        case 5..<7: finishDialling(key)
        case 7..<9: checkIn(key)
        case 9: release(key)
        case 10: leave(key)
        case 11..<14: lend(key)
        case 14: reclaim(key)
        default: sweep()
        }
        compare()
    }

    /// All requests end: no connection and no place may be left.
    mutating func finish() {
        for key in keys {
            while let first = books[key]?.waiting.first, fault == nil {
                guard let origin = books[key]?.origin else { break }
                expect(pool.leave(first.ticket, of: origin), "a waiter was not known")
                books[key]?.waiting.removeFirst()
            }
        }
        for key in keys {
            while books[key]?.leased.isEmpty == false, fault == nil { release(key) }
            while (books[key]?.dialling ?? 0) > 0, fault == nil { release(key) }
        }
        now += Self.idleTime
        sweep()
        compare()
        expect(!pool.hasIdle, "idle connections are left")
        expect(pool.openCount == 0 && pool.lent.count == 0 && pool.lent.toAnyone == 0, "places are left")
        for key in keys {
            weak let origin = books[key]?.origin
            books[key] = nil
            expect(origin == nil, "an origin is kept")
        }
    }

    private mutating func route() -> Route {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .chosen([Self.addresses[0]], port: 443, source: .request)
        case 1: .chosen([Self.addresses[1]], port: 443, source: .request)
        case 2: .chosen(Self.addresses, port: 443, source: .request)
        default: .system
        }
    }

    private var instant: Instant { Instant(nanoseconds: now) }
    private var open: Int { books.values.reduce(0) { $0 + $1.open } }
    private var lent: Int { books.values.reduce(0) { $0 + $1.loans.count } }

    /// Whether one more connection may be open for a request.
    private func hasRoom(_ own: Books, isUrgent: Bool) -> Bool {
        let areAllLent = books.values.allSatisfy(\.isLentToAnyone)
        let most = Self.most(Self.perOrigin, own.loans.count, own.isLentToAnyone, isUrgent: isUrgent)
        return own.open < most && open < Self.most(Self.total, lent, areAllLent, isUrgent: isUrgent)
    }

    /// How many connections may be open beside so many places that are lent.
    private static func most(_ limit: Int, _ lent: Int, _ areAllLent: Bool, isUrgent: Bool) -> Int {
        if isUrgent { return lent > 0 ? limit + lent + 1 : limit }
        return areAllLent ? 2 * limit : limit
    }

    private mutating func lend(_ key: PoolKey) {
        guard let own = books[key], let origin = own.origin,
            own.loans.count < own.leased.count
        else { return }
        let isToAnyone = Int.random(in: 0..<4, using: &random) > 0
        books[key]?.loans.append(isToAnyone)
        pool.lend(origin, toAnyone: isToAnyone)
        honour(pool.takeActions().grants)
    }

    private mutating func reclaim(_ key: PoolKey) {
        guard let origin = books[key]?.origin, let loan = books[key]?.loans.popLast() else { return }
        pool.reclaim(origin, fromAnyone: loan)
        honour(pool.takeActions().grants)
    }

    /// A place is taken back before its lease ends.
    private mutating func reclaimLast(_ key: PoolKey) {
        if let own = books[key], own.loans.count == own.leased.count { reclaim(key) }
    }

    private mutating func checkOut(_ key: PoolKey, _ route: Route, isUrgent: Bool) {
        var own = books[key] ?? Books()
        let expected = own.idle.last { $0.serves(route) && $0.pooledState.expiry > instant }
        let oldest = own.idle.first
        let (turn, actions) = (
            pool.checkOut(key, route: route, isUrgent: isUrgent, at: instant), pool.takeActions()
        )
        for member in actions.close { forgetIdle(member) }
        own = books[key] ?? own
        switch turn {
        case .reuse(let member, let origin):
            expect(member === expected, "not the youngest that fits")
            own.idle.removeAll { $0 === member }
            own.leased.append(member)
            own.origin = origin
        case .dial(let origin):
            expect(expected == nil, "dials although one is idle")
            expect(hasRoom(own, isUrgent: isUrgent), "dials although all is full")
            if let close = actions.close.last, close !== oldest, close.pooledState.expiry > instant {
                expect(open >= Self.total - 1, "closes without need")
            }
            own.dialling += 1
            own.origin = origin
        case .wait(let ticket, let origin):
            let isFull = own.open >= Self.perOrigin && own.idle.isEmpty
            let areAllFull = open >= Self.total && books.values.allSatisfy(\.idle.isEmpty)
            expect(isFull || areAllFull, "waits without need")
            expect(!hasRoom(own, isUrgent: isUrgent), "waits although a place is lent")
            let place = isUrgent ? own.waiting.firstIndex { !$0.isUrgent } : nil
            own.waiting.insert((ticket, isUrgent), at: place ?? own.waiting.endIndex)
            own.origin = origin
        }
        books[key] = own
        honour(actions.grants)
    }

    private mutating func finishDialling(_ key: PoolKey) {
        guard var own = books[key], own.dialling > 0, let origin = own.origin else { return }
        own.dialling -= 1
        let endpoint = Self.addresses.randomElement(using: &random) ?? Self.addresses[0]
        let member = FakeMember(endpoint, Bool.random(using: &random) ? .system : .request)
        own.leased.append(member)
        pool.admit(member, to: origin, since: Instant(nanoseconds: 1))
        books[key] = own
    }

    private mutating func checkIn(_ key: PoolKey) {
        reclaimLast(key)
        guard var own = books[key], let origin = own.origin, let member = own.leased.popLast() else { return }
        books[key] = own
        let first = nextWaiter
        pool.checkIn(member, to: origin, at: instant)
        let actions = pool.takeActions()
        if actions.grants.first?.member === member {
            expect(first?.key == key, "handed over to another origin")
            own.leased.append(member)
            _ = own.waiting.removeFirst()
            books[key] = own
            expect(actions.close.isEmpty && actions.grants.count == 1, "handed over and more")
            return
        }
        let isSpent = member.pooledState.uses >= Self.uses
        let isTooMany = own.open >= Self.perOrigin || open >= Self.total
        if actions.close.contains(where: { $0 === member }) {
            expect(
                isSpent || isTooMany || first != nil || idleCount >= Self.idleLimit,
                "closes what is good"
            )
        } else {
            expect(first == nil && !isSpent && !isTooMany, "keeps what somebody waits for, or what is spent")
            own.idle.append(member)
            books[key] = own
        }
        for closed in actions.close where closed !== member {
            expect(closed.pooledState.since == oldestIdle, "closes not the longest idle of all")
            forgetIdle(closed)
        }
        honour(actions.grants)
    }

    private mutating func release(_ key: PoolKey) {
        reclaimLast(key)
        guard var own = books[key], let origin = own.origin else { return }
        if let member = own.leased.popLast() {
            pool.release(member, of: origin)
        } else {
            guard own.dialling > 0 else { return }
            own.dialling -= 1
            pool.release(origin)
        }
        books[key] = own
        honour(pool.takeActions().grants)
    }

    private mutating func leave(_ key: PoolKey) {
        guard var own = books[key], let origin = own.origin,
            let index = own.waiting.indices.randomElement(using: &random)
        else { return }
        expect(pool.leave(own.waiting[index].ticket, of: origin), "a waiter was not known")
        own.waiting.remove(at: index)
        books[key] = own
    }

    private mutating func sweep() {
        let victim = books.values.flatMap(\.idle).randomElement(using: &random)
        pool.sweep(at: instant) { member, _ in member === victim }
        let actions = pool.takeActions()
        for member in books.values.flatMap(\.idle) {
            let isDue = member.pooledState.since.nanoseconds + Self.idleTime <= now || member === victim
            expect(actions.close.contains { $0 === member } == isDue, "sweeps the wrong ones")
        }
        for member in actions.close { forgetIdle(member) }
        honour(actions.grants)
    }

    private var idleCount: Int { books.values.reduce(0) { $0 + $1.idle.count } }
    private var oldestIdle: Instant? { books.values.flatMap(\.idle).map(\.pooledState.since).min() }

    /// The request that is next when one more connection may be open.
    private var nextWaiter: (key: PoolKey, ticket: Int)? {
        books.compactMap { key, own in
            own.waiting.first.flatMap { hasRoom(own, isUrgent: $0.isUrgent) ? (key, $0.ticket) : nil }
        }
        .min { $0.1 < $1.1 }
    }

    /// Each permission to dial goes to the longest wait among the origins that have room.
    private mutating func honour(_ grants: [FakePool.Assignment]) {
        for grant in grants {
            let first = nextWaiter
            expect(grant.ticket == first?.ticket, "not the first in the queue, or no room")
            expect(grant.member == nil, "a connection out of nothing")
            guard let first else { return }
            books[first.key]?.waiting.removeFirst()
            books[first.key]?.dialling += 1
        }
        expect(nextWaiter == nil, "somebody waits without need")
    }

    private mutating func forgetIdle(_ member: FakeMember) {
        for key in keys { books[key]?.idle.removeAll { $0 === member } }
    }

    private mutating func compare() {
        var idle = 0
        for (key, own) in books {
            idle += own.idle.count
            guard let origin = own.origin else { continue }
            expect(own.open <= Self.perOrigin || own.idle.isEmpty, "keeps more than may be open")
            if own.open > 0 || !own.waiting.isEmpty {
                expect(origin.open == own.open, "\(origin.open) open instead of \(own.open)")
                expect(origin.idle.elementsEqual(own.idle) { $0 === $1 }, "other idle connections")
                expect(own.waiting.isEmpty || own.idle.isEmpty, "waits beside an idle connection")
                expect(origin.members.count == own.idle.count + own.leased.count, "other connections")
            } else {
                expect(origin.open == 0 && origin.idle.isEmpty, "an origin without connections has some")
                books[key]?.origin = nil
            }
        }
        expect(pool.hasIdle == (idle > 0), "hasIdle is wrong")
        expect(idle <= Self.idleLimit, "too many idle connections")
    }

    private mutating func expect(_ condition: Bool, _ what: String) {
        if !condition, fault == nil { fault = what }
    }
}

extension HTTPHost {
    /// A name that is known to be good.
    init(name: String) {
        do {
            try self.init(name)
        } catch {
            fatalError("\(name): \(error)")
        }
    }
}
