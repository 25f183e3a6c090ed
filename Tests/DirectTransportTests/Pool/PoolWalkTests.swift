import Testing

@Suite("The pool under random use")
struct PoolWalkTests {
    @Test(
        "A random sequence of operations loses no connection, no place and no turn",
        arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64]
    )
    func walk(seed: UInt64) {
        var walk = PoolWalk(seed: seed)
        for step in 0..<1500 {
            walk.step()
            if let fault = walk.fault {
                Issue.record("seed \(seed), step \(step): \(fault)")
                return
            }
        }
        walk.finish()
        #expect(walk.fault == nil)
    }
}
