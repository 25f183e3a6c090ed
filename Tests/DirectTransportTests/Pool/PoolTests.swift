@testable import DirectCore
import DirectHTTP1
import DirectIO
import DirectTLS
@testable import DirectTransport
import Testing

@Suite("The pool's decisions")
struct PoolTests {
    private let a = PoolKey(origin: Origin(scheme: .https, host: .init(name: "a.test"), port: 443))
    private let b = PoolKey(origin: Origin(scheme: .https, host: .init(name: "b.test"), port: 443))

    private func at(_ seconds: UInt64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    /// The permit to dial that the test expects to get.
    private func dial(
        _ pool: FakePool,
        _ key: PoolKey,
        _ route: Route = .system,
        takingNothing isFresh: Bool = false
    ) throws -> FakePool.Machine.Record {
        guard case .dial(let origin) = pool.checkOut(key, route, isFresh ? .none : .any).turn else {
            throw Unexpected()
        }
        return origin
    }

    /// An answer of a resolver.
    private func answer(_ addresses: Endpoint...) -> Route {
        var choice = EndpointSelection(addresses, port: 443, .resolver("test"))
        choice.report = { _, _ in }
        return .chosen(choice)
    }

    private func follower(_ endpoint: Endpoint) -> FakeMember {
        let member = FakeMember(endpoint, .resolver("test"))
        member.tracksResolver = true
        return member
    }

    private func ticket(
        _ pool: FakePool,
        _ key: PoolKey,
        _ route: Route = .system
    ) throws -> FakePool.Machine.Ticket {
        guard case .wait(let ticket, _) = pool.checkOut(key, route).turn else { throw Unexpected() }
        return ticket
    }

    private func idle(
        _ pool: FakePool,
        _ key: PoolKey,
        since seconds: UInt64,
        _ member: FakeMember = FakeMember(),
        _ route: Route? = nil
    ) throws -> FakeMember {
        let route = route ?? .chosen([member.address], port: 443, source: .request)
        let origin = try dial(pool, key, route, takingNothing: true)
        pool.admit(member, to: origin)
        _ = pool.checkIn(member, to: origin, at: at(seconds))
        return member
    }

    private struct Unexpected: Error {}

    @Test("The connection used last is used first")
    func lastInFirstOut() throws {
        let pool = FakePool(.init())
        let first = try dial(pool, a), second = try dial(pool, a)
        let (old, young) = (FakeMember(), FakeMember())
        _ = pool.checkIn(old, to: first, at: at(1))
        _ = pool.checkIn(young, to: second, at: at(2))
        #expect(pool.takeIdle(a, .system) === young)
        #expect(pool.takeIdle(a, .system) === old)
        #expect(pool.takeIdle(a, .system) == nil)
    }

    @Test("A connection serves only its own origin")
    func origins() throws {
        let pool = FakePool(.init())
        _ = try idle(pool, a, since: 1)
        #expect(pool.takeIdle(b, .system) == nil)
        let plain = PoolKey(origin: Origin(scheme: .http, host: .init(name: "a.test"), port: 443))
        let otherPort = PoolKey(origin: Origin(scheme: .https, host: .init(name: "a.test"), port: 8443))
        #expect(pool.takeIdle(plain, .system) == nil)
        #expect(pool.takeIdle(otherPort, .system) == nil)
        #expect(pool.takeIdle(a, .system) != nil)
    }

    @Test("A URL finds the connections of its own origin and settings, whichever origin was looked up last")
    func urls() throws {
        let pool = FakePool(.init())
        let proxy = ProxyEntry(try Proxy("http://10.0.0.9:3128"), tls: TLSSettings())
        let other = ProxyEntry(try Proxy("http://10.0.0.9:3128"), tls: TLSSettings())
        let direct = try idle(pool, a, since: 1)
        let proxied = try idle(pool, PoolKey(origin: a.origin, proxy: proxy), since: 2)
        let ofB = try idle(pool, b, since: 3)
        for url in ["http://a.test:443/", "https://a.test:8443/", "https://c.test/"] {
            #expect(pool.takeIdle(try HTTPURL(url)) == nil, "\(url)")
        }
        let url = try HTTPURL("https://a.test./path")
        #expect(pool.takeIdle(url, over: other) == nil)
        #expect(pool.takeIdle(url) === direct)
        // The origin of the look-up before, and others.
        #expect(pool.takeIdle(url) == nil)
        #expect(pool.takeIdle(url, over: other) == nil)
        #expect(pool.takeIdle(try HTTPURL("https://b.test/")) === ofB)
        #expect(pool.takeIdle(url, over: proxy) === proxied)
    }

    @Test("An origin that has lost its last connection begins anew, also right after it was looked up")
    func beginsAnew() throws {
        let pool = FakePool(.init())
        let first = try dial(pool, a)
        _ = try dial(pool, a)
        _ = pool.release(first)
        _ = pool.release(first)
        #expect(pool.origin(a) == nil)
        let second = try dial(pool, a)
        #expect(second !== first)
        #expect(pool.origin(a) === second)
    }

    @Test("A connection to another address is skipped, and a later one that fits is used")
    func routes() throws {
        let pool = FakePool(.init())
        let fits = try idle(pool, a, since: 1, FakeMember("10.0.0.1:443", .request))
        _ = try idle(pool, a, since: 2, FakeMember("10.0.0.2:443", .request))
        #expect(pool.takeIdle(a, .system) == nil)
        let route = Route.chosen(["10.0.0.9", "10.0.0.1"], port: 443, source: .request)
        #expect(pool.takeIdle(a, route) === fits)
        #expect(pool.takeIdle(a, route) == nil)
    }

    @Test(
        "A route permits its named addresses and ports, the system's its own source, and a socket's no address"
    )
    func leads() throws {
        let chosen = Route.chosen(["10.0.0.1", "10.0.0.2:8443"], port: 443, source: .request)
        #expect(chosen.allows(.endpoint("10.0.0.1:443"), from: .request))
        #expect(chosen.allows(.endpoint("10.0.0.1:443"), from: .system))
        #expect(chosen.allows(.endpoint("10.0.0.2:8443"), from: .staticMap))
        #expect(!chosen.allows(.endpoint("10.0.0.1:8443"), from: .request))
        #expect(!chosen.allows(.endpoint("10.0.0.2:443"), from: .request))
        #expect(!chosen.allows(.endpoint("10.0.0.3:443"), from: .request))
        #expect(Route.system.allows(.endpoint("10.0.0.1:443"), from: .system))
        #expect(!Route.system.allows(.endpoint("10.0.0.1:443"), from: .staticMap))
        #expect(!Route.system.allows(.endpoint("10.0.0.1:443"), from: .request))
        let path = try UnixSocketPath("/run/a.socket")
        #expect(Route.unixSocket(path).allows(.unixSocket(path), from: .request))
        #expect(!Route.unixSocket(path).allows(.endpoint("10.0.0.1:443"), from: .request))
        #expect(!chosen.allows(.unixSocket(path), from: .request))
        #expect(!Route.system.allows(.unixSocket(path), from: .system))
    }

    @Test("A request waits if all connections of its origin are in use, and other origins do not")
    func limit() throws {
        let pool = FakePool(.init(perOrigin: 2))
        _ = try dial(pool, a)
        _ = try dial(pool, a)
        _ = try ticket(pool, a)
        _ = try dial(pool, b)
    }

    @Test("A returned connection goes to the request that has waited longest, and does not become idle")
    func fifo() throws {
        let pool = FakePool(.init(perOrigin: 1))
        let origin = try dial(pool, a)
        let first = try ticket(pool, a), second = try ticket(pool, a)
        let member = FakeMember()
        for ticket in [first, second] {
            let actions = pool.checkIn(member, to: origin, at: at(1))
            #expect(actions.grant?.ticket == ticket)
            #expect(actions.grant?.member === member)
            #expect(actions.closed == nil)
            #expect(!pool.hasIdle)
        }
        #expect(pool.checkIn(member, to: origin, at: at(2)).grant == nil)
        #expect(pool.hasIdle)
        #expect(origin.open == 1)
    }

    @Test("A connection to another address is closed for the waiting request, which may dial")
    func handOverOfPlace() throws {
        let pool = FakePool(.init(perOrigin: 1))
        let origin = try dial(pool, a)
        let ticket = try ticket(pool, a, .chosen(["10.0.0.2"], port: 443, source: .request))
        let member = FakeMember("10.0.0.1:443")
        let actions = pool.checkIn(member, to: origin, at: at(1))
        #expect(actions.closed === member)
        #expect(actions.grant?.ticket == ticket)
        #expect(actions.grant != nil && actions.grant?.member == nil)
        #expect(origin.open == 1)
    }

    @Test("A released place goes to the request that has waited longest, which may dial")
    func handOverOfLeave() throws {
        let pool = FakePool(.init(perOrigin: 1))
        let origin = try dial(pool, a)
        let first = try ticket(pool, a)
        _ = try ticket(pool, a)
        let grant = pool.release(origin)
        #expect(grant?.ticket == first)
        #expect(grant?.member == nil)
        #expect(origin.open == 1)
    }

    @Test("A request that left the queue gets no grant, and one with a grant cannot leave")
    func leave() throws {
        let pool = FakePool(.init(perOrigin: 1))
        let origin = try dial(pool, a)
        let first = try ticket(pool, a), second = try ticket(pool, a)
        #expect(pool.leave(first, origin))
        #expect(!pool.leave(first, origin))
        #expect(pool.release(origin)?.ticket == second)
        #expect(!pool.leave(second, origin))
        #expect(pool.release(origin) == nil)
        #expect(origin.open == 0)
    }

    @Test("At the limit an idle connection to another address makes room, the longest idle first")
    func idleMakesRoom() throws {
        let pool = FakePool(.init(perOrigin: 2))
        let old = try idle(pool, a, since: 1, FakeMember("10.0.0.1:443", .request))
        _ = try idle(pool, a, since: 2, FakeMember("10.0.0.2:443", .request))
        let (turn, close) = pool.checkOut(a, .system)
        guard case .dial(let origin) = turn else {
            Issue.record("\(turn)")
            return
        }
        #expect(close === old)
        #expect(origin.open == 2)
    }

    @Test("A request for a fresh connection gets no idle one")
    func fresh() throws {
        let pool = FakePool(.init())
        _ = try idle(pool, a, since: 1)
        guard case .dial = pool.checkOut(a, .system, .none).turn else {
            Issue.record("not a fresh one")
            return
        }
        guard case .reuse = pool.checkOut(a, .system).turn else {
            Issue.record("not the idle one")
            return
        }
    }

    @Test("A request that avoids an endpoint gets another idle connection, and closes none")
    func elsewhere() throws {
        let pool = FakePool(.init())
        let good = try idle(pool, a, since: 1, FakeMember("10.0.0.2:443", .resolver("dns")))
        let avoided = try idle(pool, a, since: 2, FakeMember("10.0.0.1:443", .resolver("dns")))
        let answer = answer("10.0.0.1", "10.0.0.2")
        #expect(pool.takeIdle(a, answer, .except(["10.0.0.1:443"])) === good)
        #expect(pool.takeIdle(a, answer, .except(["10.0.0.1:443"])) == nil)
        #expect(pool.takeIdle(a, answer) === avoided)
    }

    @Test("A waiting request that avoids an endpoint is not granted a connection to it")
    func elsewhereWaiter() throws {
        let pool = FakePool(.init(perOrigin: 1))
        let origin = try dial(pool, a)
        let turn = pool.checkOut(a, .system, .except(["10.0.0.1:443"])).turn
        guard case .wait(let ticket, _) = turn else { throw Unexpected() }
        let member = FakeMember("10.0.0.1:443")
        pool.admit(member, to: origin)
        let actions = pool.checkIn(member, to: origin, at: at(1))
        #expect(actions.grant?.ticket == ticket && actions.grant?.member == nil && actions.closed === member)
    }

    @Test("A waiting request for a fresh connection is granted a place to dial, never a kept connection")
    func freshWaiter() throws {
        let pool = FakePool(.init(perOrigin: 1))
        let origin = try dial(pool, a)
        guard case .wait(let ticket, _) = pool.checkOut(a, .system, .none).turn else {
            throw Unexpected()
        }
        let member = FakeMember()
        pool.admit(member, to: origin)
        let actions = pool.checkIn(member, to: origin, at: at(1))
        #expect(actions.grant?.ticket == ticket)
        #expect(actions.grant?.member == nil && actions.closed === member)
        #expect(origin.open == 1 && origin.members.isEmpty)
    }

    @Test("Of too many idle connections of all origins the one that has been idle longest is closed")
    func idleCap() throws {
        let pool = FakePool(.init(idle: 2))
        let oldest = try idle(pool, a, since: 1)
        _ = try idle(pool, b, since: 2, FakeMember("10.0.0.2:443", .request))
        let origin = try dial(pool, b)
        let newest = FakeMember()
        #expect(pool.checkIn(newest, to: origin, at: at(3)).closed === oldest)
        #expect(pool.takeIdle(a, .system) == nil)
        #expect(pool.takeIdle(b, .system) === newest)
    }

    @Test(
        "Of idle connections with too many bytes of certificates the largest ones are closed, and ordinary ones are not"
    )
    func idleExcess() throws {
        let pool = FakePool(.init(idleExcess: 100))
        let ordinary = try idle(pool, a, since: 1)
        func large(_ excess: Int) -> FakeMember {
            let member = FakeMember("10.0.0.2:443", .request)
            member.excess = excess
            return member
        }
        let (middle, small) = (try idle(pool, b, since: 2, large(60)), large(50))
        #expect(pool.checkIn(small, to: try dial(pool, b, takingNothing: true), at: at(3)).closed === middle)
        let huge = large(101)
        #expect(pool.checkIn(huge, to: try dial(pool, a, takingNothing: true), at: at(4)).closed === huge)
        // One that is used is not idle, and makes room.
        let route = Route.chosen([small.address], port: 443, source: .request)
        #expect(pool.takeIdle(b, route) === small)
        #expect(pool.checkIn(large(100), to: try dial(pool, a, takingNothing: true), at: at(5)).closed == nil)
        #expect(pool.takeIdle(a, .chosen([ordinary.address], port: 443, source: .request)) === ordinary)
    }

    @Test("If no idle connections are permitted, a returned one is closed at once")
    func noIdle() throws {
        let pool = FakePool(.init(idle: 0))
        let origin = try dial(pool, a)
        let member = FakeMember()
        #expect(pool.checkIn(member, to: origin, at: at(1)).closed === member)
        #expect(!pool.hasIdle)
        #expect(origin.open == 0)
    }

    @Test("Idle connections are closed in an order that does not depend on how their origins hash")
    func closingOrder() throws {
        let pool = FakePool(.init(total: 64, idle: 64))
        let settings = (0..<20).map { _ in
            ConnectionProfile(tls: TLSSettings(), socket: SocketOptions(), sessions: SessionCache())
        }
        let keys = settings.map { PoolKey(origin: a.origin, profile: $0) }
        let members = try keys.map { try idle(pool, $0, since: 1) }
        #expect(pool.sweep(at: at(1)) { $0 === members[3] }.count == 1)
        let closed = pool.sweep(at: at(1)) { _ in true }
        let expected = Array(members[0..<3]) + [members[19]] + Array(members[4..<19])
        #expect(closed.map(ObjectIdentifier.init) == expected.map(ObjectIdentifier.init))
    }

    @Test("Connections whose time is over are closed in slices, the longest idle first, and no others")
    func slices() throws {
        let pool = FakePool(.init(perOrigin: 64, idleTime: 10_000_000_000))
        let members = try (0..<7).map { try idle(pool, $0 < 5 ? a : b, since: 1) }
        let young = try idle(pool, a, since: 9)
        let slices = [(3, true, 0..<3), (3, true, 3..<6), (3, false, 6..<7), (3, false, 7..<7)]
        for (limit, goesOn, expected) in slices {
            #expect(pool.closeExpired(at: at(11), atMost: limit) == goesOn)
            #expect(
                pool.takeClosed().map(ObjectIdentifier.init) == members[expected].map(ObjectIdentifier.init)
            )
        }
        #expect(young.pooledState.isIdle)
    }

