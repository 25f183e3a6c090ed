internal import DirectCore
internal import DirectIO

/// Maintenance of idle connections: they are closed in time, and their memory is given back.
extension ConnectionPool {
    /// Starts a task that maintains idle connections for as long as there are any. It does not keep the pool
    /// alive.
    func startMaintenance(_ handle: LoopHandle) {
        let interval = maintenanceInterval
        Task.detached(executorPreference: loop) { [weak self] in
            handle.loop.add(handle)
            defer { handle.loop.remove(handle) }
            while true {
                let next = handle.loop.now.advanced(byNanoseconds: interval)
                // `deinit` signals. If its signal is taken together with the expiry, the pool is gone, too.
                guard await handle.waitForSignal(until: next) == .expired, let self,
                    await self.maintain(at: handle.loop.now)
                else { return }
            }
        }
    }

    /// Closes the connections that are too old or were closed by their peer, and releases the buffers of the
    /// rest. Returns false if no connection is idle and no memory is to be given back.
    private func maintain(at now: Instant) async -> Bool {
        // To close ten thousand at once would keep other tasks from the loop for 150 ms.
        while decide({ $0.closeExpired(at: now, atMost: Self.closedAtOnce) }) { await loop.yield() }
        for candidate in sweep(at: now) {
            inspect(candidate)
            // Other tasks on the loop get their turn.
            await loop.yield()
        }
        return state.withLock { state in
            let goesOn = state.machine.hasIdle || state.roundsUntilTrim > 0
            if !goesOn { state.maintenanceHandle = nil }
            return goesOn
        }
    }

    /// An idle connection that may have input to read.
    private struct ConnectionWithInput {
        let connection: Connection
        let origin: Machine.Record
    }

    /// Closes the connections whose time is over, and returns those that may have input. Nothing is read
    /// here, under the lock: there is no bound on how long it takes to read what a peer sends.
    private func sweep(at now: Instant) -> [ConnectionWithInput] {
        var released = 0
        var candidates: [ConnectionWithInput] = []
        let (isAfterLargeBodies, consequences) = state.withLock { state in
            let isLastRound = state.roundsUntilTrim == 1
            if isLastRound { state.largeBodies = 0 }
            state.roundsUntilTrim = max(0, state.roundsUntilTrim - 1)
            state.machine.sweep(at: now) { connection, origin in
                if connection.mayHaveInput {
                    candidates.append(ConnectionWithInput(connection: connection, origin: origin))
                } else if connection.hasLongBeenIdle(at: now), connection.releaseBuffers() {
                    released += 1
                }
                // Only the connections whose time is over are closed here.
                return false
            }
            return (isLastRound, state.consequences())
        }
        consequences?.perform()
        if isAfterLargeBodies || released >= Self.releasesWorthTrimming {
            BlockingWork.shared.submit { trimHeap() }
        }
        return candidates
    }

    /// Notes the end of a body. Some time after the last of many large ones the heap's free memory is given
    /// back: once an array of 20 MB has been freed, glibc keeps up to 40 MB in each of its arenas
    /// (mallopt(3), M_MMAP_THRESHOLD).
    func noteBody(of count: UInt64) {
        guard count >= Self.largeBody else { return }
        let maintenanceHandle = state.withLock { state -> LoopHandle? in
            state.largeBodies += count
            guard state.largeBodies >= Self.largeBodiesWorthTrimming else { return nil }
            state.roundsUntilTrim = Self.roundsBeforeTrim
            // The connections of these bodies may all have been closed: then no maintenance runs.
            guard state.maintenanceHandle == nil else { return nil }
            state.maintenanceHandle = LoopHandle(loop: loop)
            return state.maintenanceHandle
        }
        if let maintenanceHandle { startMaintenance(maintenanceHandle) }
    }

    /// Reads what the peer sent, while no request can take the connection.
    private func inspect(_ candidate: ConnectionWithInput) {
        let (connection, origin) = (candidate.connection, candidate.origin)
        guard decide({ $0.takeOut(connection, of: origin) }) else { return }
        let isAlive = connection.isIdleAndAlive()
        if !isAlive { connection.close() }
        decide { machine in
            if isAlive {
                machine.putBack(connection, to: origin, at: loop.now)
            } else {
                machine.release(connection, of: origin)
            }
        }
    }

    /// The buffers of this many connections are 8 MiB, which the allocator would not give back by itself.
    private static let releasesWorthTrimming = 256
    private static let closedAtOnce = 64
    private static let largeBody: UInt64 = 1024 * 1024
    /// So much may be in the heap afterwards. For less the whole process, whose threads wait for their arenas
    /// in the meantime, is not disturbed.
    private static let largeBodiesWorthTrimming: UInt64 = 32 * 1024 * 1024
    /// The first one may begin at once; there is a whole one without a large body before memory is given
    /// back.
    private static let roundsBeforeTrim = 2
    static let longestMaintenanceInterval: UInt64 = 2_000_000_000
}

extension Connection {
    /// Whether the connection has been idle long enough to expect that it stays idle, so that 33 KiB of
    /// buffers for it are a waste.
    fileprivate func hasLongBeenIdle(at now: Instant) -> Bool {
        pooledState.since.advanced(byNanoseconds: Self.timeWithBuffers) <= now
    }

    private static let timeWithBuffers: UInt64 = 1_500_000_000
}
