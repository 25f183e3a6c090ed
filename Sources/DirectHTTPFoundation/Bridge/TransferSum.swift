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
        let count = state.withLock { ($0.sent?.bytes ?? 0).adding($0.received?.bytes ?? 0) }
        progress.totalUnitCount = max(1, Int64(clamping: count))
        progress.completedUnitCount = progress.totalUnitCount
    }

    private func note(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            let (sent, received) = (state.sent?.bytes ?? 0, state.received?.bytes ?? 0)
            // Without a body to send, and with one of unknown length, the response's length is all there is.
            // What comes of a response of unknown length is not counted beside an upload: with a new total
            // at each piece the fraction of a parent overflows, which ends the process (Swift 6.3.1).
            let upload = state.sent.flatMap(\.total)
            let total = state.received?.total.map { $0.adding(upload ?? sent) } ?? upload
            // The end of the call is the last unit. A progress that is finished before counts in its parent,
            // and would again, and says of a call that fails that it is done.
            progress.totalUnitCount = total.map { Int64(clamping: $0.adding(1)) } ?? -1
            progress.completedUnitCount = Int64(clamping: min(sent.adding(received), total ?? .max))
        }
    }
}

extension UInt64 {
    /// The sum, or the largest number: a server chooses the length of its response.
    fileprivate func adding(_ other: UInt64) -> UInt64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