    @Test("A sweep removes connections that were idle for too long, and those that its caller names")
    func sweep() throws {
        let pool = FakePool(.init(idleTime: 10_000_000_000))
        let old = try idle(pool, a, since: 1)
        let dead = try idle(pool, b, since: 8, FakeMember("10.0.0.3:443"))
        let good = try idle(pool, b, since: 9, FakeMember("10.0.0.4:443"))
        #expect(pool.sweep(at: at(10)) { _ in false }.isEmpty)
        let done = pool.sweep(at: at(11)) { $0 === dead }
        #expect(done.count == 2)
        #expect(done.contains { $0 === old } && done.contains { $0 === dead })
        #expect(pool.hasIdle)
        #expect(pool.takeIdle(b, .chosen([good.address], port: 443, source: .request)) === good)
        #expect(!pool.hasIdle)
    }

    @Test("A changed answer closes idle connections to other addresses, and those returned later")
    func changedAnswer() throws {
        let pool = FakePool(.init())
        let before = answer("10.0.0.1", "10.0.0.2"), after = answer("10.0.0.2", "10.0.0.3")
        let kept = try idle(pool, a, since: 1, follower("10.0.0.2:443"), before)
        let closed = try idle(pool, a, since: 2, follower("10.0.0.1:443"), before)
        let chosen = try idle(pool, a, since: 3, FakeMember("10.0.0.1:443", .request))
        let busy = follower("10.0.0.1:443")
        let origin = try dial(pool, a, before, takingNothing: true)
        pool.admit(busy, to: origin)
        #expect(pool.takeIdle(a, before) === chosen)
        _ = pool.checkIn(chosen, to: origin, at: at(4))
        #expect(pool.actions().close.isEmpty)

        #expect(pool.takeIdle(a, after) === kept)
        #expect(pool.actions().closed === closed)
        #expect(pool.checkIn(busy, to: origin, at: at(5)).closed === busy)
        // This one was chosen by a caller: the resolver's answer does not concern it.
        #expect(pool.takeIdle(a, .chosen(["10.0.0.1"], port: 443, source: .request)) === chosen)
    }

