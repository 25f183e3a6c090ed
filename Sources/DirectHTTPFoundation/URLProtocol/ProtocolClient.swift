internal import DirectIO
internal import Foundation

#if canImport(FoundationNetworking)
internal import Dispatch
internal import FoundationNetworking
#endif

/// The session behind a URLProtocol, called where it wants to be called, and not at all once the loading has stopped.
final class ProtocolClient: @unchecked Sendable {
    // Only asked for under the lock; what is done with it is done where the session expects it.
    private var host: DirectURLProtocol?
    private let lock = Locked(())
    private let post: (@escaping @Sendable () -> Void) -> Void

    #if canImport(FoundationNetworking)
    /// On the task's queue: the client looks into the session's registry of tasks, which no lock protects.
    init(_ host: DirectURLProtocol, _ queue: DispatchQueue?) {
        self.host = host
        post = { work in
            guard let queue else { return work() }
            queue.async(execute: work)
        }
    }
    #else
    /// On the run loop of the thread that has started the loading, as `URLProtocol` has it on Apple's platforms.
    init(_ host: DirectURLProtocol) {
        self.host = host
        let loop = SharedRunLoop(RunLoop.current)
        post = { work in loop.value.perform(inModes: [.default, loop.mode], block: work) }
    }
    #endif

    /// Calls the session. After `detach` nothing is called any more.
    func call(_ body: @escaping @Sendable (any URLProtocolClient, URLProtocol) -> Void) {
        call(isLast: false, body)
    }

    /// Calls the session for the last time.
    func callLast(_ body: @escaping @Sendable (any URLProtocolClient, URLProtocol) -> Void) {
        call(isLast: true, body)
    }

    private func call(
        isLast: Bool,
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

    func detach() {
        lock.withLock { _ in host = nil }
    }
}

#if !canImport(FoundationNetworking)
private struct SharedRunLoop: @unchecked Sendable {
    let value: RunLoop
    let mode: RunLoop.Mode

    init(_ value: RunLoop) {
        self.value = value
        mode = value.currentMode ?? .default
    }
}
#endif
