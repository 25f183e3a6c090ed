package import DirectCore

/// Permits for what may be done only so many times at once. They are given in the order of the questions.
package final class Permits: Sendable {
    private struct State {
        var free: Int
        var waiting = Waitlist<Reply<Void>>()
    }

    private let state: Locked<State>

    package init(_ count: Int) {
        state = Locked(State(free: count))
    }

    /// Takes a permit, which has to be given back. Waits until one is free, or until the deadline, which may
    /// change meanwhile.
    ///
    /// - Throws: ``BlockingWork/Abandoned`` if the deadline passes or the task is cancelled first.
    package func take(
        on loop: EventLoop,
        whileBefore deadline: () -> Instant
    ) async throws(BlockingWork.Abandoned) {
        let reply = Reply<Void>(on: loop)
        let ticket = state.withLock { state -> Waitlist<Reply<Void>>.Ticket? in
            guard state.free == 0 else {
                state.free -= 1
                return nil
            }
            return state.waiting.append(reply)
        }
        guard let ticket else { return }
        do throws(BlockingWork.Abandoned) {
            try await reply.value { Reply.Pause(end: deadline()) }
        } catch {
            // It may have been given at the last moment.
            if state.withLock({ $0.waiting.remove(ticket) }) == nil { give() }
            throw error
        }
    }

    /// Gives a permit back.
    package func give() {
        let next = state.withLock { state -> Reply<Void>? in
            if let next = state.waiting.popFirst() { return next }
            state.free += 1
            return nil
        }
        next?.give(())
    }
}