    @Test("An answer in another order closes no connection")
    func reorderedAnswer() throws {
        let pool = FakePool(.init())
        let member = try idle(pool, a, since: 1, follower("10.0.0.1:443"), answer("10.0.0.1", "10.0.0.2"))
        #expect(pool.takeIdle(a, answer("10.0.0.2", "10.0.0.1")) === member)
        #expect(pool.actions().isEmpty)
    }

    @Test("At the total limit the longest idle connection makes room, or a place goes to the longest wait")
    func total() throws {
        let pool = FakePool(.init(total: 2))
        let old = try idle(pool, a, since: 1)
        let first = try dial(pool, b)
        let (turn, close) = pool.checkOut(b, .system)
        guard case .dial = turn else { throw Unexpected() }
        #expect(close === old)

        let c = PoolKey(origin: Origin(scheme: .https, host: .init(name: "c.test"), port: 443))
        let waitsInA = try ticket(pool, a), waitsInB = try ticket(pool, b), waitsInC = try ticket(pool, c)
        let member = FakeMember()
        pool.admit(member, to: first)
        let actions = pool.checkIn(member, to: first, at: at(2))
        #expect(actions.grant?.ticket == waitsInA)
        #expect(actions.grant?.member == nil && actions.closed === member)
        let second = FakeMember()
        let next = pool.checkIn(second, to: first, at: at(3))
        #expect(next.grant?.ticket == waitsInB && next.grant?.member === second)
        #expect(pool.release(first)?.ticket == waitsInC)
    }

