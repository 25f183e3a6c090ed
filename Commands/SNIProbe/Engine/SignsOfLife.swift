internal import Synchronization

/// Counts the pieces of data that a probe receives. A count that stays the same says that the probe waits.
final class SignsOfLife: Sendable {
    private let pieces = Atomic<Int>(0)

    /// Counts a piece of data.
    func add() {
        pieces.wrappingAdd(1, ordering: .relaxed)
    }

    var count: Int { pieces.load(ordering: .relaxed) }
}
