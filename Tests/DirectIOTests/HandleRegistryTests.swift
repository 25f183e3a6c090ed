@testable import DirectCore
@testable import DirectIO
import Testing

@Suite("The registry of handles")
struct HandleRegistryTests {
    private var registry = HandleRegistry()

    private func ids(_ handles: [LoopHandle]) -> [ObjectIdentifier] { handles.map(ObjectIdentifier.init) }

    @Test("Each handle has its own slot, and a removed one leaves no gap")
    mutating func slots() {
        let handles = (0..<3).map { _ in LoopHandle(loop: .shared) }
        for handle in handles { registry.insert(handle) }
        #expect(handles.map(\.slot) == [0, 1, 2])
        registry.remove(handles[0])
        #expect(handles.map(\.slot) == [nil, 1, 0])
        #expect(ids(registry.handles) == ids([handles[2], handles[1]]))
        registry.remove(handles[1])
        #expect(ids(registry.handles) == ids([handles[2]]))
    }

    @Test("After a time with many handles only those that are left are looked at for deadlines")
    mutating func peak() {
        let handles = (0..<1000).map { _ in LoopHandle(loop: .shared) }
        for handle in handles { registry.insert(handle) }
        for handle in handles.dropFirst() { registry.remove(handle) }
        #expect(ids(registry.handles) == ids([handles[0]]))
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