    @Test("The total limit does not lift the limit for one origin")
    func bothLimits() throws {
        let pool = FakePool(.init(perOrigin: 1, total: 2))
        let inA = try dial(pool, a)
        _ = try dial(pool, b)
        let first = try ticket(pool, b), second = try ticket(pool, a)
        #expect(pool.release(inA)?.ticket == second)
        #expect(pool.leave(first, inA) == false)
    }

    @Test("A connection serves the permitted number of requests, and is then closed")
    func uses() throws {
        let pool = FakePool(.init(uses: 2))
        let member = FakeMember()
        let origin = try dial(pool, a)
        pool.admit(member, to: origin)
        #expect(pool.checkIn(member, to: origin, at: at(1)).closed == nil)
        #expect(pool.takeIdle(a, .system) === member)
        #expect(pool.checkIn(member, to: origin, at: at(2)).closed === member)
        #expect(!pool.hasIdle)
    }

    @Test("A connection that is too old is neither kept nor used")
    func age() throws {
        let pool = FakePool(.init(age: 10_000_000_000))
        let member = try idle(pool, a, since: 1)
        #expect(pool.takeIdle(a, .system, at: at(9)) === member)
        let origin = try dial(pool, a)
        #expect(pool.checkIn(member, to: origin, at: at(9)).closed == nil)
        #expect(pool.takeIdle(a, .system, at: at(10)) == nil)
        #expect(pool.actions().closed === member)
        let other = FakeMember()
        #expect(pool.checkIn(other, to: origin, at: at(10)).closed === other)
    }

