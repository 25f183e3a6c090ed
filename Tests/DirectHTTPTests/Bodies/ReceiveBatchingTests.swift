@testable import DirectCore
import DirectTestCommands
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Fewer wake-ups for fast bodies", .idleLimit)
struct ReceiveBatchingTests {
    private static let million: UInt64 = 1_000_000

    /// Returns the decision after waits of equal length and size.
    private func isWorthwhile(waits: Int, of nanoseconds: UInt64, bytes: UInt64, left: UInt64?) -> Bool {
        var batching = ReceiveBatching()
        for number in 0..<UInt64(waits) {
            batching.noteWait(nanoseconds: nanoseconds, received: (number + 1) * bytes)
        }
        return batching.isWorthwhile(received: UInt64(waits) * bytes, left: left)
    }

    @Test("Input is held back after several waits that were short and brought much, and not before")
    func begins() {
        #expect(isWorthwhile(waits: 4, of: 100_000, bytes: 50_000, left: 10 * Self.million))
        #expect(!isWorthwhile(waits: 3, of: 100_000, bytes: 50_000, left: 10 * Self.million))
    }

    @Test("The bytes of a slow server are never held back", arguments: [1000, 20_000, 200_000])
    func slow(bytes: UInt64) {
        #expect(!isWorthwhile(waits: 100, of: 50_000_000, bytes: bytes, left: 10 * Self.million))
    }

    @Test("A clock that stands still tells nothing about speed")
    func still() {
        #expect(!isWorthwhile(waits: 100, of: 0, bytes: 50_000, left: 10 * Self.million))
    }

    @Test("Small arrivals are never held back, however soon they come")
    func small() {
        #expect(!isWorthwhile(waits: 1000, of: 1000, bytes: 1000, left: 10 * Self.million))
    }

    @Test("One slow wait ends it, and so does a mark that was not reached in time")
    func ends() {
        var batching = ReceiveBatching()
        func begin() {
            for number in 1...10 as ClosedRange<UInt64> {
                batching.noteWait(nanoseconds: 1, received: number * Self.million)
            }
        }
        begin()
        batching.noteWait(nanoseconds: 2_000_000, received: 11 * Self.million)
        #expect(!batching.isWorthwhile(received: 11 * Self.million, left: 50 * Self.million))
        batching = ReceiveBatching()
        begin()
        batching.noteSlowness()
        #expect(!batching.isWorthwhile(received: 10 * Self.million, left: 50 * Self.million))
    }

    @Test("The end of a body is never held back, and a body of unknown length only once it is large")
    func nearTheEnd() {
        #expect(!isWorthwhile(waits: 10, of: 1, bytes: 100_000, left: UInt64(ReceiveBatching.mark)))
        #expect(!isWorthwhile(waits: 100, of: 1, bytes: 100_000, left: nil))
        #expect(isWorthwhile(waits: 200, of: 1, bytes: 100_000, left: nil))
    }

    @Test(
        "A fast body that becomes slow is delivered as it comes, and its connection is used again",
        arguments: [FixtureReply.Framing.length, .chunked],
        [true, false]
    )
    func slowsDown(framing: FixtureReply.Framing, isSecure: Bool) async throws {
        let (goesOn, ends) = (Gate(), Gate())
        let (fast, rest) = (20_000_000, 2_000_000)
        let server = try FixtureServer.start(
            isSecure ? .tls(testAuthority.certificate(for: "a.test")) : .plain
        ) {
            guard $0.target == "/large" else { return .text("hello") }
            return .written(length: fast + 10 + rest, framing: framing) { writer in
                try writer.write([UInt8](repeating: 1, count: fast))
                try writer.wait(for: goesOn)
                try writer.write([UInt8](repeating: 2, count: 10))
                try writer.wait(for: ends)
                try writer.write([UInt8](repeating: 3, count: rest))
            }
        }
        // On the system's clock, since only there a wait can be called short.
        let client = HTTPClient.trusting { $0.loop = .shared }
        func request(_ path: String) -> Request {
            isSecure ? server.request("https://a.test" + path) : Request(.get, server.http(path))
        }
        let body = try await client.send(request("/large")).body
        var pieces = body.makeAsyncIterator()
        for (count, byte) in [(fast, UInt8(1)), (10, 2), (rest, 3)] {
            var left = count
            while left > 0 {
                let piece = try #require(try await pieces.next())
                #expect(piece == [UInt8](repeating: byte, count: piece.count))
                left -= piece.count
            }
            #expect(left == 0)
            (byte == 1 ? goesOn : ends).open()
        }
        #expect(try await pieces.next() == nil)
        let next = try await client.fetch(request("/small"))
        #expect(next.text == "hello" && next.isReused)
    }

    @Test("A piece holds at most twice its bytes, whether it is small, middle-sized or large")
    func capacity() async throws {
        let sizes = [100, 5_000, 20_000, 32_000, 40_000]
        let gates = sizes.map { _ in Gate() }
        let server = try FixtureServer.start {
            _ in
            .written(length: sizes.reduce(1, +)) { writer in
                try writer.write([0])
                for (size, gate) in zip(sizes, gates) {
                    try writer.wait(for: gate)
                    try writer.write([UInt8](repeating: 1, count: size))
                }
            }
        }
        var pieces = try await HTTPClient.untimed().send(Request(.get, server.http("/"))).body
            .makeAsyncIterator()
        #expect(try await pieces.next() == [0])
        for (size, gate) in zip(sizes, gates) {
            gate.open()
            var left = size
            while left > 0 {
                let piece = try #require(try await pieces.next())
                // An allocation is rounded up, and has a header of 32 bytes.
                #expect(piece.capacity <= 2 * piece.count + 64)
                left -= piece.count
            }
        }
        #expect(try await pieces.next() == nil)
    }
}
