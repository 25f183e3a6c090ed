@testable import DirectCore
import DirectHTTP1
import DirectIO
import DirectTestModels
@testable import DirectTransport

/// Requests that use a pool's machine as ConnectionPool and Transport do. The machine is the real one.
///
/// Each move is one section under the pool's lock, or an end of what is done outside it. A request may fail
/// or be cancelled at any time. A hedge takes a permit at once while its request has a connection; when one
/// of the two has its response, the other is cancelled.
final class PoolCalls: Replayable {
    /// A fault that is put into the requests.
    enum Fault {
        /// A request that is cancelled while it dials keeps its permit (`Transport.dial`).
        case permitKeptOnCancel
        /// A request that is cancelled while it is granted something keeps it (`ConnectionPool.giveBack`).
        case grantKeptOnCancel
        /// The loser of a race keeps its permit.
        case loserKeepsPermit
        /// A request is registered only after the lock in which the machine queued it (`ConnectionPool.ask`).
        case registeredLate
        /// A connection is given back although the request is still using it.
        case givenBackEarly
    }

    struct Plan: Sendable {
        var limits = PoolLimits(perOrigin: 1, total: 1)
        /// The origin of each request, by number.
        var origins: [Int]
        /// Whether the last of them is a hedge of the first.
        var hasHedge = false
        var fault: Fault?
    }

    enum Action: Hashable {
        case ask, register, connect, finish, fail, cancel, take
    }

    struct Move: CustomStringConvertible {
        let request: Int
        let action: Action

        var description: String { "\(request): \(action)" }
    }

    private enum Phase: Hashable {
        case new, asked, waiting, granted, dialling, leased, ended
    }

    private struct Request {
        var phase = Phase.new
        var ticket = 0
        var origin: Pool<FakeMember>.Record?
        var member: FakeMember?
        /// Whether the other request of its race has its response.
        var hasLost = false
    }

    private let plan: Plan
    private var pool: Pool<FakeMember>
    private var requests: [Request]
    private var members: [FakeMember] = []
    private var time: UInt64 = 0
    /// The first rule that was broken.
    private(set) var fault: String? {
        didSet { fault = oldValue ?? fault }
    }

    init(_ plan: Plan) {
        self.plan = plan
        pool = Pool(plan.limits)
        requests = plan.origins.map { _ in Request() }
    }

    var moves: [Move] {
        requests.indices.flatMap { number in actions(of: number).map { Move(request: number, action: $0) } }
    }

    private func actions(of number: Int) -> [Action] {
        let request = requests[number]
        switch request.phase {
        case .new:
            guard isHedge(number) else { return [.ask] }
            return requests[0].phase == .leased ? [.ask] : requests[0].phase == .ended ? [.cancel] : []
        case .asked: return [.register]
        case .waiting: return [.cancel]
        case .granted: return [.take, .cancel]
        case .dialling: return request.hasLost ? [.cancel] : [.connect, .fail, .cancel]
        case .leased: return request.hasLost ? [.fail] : [.finish, .fail]
        case .ended: return []
        }
    }

    private func isHedge(_ number: Int) -> Bool { plan.hasHedge && number == requests.count - 1 }
    private var now: Instant { Instant(nanoseconds: time) }

    func make(_ move: Move) {
        time += 1
        let number = move.request
        switch move.action {
        case .ask: isHedge(number) ? hedge(number) : ask(number)
        case .register: requests[number].phase = .waiting
        case .take: requests[number].phase = requests[number].member == nil ? .dialling : .leased
        case .connect: connect(number)
        case .finish: finish(number)
        case .fail, .cancel: giveUp(number, isCancelled: move.action == .cancel)
        }
        carryOut()
        judge()
    }
}

/// What a request does.
extension PoolCalls {
    private func key(_ number: Int) -> PoolKey {
        PoolKey(origin: Origin(scheme: .https, host: .init(name: "o\(plan.origins[number]).test"), port: 443))
    }

    private func ask(_ number: Int) {
        switch pool.checkOut(key(number), route: .system, at: now) {
        case .reuse(let member, let origin): lease(member, of: origin, to: number)
        case .dial(let origin):
            requests[number].origin = origin
            requests[number].phase = .dialling
        case .wait(let ticket, let origin):
            requests[number].origin = origin
            requests[number].ticket = ticket
            requests[number].phase = plan.fault == .registeredLate ? .asked : .waiting
        }
    }

    private func hedge(_ number: Int) {
        requests[number].origin = pool.permitAtOnce(key(number), route: .system)
        requests[number].phase = requests[number].origin == nil ? .ended : .dialling
    }

