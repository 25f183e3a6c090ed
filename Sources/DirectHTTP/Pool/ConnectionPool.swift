internal import DirectIO

/// The connections of one client: the pool's decisions, carried out.
final class ConnectionPool: @unchecked Sendable {
    typealias Machine = Pool<Connection>

    /// The right to use a connection, until it is given back.
    struct Lease {
        fileprivate let origin: Machine.Origin
    }

    /// The right to dial one connection: it counts among those that are open, until it becomes a lease or is given back.
    struct Permit {
        fileprivate let origin: Machine.Origin
    }

    /// The same for a connection that is made before a request wants it. Its origin is only looked at in the pool's lock.
    struct WarmingPermit: @unchecked Sendable {
        fileprivate let origin: Machine.Origin
        fileprivate let ticket: Machine.Ticket
    }

    enum Turn {
        case reuse(Connection, Lease)
        case dial(Permit)
    }

    /// A call that waits for its turn.
    final class Waiter: @unchecked Sendable {
        let turn: LoopHandle
        /// Guarded by the pool's lock; `nil` until it is this call's turn.
        var granted: Machine.Grant?
        /// How far the line had come when it was looked at last.
        var progress: PoolProgress?

        init(loop: EventLoop) {
            turn = LoopHandle(loop: loop)
        }
    }

    struct State {
        var machine: Machine
        var waiting: [Machine.Ticket: Waiter] = [:]
        var janitor: LoopHandle?

        /// What follows from the decisions; `nil` for almost all, which pay nothing for it.
        ///
        /// It is taken in the lock in which they were made: a waiter that has been granted its turn always finds what
        /// it was granted.
        mutating func consequences() -> Consequences? {
            guard machine.hasOrders else { return nil }
            let orders = machine.takeOrders()
            var wake: [Waiter] = []
            for grant in orders.grants {
                guard let waiter = waiting.removeValue(forKey: grant.ticket) else { continue }
                waiter.granted = grant
                wake.append(waiter)
            }
            return Consequences(close: orders.close, wake: wake)
        }
    }

    /// What is to be done once the lock has been let go of: closing makes system calls, and whoever is woken may come
    /// for the lock at once.
    struct Consequences {
        let close: [Connection]
        let wake: [Waiter]

        func carryOut() {
            // First of all: who may dial needs a descriptor.
            for connection in close { connection.close() }
            for waiter in wake { waiter.turn.input.signal() }
        }
    }

    let state: Locked<State>
    let loop: EventLoop
    let tidyInterval: UInt64

    init(limits: Machine.Limits, loop: EventLoop) {
        state = Locked(State(machine: Machine(limits)))
        self.loop = loop
        tidyInterval = min(limits.idleTime / 4, Self.longestTidyInterval)
        ConnectionPools.shared.add(self)
    }

    deinit {
        ConnectionPools.shared.remove(ObjectIdentifier(self))
        let (consequences, janitor) = state.withLock { state in
            state.machine.sweep(at: .never) { _, _ in true }
            return (state.consequences(), state.janitor)
        }
        consequences?.carryOut()
        janitor?.input.signal()
    }

    /// A connection that fits and is alive, if one has nothing to do. With `asksKernel` it is looked at once more, for a
    /// request that could not be sent again.
    func takeIdle(
        _ key: PoolKey,
        _ route: Route,
        _ kept: KeptConnections = .any,
        asksKernel: Bool = false,
        at now: Instant
    ) -> (Connection, Lease)? {
        while true {
            let found = decide { $0.takeIdle(key, route, kept, at: now) }
            guard let (connection, origin) = found else { return nil }
            let lease = Lease(origin: origin)
            if connection.isStillQuiet(asksKernel: asksKernel) { return (connection, lease) }
            discard(connection, lease)
        }
    }

