import DirectCore
import DirectTestCommands
import Testing

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
}
