package import DirectCore
package import DirectIO

/// Handles a shortage of file descriptors in the process: closes idle connections, and waits if there are
/// none. This takes no longer than the time limit of the pool's queue.
package struct DescriptorShortage: Sendable {
    /// The process's queue for descriptors.
    let queue: DescriptorQueue
    /// Closes an idle connection of any client. Returns false if there is none.
    let closeIdleConnection: @Sendable () -> Bool

    /// Creates a value for the descriptors of this process and the connections of all its clients.
    package init() {
        self.init(queue: .shared) { ConnectionPools.shared.closeLongestIdle() }
    }

    init(queue: DescriptorQueue, closeIdleConnection: @escaping @Sendable () -> Bool) {
        self.queue = queue
        self.closeIdleConnection = closeIdleConnection
    }

    /// Opens a socket. As long as there is no descriptor, closes idle connections or waits, in order of
    /// arrival.
    ///
    /// - Parameter room: The limits of this wait and of all others for the same connection.
    func openSocket(
        _ room: Deadline,
        on loop: EventLoop,
        open: () throws(TransportError) -> Socket
    ) async throws(TransportError) -> Socket {
        if queue.isEmpty {
            do throws(TransportError) {
                return try open()
            } catch {
                guard error.isDescriptorShortage else { throw error }
            }
        }
        let handle = LoopHandle(loop: loop)
        queue.join(handle)
        defer { queue.leave(handle) }
        while true {
            if room.instant <= loop.now { return try openLastTime(room, on: loop, open: open) }
            // A caller that is not the first in the queue is woken when it is.
            guard queue.isFirst(handle) else {
                try await wait(at: handle, until: room.instant)
                continue
            }
            if let socket = try openClosingIdle(open) { return socket }
            try await pause(at: handle, until: room.instant)
        }
    }

    /// Returns the answer of the system's resolver, which is asked again if it had no descriptor for its
    /// query. The resolver may use a reserve of descriptors (`Descriptors.reserve`) that sockets do not use,
    /// so it does not queue behind connections.
    func retryLookup<Answer>(
        _ room: Deadline,
        on loop: EventLoop,
        lookup: () async throws(DialFailure) -> Answer
    ) async throws(DialFailure) -> Answer {
        while true {
            do throws(DialFailure) {
                return try await lookup()
            } catch {
                guard error.cause.isDescriptorShortage, room.instant > loop.now else {
                    throw error
                }
            }
            do throws(CancellationError) {
                try await makeRoom(on: loop, until: room.instant)
            } catch {
                throw DialFailure(cause: .cancelled)
            }
        }
    }

    /// Closes an idle connection, or waits for a short time if there is none. Then there may be a descriptor.
    ///
    /// This is for attempts that do not queue behind connections.
    package func makeRoom(on loop: EventLoop, until end: Instant) async throws(CancellationError) {
        if closeIdleConnection() { return }
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        do throws(TransportError) { try await pause(at: handle, until: end) } catch {
            throw CancellationError()
        }
    }

    /// Makes the last attempt when the time limit has passed. It may be the first one, of a second address
    /// that is tried late. Idle connections still make room for it; a shortage without them is now an error,
    /// or a time-out if the whole call is over.
    private func openLastTime(
        _ room: Deadline,
        on loop: EventLoop,
        open: () throws(TransportError) -> Socket
    ) throws(TransportError) -> Socket {
        if room.end > loop.now, let socket = try openClosingIdle(open) { return socket }
        do throws(TransportError) {
            return try open()
        } catch {
            guard error.isDescriptorShortage, room.end <= loop.now else { throw error }
            throw room.untilEnd.timeout
        }
    }

    /// Opens the socket, closing idle connections to free descriptors. Returns `nil` if there is no
    /// descriptor and no idle connection left.
    private func openClosingIdle(_ open: () throws(TransportError) -> Socket) throws(TransportError)
        -> Socket?
    {
        repeat {
            do throws(TransportError) {
                return try open()
            } catch {
                guard error.isDescriptorShortage else { throw error }
            }
        } while closeIdleConnection()
        return nil
    }

    /// Waits for a short time before the next attempt: files, and the sockets of other code, are closed
    /// without notice to the queue.
    private func pause(at handle: LoopHandle, until end: Instant) async throws(TransportError) {
        let next = handle.loop.now.advanced(byNanoseconds: Self.nanosecondsBetweenAttempts)
        try await wait(at: handle, until: next.atMost(end))
    }

    private func wait(at handle: LoopHandle, until end: Instant) async throws(TransportError) {
        if await handle.waitForSignal(until: end) == .cancelled { throw .cancelled }
    }

    private static let nanosecondsBetweenAttempts: UInt64 = 50_000_000
}

extension TransportError {
    /// Whether the failure is a lack of descriptors.
    @inline(never)
    package var isDescriptorShortage: Bool {
        switch self {
        case .failed(_, .system(let error)): error.isDescriptorShortage
        case .failed(_, .lookup(let error)): error.isDescriptorShortage
        default: false
        }
    }
}
