import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
import Testing

@Suite("Tasks that run late", .idleLimit)
struct LateTurnTests {
    private let loop = EventLoop.shared

    @Test("An event before the deadline counts, although the task runs after the deadline")
    func eventInTime() async {
        let executor = HeldExecutor()
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        let deadline = Instant.now.advanced(byNanoseconds: 30_000_000)
        let task = Task(executorPreference: executor) { [loop] in
            await handle.input.wait(until: deadline, on: loop)
        }
        await executor.runNext()
        handle.input.signal()
        await passDeadline(deadline)
        executor.release()
        #expect(await task.value == .ready)
    }

    @Test("Without an event before the deadline the wait ends with the deadline")
    func noEvent() async {
        let executor = HeldExecutor()
        let handle = LoopHandle(loop: loop)
        loop.add(handle)
        defer { loop.remove(handle) }
        let deadline = Instant.now.advanced(byNanoseconds: 30_000_000)
        let task = Task(executorPreference: executor) { [loop] in
            await handle.input.wait(until: deadline, on: loop)
        }
        await executor.runNext()
        await passDeadline(deadline)
        executor.release()
        #expect(await task.value == .expired)
    }

    /// Returns when the loop has looked at the deadlines after this one.
    private func passDeadline(_ deadline: Instant) async {
        let later = LoopHandle(loop: loop)
        loop.add(later)
        defer { loop.remove(later) }
        let end = deadline.advanced(byNanoseconds: 20_000_000)
        #expect(await later.input.wait(until: end, on: loop) == .expired)
    }
}
