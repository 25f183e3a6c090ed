internal import DirectCore
internal import DirectIO
internal import Foundation

#if canImport(FoundationNetworking)
internal import Dispatch
internal import FoundationNetworking
#endif

/// The session behind a URLProtocol. It is called on the queue or run loop that it expects, and not at all
/// once the loading has stopped.
final class ProtocolClient: @unchecked Sendable {
    // Read and written under the lock only; it is used where the session expects it.
    private var host: DirectURLProtocol?
    private let lock = Locked(())
    private let post: (@escaping @Sendable () -> Void) -> Void

    #if canImport(FoundationNetworking)
    /// Calls the session on the task's queue: the client uses the session's registry of tasks, which no lock
    /// protects.
    init(_ host: DirectURLProtocol, _ queue: DispatchQueue?) {
        self.host = host
        post = { work in
            guard let queue else { return work() }
            queue.async(execute: work)
        }
    }
    #else
    /// Calls the session on the run loop of the thread that has started the loading, as `URLProtocol` demands
    /// on Apple's platforms.
    init(_ host: DirectURLProtocol) {
        self.host = host
        let loop = SharedRunLoop()
        post = loop.perform
    }
    #endif

    /// Calls the session, unless `detach` or the last call came before.
    func call(
        isLast: Bool = false,
        _ body: @escaping @Sendable (any URLProtocolClient, URLProtocol) -> Void
    ) {
        post {
            guard let host = self.lock.withLock({ _ in self.host }), let client = host.client else { return }
            if isLast {
                host.isOver = true
                self.detach()
            }
            body(client, host)
        }
    }

    /// Makes all later calls do nothing.
    func detach() {
        lock.withLock { _ in host = nil }
    }
}

#if !canImport(FoundationNetworking)
/// The run loop of the thread that has created this.
private struct SharedRunLoop: @unchecked Sendable {
    // A run loop takes blocks of any thread, and is woken by any.
    private let loop = RunLoop.current
    private let core = CFRunLoopGetCurrent()
    private let mode = RunLoop.current.currentMode ?? .default

    /// Runs the block on the run loop. A block alone does not end the sleep of a run loop: the reference of
    /// `CFRunLoopPerformBlock` says so, and that `CFRunLoopWakeUp` does.
    @Sendable
    func perform(_ block: @escaping @Sendable () -> Void) {
        loop.perform(inModes: [.default, mode], block: block)
        CFRunLoopWakeUp(core)
    }
}
#endif
