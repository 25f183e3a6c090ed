import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@Suite("What is made once", .idleLimit)
struct MadeOnceTests {
    private let values = MadeOnce<String, Int>()

    @Test("All threads that ask for one get the same, and one of them makes it")
    func once() async {
        let (arrived, made, results) = (Counter(), Counter(), Counter())
        let ask = { @Sendable in
            arrived.add(1)
            let value = values.value(for: "a") {
                // Not before all are about to ask.
                while arrived.value < 8 { sched_yield() }
                return made.add(1)
            }
            results.add(value)
        }
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            ask()
                            continuation.resume()
                        }
                    }
                }
            }
        }
        #expect(made.value == 1 && results.value == 8)
    }

    @Test("While one is made, another can be")
    func apart() {
        // Nobody else could ask while a lock is held here.
        let value = values.value(for: "a") { values.value(for: "b") { 1 } + 1 }
        #expect(value == 2 && values.value(for: "b") { 0 } == 1)
    }

    @Test("What fails or is not to be kept is made again, and takes no room")
    func again() {
        struct Broken: Error {}
        #expect(throws: Broken.self) { try values.value(for: "a") { throw Broken() } }
        for number in 1...3 {
            let value = values.value(for: "a", keeping: { $0 == 3 && $1 == 0 }) { number }
            #expect(value == number)
        }
        #expect(values.value(for: "a") { 4 } == 3)
    }
}

/// A sum that threads add to.
private final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var sum = 0

    var value: Int { lock.withLock { sum } }

    @discardableResult
    func add(_ count: Int) -> Int {
        lock.withLock {
            sum += count
            return sum
        }
    }
}
