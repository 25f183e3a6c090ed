internal import DirectCore
internal import DirectHTTP

/// A probe or an unresolved target, with its place in the order of results.
///
/// Only the main thread accesses the mutable properties. Tasks only pass the reference on, which is why
/// `@unchecked Sendable` is safe.
final class Slot: @unchecked Sendable {
    /// The work of a slot.
    enum Job: Sendable {
        case probe(Probe)
        case target(ProbeTarget)
    }

    let job: Job
    /// Counts what the probe receives.
    let signs = SignsOfLife()
    /// The final result. `nil` until the probe is done.
    var record: ProbeRecord?
    /// The result of the last round, if it failed and another round follows.
    var latest: ProbeRecord?
    /// The number of attempts in all rounds of `--wait`.
    var rounds = 0
    /// The replies of the named resolvers for its host.
    var replies: HostReplies?
    /// Its place in the `StartQueue`.
    var standing = Standing.idle
    /// The nanoseconds until the next round. Doubled before each.
    var pause: UInt64 = 500_000_000

    /// Whether the `StartQueue` counts a slot.
    enum Standing {
        /// It does not run.
        case idle
        /// It runs, and counts towards the jobs and at its server.
        case working
        /// It runs, but has received nothing for a while, and no longer counts.
        case waiting
    }

    init(_ job: Job) {
        self.job = job
    }

    /// Returns the time of the next round, with growing pauses. `nil` if the time is up.
    ///
    /// The last round is at `end`, so that none of the time is wasted.
    func nextRound(after now: Instant, until end: Instant) -> Instant? {
        guard now < end else { return nil }
        pause = min(pause * 2, 10_000_000_000)
        return min(now.advanced(byNanoseconds: pause), end)
    }

    /// The server of a probe; `nil` for a name that is to be resolved.
    var server: Endpoint? {
        if case .probe(let probe) = job { Endpoint(probe.address, port: probe.port) } else { nil }
    }
}
