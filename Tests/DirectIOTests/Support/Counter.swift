import Synchronization

/// A number that any thread may read and change.
final class Counter: Sendable {
    private let atomic = Atomic(0)

    var value: Int {
        get { atomic.load(ordering: .acquiring) }
        set { atomic.store(newValue, ordering: .releasing) }
    }

    @discardableResult
    func add(_ count: Int = 1) -> Int { atomic.add(count, ordering: .acquiringAndReleasing).newValue }
}
