import DirectTestModels
@testable import DirectResolvers
import Testing

@Suite("Every order of callers of a resolver cache")
struct QueryOrderTests {
    private func explore(_ fault: QueryCalls.Fault?) -> Exploration {
        Exploration(Replay { QueryCalls(callers: 3, fault: fault) })
    }

    @Test("Each caller ends by the answer, its own cancellation or its own time, whoever else leaves")
    func noFault() {
        let exploration = explore(nil)
        #expect(exploration.fault == nil, "\(exploration)")
    }

    @Test(
        "A fault of the cache that is planted is found",
        arguments: [
            (.cancelsForAll, "a query is cancelled for which one waits"),
            (.keepsCancelled, "a query is cancelled for which one waits"),
            (.leavesOthersHanging, "nothing leads to the end from here"),
            (.forgetsAnswer, "an answer that was there is not taken"),
        ] as [(QueryCalls.Fault, String)]
    )
    func fault(planted: QueryCalls.Fault, found: String) { #expect(explore(planted).fault == found) }

    @Test(
        "A table of answers says what a plain list says, after all sequences of six operations",
        arguments: [0, 3]
    )
    func table(stale: UInt64) {
        let exploration = Exploration(Replay { TableUse(stale: stale) }, depth: 6)
        #expect(exploration.fault == nil, "\(exploration)")
    }
}
