@testable import DirectCore
@testable import DirectIO
import DirectTestCommands
import Testing

@Suite("Event loops", .idleLimit)
struct EventLoopTests {
    private let loop = EventLoop.shared

    @Test("Tasks that prefer a loop run on its thread, also after they have waited")
    func oneThread() async throws {
        let other = EventLoop()
        func threads(on loop: EventLoop) async -> Set<UInt> {
            await Task.detached(executorPreference: loop) {
                var seen: Set<UInt> = []
                for _ in 0..<10 {
                    seen.insert(currentThread())
                    await loop.pause(milliseconds: 1)
                    seen.insert(currentThread())
                    await Task.yield()
                }
                return seen
            }.value
        }
        async let (ours, theirs) = (threads(on: loop), threads(on: other))
        let both = await (ours, theirs)
        #expect(both.0.count == 1)
        #expect(both.1.count == 1)
        #expect(both.0 != both.1)
    }

    @Test("A task that yields on the loop lets it look at deadlines before it continues")
    func yields() async {
        let clock = HeldClock()
        let loop = EventLoop(clock: clock)
        let hasExpired = Locked(false)
        let turns = await Task.detached(executorPreference: loop) {
            let deadline = loop.now.advanced(byNanoseconds: 1_000_000)
            let waiting = Task.detached(executorPreference: loop) {
                try? await loop.sleep(until: deadline)
                hasExpired.withLock { $0 = true }
            }
            while loop.waitCount(until: deadline) == 0 { await loop.yield() }
            clock.advance(by: .milliseconds(2))
            var turns = 0
            while !hasExpired.withLock({ $0 }) {
                await loop.yield()
                turns += 1
            }
            await waiting.value
            return turns
        }.value
        #expect(turns <= 2)
    }

    @Test("A job from outside wakes a sleeping loop")
    func wakes() async {
        for _ in 0..<2000 { await loop.drain() }
    }

    @Test("Concurrent jobs from several threads all run, each thread's in the given order")
    func manyThreads() async throws {
        let (threads, count) = (4, 2000)
        let seen = Locked<[[Int]]>(Array(repeating: [], count: threads))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<threads {
                group.addTask { [loop] in
                    let tasks = try await onOwnThread {
                        (0..<count).map { number in
                            Task.detached(executorPreference: loop) {
                                seen.withLock { $0[thread].append(number) }
                            }
                        }
                    }
                    for task in tasks { await task.value }
                }
            }
            try await group.waitForAll()
        }
        let expected = Array(repeating: Array(0..<count), count: threads)
        #expect(seen.withLock { $0 } == expected)
    }

    @Test("Tasks started on the loop run in order, after the one that starts them")
    func orderOnTheLoop() async {
        let seen = Locked<[Int]>([])
        await Task.detached(executorPreference: loop) { [loop] in
            let tasks = (1...3000).map { number in
                Task.detached(executorPreference: loop) { seen.withLock { $0.append(number) } }
            }
            seen.withLock { $0.append(0) }
            for task in tasks { await task.value }
        }.value
        #expect(seen.withLock { $0 } == Array(0...3000))
    }

    @Test("Deadlines expire while jobs follow each other without end")
    func busyLoop() async {
        let isDone = Counter()
        let busy = Task.detached(executorPreference: loop) {
            while isDone.value == 0 { await Task.yield() }
        }
        await loop.pause(milliseconds: 5)
        isDone.value = 1
        await busy.value
    }

    /// On a loop of its own, where only the loop can delay a task.
    @Test("With many handles each deadline is kept, and none expires early")
    func manyDeadlines() async {
        let loop = EventLoop()
        let start = Instant.now
        let tasks = (0..<2000).map { number in
            Task.detached(executorPreference: loop) { () -> Duration? in
                let handle = LoopHandle(loop: loop)
                loop.add(handle)
                defer { loop.remove(handle) }
                let due = start.advanced(byNanoseconds: UInt64(number * 7919 % 60 + 1) * 1_000_000)
                let wake = await handle.output.wait(until: due, on: loop)
                let now = Instant.now
                return wake == .expired && now >= due ? now.since(due) : nil
            }
        }
        var worst = Duration.zero
        for task in tasks {
            guard let late = await task.value else {
                Issue.record("a wait has ended before its deadline")
                return
            }
            worst = max(worst, late)
        }
        #expect(worst < .seconds(5))
    }

    /// An hour, and a hundred years: more than some kernels take for one wait.
    @Test("A nearer deadline shortens the sleep of the loop", arguments: [3_600, 3_155_760_000] as [UInt64])
    func nearerDeadline(seconds: UInt64) async {
        let loop = EventLoop()
        let far = LoopHandle(loop: loop)
        loop.add(far)
        defer { loop.remove(far) }
        let waiting = Task.detached(executorPreference: loop) {
            await far.input.wait(until: .now.advanced(byNanoseconds: seconds * 1_000_000_000), on: loop)
        }
        await loop.drain()
        // Set from another thread, while the loop sleeps: without a wake-up this would take that long.
        await loop.pause(milliseconds: 2)
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
    }

    @Test("A loop releases a handle that is removed")
    func letsGo() async {
        weak var gone: LoopHandle?
        do {
            let handle = LoopHandle(loop: loop)
            gone = handle
            loop.add(handle)
            #expect(gone != nil)
            loop.remove(handle)
        }
        // Between two jobs of which one awaits the other, the loop has been through its poll.
        await loop.drain()
        await loop.drain()
        #expect(gone == nil)
    }

    @Test("A loop that is otherwise idle releases many removed handles")
    func departed() async {
        final class Counted: LoopHandle, @unchecked Sendable {
            let count: Locked<Int>

            init(loop: EventLoop, _ count: Locked<Int>) {
                self.count = count
                super.init(loop: loop)
                count.withLock { $0 += 1 }
            }

            deinit { count.withLock { $0 -= 1 } }
        }
        let loop = EventLoop()
        let alive = Locked(0)
        for _ in 0..<5000 {
            let handle = Counted(loop: loop, alive)
            loop.add(handle)
            loop.remove(handle)
        }
        while alive.withLock({ $0 }) > 1024 { await Task.yield() }
    }
}
