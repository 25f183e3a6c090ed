internal import Synchronization

/// Those who wait for a descriptor, first come first served. There is one for the process, as there is one table of
/// descriptors.
package final class DescriptorQueue: Sendable {
    package static let shared = DescriptorQueue()

    private let waiting = Locked<[LoopHandle]>([])
    /// Looked at by whoever closes a socket, so that closing costs nothing more where nobody waits.
    private let hasWaiting = Atomic<Bool>(false)

    package init() {}

    package var isEmpty: Bool { !hasWaiting.load(ordering: .sequentiallyConsistent) }

    /// Joins the queue, to be woken when it is first, and then whenever a descriptor may have become free.
    ///
    /// Who has joined tries once more before it waits: what was closed before is not told.
    package func join(_ handle: LoopHandle) {
        handle.loop.add(handle)
        waiting.withLock { waiting in
            waiting.append(handle)
            hasWaiting.store(true, ordering: .sequentiallyConsistent)
        }
    }

    package func isFirst(_ handle: LoopHandle) -> Bool {
        waiting.withLock { $0.first === handle }
    }

    /// The next one may try: where one descriptor was free there may be two.
    package func leave(_ handle: LoopHandle) {
        let next = waiting.withLock { waiting in
            waiting.removeAll { $0 === handle }
            hasWaiting.store(!waiting.isEmpty, ordering: .sequentiallyConsistent)
            return waiting.first
        }
        next?.input.signal()
        handle.loop.remove(handle)
    }

    /// To be called after a descriptor has been closed.
    package func noteClosed() {
        guard !isEmpty else { return }
        waiting.withLock { $0.first }?.input.signal()
    }
}
