@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestData
import DirectTestTime
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

/// One piece from the wire can hold more work than all the time of a call.
@Suite("Time for decoding large content", .idleLimit)
struct DecodingTimeTests {
    private let time = HeldTime()
    /// 4 KiB of gzip, of which 4 MiB come.
    private static let zeros = deflated([UInt8](repeating: 0, count: 4 << 20), level: 9)
    /// Gzip within gzip: members of gzip of which nothing comes, 1.25 MiB of them.
    private static let nothing = deflated(
        (0..<16).reduce(deflated([])) { members, _ in members + members },
        level: 9
    )

    /// How the coded content comes: with the head, or behind it.
    enum Arrival: CaseIterable { case whole, inPieces }

    private func response(
        _ content: [UInt8],
        _ encoding: String,
        _ arrival: Arrival,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) async throws -> Response {
        let client = HTTPClient {
            $0.loop = time.loop
            $0.timeouts.total = .seconds(30)
            $0.decoding.maximumRatio = nil
            $0.decoding.maximumInputWithoutOutput = nil
            configure(&$0)
            guard arrival == .whole else { return }
            $0.transport = {
                try Response(to: $0, 200, headers: ["Content-Encoding": encoding], body: content)
            }
        }
        guard arrival == .inPieces else { return try await client.send(Request(.get, "http://a.test/")) }
        let server = try FixtureServer.start { _ in .bytes(content, ["Content-Encoding": encoding]) }
        return try await client.send(Request(.get, server.http()))
    }

    @Test("The total limit ends the decoding in the middle of one piece", arguments: Arrival.allCases)
    func limit(_ arrival: Arrival) async throws {
        let response = try await response(Self.zeros, "gzip", arrival)
        var pieces = response.body.makeAsyncIterator()
        _ = try await pieces.next()
        time.advance(by: .seconds(30))
        var count = 0
        let error = try await httpError {
            while let piece = try await pieces.next() { count += piece.count }
        }
        #expect(error.phase == .body && error.isTimeout)
        // The bytes that are decoded between two looks at the clock.
        #expect(count <= 256 * 1024)
    }

    @Test(
        "The total limit ends a decoding without output, with one coding on the other",
        arguments: Arrival.allCases
    )
    func limitOfNothing(_ arrival: Arrival) async throws {
        let response = try await response(Self.nothing, "gzip, gzip", arrival)
        time.advance(by: .seconds(30))
        let error = try await httpError { try await response.body.collect(upTo: .max) }
        #expect(error.phase == .body && error.isTimeout)
    }

    @Test("A decoding without output lets other tasks run, and ends when it is cancelled")
    func turns() async throws {
        let response = try await response(Self.nothing, "gzip, gzip", .whole)
        let reading = Locked(Task<[UInt8], any Error>?.none)
        // One thread runs both: the second cancels the first only if that gives way.
        let task = Task(executorPreference: time.loop) {
            while reading.withLock({ $0 == nil }) { await Task.yield() }
            _ = Task(executorPreference: time.loop) { reading.withLock { $0?.cancel() } }
            return try await response.body.collect(upTo: .max)
        }
        reading.withLock { $0 = task }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A short content that has arrived is decoded even after its deadline")
    func late() async throws {
        let content = [UInt8](repeating: 7, count: 60_000)
        let response = try await response(deflated(content), "gzip", .whole)
        time.advance(by: .seconds(60))
        #expect(try await response.body.collect(upTo: .max) == content)
    }
}
