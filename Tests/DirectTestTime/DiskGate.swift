internal import DirectCore
package import DirectIO

/// Blocks a thread until it is opened.
package final class DiskGate: Sendable {
    private let isOpen = Locked(false)
    private let opening = Condition()

    package init() {}

    package func wait() {
        let hour: UInt64 = 3_600_000_000_000
        _ = isOpen.wait(at: opening, nanoseconds: hour) { isOpen, _ in isOpen ? true : nil }
    }

    package func open() {
        isOpen.withLock { $0 = true }
        opening.signal()
    }
}

extension BlockingWork {
    /// Lets the disk stand still until the gate is opened; returns when it does. For one thread.
    package func stop(until gate: DiskGate) async {
        await withCheckedContinuation { continuation in
            submit {
                continuation.resume()
                gate.wait()
            }
        }
    }
}
