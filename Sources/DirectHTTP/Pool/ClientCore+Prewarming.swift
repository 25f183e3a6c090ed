internal import DirectHTTP1
internal import DirectIO

extension HTTPClient {
    /// What connections there are, what they do, and who waits for one.
    public var connections: ConnectionList { core.pool.survey(at: settings.loop.now) }

    /// To be called when the machine has come into another network, or left one: what was true of addresses there
    /// may not be here.
    ///
    /// Idle connections are closed; those that serve a request, or are being made for one, when they have served
    /// it. Which addresses were good is forgotten, and so is what the client's resolver has in its memory.
    public func forgetNetwork() {
        settings.resolver?.forgetAll()
        core.dialler.forgetAll()
        core.pool.dismissAll(at: settings.loop.now)
    }

    /// Sees to it that so many connections to the URL's origin are there without work, up to the client's
    /// limits, so that the first requests need not wait for them.
    ///
    /// It throws what a request would: then some connections may be there.
    @concurrent
    public func prewarm(_ url: String, connections count: Int = 1) async throws {
        try await core.prewarm(Request(.get, url), count)
    }

    /// The same for the URL, and at the addresses, of a request that is not sent.
    @concurrent
    public func prewarm(_ request: Request, connections count: Int = 1) async throws {
        try await core.prewarm(request, count)
    }
}

extension ClientCore {
    fileprivate func prewarm(_ request: Request, _ count: Int) async throws {
        if Task.isCancelled { throw CancellationError() }
        let url = try request.checkedURL()
        let limits = [settings.maximumConnectionsPerOrigin, settings.maximumConnections].compactMap { $0 }
        let count = max(0, min(count, limits.min() ?? .max, settings.maximumIdleConnections))
        let failure = await withTaskGroup(of: DialFailure?.self) { group in
            let gathering = Gathering(count)
            for _ in 0..<count { group.addTask { await self.warmOne(request, url, gathering) } }
            return await group.reduce(nil) { $0 ?? $1 }
        }
        if let failure { throw failure.asError(name: url.host.description) }
    }

    /// Nobody gives a connection back before everybody has one: it would be taken for the next.
    private func warmOne(_ request: Request, _ url: HTTPURL, _ gathering: Gathering) async -> DialFailure? {
        let call = Call((request.timeouts ?? settings.timeouts).nanoseconds, from: settings.loop.now)
        do throws(DialFailure) {
            let proxy = proxies?.entry(for: url)
            let route = try await route(of: request, to: url, over: proxy, call.timeouts, end: call.end)
            let leg = Leg(url: url, route: route, proxy: proxy, start: call.start, call: call)
            let (connection, lease, _) = try await self.connection(for: leg, fresh: false)
            for (connection, lease) in gathering.arrive(connection, lease) {
                pool.checkIn(connection, lease, at: settings.loop.now)
            }
            return nil
        } catch {
            for (connection, lease) in gathering.leave() {
                pool.checkIn(connection, lease, at: settings.loop.now)
            }
            return error
        }
    }
}

/// Connections that wait until all of them are there.
private final class Gathering: Sendable {
    private struct State {
        var missing: Int
        var there: [(Connection, ConnectionPool.Lease)] = []

        mutating func countDown() -> [(Connection, ConnectionPool.Lease)] {
            missing -= 1
            return missing == 0 ? there : []
        }
    }

    private let state: Locked<State>

    init(_ count: Int) {
        state = Locked(State(missing: count))
    }

    /// Everybody, if this was the last one; else nobody.
    func arrive(_ connection: Connection, _ lease: ConnectionPool.Lease)
        -> [(Connection, ConnectionPool.Lease)]
    {
        state.withLock { state in
            state.there.append((connection, lease))
            return state.countDown()
        }
    }

    /// One that does not come.
    func leave() -> [(Connection, ConnectionPool.Lease)] {
        state.withLock { $0.countDown() }
    }
}