    @Test("The server's keep-alive hint shortens the idle time, and its last request closes")
    func keepAlive() throws {
        let pool = FakePool(.init(idleTime: 60_000_000_000))
        let brief = FakeMember()
        brief.keepAlive = KeepAliveHint(timeout: 5)
        _ = try idle(pool, a, since: 10, brief)
        #expect(pool.sweep(at: at(13)) { _ in false }.isEmpty)
        #expect(pool.takeIdle(a, .system, at: at(14)) == nil)
        #expect(pool.actions().closed === brief)

        let last = FakeMember()
        last.keepAlive = KeepAliveHint(max: 0)
        #expect(pool.checkIn(last, to: try dial(pool, a), at: at(1)).closed === last)
        let instant = FakeMember()
        instant.keepAlive = KeepAliveHint(timeout: 0)
        #expect(pool.checkIn(instant, to: try dial(pool, a), at: at(1)).closed === instant)
        let long = FakeMember()
        long.keepAlive = KeepAliveHint(timeout: 3600, max: 100)
        _ = try idle(pool, b, since: 1, long)
        #expect(pool.sweep(at: at(60)) { _ in false }.isEmpty)
        #expect(pool.sweep(at: at(61)) { _ in false }.first === long)
    }

    @Test("A request that was given a dead connection keeps its place, and no other overtakes it")
    func deadHandOver() throws {
        let pool = FakePool(.init(perOrigin: 1))
        let origin = try dial(pool, a)
        let first = try ticket(pool, a), second = try ticket(pool, a)
        let member = FakeMember()
        pool.admit(member, to: origin)
        #expect(pool.checkIn(member, to: origin, at: at(1)).grant?.ticket == first)
        pool.drop(member, origin)
        #expect(origin.open == 1 && origin.members.isEmpty)
        #expect(pool.actions().grants.isEmpty)
        #expect(pool.release(origin)?.ticket == second)
    }

