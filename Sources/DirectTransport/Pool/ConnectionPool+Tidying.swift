internal import DirectCore
internal import DirectIO

/// Maintenance of idle connections: they are closed in time, and their memory is given back.
extension ConnectionPool {
    /// Starts a task that maintains idle connections for as long as there are any. It does not keep the pool alive.
    func startReaping(_ idleReaper: LoopHandle) {
        let interval = tidyInterval
        Task.detached(executorPreference: loop) { [weak self] in
            idleReaper.loop.add(idleReaper)
            defer { idleReaper.loop.remove(idleReaper) }
            while true {
                // The last expiry left the point signalled. A signal from `deinit` that is lost here is noticed one
                // round later.
                idleReaper.input.clear()
                let next = idleReaper.loop.now.advanced(byNanoseconds: interval)
                let wake = await idleReaper.input.wait(until: next, on: idleReaper.loop)
                guard wake == .expired, let self, await self.tidy(at: idleReaper.loop.now) else { return }
            }
        }
    }

    /// Closes the connections that are too old or were closed by their peer, and releases the buffers of the rest.
    /// Returns false if no connection is idle.
    private func tidy(at now: Instant) async -> Bool {
        for found in sweep(at: now) {
            inspect(found)
            // Other tasks on the loop get their turn.
            await Task.yield()
        }
        return state.withLock { state in
            if !state.machine.hasIdle { state.idleReaper = nil }
            return state.machine.hasIdle
        }
    }

    /// An idle connection that may have input to read.
    private struct Found {
        let connection: Connection
        let origin: Machine.Origin
    }

    /// Closes the connections whose time is over, and returns those that may have input. Nothing is read here,
    /// under the lock: there is no bound on how long it takes to read what a peer sends.
    private func sweep(at now: Instant) -> [Found] {
        var released = 0
        var found: [Found] = []
        let consequences = state.withLock { state in
            state.machine.sweep(at: now) { connection, origin in
                if connection.mayHaveInput {
                    found.append(Found(connection: connection, origin: origin))
                } else if connection.isRested(at: now), connection.releaseBuffers() {
                    released += 1
                }
                return false
            }
            return state.consequences()
        }
        consequences?.perform()
        if released >= Self.releasesWorthTrimming { BlockingWork.shared.submit { trimHeap() } }
        return found
    }

    /// Reads what the peer sent, while no request can take the connection.
    private func inspect(_ found: Found) {
        let (connection, origin) = (found.connection, found.origin)
        guard decide({ $0.takeOut(connection, of: origin) }) else { return }
        let isQuiet = connection.isIdleAndAlive()
        if !isQuiet { connection.close() }
        decide { machine in
            if isQuiet {
                machine.putBack(connection, to: origin, at: loop.now)
            } else {
                machine.release(connection, of: origin)
            }
        }
    }

    /// The buffers of this many connections are 8 MiB, which the allocator would not give back by itself.
    private static let releasesWorthTrimming = 256
    static let longestTidyInterval: UInt64 = 2_000_000_000
}

extension Connection {
    /// Whether the connection has been idle long enough to expect that it stays idle, so that 33 KiB of buffers for
    /// it are a waste.
    fileprivate func isRested(at now: Instant) -> Bool {
        pooledState.since.advanced(byNanoseconds: 1_500_000_000) <= now
    }
}
