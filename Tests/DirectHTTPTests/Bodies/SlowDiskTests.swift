import DirectCoding
@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Bodies on slow disks", .idleLimit)
struct SlowDiskTests {
    private let time = HeldTime()

    @Test("A download waits for the disk no longer than the call's total limit", arguments: [true, false])
    func total(isDecoded: Bool) async throws {
        let folder = try TemporaryFolder()
        let limit = CallLimit(Timeouts(total: .seconds(5)).nanoseconds, until: Instant(nanoseconds: 1))
        var body = GuardedBody(Pieces([[1, 2, 3]], limit))
        if isDecoded {
            let decoder = ContentDecoder(undoing: [.gzip], within: DecodingSettings().limits)
            let time = DecodingSource.Time(limit: limit, loop: .shared)
            body = GuardedBody(DecodingSource(body, decoder, BodyLocation(), within: time))
        }
        let transfer = FileTransfer(ResponseBody(content: .arriving(body)), .shared)
        let error = try await httpError { try await transfer.write(to: folder.path + "/file") }
        guard case .timedOut(.seconds(5)) = error.reason else { throw error }
        #expect(folder.names.isEmpty)
    }

    @Test("A disk that hangs behind the last piece, when nothing more can be late, keeps the total limit too")
    func totalBehindTheEnd() async throws {
        let folder = try TemporaryFolder()
        let disk = BlockingWork(threadLimit: 1)
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        let limit = CallLimit(
            Timeouts(total: .seconds(5)).nanoseconds,
            until: Instant.now.advanced(byNanoseconds: 300_000_000)
        )
        let body = GuardedBody(Pieces([[1, 2, 3]], limit) { disk.submit { gate.wait() } })
        let transfer = FileTransfer(ResponseBody(content: .arriving(body)), disk)
        let error = try await httpError { try await transfer.write(to: folder.path + "/file") }
        guard case .timedOut(.seconds(5)) = error.reason else { throw error }
    }

    @Test("A cancelled download has its file exactly if it reports success")
    func cancelled() async throws {
        let folder = try TemporaryFolder()
        var random = SystemRandomNumberGenerator()
        let disk = BlockingWork(threadLimit: 1)
        for number in 0..<200 {
            let path = folder.path + "/\(number)"
            let body = ResponseBody(
                content: .arriving(GuardedBody(Pieces([[UInt8](repeating: 1, count: 100_000)], .none)))
            )
            let task = Task { try await FileTransfer(body, disk).write(to: path) }
            // At any moment: what counts is what is said of it.
            for _ in 0..<Int.random(in: 0..<400, using: &random) { await Task.yield() }
            task.cancel()
            let isDone = (try? await task.value) != nil
            #expect(FileManager.default.fileExists(atPath: path) == isDone, "\(number)")
        }
        // A call to the disk that was abandoned runs to its end, and then deletes what it has made.
        try await disk.run(until: .never, on: .shared) {}
        #expect(folder.names.allSatisfy { !$0.contains("tmp") })
    }

    @Test(
        "A download cancelled after its last write has no file, unless it is just being moved to its place",
        arguments: [false, true]
    )
    func cancelledAtTheEnd(isBeingPut: Bool) async throws {
        let folder = try TemporaryFolder()
        let disk = WatchedDisk()
        let loop = time.loop
        let task = Locked<Task<UInt64, any Error>?>(nil)
        let cancel: @Sendable () -> Void = { if let task = task.withLock({ $0 }) { task.cancel() } }
        // Three jobs follow the last piece: to write it, to put all on the disk, to put the file in its
        // place.
        let pieces = Pieces([[1, 2, 3]], .none) {
            if isBeingPut { return disk.beforeJobs([{}, {}, cancel]) }
            disk.beforeJobs([{}, { disk.afterNextJob(holding: loop, cancel) }])
        }
        let transfer = FileTransfer(ResponseBody(content: .arriving(GuardedBody(pieces))), disk.work)
        let writing = task.withLock { task in
            let writing = Task(executorPreference: loop) {
                try await transfer.write(to: folder.path + "/file")
            }
            task = writing
            return writing
        }
        let result = await writing.result
        disk.end()
        if isBeingPut {
            #expect(try result.get() == 3)
            #expect(folder.names == ["file"])
        } else {
            #expect(throws: CancellationError.self) { try result.get() }
            #expect(folder.names.isEmpty)
        }
    }

    @Test("Reading the length of a file, also of one in a form, ends with the call's total limit")
    func measuring() async throws {
        let file = try TemporaryFile([1, 2, 3])
        let form = RequestBody.multipart([.file("a", path: file.path)])
        for body in [RequestBody.file(file.path), form, form.followed { [:] }] {
            await #expect(throws: BlockingWork.Abandoned.expired) {
                try await body.length(on: .shared, until: Instant(nanoseconds: 1))
            }
        }
        #expect(try await RequestBody.file(file.path).length(on: .shared, until: .never) == 3)
    }

    @Test("An upload whose length the disk does not report in time is an error that says so")
    func lateLength() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let work = BlockingWork(threadLimit: 1)
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        work.submit { gate.wait() }
        let body = StreamedBody(isReplayable: true) { loop, end in
            try await work.run(until: end, on: loop) { () throws(SystemError) in UInt64(0) }
        } open: { _ in
            RequestBodySource(of: [])
        }
        var request = Request(.post, server.http(), body: RequestBody(.stream(body)))
        request.timeouts.total = .milliseconds(300)
        let error = try await httpError { try await HTTPClient().fetch(request) }
        #expect(error.isTimeout)
        #expect(server.requests.isEmpty)
    }
}

/// A disk with one thread, which stops before each job of a download.
private final class WatchedDisk: Sendable {
    let work = BlockingWork(threadLimit: 1)
    private let isOver = Locked(false)

    /// Calls each of these when one more job has been queued, and before it is begun. To be called before the
    /// first.
    func beforeJobs(_ calls: ArraySlice<@Sendable () -> Void>) {
        guard let call = calls.first else { return }
        work.submit { [self] in
            while work.waiting == 0 {
                if isOver.withLock({ $0 }) { return }
                sched_yield()
            }
            call()
            beforeJobs(calls.dropFirst())
        }
    }

    /// Calls this when the job that is queued has been done, and before a task on the loop has heard of it.
    func afterNextJob(holding loop: EventLoop, _ call: @escaping @Sendable () -> Void) {
        let (isHeld, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let hold = { @Sendable in
            isHeld.signal()
            mayGoOn.wait()
        }
        Task(executorPreference: loop) { hold() }
        isHeld.wait()
        work.submit {
            call()
            mayGoOn.signal()
        }
    }

    func end() {
        isOver.withLock { $0 = true }
    }
}

/// A body of these pieces, which says when there are no more, and has no limit from then on.
private final class Pieces: ResponseBodySource {
    private(set) var limit: CallLimit
    let location = BodyLocation()
    private var rest: ArraySlice<[UInt8]>

    private let atEnd: @Sendable () -> Void

    init(_ pieces: [[UInt8]], _ limit: CallLimit, atEnd: @escaping @Sendable () -> Void = {}) {
        rest = pieces[...]
        self.limit = limit
        self.atEnd = atEnd
    }

    func next() async throws -> [UInt8]? {
        let piece = rest.popFirst()
        if piece == nil {
            limit = .none
            atEnd()
        }
        return piece
    }
}
