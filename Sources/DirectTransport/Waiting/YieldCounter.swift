package import DirectIO

/// Makes a task that moves bytes without waiting yield now and then, so that its executor runs other tasks
/// and its event loop polls the sockets.
package struct YieldCounter {
    /// The bytes moved since the task last suspended.
    private var moved = 0

    package init() {}

    /// Counts bytes that were moved.
    package mutating func count(_ bytes: Int) {
        moved &+= bytes
    }

    /// Notes that the task was suspended.
    package mutating func begin() {
        moved = 0
    }

    /// Whether so much was moved that it is time to yield.
    package var isDue: Bool { moved >= Self.bytesBetweenYields }

    /// Yields if enough bytes were moved since the task last suspended.
    ///
    /// - Returns: Whether it yielded. Then it is also time to check the limits.
    @discardableResult
    package mutating func yieldIfDue(on loop: EventLoop) async -> Bool {
        guard isDue else { return false }
        moved = 0
        await loop.yield()
        return true
    }

    private static let bytesBetweenYields = 256 * 1024
}
