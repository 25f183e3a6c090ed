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
        if progress.totalUnitCount <= 0 {
            let count = max(1, progress.completedUnitCount)
            progress.completedUnitCount = 0
            progress.totalUnitCount = count
        }
        progress.completedUnitCount = progress.totalUnitCount
    }

    /// The last unit is the end of the call: each report of a finished progress counts in its parent, and one
    /// that is finished with a part of a call says of a call that fails that it is done.
    ///
    /// On Linux Foundation's fractions trap, which ends the process, if a total becomes negative again, or a
    /// known one follows what was counted without a total, or comes below what is completed (Swift 6.3.1).
    /// The numbers are the server's.
    private func note(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            let (sent, received) = (state.sent?.bytes ?? 0, state.received?.bytes ?? 0)
            let count = Int64(clamping: sent.adding(received))
            // Without a body to send, and with one of unknown length, the response's length is all there is.
            // Beside an upload a response of unknown length is not counted.
            let upload = state.sent.flatMap(\.total)
            let known = state.received?.total.map { $0.adding(upload ?? sent) } ?? upload
            guard let known, known > 0 else {
                if progress.totalUnitCount < 0 { progress.completedUnitCount = count }
                return
            }
            if progress.totalUnitCount < 0 { progress.completedUnitCount = 0 }
            let total = Int64(clamping: known)
            let completed = min(count, total - 1)
            if completed >= progress.totalUnitCount { progress.totalUnitCount = total }
            progress.completedUnitCount = completed
            if total != progress.totalUnitCount { progress.totalUnitCount = total }
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
