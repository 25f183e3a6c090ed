internal import DirectIO

/// What idle connections need: they are closed in time, and their memory is given back.
extension ConnectionPool {
    /// Looks after idle connections for as long as there are any, without keeping the pool alive.
    func startTidying(_ janitor: LoopHandle) {
        let interval = tidyInterval
        Task.detached(executorPreference: loop) { [weak self] in
            janitor.loop.add(janitor)
            defer { janitor.loop.remove(janitor) }
            while true {
                // The last expiry has left it signalled. A goodbye lost here is noticed one round later.
                janitor.input.clear()
                let next = janitor.loop.now.advanced(byNanoseconds: interval)
                let wake = await janitor.input.wait(until: next, on: janitor.loop)
                guard wake == .expired, let self, await self.tidy(at: janitor.loop.now) else { return }
            }
        }
    }

    /// Closes what is too old or was closed by its peer, and gives back the memory of the rest. False if nothing is idle.
    private func tidy(at now: Instant) async -> Bool {
        for found in sweep(at: now) {
            inspect(found)
            // The loop has others to serve.
            await Task.yield()
        }
        return state.withLock { state in
            if !state.machine.hasIdle { state.janitor = nil }
            return state.machine.hasIdle
        }
    }

    private struct Found {
        let connection: Connection
        let origin: Machine.Origin
    }

    /// Returns the connections of which there is news. Nothing is read here, in the lock: what a peer sends may take as
    /// long as it likes.
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
        consequences?.carryOut()
        if released >= Self.releasesWorthTrimming { BlockingWork.shared.submit { trimHeap() } }
        return found
    }

    /// Reads what the peer has to say, while no request can have the connection.
    private func inspect(_ found: Found) {
        let (connection, origin) = (found.connection, found.origin)
        guard decide({ $0.takeOut(connection, of: origin) }) else { return }
        let isQuiet = connection.isStillQuiet()
        if !isQuiet { connection.close() }
        decide { machine in
            if isQuiet {
                machine.putBack(connection, to: origin, at: loop.now)
            } else {
                machine.release(connection, origin)
            }
        }
    }

    /// Buffers of so many connections are 8 MiB, which the allocator would keep to itself.
    private static let releasesWorthTrimming = 256
    static let longestTidyInterval: UInt64 = 2_000_000_000
}

extension Connection {
    /// Whether it has been idle for so long that it will be for longer, and 33 KiB of buffers for it are a waste.
    fileprivate func isRested(at now: Instant) -> Bool {
        stay.since.advanced(byNanoseconds: 1_500_000_000) <= now
    }
}