    private func lease(_ member: FakeMember, of origin: Pool<FakeMember>.Record, to number: Int) {
        requests[number].origin = origin
        requests[number].member = member
        requests[number].phase = .leased
    }

    private func connect(_ number: Int) {
        guard let origin = requests[number].origin else { return }
        let member = FakeMember()
        members.append(member)
        pool.admit(member, to: origin, since: now)
        lease(member, of: origin, to: number)
    }

    private func finish(_ number: Int) {
        guard let origin = requests[number].origin, let member = requests[number].member else { return }
        pool.checkIn(member, to: origin, at: now)
        if plan.fault != .givenBackEarly { end(number) }
        guard plan.hasHedge, number == 0 || isHedge(number) else { return }
        requests[number == 0 ? requests.count - 1 : 0].hasLost = true
    }

    private func end(_ number: Int) {
        requests[number].phase = .ended
        requests[number].member = nil
    }

    private func giveUp(_ number: Int, isCancelled: Bool) {
        let request = requests[number]
        end(number)
        guard let origin = request.origin else { return }
        switch request.phase {
        case .waiting: if !pool.leave(request.ticket, of: origin) { fault = "a waiter is not known" }
        case .granted:
            guard plan.fault != .grantKeptOnCancel else { return }
            guard let member = request.member else { return pool.release(origin) }
            pool.takeBack(member, to: origin, at: now)
        case .dialling:
            let keeps = request.hasLost ? plan.fault == .loserKeepsPermit : plan.fault == .permitKeptOnCancel
            if !(isCancelled && keeps) { pool.release(origin) }
        case .leased: if let member = request.member { pool.release(member, of: origin) }
        default: break
        }
    }

    /// `ConnectionPool.State.consequences()`.
    private func carryOut() {
        let actions = pool.takeActions()
        for grant in actions.grants {
            let waiting = requests.indices.filter { requests[$0].phase == .waiting }
            guard let number = waiting.first(where: { requests[$0].ticket == grant.ticket }) else {
                if plan.fault != .registeredLate { fault = "a grant for nobody, or the second one" }
                continue
            }
            requests[number].phase = .granted
            requests[number].member = grant.member
        }
        for member in actions.close
        where requests.contains(where: { $0.member === member && $0.phase != .ended }) {
            fault = "a connection in use is closed"
        }
    }
}

/// The rules.
extension PoolCalls {
    private func judge() {
        let used = requests.compactMap(\.member)
        let idle = pool.origins.flatMap(\.idle)
        if Set((used + idle).map(ObjectIdentifier.init)).count < used.count + idle.count {
            fault = "a connection has two users"
        }
        let permits = requests.count { $0.phase == .dialling || $0.phase == .granted && $0.member == nil }
        if pool.openCount != used.count + idle.count + permits { fault = "a permit is lost or given twice" }
        if pool.openCount > plan.limits.total { fault = "more connections than the limit" }
        for origin in pool.origins {
            if origin.open > plan.limits.perOrigin { fault = "more connections to an origin than the limit" }
            let hasRoom = origin.open < plan.limits.perOrigin && pool.openCount < plan.limits.total
            if !origin.waiting.isEmpty, hasRoom || !origin.idle.isEmpty { fault = "one waits without need" }
        }
        let waiting = requests.count { $0.phase == .waiting || $0.phase == .asked }
        if pool.waitingCount != waiting { fault = "a waiter is lost" }
    }

    var isFinished: Bool {
        requests.allSatisfy { $0.phase == .ended } && pool.openCount == pool.idleCount
            && pool.waitingCount == 0
    }

    struct Key: Hashable {
        fileprivate let requests: [[Int]]
        fileprivate let phases: [AnyHashable]
        /// The idle connections of all origins, the longest idle first.
        fileprivate let idle: [String]
        fileprivate let open: [String: Int]
        fileprivate let fault: String?
    }

    var key: Key {
        let tickets = requests.filter { $0.phase == .waiting || $0.phase == .asked }.map(\.ticket).sorted()
        let idle = pool.origins.flatMap { origin in
            origin.idle.map { ($0.pooledState.since, "\(origin.key.origin)") }
        }
        return Key(
            requests: requests.map { request in
                [
                    tickets.firstIndex(of: request.ticket) ?? -1, request.member == nil ? 0 : 1,
                    request.hasLost ? 1 : 0,
                ]
            },
            phases: requests.map { AnyHashable($0.phase) },
            idle: idle.sorted { $0.0 < $1.0 }.map(\.1),
            open: Dictionary(uniqueKeysWithValues: pool.origins.map { ("\($0.key.origin)", $0.open) }),
            fault: fault
        )
    }
}
