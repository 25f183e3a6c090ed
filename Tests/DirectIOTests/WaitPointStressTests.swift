import DirectCore
import DirectIO
import DirectTestCommands
import Foundation
import Testing

@Suite("Concurrent waits", .idleLimit)
struct WaitPointStressTests {
    /// Every signal matters: the thread goes on only when the task has seen it. A lost one hangs the test.
    @Test("No signal of another thread is lost", arguments: Place.allCases)
    func pingPong(_ place: Place) async throws {
        let loop = EventLoop.shared
        let rounds = 5000
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                let handle = LoopHandle(loop: loop)
                let (sent, seen) = (Counter(), Counter())
                let isSeen = DispatchSemaphore(value: 0)
                loop.add(handle)
                group.addTask {
                    try await onOwnThread {
                        for round in 1...rounds {
                            sent.value = round
                            handle.input.signal()
                            while seen.value < round { isSeen.wait() }
                        }
                    }
                }
                let waiting = place.start(loop) {
                    while seen.value < rounds {
                        #expect(await handle.input.wait(until: .never, on: loop) == .ready)
                        handle.input.clear()
                        seen.value = sent.value
                        isSeen.signal()
                    }
                }
                group.addTask {
                    try await waiting.value
                    loop.remove(handle)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("Concurrent deadlines, signals and cancellations end each wait exactly once")
    func everythingAtOnce() async throws {
        let loop = EventLoop.shared
        let isOver = Counter()
        let handles = (0..<8).map { _ in LoopHandle(loop: loop) }
        for handle in handles { loop.add(handle) }
        defer { for handle in handles { loop.remove(handle) } }
        let isWanted = DispatchSemaphore(value: 0)
        async let signals: Void = onOwnThread {
            while isOver.value == 0 {
                isWanted.wait()
                for handle in handles { handle.input.signal() }
            }
        }
        let ended = try await withThrowingTaskGroup(of: Int.self) { group in
            for (number, handle) in handles.enumerated() {
                group.addTask {
                    var ended = 0
                    for round in 0..<2000 {
                        let place =
                            (round + number).isMultiple(of: 2) ? Place.onTheLoop : .onTheGlobalExecutor
                        let wait = place.start(loop) {
                            let due = Instant.now.advanced(byNanoseconds: UInt64(round % 200) * 1000)
                            return await handle.input.wait(until: due, on: loop)
                        }
                        if round.isMultiple(of: 3) { wait.cancel() }
                        if round.isMultiple(of: 5) { isWanted.signal() }
                        _ = try await wait.value
                        handle.input.clear()
                        // An event that ended that wait, or is too late for it, must not end this one.
                        let next = place.start(loop) { await handle.input.wait(until: .never, on: loop) }
                        isWanted.signal()
                        guard try await next.value == .ready else { break }
                        handle.input.clear()
                        ended += 1
                    }
                    return ended
                }
            }
            return try await group.reduce(0, +)
        }
        isOver.value = 1
        isWanted.signal()
        try await signals
        #expect(ended == 8 * 2000)
    }
}
