internal import DirectHTTP
internal import DirectIO
internal import Foundation

/// Tells a `Progress` of both directions of a request, as a task of URLSession tells its own.
final class TransferSum: Sendable {
    private struct State {
        var sent = TransferProgress?.none
        var received = TransferProgress?.none
    }

    private let progress: Progress
    private let state = Locked(State())

    init(_ progress: Progress) {
        self.progress = progress
    }

    func watch(_ request: inout Request) {
        request.onUpload = { sent in self.note { $0.sent = sent } }
        request.onDownload = { received in self.note { $0.received = received } }
    }

    /// All is there, also where nobody knew before how much it would be.
    func complete() {
        progress.totalUnitCount = progress.completedUnitCount
    }

    private func note(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            // Nothing of the answer yet: how much there will be is not known.
            let total = state.received?.total.map { $0 + (state.sent?.total ?? state.sent?.bytes ?? 0) }
            progress.totalUnitCount = total.map(Int64.init(clamping:)) ?? -1
            let moved = (state.sent?.bytes ?? 0) + (state.received?.bytes ?? 0)
            progress.completedUnitCount = Int64(clamping: moved)
        }
    }
}
