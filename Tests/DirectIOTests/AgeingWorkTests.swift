import DirectTestCommands
import DirectTestTime
import Testing

@testable import DirectCore
@testable import DirectIO

@Suite("Blocking calls that hang", .idleLimit)
struct AgeingWorkTests {
    private let time = HeldTime()
    private let gate = DiskGates()

    /// Begins a call that hangs until the gates are opened; returns when it hangs.
    private func hang(_ work: BlockingWork) async -> Task<Void, any Error> {
        let gate = gate.make()
        let begun = Locked(false)
        let task = Task { [time] in
            try await work.run(until: .never, on: time.loop) {
                begun.withLock { $0 = true }
                gate.wait()
            }
        }
        while !begun.withLock({ $0 }) { await Task.yield() }
        return task
    }

    @Test("A call that its caller has left does not count: the next one gets another thread")
    func abandoned() async throws {
        defer { gate.open() }
        let work = BlockingWork(threadLimit: 2, most: 20)
        for _ in 0..<10 {
            let task = await hang(work)
            task.cancel()
            await #expect(throws: BlockingWork.Abandoned.cancelled) { try await task.value }
        }
        #expect(try await work.run(until: .never, on: time.loop) { 42 } == 42)
        #expect(try await work.carryOut(until: .never, on: time.loop) { 43 } == 43)
    }

    @Test("A call that takes longer than the pool is patient does not count while others wait")
    func late() async throws {
        defer { gate.open() }
        let work = BlockingWork(threadLimit: 1, most: 20, patience: 1_000_000)
        for _ in 0..<10 { _ = await hang(work) }
        #expect(try await work.run(until: .never, on: time.loop) { 42 } == 42)
        #expect(work.threads > 10)
    }

    @Test(
        "When as many calls hang as there may be threads the next one fails, and works when they have ended"
    )
    func dry() async throws {
        let work = BlockingWork(threadLimit: 1, most: 3, patience: 1_000_000)
        var hanging: [Task<Void, any Error>] = []
        for _ in 0..<3 { hanging.append(await hang(work)) }
        await #expect(throws: BlockingWork.Abandoned.refused(.noThread)) {
            // The last of the calls becomes late while this one waits.
            try await work.run(until: .never, on: time.loop) {}
        }
        gate.open()
        for task in hanging { try await task.value }
        #expect(try await work.run(until: .never, on: time.loop) { 42 } == 42)
        // The threads that stood in for late ones end: one is left.
        while work.threads > 1 { await Task.yield() }
    }

    @Test("Calls that their callers have left fail no other one before they have taken the pool's patience")
    func left() async throws {
        let work = BlockingWork(threadLimit: 1, most: 3, patience: 3_600_000_000_000)
        for _ in 0..<3 {
            let task = await hang(work)
            task.cancel()
            await #expect(throws: BlockingWork.Abandoned.cancelled) { try await task.value }
        }
        async let next = work.run(until: .never, on: time.loop) { 42 }
        while work.waiting == 0 { await Task.yield() }
        gate.open()
        #expect(try await next == 42)
    }

    @Test("A task waits while as many calls hang as there may be threads, and does not run on Swift's own")
    func dryTask() async throws {
        let work = BlockingWork(threadLimit: 1, most: 2, patience: 1_000_000)
        var hanging: [Task<Void, any Error>] = []
        for _ in 0..<2 { hanging.append(await hang(work)) }
        let task = Task.detached(executorPreference: work) { 42 }
        // By then the last of the calls is late.
        await #expect(throws: BlockingWork.Abandoned.refused(.noThread)) {
            try await work.run(until: .never, on: time.loop) {}
        }
        #expect(work.waiting == 1)
        gate.open()
        for task in hanging { try await task.value }
        #expect(await task.value == 42)
    }

    @Test("Jobs that wait for each other all get threads, however many they are")
    func mutual() async throws {
        let work = BlockingWork.forCode()
        let count = 90
        let arrived = Locked(0)
        let last = DiskGate()
        await withCheckedContinuation { continuation in
            let ended = Locked(0)
            for _ in 0..<count {
                work.submit {
                    let isLast = arrived.withLock { arrived in
                        arrived += 1
                        return arrived == count
                    }
                    if isLast { last.open() } else { last.wait() }
                    // Wakes the next one.
                    last.open()
                    let isEnd = ended.withLock { ended in
                        ended += 1
                        return ended == count
                    }
                    if isEnd { continuation.resume() }
                }
            }
        }
    }

    @Test("A call without a deadline fails when its disk is silent for longer than the pool waits")
    func longestWait() async throws {
        defer { gate.open() }
        let work = BlockingWork(threadLimit: 1, longestWait: 60_000_000_000)
        await work.stop(until: gate.make())
        let silent = Task { [time] in try await work.run(until: .never, on: time.loop) {} }
        try await time.pass(.seconds(60))
        await #expect(throws: BlockingWork.Abandoned.refused(.silent)) { try await silent.value }
        let impatient = Task { [time] in
            try await work.run(until: .never, atMost: 10_000_000_000, on: time.loop) {}
        }
        try await time.pass(.seconds(10))
        await #expect(throws: BlockingWork.Abandoned.refused(.silent)) { try await impatient.value }
    }

    @Test("Files of one folder share threads, and a folder that hangs stops no other one")
    func folders() async throws {
        defer { gate.open() }
        let dead = BlockingWork.forFile("/dead-mount/a")
        #expect(
            dead === BlockingWork.forFile("/dead-mount/b") && dead === BlockingWork.forFolder("/dead-mount")
        )
        for _ in 0..<8 { _ = await hang(dead) }
        let other = BlockingWork.forFile("/other-mount/a")
        #expect(other !== dead)
        #expect(try await other.run(until: .never, on: time.loop) { 42 } == 42)
    }
}

/// Gates that are opened together.
private final class DiskGates: Sendable {
    private let gates = Locked<[DiskGate]>([])

    func make() -> DiskGate {
        let gate = DiskGate()
        gates.withLock { $0.append(gate) }
        return gate
    }

    func open() {
        for gate in gates.withLock({ $0 }) { gate.open() }
    }
}
