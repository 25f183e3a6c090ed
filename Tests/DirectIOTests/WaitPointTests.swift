@testable import DirectCore
@testable import DirectIO
import DirectTestCommands
import Testing

@Suite("Wait points", .idleLimit)
struct WaitPointTests {
    private let loop = EventLoop.shared
    private let handle = LoopHandle(loop: .shared)
    private var point: WaitPoint { handle.input }

    private func wait(until deadline: Instant = .never) async -> WaitPoint.Wake {
        loop.add(handle)
        defer { loop.remove(handle) }
        return await point.wait(until: deadline, on: loop)
    }

    /// A task that has certainly begun to wait: jobs of a loop run one after the other.
    private func parked(until deadline: Instant = .never) async -> Task<WaitPoint.Wake, Never> {
        let task = Task.detached(executorPreference: loop) { [self] in await wait(until: deadline) }
        await loop.drain()
        return task
    }

    @Test("A signal before the wait is kept")
    func signalFirst() async {
        point.signal()
        point.signal()
        #expect(point.isReady)
        #expect(await wait() == .ready)
        #expect(await wait() == .ready, "only the owner clears it")
    }

    @Test("A signal during the wait ends it", arguments: Place.allCases)
    func signalLater(_ place: Place) async throws {
        let task = place.start(loop) { [self] in await wait() }
        await loop.drain()
        point.signal()
        #expect(try await task.value == .ready)
    }

    @Test("A cleared signal must be sent again")
    func clear() async {
        point.signal()
        point.clear()
        #expect(!point.isReady)
        let task = await parked()
        point.signal()
        #expect(await task.value == .ready)
    }

    @Test("A deadline ends the wait when it is reached, and not before", arguments: [1, 20, 50])
    func deadline(milliseconds: UInt64) async {
        let loop = EventLoop()
        let timing = Task.detached(executorPreference: loop) {
            let handle = LoopHandle(loop: loop)
            loop.add(handle)
            defer { loop.remove(handle) }
            let start = Instant.now
            let due = start.advanced(byNanoseconds: milliseconds * 1_000_000)
            let wake = await handle.input.wait(until: due, on: loop)
            return (wake: wake, elapsed: Instant.now.since(start))
        }
        let (wake, elapsed) = await timing.value
        #expect(wake == .expired)
        #expect(elapsed >= .milliseconds(milliseconds))
        #expect(elapsed < .milliseconds(milliseconds) + .seconds(5))
    }

    @Test("A deadline in the past ends the wait at once")
    func pastDeadline() async {
        #expect(await wait(until: Instant(nanoseconds: 1)) == .expired)
    }

    @Test("A wait expires once, and before that the scan returns its deadline")
    func scan() async {
        let due = Instant.now.advanced(byNanoseconds: 3_600_000_000_000)
        let task = await parked(until: due)
        #expect(point.expire(ifBefore: Instant(nanoseconds: due.nanoseconds - 1)) == due)
        #expect(point.expire(ifBefore: due) == .never)
        #expect(point.expire(ifBefore: due) == .never)
        #expect(await task.value == .expired)
    }

    @Test("The deadline of a finished wait does not end a later one")
    func staleDeadline() async {
        let due = Instant.now.advanced(byNanoseconds: 3_600_000_000_000)
        let first = await parked(until: due)
        point.signal()
        #expect(await first.value == .ready)
        point.clear()
        #expect(point.expire(ifBefore: .never) == .never, "nobody waits")
        #expect(!point.isReady)

        let second = await parked()
        #expect(point.expire(ifBefore: .never) == .never, "the second wait has no deadline")
        #expect(!point.isReady)
        point.signal()
        #expect(await second.value == .ready)
    }

    @Test("An expired wait leaves the deadline of the next one unchanged")
    func expiredThenNext() async {
        #expect(await wait(until: .now.advanced(byNanoseconds: 1_000_000)) == .expired)
        point.clear()
        let second = await parked(until: .now.advanced(byNanoseconds: 3_600_000_000_000))
        await loop.pause(milliseconds: 5)
        #expect(!point.isReady)
        point.signal()
        #expect(await second.value == .ready)
    }

    @Test("A point that nobody clears puts neither its deadline nor cancellation off")
    func readyForEver() async {
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        point.signal()
        let deadline = loop.now.advanced(byNanoseconds: 1_000_000_000)
        var wakes = 0
        while wakes < 1000, await point.wait(until: deadline, on: loop) == .ready {
            wakes += 1
            if wakes == 100 { clock.advance(by: .seconds(1)) }
        }
        #expect((100..<120).contains(wakes))
        wakes = await Task {
            var wakes = 0
            while wakes < 1000, await point.wait(until: .never, on: loop) == .ready {
                wakes += 1
                if wakes == 100 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return wakes
        }.value
        #expect((100..<120).contains(wakes))
    }

    @Test("Events that move the deadline each time may come without end, although a task runs late")
    func progress() async {
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        point.signal()
        for _ in 0..<100 {
            let deadline = loop.now.advanced(byNanoseconds: 1)
            clock.advance(by: .seconds(1))
            #expect(await point.wait(until: deadline, on: loop) == .ready)
        }
    }

    @Test("A cancelled task does not begin to wait")
    func cancelledBefore() async {
        let task = Task.detached { [self] in
            withUnsafeCurrentTask { $0?.cancel() }
            return await wait()
        }
        #expect(await task.value == .cancelled)
    }

    @Test("A signal that is already there counts for a cancelled task, too")
    func readyAndCancelled() async {
        point.signal()
        let task = Task.detached { [self] in
            withUnsafeCurrentTask { $0?.cancel() }
            return await wait()
        }
        #expect(await task.value == .ready)
    }

    @Test("Cancelling ends the wait", arguments: Place.allCases)
    func cancelledDuring(_ place: Place) async throws {
        let task = place.start(loop) { [self] in await wait() }
        await loop.drain()
        task.cancel()
        #expect(try await task.value == .cancelled)
    }

    @Test("The cancellation of one task does not end the next task's wait")
    func staleCancellation() async {
        loop.add(handle)
        defer { loop.remove(handle) }
        for _ in 0..<2000 {
            let first = Task.detached { [self] in await point.wait(until: .never, on: loop) }
            async let signalled: Void = point.signal()
            first.cancel()
            _ = await (first.value, signalled)
            point.clear()
            let second = Task.detached { [self] in await point.wait(until: .never, on: loop) }
            await Task.yield()
            point.signal()
            guard await second.value == .ready else {
                Issue.record("ended by somebody else's cancellation")
                return
            }
            point.clear()
        }
    }
}
