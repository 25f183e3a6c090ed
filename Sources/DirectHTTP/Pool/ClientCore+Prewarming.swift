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

    /// Sees to it that so many connections to the URL's origin are there without work, so that the first requests need
    /// not wait for them.
    ///
    /// Those that are idle, or that another call of this function is making, count; what is missing is made, as far as
    /// the client's limits have room for it without waiting. Each is there for requests as soon as it is made. It
    /// returns when its own are made, and throws what a request would: then some connections may be there.
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
        // The connection that a request would use: none where something else answers, and TLS where the name wants it.
        guard settings.transport == nil else { return }
        let request = memory?.upgraded(request) ?? request
        let url = try request.checkedURL()
        let limits = request.ownTimeouts?.over(settings.timeouts) ?? settings.timeouts.nanoseconds
        let call = Call(limits, from: settings.loop.now)
        do throws(DialFailure) {
            let proxy = proxies?.entry(for: url)
            let route = try await route(of: request, to: url, over: proxy, call.timeouts, end: call.end)
            let leg = Leg(
                url: url,
                route: route,
                proxy: proxy,
                start: call.start,
                timeouts: call.timeouts,
                end: call.end
            )
            try await warm(leg, count)
        } catch {
            throw error.asError(name: url.host.description)
        }
    }

    private func warm(_ leg: Leg, _ count: Int) async throws(DialFailure) {
        let permits = pool.warm(leg.poolKey, leg.route, count: count, at: settings.loop.now)
        let failure = await withTaskGroup(of: DialFailure?.self) { group in
            for permit in permits { group.addTask { await self.warm(leg, permit) } }
            return await group.reduce(nil) { $0 ?? $1 }
        }
        if let failure { throw failure }
    }

    private func warm(_ leg: Leg, _ permit: ConnectionPool.WarmingPermit) async -> DialFailure? {
        do throws(DialFailure) {
            let connection = try await connect(leg)
            pool.deliver(connection, permit, since: leg.start, at: settings.loop.now)
            return nil
        } catch {
            pool.release(permit)
            return error
        }
    }
}