    @Test("A timeout closes only connections to the same place that have been silent for longer")
    func siblings() throws {
        let pool = FakePool(.init())
        let silent = try idle(pool, a, since: 3),
            elsewhere = try idle(pool, a, since: 3, FakeMember("10.0.0.2:443"))
        let frozen = try idle(pool, a, since: 4)
        #expect(
            pool.takeIdle(a, .chosen([frozen.address], port: 443, source: .request), at: at(5)) === frozen
        )
        let heard = try idle(pool, a, since: 6), other = try idle(pool, b, since: 1)
        let origin = try #require(pool.origin(a))
        pool.dismissSiblings(of: frozen, origin)
        let closed = pool.actions().close
        #expect(closed.count == 1 && closed.first === silent)
        #expect(origin.idle.elementsEqual([elsewhere, heard]) { $0 === $1 })
        #expect(pool.takeIdle(b, .chosen([other.address], port: 443, source: .request)) === other)
    }

    @Test("A connection under inspection is not used, and returns to its place or to a waiting request")
    func inspection() throws {
        let pool = FakePool(.init(perOrigin: 2, idleTime: 100_000_000_000))
        let old = try idle(pool, a, since: 1), young = try idle(pool, a, since: 2)
        let origin = try #require(pool.origin(a))
        #expect(pool.takeOut(old, origin) && pool.takeOut(young, origin))
        #expect(!pool.takeOut(old, origin))
        #expect(pool.takeIdle(a, .system) == nil)
        pool.putBack(young, origin, at: at(3))
        pool.putBack(old, origin, at: at(3))
        #expect(origin.idle.elementsEqual([old, young]) { $0 === $1 })

        #expect(pool.takeOut(old, origin) && pool.takeOut(young, origin))
        let route = Route.chosen([old.address], port: 443, source: .request)
        let waiting = try ticket(pool, a, route)
        pool.putBack(old, origin, at: at(4))
        let actions = pool.actions()
        #expect(actions.grant?.ticket == waiting && actions.grant?.member === old)
        pool.closeWhenIdle(at: at(5))
        pool.putBack(young, origin, at: at(6))
        #expect(pool.actions().closed === young)
        #expect(origin.open == 1)
    }

    @Test("A prewarmed connection has served no request, and serves as often as any other")
    func warmed() throws {
        let pool = FakePool(.init(perOrigin: 2, uses: 1))
        let (origin, tickets) = pool.warm(a, .system, count: 3)
        #expect(tickets.count == 2 && origin.open == 2)
        #expect(pool.warm(a, .system, count: 2).tickets.isEmpty)
        let member = FakeMember()
        pool.deliver(member, to: origin, for: tickets[0])
        #expect(pool.takeIdle(a, .system) === member)
        #expect(pool.checkIn(member, to: origin, at: at(1)).closed === member)
        pool.abandon(tickets[1], origin)
        #expect(origin.open == 0 && origin.warming.isEmpty)
    }

    @Test("Prewarmed connections stay within the limits, and close only idle ones of other origins")
    func warmedWithinLimits() throws {
        let pool = FakePool(.init(total: 3, idle: 2))
        let other = try idle(pool, b, since: 1, FakeMember("10.0.0.9:443", .system))
        _ = try dial(pool, b, takingNothing: true)
        let (origin, tickets) = pool.warm(a, .system, count: 3)
        #expect(tickets.count == 2)
        #expect(pool.actions().closed === other)
        for ticket in tickets { pool.deliver(FakeMember(), to: origin, for: ticket) }
        #expect(pool.warm(a, .system, count: 3).tickets.isEmpty)
        #expect(pool.actions().isEmpty)
    }

    @Test("An origin without connections is forgotten")
    func forgotten() throws {
        let pool = FakePool(.init(idleTime: 10_000_000_000))
        weak var released: FakePool.Machine.Record?
        weak var swept: FakePool.Machine.Record?
        do {
            let first = try dial(pool, a)
            released = first
            _ = pool.release(first)
            let second = try dial(pool, b)
            swept = second
            _ = pool.checkIn(FakeMember(), to: second, at: at(1))
            #expect(pool.sweep(at: at(20)) { _ in false }.count == 1)
        }
        #expect(released == nil)
        #expect(swept == nil)
    }
}

