internal import DirectCore
internal import DirectIO

/// Remembers the results of recent connection attempts, and orders addresses by them. Where there are
/// several, one that failed is tried after the others for a while, and is never banned; the one that worked
/// last is tried first.
final class AddressHistory: Sendable {
    private let state = Locked(State())

    /// Returns the endpoints in the order in which to try them: RFC 8305, section 4, and what is remembered.
    func order(_ endpoints: [Endpoint], for destination: Destination, at now: Instant) -> [Endpoint] {
        state.withLock { $0.order(endpoints, for: destination, at: now) }
    }

    /// Notes that a connection to this endpoint was made.
    func noteSuccess(_ endpoint: Endpoint, for destination: Destination, at now: Instant) {
        state.withLock { $0.noteSuccess(endpoint, destination: destination, now: now) }
    }

    /// Notes that no connection was made. A connect failure counts for every host, a handshake failure only
    /// for this one.
    func recordFailure(
        _ endpoint: Endpoint,
        in phase: TransportError.Phase,
        for destination: Destination,
        at now: Instant
    ) {
        state.withLock {
            $0.recordFailure(endpoint, destination: phase == .connect ? nil : destination, now: now)
        }
    }

    /// Forgets all results.
    func forgetAll() {
        state.withLock { $0 = State() }
    }

    /// The number of failures that are remembered.
    var badCount: Int { state.withLock { $0.bad.count } }

    private struct State {
        struct Key: Hashable {
            let endpoint: Endpoint
            /// The host that the failure counts for; `nil` for every host.
            let destination: Destination?
        }

        /// The failures of an endpoint, and when they stop to count.
        struct FailureRecord {
            var failures: Int
            var end: Instant
        }

        /// The endpoint that worked last for a destination.
        private struct LastSuccess {
            let endpoint: Endpoint
            let end: Instant
        }

        private(set) var bad: [Key: FailureRecord] = [:]
        private var good: [Destination: LastSuccess] = [:]

        func order(_ endpoints: [Endpoint], for destination: Destination, at now: Instant) -> [Endpoint] {
            var first: [Endpoint] = []
            var later: [Endpoint] = []
            for endpoint in endpoints {
                if isBad(endpoint, destination: destination, now: now) {
                    later.append(endpoint)
                } else {
                    first.append(endpoint)
                }
            }
            if let favour = good[destination], favour.end > now,
                let index = first.firstIndex(of: favour.endpoint)
            {
                first.insert(first.remove(at: index), at: 0)
            }
            return interleaved(first) + interleaved(later)
        }

        mutating func noteSuccess(_ endpoint: Endpoint, destination: Destination, now: Instant) {
            if !bad.isEmpty {
                bad[Key(endpoint: endpoint, destination: nil)] = nil
                bad[Key(endpoint: endpoint, destination: destination)] = nil
            }
            if good.count >= AddressHistory.capacity { good = good.filter { $0.value.end > now } }
            if good.count >= AddressHistory.capacity { good.removeAll(keepingCapacity: true) }
            let end = now.advanced(byNanoseconds: AddressHistory.favourTime)
            good[destination] = LastSuccess(endpoint: endpoint, end: end)
        }

        mutating func recordFailure(_ endpoint: Endpoint, destination: Destination?, now: Instant) {
            if bad.count >= AddressHistory.capacity { bad = bad.filter { $0.value.end > now } }
            if bad.count >= AddressHistory.capacity { bad.removeAll(keepingCapacity: true) }
            var grudge =
                bad[Key(endpoint: endpoint, destination: destination)] ?? FailureRecord(failures: 0, end: now)
            // Failures that ended long ago no longer count.
            if grudge.end.advanced(byNanoseconds: AddressHistory.longestGrudge) < now { grudge.failures = 0 }
            let time = AddressHistory.shortestGrudge << UInt64(min(grudge.failures, 5))
            grudge.failures += 1
            grudge.end = now.advanced(byNanoseconds: min(time, AddressHistory.longestGrudge))
            bad[Key(endpoint: endpoint, destination: destination)] = grudge
        }

        private func isBad(_ endpoint: Endpoint, destination: Destination, now: Instant) -> Bool {
            if bad.isEmpty { return false }
            if let grudge = bad[Key(endpoint: endpoint, destination: nil)], grudge.end > now { return true }
            guard let grudge = bad[Key(endpoint: endpoint, destination: destination)] else { return false }
            return grudge.end > now
        }
    }

    /// The time doubles with each failure, up to the longest.
    private static let shortestGrudge: UInt64 = 30_000_000_000
    private static let longestGrudge: UInt64 = 600_000_000_000
    private static let favourTime: UInt64 = 600_000_000_000
    /// More entries are not worth the memory: forgetting one costs only a detour.
    private static let capacity = 4096
}

/// Returns the addresses with their families alternating, the family of the first one first (RFC 8305,
/// section 4).
func interleaved(_ endpoints: [Endpoint]) -> [Endpoint] {
    guard let family = endpoints.first?.address.family,
        endpoints.contains(where: { $0.address.family != family })
    else { return endpoints }
    var own = endpoints.filter { $0.address.family == family }[...]
    var other = endpoints.filter { $0.address.family != family }[...]
    var result: [Endpoint] = []
    while !own.isEmpty || !other.isEmpty {
        if let next = own.popFirst() { result.append(next) }
        if let next = other.popFirst() { result.append(next) }
    }
    return result
}
