import DirectCore
import DirectIO
import Foundation
import Testing

/// The identity of the thread that runs this very line.
func currentThread() -> UInt {
    #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
    #else
    UInt(pthread_self())
    #endif
}

/// A door that blocks threads until it is opened.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Passes the opening on, so that one is enough for all.
    func wait() {
        semaphore.wait()
        semaphore.signal()
    }
}

/// The thread on which a task runs.
enum Place: String, CaseIterable, CustomTestStringConvertible {
    case onTheLoop
    case onTheGlobalExecutor

    var testDescription: String { rawValue }

    func start<Value: Sendable>(
        _ loop: EventLoop,
        _ body: @escaping @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        switch self {
        case .onTheLoop: Task.detached(executorPreference: loop) { try await body() }
        case .onTheGlobalExecutor: Task.detached { try await body() }
        }
    }
}

extension EventLoop {
    /// Returns when every job that was enqueued here before has run as far as it could.
    func drain() async {
        await Task.detached(executorPreference: self) {}.value
    }

    /// Suspends for that long, by a deadline of the loop itself.
    func pause(milliseconds: UInt64) async {
        let handle = LoopHandle(loop: self)
        add(handle)
        defer { remove(handle) }
        _ = await handle.input.wait(until: .now.advanced(byNanoseconds: milliseconds * 1_000_000), on: self)
    }
}
