internal import DirectIO

/// What to do where the process has no descriptor left: close what is idle, wait for what is not. It takes no longer
/// than a request waits for its turn in the pool.
struct DescriptorShortage: Sendable {
    var queue = DescriptorQueue.shared
    /// Closes something that can be spared. False if there is nothing.
    var makeRoom: @Sendable () -> Bool = { ConnectionPools.shared.closeLongestIdle() }

    /// The socket that `open` opens, once it no longer fails for want of descriptors. First come, first served.
    func overcome(
        _ limits: DialLimits,
        _ open: () throws(CallFailure) -> Socket
    ) async throws(CallFailure) -> Socket {
        if queue.isEmpty {
            do throws(CallFailure) {
                return try open()
            } catch {
                guard error.meansNoDescriptors else { throw error }
            }
        }
        let turn = LoopHandle(loop: limits.loop)
        queue.join(turn)
        defer { queue.leave(turn) }
        while true {
            if limits.endOfShortage <= limits.loop.now { return try openAtLast(limits, open) }
            // Whoever is not the first is woken when it is.
            guard queue.isFirst(turn) else {
                try await wait(at: turn, until: limits.endOfShortage)
                continue
            }
            if let socket = try openMakingRoom(open) { return socket }
            try await rest(at: turn, until: limits.endOfShortage)
        }
    }

    /// The answer of the system's resolver, which is asked again if it could not ask for want of descriptors. It has
    /// those in reserve, so that it waits behind no connection.
    func overcome<Answer>(
        _ limits: DialLimits,
        asking ask: () async throws(DialFailure) -> Answer
    ) async throws(DialFailure) -> Answer {
        while true {
            do throws(DialFailure) {
                return try await ask()
            } catch {
                guard error.cause.meansNoDescriptors, limits.endOfShortage > limits.loop.now else {
                    throw error
                }
            }
            if makeRoom() { continue }
            let pause = LoopHandle(loop: limits.loop)
            limits.loop.add(pause)
            defer { limits.loop.remove(pause) }
            do throws(CallFailure) {
                try await rest(at: pause, until: limits.endOfShortage)
            } catch {
                throw DialFailure(cause: error)
            }
        }
    }

    /// The time is over: what there is no descriptor for now fails.
    private func openAtLast(
        _ limits: DialLimits,
        _ open: () throws(CallFailure) -> Socket
    ) throws(CallFailure) -> Socket {
        do throws(CallFailure) {
            return try open()
        } catch {
            guard error.meansNoDescriptors, limits.end <= limits.loop.now else { throw error }
            throw limits.patience(.queue, .max).timeout
        }
    }

    /// `nil` if there is no descriptor, and nothing to close for one.
    private func openMakingRoom(_ open: () throws(CallFailure) -> Socket) throws(CallFailure) -> Socket? {
        repeat {
            do throws(CallFailure) {
                return try open()
            } catch {
                guard error.meansNoDescriptors else { throw error }
            }
        } while makeRoom()
        return nil
    }

    /// Not for long: files and others' sockets are closed without a word.
    private func rest(at turn: LoopHandle, until end: Instant) async throws(CallFailure) {
        let next = turn.loop.now.advanced(byNanoseconds: Self.timeBetweenAttempts)
        try await wait(at: turn, until: min(next, end))
    }

    private func wait(at turn: LoopHandle, until end: Instant) async throws(CallFailure) {
        let wake = await turn.input.wait(until: end, on: turn.loop)
        turn.input.clear()
        if wake == .cancelled { throw .cancelled }
    }

    private static let timeBetweenAttempts: UInt64 = 50_000_000
}

extension CallFailure {
    /// Whether there was no descriptor to be had.
    var meansNoDescriptors: Bool {
        switch self {
        case .failed(_, .system(let error)): error.meansNoDescriptors
        case .failed(_, .lookup(let error)): error.meansNoDescriptors
        default: false
        }
    }
}
