internal import DirectCore
internal import DirectIO

/// A gate for tasks. While it is closed, tasks that want to pass wait until it opens again.
final class AsyncGate: Sendable {
    private struct State {
        var isOpen = true
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// Makes tasks wait from now on.
    func close() {
        state.withLock { $0.isOpen = false }
    }

    /// Resumes the waiting tasks and lets others pass.
    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for task in waiting { task.resume() }
    }

    /// Returns immediately if the gate is open, otherwise when it opens.
    func pass() async {
        guard !state.withLock({ $0.isOpen }) else { return }
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}