    /// A connection that fits and is alive, or a permit to dial one, now or when it is this call's turn.
    ///
    /// It is always a permit if no kept connection will do.
    func checkOut(
        _ key: PoolKey,
        _ route: Route,
        _ kept: KeptConnections,
        _ patience: Patience
    ) async throws(CallFailure) -> Turn {
        let (turn, waiter) = ask(key, route, kept)
        switch turn {
        case .reuse(let connection, let origin): return checked(connection, Lease(origin: origin))
        case .dial(let origin): return .dial(Permit(origin: origin))
        case .wait(let ticket, let origin):
            let grant = try await wait(waiter, ticket, origin, patience)
            guard let connection = grant.member else { return .dial(Permit(origin: origin)) }
            return checked(connection, Lease(origin: origin))
        }
    }

    /// A connection that has been dialled is one of the pool's from now on.
    func admit(_ connection: Connection, _ permit: Permit, since start: Instant) -> Lease {
        decide { $0.admit(connection, to: permit.origin, since: start) }
        return Lease(origin: permit.origin)
    }

    /// Gives back a connection that can serve another request.
    func checkIn(_ connection: Connection, _ lease: Lease, at now: Instant) {
        keep { $0.checkIn(connection, to: lease.origin, at: now) }
    }

    /// Closes a connection that cannot.
    func discard(_ connection: Connection, _ lease: Lease) {
        connection.close()
        decide { $0.release(connection, lease.origin) }
    }

    /// A connection leaves for good, open as it is.
    func part(with connection: Connection, _ lease: Lease) {
        decide { $0.release(connection, lease.origin) }
    }

    /// Closes a connection that has turned out to be dead. Its place stays with the caller, who may dial in it.
    func replace(_ connection: Connection, _ lease: Lease) -> Permit {
        connection.close()
        decide { $0.drop(connection, lease.origin) }
        return Permit(origin: lease.origin)
    }

    /// To be called when a request has waited in vain for the first byte of an answer on this connection: those to the
    /// same place that have not been heard from since are closed.
    func dismissSiblings(of connection: Connection, _ lease: Lease) {
        decide { $0.dismissSiblings(of: connection, lease.origin) }
    }

    /// Closes all connections: those that serve a request when they have served it.
    func dismissAll(at now: Instant) {
        decide { $0.dismissAll(at: now) }
    }

    /// Since when the connection has been idle that has been so for longest.
    var longestIdleSince: Instant? { state.withLock { $0.machine.longestIdleSince } }

    /// Closes that one. False if nothing is idle.
    func closeLongestIdle() -> Bool {
        decide { $0.closeLongestIdle() }
    }

    /// Gives back the permit to dial: it has come to nothing.
    func release(_ permit: Permit) {
        decide { $0.release(permit.origin) }
    }

    /// Permits for the connections that are missing until so many are idle or on their way, as far as there is room.
    func warm(_ key: PoolKey, _ route: Route, count: Int, at now: Instant) -> [WarmingPermit] {
        let (origin, tickets) = decide { $0.warm(key, route, count: count, at: now) }
        return tickets.map { WarmingPermit(origin: origin, ticket: $0) }
    }

    /// Takes a connection that has been made ahead: it goes to whoever waits longest for one, or stays for the next.
    func deliver(_ connection: Connection, _ permit: WarmingPermit, since start: Instant, at now: Instant) {
        keep { $0.deliver(connection, to: permit.origin, for: permit.ticket, since: start, at: now) }
    }

    /// Gives back the permit: no connection could be made.
    func release(_ permit: WarmingPermit) {
        decide { $0.abandon(permit.ticket, permit.origin) }
    }

    /// What there is at this moment.
    func survey(at now: Instant) -> ConnectionList {
        state.withLock { ConnectionList($0.machine.origins.values, at: now) }
    }

    /// One decision of the machine, and what follows from it.
    func decide<Answer>(_ decision: (inout Machine) -> Answer) -> Answer {
        let (answer, consequences) = state.withLock { state in
            let answer = decision(&state.machine)
            return (answer, state.consequences())
        }
        consequences?.carryOut()
        return answer
    }

