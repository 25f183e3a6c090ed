internal import DirectCore
internal import DirectIO

/// Handles a shortage of file descriptors in the process: closes idle connections, and waits if there are none.
/// This takes no longer than the time limit of the pool's queue.
struct DescriptorShortage: Sendable {
    /// The process's queue for descriptors.
    var queue = DescriptorQueue.shared
    /// Closes an idle connection of any client. Returns false if there is none.
    var makeRoom: @Sendable () -> Bool = { ConnectionPools.shared.closeLongestIdle() }

    /// Returns the socket that `open` opens, and waits while it fails for lack of descriptors. First come, first
    /// served.
    func overcome(
        _ limits: DialLimits,
        open: () throws(TransportError) -> Socket
    ) async throws(TransportError) -> Socket {
        if queue.isEmpty {
            do throws(TransportError) {
                return try open()
            } catch {
                guard error.meansNoDescriptors else { throw error }
            }
        }
        let turn = LoopHandle(loop: limits.loop)
        queue.join(turn)
        defer { queue.leave(turn) }
        while true {
            if limits.endOfShortage <= limits.loop.now { return try openAtLast(limits, open: open) }
            // A caller that is not the first in the queue is woken when it is.
            guard queue.isFirst(turn) else {
                try await wait(at: turn, until: limits.endOfShortage)
                continue
            }
            if let socket = try openMakingRoom(open) { return socket }
            try await rest(at: turn, until: limits.endOfShortage)
        }
    }

    /// Returns the answer of the system's resolver, which is asked again if it had no descriptor for its query. The
    /// resolver may use a reserve of descriptors that sockets leave alone, so it does not queue behind connections.
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
            do throws(TransportError) {
                try await rest(at: pause, until: limits.endOfShortage)
            } catch {
                throw DialFailure(cause: error)
            }
        }
    }

    /// Makes the last attempt when the time limit has passed. A shortage is now an error, or a time-out if the
    /// whole call is over.
    private func openAtLast(
        _ limits: DialLimits,
        open: () throws(TransportError) -> Socket
    ) throws(TransportError) -> Socket {
        do throws(TransportError) {
            return try open()
        } catch {
            guard error.meansNoDescriptors, limits.end <= limits.loop.now else { throw error }
            throw limits.deadline(.queue, stall: .max).timeout
        }
    }

    /// Opens the socket, closing idle connections to free descriptors. Returns `nil` if there is no descriptor and
    /// no idle connection left.
    private func openMakingRoom(_ open: () throws(TransportError) -> Socket) throws(TransportError) -> Socket?
    {
        repeat {
            do throws(TransportError) {
                return try open()
            } catch {
                guard error.meansNoDescriptors else { throw error }
            }
        } while makeRoom()
        return nil
    }

    /// Waits for a short time before the next attempt: files, and the sockets of other code, are closed without
    /// notice to the queue.
    private func rest(at turn: LoopHandle, until end: Instant) async throws(TransportError) {
        let next = turn.loop.now.advanced(byNanoseconds: Self.timeBetweenAttempts)
        try await wait(at: turn, until: min(next, end))
    }

    private func wait(at turn: LoopHandle, until end: Instant) async throws(TransportError) {
        let wake = await turn.input.wait(until: end, on: turn.loop)
        turn.input.clear()
        if wake == .cancelled { throw .cancelled }
    }

    private static let timeBetweenAttempts: UInt64 = 50_000_000
}

extension TransportError {
    /// Whether the failure is a lack of descriptors.
    package var meansNoDescriptors: Bool {
        switch self {
        case .failed(_, .system(let error)): error.meansNoDescriptors
        case .failed(_, .lookup(let error)): error.meansNoDescriptors
        default: false
        }
    }
}
