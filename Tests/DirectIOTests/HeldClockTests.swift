@testable import DirectCore
import DirectTestTime
import Testing

@testable import DirectIO

@Suite("The clock of tests")
struct HeldClockTests {
    @Test("A deadline expires when the clock is moved past it, and not before")
    func expiry() async {
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        let deadline = loop.now.advanced(byNanoseconds: 3600 * 1_000_000_000)
        async let wake = handle.input.wait(until: deadline, on: loop)
        clock.advance(by: .seconds(3599))
        clock.advance(by: .seconds(1))
        #expect(await wake == .expired)
        #expect(loop.now == deadline)
    }

    @Test("An event ends a wait while the clock stands still")
    func event() async {
        let loop = EventLoop(clock: HeldClock())
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        async let wake = handle.input.wait(until: loop.now.advanced(byNanoseconds: 1), on: loop)
        handle.input.signal()
        #expect(await wake == .ready)
    }

    @Test("A sleep ends when the clock is moved, or when its task is cancelled")
    func sleep() async throws {
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        let end = loop.now.advanced(byNanoseconds: 60_000_000_000)
        let first = Task { try await loop.sleep(until: end) }
        let second = Task { try await loop.sleep(until: .never) }
        clock.advance(by: .seconds(60))
        try await first.value
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
    }

    @Test("The beginning of a wait is observed, also if it came earlier")
    func beginning() async throws {
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        let end = loop.now.advanced(byNanoseconds: 60_000_000_000)
        async let early: Void = clock.waitBegins(until: end)
        let sleeping = Task { try await loop.sleep(until: end) }
        try await early
        try await clock.waitBegins(until: end)
        clock.advance(by: .seconds(60))
        try await sleeping.value
        #expect(clock.waitCount(until: end) == 0)
    }

    @Test("An observer of two waits goes on when both are in progress")
    func several() async throws {
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        let end = loop.now.advanced(byNanoseconds: 60_000_000_000)
        let observing = Task {
            try await clock.waitBegins(until: end, count: 2)
            return clock.waitCount(until: end)
        }
        let first = Task { try await loop.sleep(until: end) }
        try await clock.waitBegins(until: end)
        await letFaultsShow()
        let second = Task { try await loop.sleep(until: end) }
        #expect(try await observing.value == 2)
        clock.advance(by: .seconds(60))
        for sleeping in [first, second] { try await sleeping.value }
    }

    @Test("Only a wait with exactly this deadline counts, and a cancelled observer ends")
    func otherEnd() async throws {
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        let end = loop.now.advanced(byNanoseconds: 60_000_000_000)
        let observing = Task { try await clock.waitBegins(until: end.advanced(byNanoseconds: 1)) }
        let sleeping = Task { try await loop.sleep(until: end) }
        try await clock.waitBegins(until: end)
        #expect(clock.waitCount(until: end.advanced(byNanoseconds: 1)) == 0)
        observing.cancel()
        await #expect(throws: CancellationError.self) { try await observing.value }
        clock.advance(by: .seconds(60))
        try await sleeping.value
    }

    @Test("The date moves with the clock, in whole seconds")
    func date() {
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        let before = loop.date
        clock.advance(by: .milliseconds(1999))
        #expect(loop.date == before.advanced(bySeconds: 1))
        clock.advance(by: .milliseconds(1))
        #expect(loop.date == before.advanced(bySeconds: 2))
    }

    @Test("A task that writes is woken by input while another task waits to read")
    func crosswise() async {
        let loop = EventLoop(clock: HeldClock())
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        // The first wait of a writer for input ends at once: it has to look again with its mark set.
        #expect(await handle.waitForInput(.writer, until: .never) == .ready)
        async let reader = handle.waitForInput(.reader, until: .never)
        async let writer = handle.waitForInput(.writer, until: .never)
        handle.note(
            PollerEvent(token: .init(bitPattern: 1)!, canRead: true, canWrite: false, isHungUp: false)
        )
        #expect(await reader == .ready)
        #expect(await writer == .ready)
    }

    @Test("A writer's wait for input keeps its deadline beside a reader without one")
    func crosswiseDeadline() async {
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        let deadline = loop.now.advanced(byNanoseconds: 60_000_000_000)
        #expect(await handle.waitForInput(.writer, until: deadline) == .ready)
        async let writer = handle.waitForInput(.writer, until: deadline)
        clock.advance(by: .seconds(60))
        #expect(await writer == .expired)
    }
}
