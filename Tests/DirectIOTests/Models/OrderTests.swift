import DirectTestModels
import Testing

/// WaitPoint, EventLoop and DescriptorQueue as models beside the code: every order of the threads' steps, and
/// every value that C11 lets a load return.
@Suite("Every order of threads")
struct OrderTests {
    private static func waits(
        _ fault: WaitPointModel.Fault? = nil,
        _ orders: [String: MemoryOrder] = [:]
    ) -> [WaitPointModel] {
        let (due, never) = (1, WaitPointModel.never)
        return [
            .init(.init(deadlines: [never, never], cancellation: true, fault: fault, orders: orders)),
            .init(.init(deadlines: [never, never, never], signals: 2, fault: fault, orders: orders)),
            .init(.init(deadlines: [due], signals: 0, fault: fault, orders: orders)),
            .init(.init(deadlines: [due, never], signals: 2, fault: fault, orders: orders)),
            // The largest: what the others find is not looked for here.
            .init(.init(deadlines: [due, never], cancellation: true, fault: fault, orders: orders)),
        ]
    }

    private static func loops(
        _ fault: LoopModel.Fault? = nil,
        _ orders: [String: MemoryOrder] = [:]
    ) -> [LoopModel] {
        [
            .init(.init(enqueuers: 1, jobs: 2, wait: false, fault: fault, orders: orders)),
            .init(.init(enqueuers: 0, wait: true, oldDeadline: true, fault: fault, orders: orders)),
            .init(.init(enqueuers: 1, wait: true, fault: fault, orders: orders)),
            .init(.init(enqueuers: 2, wait: false, fault: fault, orders: orders)),
        ]
    }

    private static func queues(
        _ fault: DescriptorQueueModel.Fault? = nil,
        _ orders: [String: MemoryOrder] = [:]
    ) -> [DescriptorQueueModel] {
        [
            .init(.init(attempts: 2, fault: fault, orders: orders)),
            .init(.init(attempts: 2, cancellation: true, fault: fault, orders: orders)),
        ]
    }

    private func expectNone(_ models: [some Explorable]) {
        for model in models {
            let exploration = Exploration(model)
            #expect(exploration.fault == nil, "\(exploration)")
        }
    }

    private func fault(in models: [some Explorable]) -> String? {
        models.lazy.compactMap { Exploration($0).fault }.first
    }

    @Test("A wait ends for its own reason, and its task is resumed once")
    func wait() { expectNone(Self.waits()) }

    @Test("The loop does not sleep while a job or a passed deadline waits for it")
    func loop() { expectNone(Self.loops()) }

    @Test("Attempts get the descriptor one after the other, and none waits while it is free")
    func queue() { expectNone(Self.queues()) }

    @Test(
        "A fault of a wait point that is put into its model is found",
        arguments: [
            (.parkStores, Self.stuck), (.stopWithoutNumber, "a wait without a deadline has expired"),
            (.noReadyCheck, "a stop of a wait whose event had come"),
        ] as [(WaitPointModel.Fault, String)]
    )
    func waitFault(planted: WaitPointModel.Fault, found: String) {
        #expect(fault(in: Self.waits(planted)) == found)
    }

    @Test(
        "A fault of the loop that is put into its model is found",
        arguments: [.flagClearedLate, .looksBeforeSleeping, .deadlineResetLate] as [LoopModel.Fault]
    )
    func loopFault(planted: LoopModel.Fault) { #expect(fault(in: Self.loops(planted)) == Self.stuck) }

    @Test(
        "A fault of the queue that is put into its model is found",
        arguments: [
            (.wakesAll, "the descriptor is for two attempts"), (.leavesSilently, Self.stuck),
            (.waitsAtOnce, Self.stuck),
        ] as [(DescriptorQueueModel.Fault, String)]
    )
    func queueFault(planted: DescriptorQueueModel.Fault, found: String) {
        #expect(fault(in: Self.queues(planted)) == found)
    }

    @Test(
        "Where something depends on the order of an access, a weaker one is found",
        arguments: [
            ("signal word.exchange", .relaxed), ("park word.compareExchange", .relaxed),
            ("begin stop.store", .relaxed), ("expire stop.load", .relaxed),
        ] as [(String, MemoryOrder)]
    )
    func weakWait(access: String, order: MemoryOrder) {
        #expect(fault(in: Self.waits(nil, [access: order])) != nil)
    }

    @Test(
        "Where the loop's sleep depends on the order of an access, a weaker one is found",
        arguments: [
            ("enqueue hasArrivals.store", .releasing), ("poll hasArrivals.load", .acquiring),
            ("poll isAsleep.store", .releasing), ("wakeIfAsleep isAsleep.load", .acquiring),
            ("begin deadline.store 2", .releasing), ("pendingDeadline deadline.load", .acquiring),
            ("noteDeadline earliestDeadline.load", .acquiring),
            ("noteDeadline earliestDeadline.weakCompareExchange", .acquiringAndReleasing),
            ("findLate earliestDeadline.load", .acquiring),
            ("findLate earliestDeadline.store", .releasing),
        ] as [(String, MemoryOrder)]
    )
    func weakLoop(access: String, order: MemoryOrder) {
        #expect(fault(in: Self.loops(nil, [access: order])) == Self.stuck)
    }

    @Test(
        "Where the queue depends on the order of an access, a weaker one is found",
        arguments: [("isEmpty hasWaiting.load", .acquiring), ("join hasWaiting.store", .releasing)]
            as [(String, MemoryOrder)]
    )
    func weakQueue(access: String, order: MemoryOrder) {
        #expect(fault(in: Self.queues(nil, [access: order])) == Self.stuck)
    }

    @Test("The models have the atomic accesses and the locked sections of the sources, with their orders")
    func sameAccesses() {
        let point = AtomicAccess.all(
            in: "DirectIO/EventLoop/WaitPoint.swift",
            to: ["word", "stop", "deadline"]
        )
        #expect(point == WaitPointModel.accesses)
        let loop = AtomicAccess.all(in: "DirectIO/EventLoop/EventLoop.swift", to: LoopModel.places)
        #expect(loop == LoopModel.accesses)
        let queue = AtomicAccess.all(
            in: "DirectIO/Sockets/DescriptorQueue.swift",
            to: ["waiting", "hasWaiting"]
        )
        #expect(queue == DescriptorQueueModel.accesses)
    }

    private static let stuck = "nothing leads to the end from here"
}
