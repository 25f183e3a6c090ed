internal import DirectCore
internal import DirectHTTP
internal import DirectIO

/// A clock that goes on while the machine sleeps, and whose waits need none of Swift's own threads: on Linux
/// these are libdispatch's, all of which a program may have wait for calls.
struct LoopClock: Clock {
    private let loop = EventLoop.shared

    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        // In pieces of a second, because the loop's clock stands still while the machine sleeps.
        while true {
            let rest = min(now.duration(to: deadline), .seconds(1))
            guard rest > .zero else { return }
            try await loop.sleep(until: loop.now.advanced(byNanoseconds: rest.clampedNanoseconds))
        }
    }
}
