internal import DirectIO

/// Lets tasks pass, or makes them wait until it does again.
final class Turnstile: Sendable {
    private struct State {
        var isOpen = true
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func close() {
        state.withLock { $0.isOpen = false }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for task in waiting { task.resume() }
    }

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
