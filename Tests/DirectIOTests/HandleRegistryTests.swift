@testable import DirectCore
@testable import DirectIO
import Testing

@Suite("The registry of handles")
struct HandleRegistryTests {
    private var registry = HandleRegistry()

    @Test("Each handle has its own slot, and a free slot is used again")
    mutating func slots() {
        let handles = (0..<3).map { _ in LoopHandle(loop: .shared) }
        for handle in handles { registry.insert(handle) }
        #expect(handles.map(\.slot) == [0, 1, 2])
        registry.remove(handles[1])
        #expect(registry.handles.map { $0 == nil } == [false, true, false])
        let next = LoopHandle(loop: .shared)
        registry.insert(next)
        #expect(next.slot == 1)
        #expect(registry.handles.count == 3)
        #expect(registry.handles[1] === next)
    }

    @Test("A removed handle is kept until the loop releases it")
    mutating func departed() {
        weak var gone: LoopHandle?
        do {
            let handle = LoopHandle(loop: .shared)
            gone = handle
            registry.insert(handle)
            registry.remove(handle)
        }
        #expect(gone != nil)
        registry.departed.removeAll()
        #expect(gone == nil)
    }

    @Test("Removing a handle twice, or an unknown one, affects no other handle")
    mutating func removeTwice() {
        let (first, second, stranger) = (
            LoopHandle(loop: .shared), LoopHandle(loop: .shared), LoopHandle(loop: .shared)
        )
        registry.insert(first)
        registry.remove(first)
        registry.insert(second)
        registry.remove(first)
        registry.remove(stranger)
        #expect(registry.handles.count == 1)
        #expect(registry.handles[0] === second)
        #expect(registry.departed.count == 1)
    }
}