/// The pool behind a reference, as expectations call no mutating methods.
private final class FakePool {
    typealias Machine = Pool<FakeMember>

    private var machine: Machine

    init(_ limits: PoolLimits) { machine = Machine(limits) }

    var hasIdle: Bool { machine.hasIdle }

    func takeIdle(
        _ key: PoolKey,
        _ route: Route,
        _ kept: KeptConnections = .any,
        at now: Instant = Instant(nanoseconds: 0)
    ) -> FakeMember? {
        machine.takeIdle(key, route: route, kept: kept, at: now)?.0
    }

    func takeIdle(_ url: HTTPURL, over proxy: ProxyEntry? = nil) -> FakeMember? {
        let route = Route.chosen([FakeMember().address], port: 443, source: .request)
        let now = Instant(nanoseconds: 0)
        return machine.takeIdle(ConnectionTarget(url, route: route, proxy: proxy), at: now)?.0
    }

    func checkOut(
        _ key: PoolKey,
        _ route: Route,
        _ kept: KeptConnections = .any,
        at now: Instant = Instant(nanoseconds: 0)
    ) -> (turn: Machine.Acquisition, close: FakeMember?) {
        let turn = machine.checkOut(key, route: route, kept: kept, at: now)
        return (turn, machine.takeActions().close.first)
    }

