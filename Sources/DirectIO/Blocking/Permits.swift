package import DirectCore

/// Permits for questions, of which only so many are sent at once. They are given in the order of the
/// questions.
///
/// A permit whose question has been silent for a second does not count any more: its answer may never come,
/// and others wait for the permit. The more questions are silent, the more are sent at once, so that
/// thousands behind dead ones are sent within seconds. Only `most` are under way in all.
package final class Permits: Sendable {
    /// A permit, which has to be given back.
    package final class Permit: Sendable {
        fileprivate init() {}
    }

    /// A question that was sent.
    private struct Question {
        let start: Instant
        /// Called when it has been silent for a second while others wait.
        let noteSilence: @Sendable () -> Void
    }

    private struct Waiter {
        let permit: Permit
        let reply: Reply<Void>
        /// Called when silence alone makes it wait.
        let noteSilence: @Sendable () -> Void
    }

    private struct State {
        /// The number of permits that were given and not given back.
        var held = 0
        /// Those whose questions have been silent for a second.
        var silent: Set<ObjectIdentifier> = []
        /// The questions of the others, once they are sent.
        var asked: [ObjectIdentifier: Question] = [:]
        var waiting = Waitlist<Waiter>()
        /// Whether a task will look for questions that are silent.
        var willLook = false
    }

    private let state = Locked(State())
    private let count: Int
    private let most: Int

    /// - Parameters:
    ///   - count: The number of permits that count, and one more for each that does not.
    ///   - most: The number of permits in all.
    package init(_ count: Int, most: Int) {
        (self.count, self.most) = (count, most)
    }

    /// Takes a permit. Waits until there is one, or until the deadline, which may change meanwhile.
    ///
    /// - Parameter noteSilence: Called when there is none because `most` are held, which takes as much
    ///   silence: from here on the wait is not this side's.
    /// - Throws: ``BlockingWork/Abandoned`` if the deadline passes or the task is cancelled first.
    package func take(
        on loop: EventLoop,
        whileBefore deadline: () -> Instant,
        noteSilence: @escaping @Sendable () -> Void = {}
    ) async throws(BlockingWork.Abandoned) -> Permit {
        let waiter = Waiter(permit: Permit(), reply: Reply(on: loop), noteSilence: noteSilence)
        let (ticket, isFull) = state.withLock { state -> (Waitlist<Waiter>.Ticket?, Bool) in
            guard state.held >= limit(state) else {
                state.held += 1
                return (nil, false)
            }
            return (state.waiting.append(waiter), state.held >= most)
        }
        guard let ticket else { return waiter.permit }
        if isFull { noteSilence() }
        lookLater(on: loop)
        do throws(BlockingWork.Abandoned) {
            try await waiter.reply.value { Reply.Pause(end: deadline()) }
        } catch {
            // It may have been given at the last moment.
            if state.withLock({ $0.waiting.remove(ticket) }) == nil { give(waiter.permit) }
            throw error
        }
        return waiter.permit
    }

    /// Notes that the question of a permit is sent, or sent to another server.
    ///
    /// - Parameter noteSilence: Called when it has been silent for a second while others wait.
    package func begin(
        _ permit: Permit,
        on loop: EventLoop,
        noteSilence: @escaping @Sendable () -> Void = {}
    ) {
        let question = Question(start: loop.now, noteSilence: noteSilence)
        state.withLock { state in
            let key = ObjectIdentifier(permit)
            if !state.silent.contains(key) { state.asked[key] = question }
        }
        lookLater(on: loop)
    }

    /// Gives a permit back.
    package func give(_ permit: Permit) {
        let served = state.withLock { state in
            let key = ObjectIdentifier(permit)
            (state.held, state.asked[key]) = (state.held - 1, nil)
            state.silent.remove(key)
            return serve(&state)
        }
        for waiter in served { waiter.reply.give(()) }
    }

    /// The number of permits that may be held.
    private func limit(_ state: State) -> Int { min(count + 2 * state.silent.count, most) }

    private func serve(_ state: inout State) -> [Waiter] {
        var served: [Waiter] = []
        while state.held < limit(state), let next = state.waiting.popFirst() {
            state.held += 1
            served.append(next)
        }
        return served
    }

    /// Plans a look at the questions, for when the oldest one has been silent for a second, if any wait.
    private func lookLater(on loop: EventLoop) {
        let oldest = state.withLock { state -> Instant? in
            guard !state.willLook, state.waiting.count > 0,
                let oldest = state.asked.values.map(\.start).min()
            else { return nil }
            state.willLook = true
            return oldest
        }
        guard let end = oldest?.advanced(byNanoseconds: Self.patience) else { return }
        Task(executorPreference: loop) {
            try? await loop.sleep(until: end)
            self.look(on: loop)
        }
    }

    /// Stops counting the questions that are silent, and gives permits to those that wait.
    private func look(on loop: EventLoop) {
        let now = loop.now
        let (silent, served, left) = state.withLock { state -> ([Question], [Waiter], [Waiter]) in
            state.willLook = false
            guard state.waiting.count > 0 else { return ([], [], []) }
            let silent = state.asked.filter { $0.value.start.advanced(byNanoseconds: Self.patience) <= now }
            for key in silent.keys {
                state.asked[key] = nil
                state.silent.insert(key)
            }
            let served = serve(&state)
            return (Array(silent.values), served, state.held >= most ? state.waiting.all : [])
        }
        for question in silent { question.noteSilence() }
        for waiter in served { waiter.reply.give(()) }
        for waiter in left {
            waiter.noteSilence()
            waiter.reply.lookAgain()
        }
        lookLater(on: loop)
    }

    private static let patience: UInt64 = 1_000_000_000
}
