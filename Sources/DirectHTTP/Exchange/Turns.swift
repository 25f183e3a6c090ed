/// When a task that moves bytes without waiting lets other tasks of its executor run, and its loop look at the sockets.
struct Turns {
    /// How much has been moved since the task last suspended.
    private var moved = 0

    mutating func count(_ bytes: Int) {
        moved &+= bytes
    }

    /// The task has been suspended.
    mutating func begin() {
        moved = 0
    }

    var isDue: Bool { moved >= Self.bytesBetweenYields }

    mutating func yieldIfDue() async {
        guard isDue else { return }
        moved = 0
        await Task.yield()
    }

    private static let bytesBetweenYields = 256 * 1024
}