    /// The same for a decision that may leave a connection idle, which is looked after from then on.
    @inline(__always)
    private func keep(_ decision: (inout Machine) -> Void) {
        let (consequences, janitor) = state.withLock { state -> (Consequences?, LoopHandle?) in
            decision(&state.machine)
            let consequences = state.consequences()
            guard state.janitor == nil else { return (consequences, nil) }
            state.janitor = LoopHandle(loop: loop)
            return (consequences, state.janitor)
        }
        consequences?.carryOut()
        if let janitor { startTidying(janitor) }
    }

    /// The connection if it is alive; else a permit to dial in its place.
    private func checked(_ connection: Connection, _ lease: Lease) -> Turn {
        connection.isStillQuiet() ? .reuse(connection, lease) : .dial(replace(connection, lease))
    }

    /// Waiters are entered under the same lock under which the machine queues them: no turn is lost.
    private func ask(_ key: PoolKey, _ route: Route, _ kept: KeptConnections) -> (Machine.Turn, Waiter) {
        let waiter = Waiter(loop: loop)
        let (turn, consequences) = state.withLock { state in
            let turn = state.machine.checkOut(key, route, kept, at: loop.now)
            if case .wait(let ticket, let origin) = turn {
                state.waiting[ticket] = waiter
                waiter.progress = state.machine.progress(of: origin)
            }
            return (turn, state.consequences())
        }
        consequences?.carryOut()
        return (turn, waiter)
    }

    private func wait(
        _ waiter: Waiter,
        _ ticket: Machine.Ticket,
        _ origin: Machine.Origin,
        _ patience: Patience
    ) async throws(CallFailure) -> Machine.Grant {
        loop.add(waiter.turn)
        defer { loop.remove(waiter.turn) }
        var patience = patience
        while true {
            let wake = await waiter.turn.input.wait(until: patience.deadline, on: loop)
            // Cleared before the look: what is granted after it wakes again.
            waiter.turn.input.clear()
            let isOver = wake == .cancelled || patience.end <= loop.now
            if !isOver {
                if let grant = state.withLock({ _ in waiter.granted }) { return grant }
                if wake == .ready { continue }
                if hasMoved(origin, waiter) {
                    patience.extend(from: loop.now)
                    continue
                }
            }
            if let grant = withdraw(waiter, ticket, origin) {
                guard isOver else { return grant }
                giveBack(grant, origin)
            }
            if wake == .cancelled { throw .cancelled }
            throw isOver ? patience.untilEnd.timeout : patience.timeout
        }
    }

    /// Whether others have had their turn since the last look: a line that moves is long, but it is not stuck.
    private func hasMoved(_ origin: Machine.Origin, _ waiter: Waiter) -> Bool {
        state.withLock { state in
            let progress = state.machine.progress(of: origin)
            defer { waiter.progress = progress }
            return progress != waiter.progress
        }
    }

    /// Leaves the queue, or says what was granted at the last moment.
    private func withdraw(
        _ waiter: Waiter,
        _ ticket: Machine.Ticket,
        _ origin: Machine.Origin
    ) -> Machine.Grant? {
        state.withLock { state in
            state.waiting[ticket] = nil
            return state.machine.leave(ticket, origin) ? nil : waiter.granted
        }
    }

    private func giveBack(_ grant: Machine.Grant, _ origin: Machine.Origin) {
        keep {
            guard let connection = grant.member else { return $0.release(origin) }
            $0.takeBack(connection, to: origin, at: loop.now)
        }
    }
}

extension Connection: PoolMember {
    var endpoint: Endpoint { facts.endpoint }
    var birth: Instant { facts.birth }
    var followsAnswers: Bool { facts.followsAnswers }

    func serves(_ route: Route) -> Bool {
        route.leads(to: facts.endpoint, from: facts.source) || facts.standsIn(for: route)
    }
}
