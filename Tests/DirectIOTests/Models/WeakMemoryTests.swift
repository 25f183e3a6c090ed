import DirectTestModels
import Testing

/// The litmus tests of memory models: what two threads may see of each other.
@Suite("The memory of the models")
struct WeakMemoryTests {
    /// Two threads that store and load in turn, each with two accesses.
    private struct Litmus: WeakModel {
        enum Access { case store(Int), load(Int) }

        let program: [[(Access, MemoryOrder)]]
        var memory = WeakMemory([0, 0], threads: 2)
        var position = [0, 0]
        var loaded: [[Int]] = [[], []]
        var orders: [String: MemoryOrder] = [:]

        struct Key: Hashable {
            let memory: WeakMemory
            let position: [Int]
            let loaded: [[Int]]
        }

        init(_ program: [[(Access, MemoryOrder)]]) {
            self.program = program
            for thread in program.indices {
                for (index, access) in program[thread].enumerated() {
                    orders["\(thread).\(index)"] = access.1
                }
            }
        }

        var key: Key { Key(memory: memory, position: position, loaded: loaded) }
        var fault: String? { nil }
        var isFinished: Bool { position == [2, 2] }
        var steps: Steps {
            [0, 1].flatMap { thread -> Steps in
                guard position[thread] < 2 else { return [] }
                let name = "\(thread).\(position[thread])"
                switch program[thread][position[thread]].0 {
                case .store(let place):
                    return store(place, 1, name, by: thread) { $0.position[thread] += 1 }
                case .load(let place):
                    return load(place, name, by: thread) { next, value in
                        next.position[thread] += 1
                        next.loaded[thread].append(value)
                    }
                }
            }
        }

        /// What the threads may have loaded in the end.
        var outcomes: Set<[[Int]]> {
            isFinished ? [loaded] : steps.reduce(into: []) { $0.formUnion($1.next.outcomes) }
        }
    }

    @Test(
        "Two threads that store and then load may both miss the other, unless all is sequentially consistent"
    )
    func storeBuffering() {
        func outcomes(_ store: MemoryOrder, _ load: MemoryOrder) -> Set<[[Int]]> {
            Litmus([[(.store(0), store), (.load(1), load)], [(.store(1), store), (.load(0), load)]]).outcomes
        }
        #expect(outcomes(.releasing, .acquiring).contains([[0], [0]]))
        #expect(outcomes(.sequentiallyConsistent, .acquiring).contains([[0], [0]]))
        #expect(!outcomes(.sequentiallyConsistent, .sequentiallyConsistent).contains([[0], [0]]))
    }

    @Test("What was stored before a flag is seen behind it if the flag is released and acquired")
    func messagePassing() {
        func outcomes(_ store: MemoryOrder, _ load: MemoryOrder) -> Set<[[Int]]> {
            Litmus([[(.store(0), .relaxed), (.store(1), store)], [(.load(1), load), (.load(0), .relaxed)]])
                .outcomes
        }
        #expect(!outcomes(.releasing, .acquiring).contains([[], [1, 0]]))
        #expect(outcomes(.relaxed, .acquiring).contains([[], [1, 0]]))
        #expect(outcomes(.releasing, .relaxed).contains([[], [1, 0]]))
    }

    @Test("A thread never sees a place go backwards")
    func coherence() {
        let same = Litmus([
            [(.store(0), .relaxed), (.store(0), .relaxed)], [(.load(0), .relaxed), (.load(0), .relaxed)],
        ])
        #expect(!same.outcomes.contains([[], [1, 0]]))
    }

    @Test("An exchange passes on what the value that it replaces has released, and loses none")
    func exchanges() {
        let memory = WeakMemory([0, 0], threads: 3)
        for first in memory.store(0, 7, .relaxed, by: 0) {
            for flagged in first.store(1, 1, .releasing, by: 0) {
                for (old, taken) in flagged.exchange(1, .relaxed, by: 1, { $0 + 1 }) where old == 1 {
                    for (value, seen) in taken.load(1, .acquiring, by: 2) where value == 2 {
                        #expect(seen.load(0, .relaxed, by: 2).map(\.value) == [7])
                    }
                }
            }
        }
        for (_, one) in memory.exchange(0, .relaxed, by: 0, { $0 + 1 }) {
            for (_, two) in one.exchange(0, .relaxed, by: 1, { $0 + 1 }) { #expect(two.latest(0) == 2) }
        }
    }
}
