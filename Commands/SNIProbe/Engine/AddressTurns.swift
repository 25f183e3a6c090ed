internal import DirectCore
internal import DirectHTTP

/// Lets the handshakes that confirm a result have an address to themselves.
///
/// A load balancer gives connections to its servers in turn. Only if no other connection of this process
/// comes between two of a probe, their order decides which servers they meet, and not chance.
final class AddressTurns: Sendable {
    /// The share of one probe in an address. It belongs to one task at a time.
    struct Turn: Sendable {
        fileprivate let turns: AddressTurns
        fileprivate let place: Endpoint
        fileprivate let handle: LoopHandle
        fileprivate var id: ObjectIdentifier { ObjectIdentifier(handle) }

        /// Begins to connect, beside other probes that do not want to be alone. Returns the nanoseconds that
        /// passed before.
        func join() async -> UInt64 { await turns.enter(self, aloneAfter: nil) }

        /// Waits until no other probe connects, and keeps them from it. What has been silent for so many
        /// nanoseconds has been given to a server, and counts no more. Returns those that passed before.
        func takeAlone(afterSilenceOf silence: UInt64) async -> UInt64 {
            await turns.enter(self, aloneAfter: silence)
        }

        /// Gives up whatever it has, or waits for.
        func end() { turns.leave(self) }
    }

    private struct Address {
        /// Those that connect, and since when.
        var connecting: [ObjectIdentifier: Instant] = [:]
        var owner: ObjectIdentifier?
        var waiting: [(turn: Turn, silence: UInt64?)] = []

        var isIdle: Bool { connecting.isEmpty && owner == nil && waiting.isEmpty }

        mutating func remove(_ turn: Turn) {
            connecting[turn.id] = nil
            if owner == turn.id { owner = nil }
            waiting.removeAll { $0.turn.id == turn.id }
        }

        /// Lets a turn that waits begin. Returns the moment until which it has to wait, unless another one
        /// ends before; `nil` if it has begun.
        mutating func admit(_ turn: Turn, at now: Instant) -> Instant? {
            guard owner == nil, let index = waiting.firstIndex(where: { $0.turn.id == turn.id }),
                !waiting[..<index].contains(where: { $0.silence != nil })
            else { return .never }
            if let silence = waiting[index].silence {
                let last = connecting.values.max()?.advanced(byNanoseconds: silence)
                if let last, last > now { return last }
                owner = turn.id
            } else {
                connecting[turn.id] = now
            }
            waiting.remove(at: index)
            return nil
        }
    }

    private let places = Locked<[Endpoint: Address]>([:])

    func turn(at address: Endpoint, on loop: EventLoop) -> Turn {
        Turn(turns: self, place: address, handle: LoopHandle(loop: loop))
    }

    private func enter(_ turn: Turn, aloneAfter silence: UInt64?) async -> UInt64 {
        let loop = turn.handle.loop
        let start = loop.now
        change(turn) { $0.waiting.append((turn, silence)) }
        guard var moment = admit(turn, at: start) else { return 0 }
        loop.add(turn.handle)
        defer { loop.remove(turn.handle) }
        while true {
            // A probe that was cancelled goes on, to fail at its next step.
            guard await turn.handle.waitForSignal(until: moment) != .cancelled,
                let next = admit(turn, at: loop.now)
            else { return loop.now.since(start).clampedNanoseconds }
            moment = next
        }
    }

    private func admit(_ turn: Turn, at now: Instant) -> Instant? {
        places.withLock { $0[turn.place]?.admit(turn, at: now) }
    }

    private func leave(_ turn: Turn) { change(turn) { _ in } }

    /// Ends what the turn has, changes the place, and wakes those that wait.
    private func change(_ turn: Turn, _ body: (inout Address) -> Void) {
        let waiting = places.withLock { places in
            var place = places[turn.place] ?? Address()
            place.remove(turn)
            body(&place)
            places[turn.place] = place.isIdle ? nil : place
            return place.waiting.map(\.turn)
        }
        for other in waiting where other.id != turn.id { other.handle.input.signal() }
    }
}