    func admit(_ member: FakeMember, to origin: Machine.Record) {
        machine.admit(member, to: origin, since: Instant(nanoseconds: 1))
    }

    func checkIn(_ member: FakeMember, to origin: Machine.Record, at now: Instant) -> Machine.Actions {
        machine.checkIn(member, to: origin, at: now)
        return machine.takeActions()
    }

    func release(_ origin: Machine.Record) -> Machine.Assignment? {
        machine.release(origin)
        return machine.takeActions().grants.first
    }

    func actions() -> Machine.Actions { machine.takeActions() }

    func warm(
        _ key: PoolKey,
        _ route: Route,
        count: Int
    ) -> (origin: Machine.Record, tickets: [Machine.Ticket]) {
        machine.warm(key, route: route, count: count, at: Instant(nanoseconds: 0))
    }

    func deliver(_ member: FakeMember, to origin: Machine.Record, for ticket: Machine.Ticket) {
        let (start, now) = (Instant(nanoseconds: 1), Instant(nanoseconds: 2))
        machine.deliver(member, to: origin, for: ticket, since: start, at: now)
    }

    func origin(_ key: PoolKey) -> Machine.Record? { machine.originsByKey[key] }

    func dismissSiblings(of member: FakeMember, _ origin: Machine.Record) {
        machine.dismissSiblings(of: member, origin)
    }

    func closeWhenIdle(at now: Instant) { machine.closeWhenIdle(at: now) }

    func takeOut(_ member: FakeMember, _ origin: Machine.Record) -> Bool {
        machine.takeOut(member, of: origin)
    }

    func putBack(_ member: FakeMember, _ origin: Machine.Record, at now: Instant) {
        machine.putBack(member, to: origin, at: now)
    }

    func abandon(_ ticket: Machine.Ticket, _ origin: Machine.Record) { machine.abandon(ticket, of: origin) }

    func leave(_ ticket: Machine.Ticket, _ origin: Machine.Record) -> Bool {
        machine.leave(ticket, of: origin)
    }

    func drop(_ member: FakeMember, _ origin: Machine.Record) { machine.drop(member, of: origin) }

    func closeExpired(at now: Instant, atMost limit: Int) -> Bool {
        machine.closeExpired(at: now, atMost: limit)
    }

    func takeClosed() -> [FakeMember] { machine.takeActions().close }

    func sweep(at now: Instant, _ isDone: (FakeMember) -> Bool) -> [FakeMember] {
        machine.sweep(at: now) { member, _ in isDone(member) }
        return machine.takeActions().close
    }
}

extension Pool<FakeMember>.Actions {
    fileprivate var grant: Pool<FakeMember>.Assignment? { grants.first }
    fileprivate var closed: FakeMember? { close.first }
}
