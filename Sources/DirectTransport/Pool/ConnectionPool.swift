package import DirectCore
package import DirectIO

/// The connections of one client. `Pool` decides; this class holds the lock, the clock and the sockets, and
/// carries the decisions out.
///
/// Each call runs one decision of the machine under the lock (`decide`, `keep`), takes the resulting actions
/// in the same critical section, and carries them out after unlocking: closing makes system calls, and a
/// woken task may want the lock immediately.
///
/// A request's way through the pool:
/// - `takeIdle` returns an idle connection with a lease, without waiting. `checkOut` does the same or returns
///   a permit to dial, and queues while the limits allow neither.
/// - A permit becomes a lease with `admit`, or is given back with `release`.
/// - A lease ends with exactly one of `checkIn` (the connection can serve another request), `discard` (it is
///   closed), `part` (it leaves the pool open) and `replace` (it is closed, and its slot becomes a permit).
///
/// A waiter is registered under the same lock under which the machine queues it, and a grant is stored in the
/// waiter before it is woken, so no grant is lost. A waiter that times out or is cancelled gives back what it
/// was granted at the last moment.
///
/// A task of its own (`startMaintenance`) maintains idle connections while there are any. It holds the pool
/// weakly: dropping the last reference closes the idle connections.
package final class ConnectionPool: @unchecked Sendable {
    typealias Machine = Pool<Connection>

    /// The right to use a connection until it is given back. Its origin is used only under the pool's lock.
    package struct Lease: @unchecked Sendable {
        fileprivate let origin: Machine.Record
    }

    /// The right to dial one connection. It counts among the open connections until it becomes a lease or is
    /// given back.
    package struct Permit {
        fileprivate let origin: Machine.Record
    }

    /// The right to dial one connection ahead of any request. Its origin is used only under the pool's lock.
    package struct WarmingPermit: @unchecked Sendable {
        fileprivate let origin: Machine.Record
        fileprivate let ticket: Machine.Ticket
    }

    /// The result of a check-out: a connection to reuse, or a permit to dial one.
    package enum Acquisition {
        case reuse(Connection, Lease)
        case dial(Permit)
    }

    /// A request that queues.
    package final class Waiter: @unchecked Sendable {
        package let handle: LoopHandle
        /// The connection or permit that was granted; `nil` until then. Guarded by the pool's lock.
        var granted: Machine.Assignment?
        /// The progress of the queue when this waiter last checked it.
        var progress: PoolProgress?

        init(loop: EventLoop) {
            handle = LoopHandle(loop: loop)
        }
    }

    /// The state under the lock.
    package struct State {
        var machine: Machine
        var waiting: [Machine.Ticket: Waiter] = [:]
        var maintenanceHandle: LoopHandle?
        /// The rounds of maintenance until the heap's free memory is given back; 0 for not at all.
        var roundsUntilTrim = 0
        /// The bytes of large bodies since that was last done.
        var largeBodies: UInt64 = 0

        /// Returns what the decisions require; `nil` for almost all of them, which then cost nothing more.
        ///
        /// Call it in the critical section in which they were made: a waiter that has been granted something
        /// then always finds it.
        mutating func consequences() -> Consequences? {
            guard machine.hasActions else { return nil }
            let actions = machine.takeActions()
            var wake: [Waiter] = []
            for grant in actions.grants {
                guard let waiter = waiting.removeValue(forKey: grant.ticket) else { continue }
                waiter.granted = grant
                wake.append(waiter)
            }
            return Consequences(close: actions.close, wake: wake)
        }
    }

    /// The actions to carry out after the lock has been released: closing makes system calls, and a woken
    /// task may want the lock immediately.
    struct Consequences {
        let close: [Connection]
        let wake: [Waiter]

        @inline(never)
        func perform() {
            // Closing comes first: a waiter that may dial needs a descriptor.
            for connection in close { connection.close() }
            for waiter in wake { waiter.handle.input.signal() }
        }
    }

    package let state: Locked<State>
    package let loop: EventLoop
    let maintenanceInterval: UInt64

    init(limits: PoolLimits, loop: EventLoop) {
        state = Locked(State(machine: Machine(limits)))
        self.loop = loop
        maintenanceInterval = min(limits.idleTime / 4, Self.longestMaintenanceInterval)
        ConnectionPools.shared.add(self)
    }

    deinit {
        ConnectionPools.shared.remove(ObjectIdentifier(self))
        let (consequences, maintenanceHandle) = state.withLock { state in
            state.machine.sweep(at: .never) { _, _ in true }
            return (state.consequences(), state.maintenanceHandle)
        }
        consequences?.perform()
        maintenanceHandle?.input.signal()
    }

    /// Returns an idle connection that fits and is alive, or `nil` if there is none.
    ///
    /// With `asksKernel` the kernel is asked as well whether there is input, for a request that could not be
    /// sent again.
    func takeIdle(
        _ target: borrowing ConnectionTarget,
        asksKernel: Bool = false,
        at now: Instant
    ) -> (Connection, Lease)? {
        while true {
            guard let (connection, origin) = decide({ $0.takeIdle(target, at: now) }) else { return nil }
            let lease = Lease(origin: origin)
            if connection.isIdleAndAlive(asksKernel: asksKernel) { return (connection, lease) }
            discard(connection, lease: lease)
        }
    }

    /// Returns a connection that fits and is alive, or a permit to dial one. Queues if the limits allow
    /// neither now.
    ///
    /// The result is always a permit if the target admits no existing connection. For `asksKernel` see
    /// ``takeIdle``.
    // Inlined, as `wait`: each further function that waits takes at least 1 KiB.
    @inline(__always)
    func checkOut(
        _ target: borrowing ConnectionTarget,
        asksKernel: Bool,
        deadline: Deadline
    ) async throws(TransportError) -> Acquisition {
        let (acquisition, waiter) = ask(for: target)
        switch acquisition {
        case .reuse(let connection, let origin):
            return checked(connection, lease: Lease(origin: origin), asksKernel: asksKernel)
        case .dial(let origin): return .dial(Permit(origin: origin))
        case .wait(let ticket, let origin):
            let grant = try await wait(waiter, ticket: ticket, origin: origin, deadline: deadline)
            guard let connection = grant.member else { return .dial(Permit(origin: origin)) }
            return checked(connection, lease: Lease(origin: origin), asksKernel: asksKernel)
        }
    }

    /// Returns a permit to dial; `nil` if the limits allow no connection now.
    func permitAtOnce(_ key: PoolKey, route: Route) -> Permit? {
        decide { $0.permitAtOnce(key, route: route) }.map(Permit.init)
    }

    /// Adds a connection that was dialled with the permit. The permit becomes the lease.
    package func admit(_ connection: Connection, permit: Permit, since start: Instant) -> Lease {
        decide { $0.admit(connection, to: permit.origin, since: start) }
        return Lease(origin: permit.origin)
    }

    /// Gives back a connection that can serve another request.
    @inline(__always)
    func checkIn(_ connection: Connection, lease: Lease, at now: Instant) {
        keep { $0.checkIn(connection, to: lease.origin, at: now) }
    }

    /// Closes a connection that cannot serve another request, and ends its lease.
    package func discard(_ connection: Connection, lease: Lease) {
        connection.close()
        decide { $0.release(connection, of: lease.origin) }
    }

    /// Removes a connection from the pool for good and leaves it open.
    package func part(with connection: Connection, _ lease: Lease) {
        decide { $0.release(connection, of: lease.origin) }
    }

    /// The place of a leased connection, for the response that waits with it for code of the program. While
    /// it is lent, one request of that code (``AskedCode``) may exceed the limits. It is taken back
    /// before the end of the lease.
    struct Place: LendablePlace {
        let pool: ConnectionPool
        let lease: Lease
        /// Whether other requests may have it too when all places are lent: that code may wait for a request
        /// that began before it, or on a thread of its own.
        let isForAnyone: Bool

        func lend() { pool.decide { $0.lend(lease.origin, toAnyone: isForAnyone) } }
        func reclaim() { pool.decide { $0.reclaim(lease.origin, fromAnyone: isForAnyone) } }
    }

    /// Closes a connection that turned out to be dead. The caller keeps its slot and may dial in it.
    package func replace(_ connection: Connection, lease: Lease) -> Permit {
        connection.close()
        decide { $0.drop(connection, of: lease.origin) }
        return Permit(origin: lease.origin)
    }

    /// Closes the idle connections to the same endpoint that have not been heard from since this one was
    /// leased. Call it when a request timed out on this connection before the first byte of its response.
    func dismissSiblings(of connection: Connection, _ lease: Lease) {
        decide { $0.dismissSiblings(of: connection, lease.origin) }
    }

    /// Closes all connections; those that serve a request are closed after it.
    package func closeWhenIdle(at now: Instant) {
        decide { $0.closeWhenIdle(at: now) }
    }

    /// The moment since which the longest idle connection has been idle; `nil` if none is idle.
    var longestIdleSince: Instant? { state.withLock { $0.machine.longestIdleSince } }

    /// Closes the connection that has been idle for longest. Returns false if none is idle.
    func closeLongestIdle() -> Bool {
        decide { $0.closeLongestIdle() }
    }

    /// Gives back a permit to dial that led to no connection.
    package func release(_ permit: Permit) {
        decide { $0.release(permit.origin) }
    }

    /// Returns permits for the connections that are missing until `count` are idle or being made, as far as
    /// there is room.
    func warm(_ key: PoolKey, route: Route, count: Int, at now: Instant) -> [WarmingPermit] {
        let (origin, tickets) = decide { $0.warm(key, route: route, count: count, at: now) }
        return tickets.map { WarmingPermit(origin: origin, ticket: $0) }
    }

    /// Takes a connection that was made ahead of need. It goes to the request that has waited longest, or
    /// becomes idle.
    package func deliver(
        _ connection: Connection,
        permit: WarmingPermit,
        since start: Instant,
        at now: Instant
    ) {
        keep { $0.deliver(connection, to: permit.origin, for: permit.ticket, since: start, at: now) }
    }

    /// Gives back a permit whose connection could not be made.
    package func release(_ permit: WarmingPermit) {
        decide { $0.abandon(permit.ticket, of: permit.origin) }
    }

    /// Returns a snapshot of the connections.
    package func survey(at now: Instant) -> [OriginConnections] {
        state.withLock { $0.machine.origins.map { OriginConnections($0, at: now) } }
            .sorted { $0.origin.description < $1.origin.description }
    }

    /// Makes one decision under the lock, and carries out its actions after unlocking.
    func decide<Answer>(_ decision: (inout Machine) -> Answer) -> Answer {
        let (answer, consequences) = state.withLock { state in
            let answer = decision(&state.machine)
            return (answer, state.consequences())
        }
        consequences?.perform()
        return answer
    }

    /// Does what `decide` does for a decision that may leave a connection idle, and starts the maintenance
    /// task if none runs.
    @inline(__always)
    private func keep(_ decision: (inout Machine) -> Void) {
        let (consequences, maintenanceHandle) = state.withLock { state -> (Consequences?, LoopHandle?) in
            decision(&state.machine)
            let consequences = state.consequences()
            guard state.maintenanceHandle == nil else { return (consequences, nil) }
            state.maintenanceHandle = LoopHandle(loop: loop)
            return (consequences, state.maintenanceHandle)
        }
        consequences?.perform()
        if let maintenanceHandle { startMaintenance(maintenanceHandle) }
    }

    /// Returns the connection if it is alive, otherwise a permit to dial in its slot.
    private func checked(_ connection: Connection, lease: Lease, asksKernel: Bool) -> Acquisition {
        connection.isIdleAndAlive(asksKernel: asksKernel)
            ? .reuse(connection, lease) : .dial(replace(connection, lease: lease))
    }

    /// Asks the machine. A waiter is registered under the same lock under which the machine queues it, so no
    /// grant is lost.
    // Not inlined: the key and the route would stay in memory during the wait.
    @inline(never)
    private func ask(for target: borrowing ConnectionTarget) -> (Machine.Acquisition, Waiter) {
        let waiter = Waiter(loop: loop)
        let (key, route, kept) = (target.poolKey, target.route, target.kept)
        let (acquisition, consequences) = state.withLock { state in
            let acquisition = state.machine.checkOut(
                key,
                route: route,
                kept: kept,
                isUrgent: AskedCode.isRunning,
                at: loop.now
            )
            if case .wait(let ticket, let origin) = acquisition {
                state.waiting[ticket] = waiter
                waiter.progress = state.machine.progress(of: origin)
            }
            return (acquisition, state.consequences())
        }
        consequences?.perform()
        return (acquisition, waiter)
    }

    /// Waits until the waiter is granted something. Its time limit for the queue starts again when the queue
    /// moves; the end of the whole call does not.
    @inline(__always)
    private func wait(
        _ waiter: Waiter,
        ticket: Machine.Ticket,
        origin: Machine.Record,
        deadline: Deadline
    ) async throws(TransportError) -> Machine.Assignment {
        loop.add(waiter.handle)
        defer { loop.remove(waiter.handle) }
        var deadline = deadline
        while true {
            let wake = await waiter.handle.waitForSignal(until: deadline.instant)
            let isOver = wake == .cancelled || deadline.end <= loop.now
            if !isOver {
                if let grant = state.withLock({ _ in waiter.granted }) { return grant }
                if wake == .ready { continue }
                if hasMoved(origin, waiter: waiter) {
                    deadline.extend(from: loop.now)
                    continue
                }
            }
            if let grant = withdraw(waiter, ticket: ticket, origin: origin) {
                guard isOver else { return grant }
                giveBack(grant, origin: origin)
            }
            if wake == .cancelled { throw .cancelled }
            throw isOver ? deadline.untilEnd.timeout : deadline.timeout
        }
    }

    /// Whether the queue has moved since the last check: a queue that moves is long, but it is not stuck.
    private func hasMoved(_ origin: Machine.Record, waiter: Waiter) -> Bool {
        state.withLock { state in
            let progress = state.machine.progress(of: origin)
            defer { waiter.progress = progress }
            return progress != waiter.progress
        }
    }

    /// Leaves the queue. Returns what was granted at the last moment, if anything was.
    private func withdraw(
        _ waiter: Waiter,
        ticket: Machine.Ticket,
        origin: Machine.Record
    ) -> Machine.Assignment? {
        state.withLock { state in
            state.waiting[ticket] = nil
            return state.machine.leave(ticket, of: origin) ? nil : waiter.granted
        }
    }

    /// Returns an unused grant to the pool.
    @inline(never)
    private func giveBack(_ grant: Machine.Assignment, origin: Machine.Record) {
        keep {
            guard let connection = grant.member else { return $0.release(origin) }
            $0.takeBack(connection, to: origin, at: loop.now)
        }
    }
}

extension Connection: PoolMember {
    package var endpoint: Endpoint? { facts.endpoint }
    var createdAt: Instant { facts.times.end }
    var tracksResolver: Bool { facts.search.tracksResolver }

    func serves(_ route: Route) -> Bool {
        route.allows(facts.path.place, from: facts.source) || facts.standsIn(for: route)
    }
}
