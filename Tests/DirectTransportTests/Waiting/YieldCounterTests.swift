import DirectIO
@testable import DirectTransport
import Testing

@Suite("The turns of a task that never waits")
struct YieldCounterTests {
    @Test("A task that has moved 256 KiB without a wait gives way, and not before")
    func turns() async {
        let loop = EventLoop.shared
        var counter = YieldCounter()
        counter.count(256 * 1024 - 1)
        #expect(await !counter.yieldIfDue(on: loop))
        counter.count(1)
        #expect(await counter.yieldIfDue(on: loop))
        #expect(await !counter.yieldIfDue(on: loop))
        counter.count(256 * 1024)
        counter.begin()
        #expect(await !counter.yieldIfDue(on: loop))
    }
}
