import DirectCore
import DirectTestCommands
import Testing

@testable import DirectHTTPFoundation

@Suite("The gate of a paused load", .idleLimit)
struct AsyncGateTests {
    @Test("Tasks pass an open gate, wait at a closed one, and all continue when it opens")
    func passing() async {
        let gate = AsyncGate()
        await gate.pass()
        gate.close()
        let passed = Locked(0)
        await withTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    await gate.pass()
                    passed.withLock { $0 += 1 }
                }
            }
            // However long the tasks have to run, none passes.
            for _ in 0..<1000 { await Task.yield() }
            #expect(passed.withLock { $0 } == 0)
            gate.open()
        }
        #expect(passed.withLock { $0 } == 20)
        await gate.pass()
        gate.close()
        gate.open()
        await gate.pass()
    }

    @Test("No task is left behind, however often the gate opens and closes while tasks come")
    func opening() async {
        let gate = AsyncGate()
        await withTaskGroup { group in
            for _ in 0..<200 {
                gate.close()
                for _ in 0..<4 { group.addTask { await gate.pass() } }
                await Task.yield()
                gate.open()
            }
        }
    }
}
