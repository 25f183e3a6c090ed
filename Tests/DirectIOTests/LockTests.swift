import DirectTestCommands
import Testing

@testable import DirectCore

@Suite("Locks")
struct LockTests {
    @Test("No two threads hold the lock at once")
    func exclusion() async throws {
        let counter = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await onOwnThread { for _ in 0..<10_000 { counter.withLock { $0 += 1 } } }
                }
            }
            try await group.waitForAll()
        }
        #expect(counter.withLock { $0 } == 80_000)
    }
    @Test("A thread that leaves a fair lock and wants it again comes behind the one that waits")
    func turns() async throws {
        for _ in 0..<100 {
            let (lock, hadItsTurn) = (FairLock(), Locked(false))
            let (holding, hold) = AsyncStream<Void>.makeStream()
            async let first = onOwnThread {
                lock.withLock {
                    hold.finish()
                    while !lock.isAwaited {}
                }
                return lock.withLock { hadItsTurn.withLock { $0 } }
            }
            for await _ in holding {}
            try await onOwnThread { lock.withLock { hadItsTurn.withLock { $0 = true } } }
            #expect(try await first)
        }
    }
}
