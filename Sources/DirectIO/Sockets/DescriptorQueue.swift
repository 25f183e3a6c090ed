internal import DirectCore
internal import Synchronization

/// The connection attempts that wait for a free descriptor, in order of arrival. There is one queue for the
/// process, since there is one table of descriptors.
///
/// Only the first in the queue is woken, whenever a descriptor may have become free. When it leaves, the next
/// one is woken, since where one descriptor was free there may be two.
package final class DescriptorQueue: Sendable {
    /// The queue of this process.
    package static let shared = DescriptorQueue()

    private let waiting = Locked<[LoopHandle]>([])
    /// Whether the queue is not empty. Every close of a socket reads it, so that closing costs no lock if no
    /// attempt waits.
    private let hasWaiting = Atomic<Bool>(false)

    /// Creates an empty queue.
    init() {}

    /// Whether no attempt waits for a descriptor.
    package var isEmpty: Bool { !hasWaiting.load(ordering: .sequentiallyConsistent) }

    /// Joins the queue. The handle's `input` is signalled when it becomes first, and then whenever a
    /// descriptor may have become free.
    ///
    /// After joining, try once more before waiting: descriptors that were closed earlier are not signalled.
    package func join(_ handle: LoopHandle) {
        handle.loop.add(handle)
        waiting.withLock { waiting in
            waiting.append(handle)
            hasWaiting.store(true, ordering: .sequentiallyConsistent)
        }
    }

    /// Whether this handle is first in the queue.
    package func isFirst(_ handle: LoopHandle) -> Bool {
        waiting.withLock { $0.first === handle }
    }

    /// Leaves the queue and wakes the next handle, since where one descriptor was free there may be two.
    package func leave(_ handle: LoopHandle) {
        let next = waiting.withLock { waiting in
            waiting.removeAll { $0 === handle }
            hasWaiting.store(!waiting.isEmpty, ordering: .sequentiallyConsistent)
            return waiting.first
        }
        next?.input.signal()
        handle.loop.remove(handle)
    }

    /// Wakes the first handle. Call this after a descriptor has been closed.
    func noteClosed() {
        guard !isEmpty else { return }
        waiting.withLock { $0.first }?.input.signal()
    }
}
