internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import Foundation

/// Adds up the progress of the request's body and of the response's body in one `Progress`, as a task of
/// URLSession does in its own.
final class TransferSum: Sendable {
    private struct State {
        var sent = TransferProgress?.none
        var received = TransferProgress?.none
    }

    private let progress: Progress
    private let state = Locked(State())

    /// Creates a sum that reports to this progress.
    init(_ progress: Progress) {
        self.progress = progress
    }

    /// Reports the request's upload and download from now on.
    func watch(_ request: inout Request) {
        request.onUpload = { sent in self.note { $0.sent = sent } }
        request.onDownload = { received in self.note { $0.received = received } }
    }

    /// Marks the transfer as complete, also if the total was never known. To Foundation 0 of 0 is not, and
    /// neither would be the progress that this one is a part of.
    func complete() {
        progress.completedUnitCount = max(1, progress.completedUnitCount)
        progress.totalUnitCount = progress.completedUnitCount
    }

    private func note(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            let (sent, received) = (state.sent?.bytes ?? 0, state.received?.bytes ?? 0)
            // The response of an upload counts as it comes: its length is unknown until it begins. Without a
            // body to send, and with one of unknown length, so is the total.
            let upload = state.sent.flatMap(\.total)
            var total = state.received?.total.map { $0 + (upload ?? sent) } ?? upload.map { $0 + received }
            // What has been sent is not over: a `Progress` that is finished would count a second time in its
            // parent when the response came, and say of a call that fails that it is done.
            if let known = total { total = max(known, sent + received + 1) }
            progress.totalUnitCount = total.map(Int64.init(clamping:)) ?? -1
            progress.completedUnitCount = Int64(clamping: sent + received)
        }
    }
}
