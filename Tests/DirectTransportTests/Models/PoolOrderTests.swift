import DirectTestModels
@testable import DirectTransport
import Testing

@Suite("Every order of requests at a pool")
struct PoolOrderTests {
    private static func plans(_ fault: PoolCalls.Fault? = nil) -> [PoolCalls.Plan] {
        [
            .init(origins: [0, 0, 0], fault: fault),
            .init(limits: PoolLimits(perOrigin: 1, total: 2), origins: [0, 1, 0, 1], fault: fault),
            .init(limits: PoolLimits(perOrigin: 2, total: 1), origins: [0, 1, 2], fault: fault),
            .init(
                limits: PoolLimits(perOrigin: 2, total: 3),
                origins: [0, 1, 0, 0],
                hasHedge: true,
                fault: fault
            ),
            .init(
                limits: PoolLimits(perOrigin: 2, total: 2),
                origins: [0, 0, 0],
                hasHedge: true,
                fault: fault
            ),
        ]
    }

    private static func explorations(_ fault: PoolCalls.Fault?) -> some Sequence<Exploration> {
        plans(fault).lazy.map { plan in Exploration(Replay { PoolCalls(plan) }) }
    }

    @Test(
        "No permit is lost, no connection has two users, and each waiter gets one grant, whatever is cancelled"
    )
    func noFault() {
        for exploration in Self.explorations(nil) { #expect(exploration.fault == nil, "\(exploration)") }
    }

    @Test(
        "A fault of the requests that is planted is found",
        arguments: [
            (.permitKeptOnCancel, "a permit is lost or given twice"),
            (.grantKeptOnCancel, "a permit is lost or given twice"),
            (.loserKeepsPermit, "a permit is lost or given twice"),
            (.registeredLate, "a permit is lost or given twice"),
            (.givenBackEarly, "a connection has two users"),
        ] as [(PoolCalls.Fault, String)]
    )
    func fault(planted: PoolCalls.Fault, found: String) {
        let fault = Self.explorations(planted).lazy.compactMap(\.fault).first { _ in true }
        #expect(fault == found)
    }
}

@Suite("Every sequence of a race")
struct ScheduleOrderTests {
    @Test(
        "Attempts begin in order and in time, and the race ends when nothing is left",
        arguments: [0, 1, 2]
    )
    func race(late: Int) {
        let exploration = Exploration(Replay { ScheduleUse(late: late) })
        #expect(exploration.fault == nil, "\(exploration)")
    }

    @Test("An attempt that has failed unnoticed is found")
    func unnoticed() {
        let exploration = Exploration(Replay { ScheduleUse(late: 0, forgetsFailures: true) })
        #expect(exploration.fault != nil)
    }
}
