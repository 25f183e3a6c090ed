import DirectHTTP
import DirectTestData
import Foundation
import Testing

@testable import DirectHTTPFoundation

@Suite("The progress of a bridged call")
struct TransferSumTests {
    /// The totals after each report.
    private func totals(_ reports: [(isUpload: Bool, bytes: UInt64, total: UInt64?)]) -> [Int64] {
        let progress = Progress(totalUnitCount: -1)
        var request = HTTPClient.Request(.put, "http://www.example/")
        TransferSum(progress).watch(&request)
        return reports.map { report in
            let report = (report.isUpload, TransferProgress(bytes: report.bytes, total: report.total))
            report.0 ? request.onUpload?(report.1) : request.onDownload?(report.1)
            return progress.totalUnitCount
        }
    }

    @Test("An upload counts against its length, and the response once its own is known")
    func upload() {
        #expect(totals([(true, 10, 40), (true, 40, 40)]) == [40, 40])
        #expect(totals([(true, 40, 40), (false, 5, 20)]) == [40, 60])
        #expect(totals([(true, 40, 40), (false, 5, nil), (false, 9, nil)]) == [40, 40, 40])
    }

    @Test("The total is unknown while the only length is")
    func unknown() {
        #expect(totals([(false, 5, nil), (false, 10, 20)]) == [-1, 20])
        #expect(totals([(true, 10, nil), (false, 5, 20)]) == [-1, 30])
    }

    @Test("A part of a whole counts once, when its call has ended and not when its body has been sent")
    func part() {
        let whole = Progress(totalUnitCount: 100)
        let part = Progress(totalUnitCount: -1)
        whole.addChild(part, withPendingUnitCount: 50)
        var request = HTTPClient.Request(.put, "http://www.example/")
        let sum = TransferSum(part)
        sum.watch(&request)
        request.onUpload?(TransferProgress(bytes: 1000, total: 1000))
        #expect(!part.isFinished && whole.completedUnitCount == 0)
        for bytes in 1...400 { request.onDownload?(TransferProgress(bytes: UInt64(bytes), total: nil)) }
        #expect(!part.isFinished && whole.completedUnitCount == 0)
        sum.complete()
        #expect(part.isFinished && whole.completedUnitCount == 50 && part.completedUnitCount == 1000)
    }

    @Test("Responses of any lengths, as behind redirects, leave a whole as it is until the calls have ended")
    func anyTotals() {
        var random = SplitMix64(seed: 7)
        func length() -> UInt64? {
            switch random.below(5) {
            case 0: nil
            case 1: UInt64(random.below(4))
            case 2: UInt64(Int64.max) - UInt64(random.below(2_000_000))
            case 3: .max
            default: UInt64(100 + random.below(900))
            }
        }
        for _ in 0..<2_000 {
            let whole = Progress(totalUnitCount: 20)
            var sums: [(sum: TransferSum, part: Progress, request: Request)] = []
            for _ in 0..<2 {
                let part = Progress(totalUnitCount: -1)
                whole.addChild(part, withPendingUnitCount: 10)
                sums.append((TransferSum(part), part, Request(.get, "http://www.example/")))
                sums[sums.count - 1].sum.watch(&sums[sums.count - 1].request)
            }
            for _ in 0..<random.below(20) {
                let one = sums[random.below(2)]
                let total = length()
                let report = random.below(4) == 0 ? one.request.onUpload : one.request.onDownload
                for part in 0...UInt64(random.below(12)) {
                    report?(TransferProgress(bytes: min(part &* 101, total ?? .max), total: total))
                }
                #expect(!one.part.isFinished && whole.completedUnitCount == 0)
            }
            for one in sums { one.sum.complete() }
            #expect(whole.isFinished && whole.completedUnitCount == 20 && whole.fractionCompleted == 1)
        }
    }

    @Test("A transfer without bodies ends, and so does the progress that it is a part of")
    func nothingToTransfer() {
        let whole = Progress(totalUnitCount: 10)
        let part = Progress(totalUnitCount: -1)
        whole.addChild(part, withPendingUnitCount: 10)
        TransferSum(part).complete()
        #expect(part.isFinished && whole.isFinished)
    }
}
