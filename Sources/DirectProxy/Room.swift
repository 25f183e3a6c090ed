internal import DirectCore

/// Room for so many of a thing at a time.
final class Room: Sendable {
    private let limit: Int
    private let taken = Locked(0)

    init(for limit: Int) {
        self.limit = limit
    }

    /// The number of places that are taken.
    var count: Int { taken.withLock { $0 } }

    /// Takes a place; `nil` if there is none left.
    func enter() -> Place? {
        let hasOne = taken.withLock { taken in
            guard taken < limit else { return false }
            taken += 1
            return true
        }
        return hasOne ? Place(self) : nil
    }

    /// A place. It is given back when its owner lets it go: never twice, and on every way out.
    struct Place: ~Copyable, Sendable {
        private let room: Room

        fileprivate init(_ room: Room) {
            self.room = room
        }

        deinit { room.taken.withLock { $0 -= 1 } }
    }
}
