import DirectCore
import DirectTestCommands
import DirectTestPeers
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Bodies that no task reads, and those that are looked at", .idleLimit)
struct UnreadBodyTests {
    private let time = HeldTime()

    @Test("A body that no task reads ends a second after its call's limit, and its connection serves others")
    func unread() async throws {
        let server = try FixtureServer.start { request in
            request.path == "/short"
                ? .text("short")
                : .raw("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nbegin", then: .keep)
        }
        let client = HTTPClient {
            $0.loop = time.loop
            $0.maximumConnectionsPerOrigin = 2
            $0.timeouts = Timeouts(queue: nil, response: nil, read: nil, total: .seconds(10))
        }
        let held = [
            try await client.send(Request(.get, server.http("/a"))),
            try await client.send(Request(.get, server.http("/b"))),
        ]
        var request = Request(.get, server.http("/short"))
        request.timeouts.total = .unlimited
        let third = Task { [request] in try await client.fetch(request).text }
        try await passLimit()
        #expect(try await third.value == "short")
        for response in held {
            await #expect {
                try await response.body.collect(upTo: 1 << 20)
            } throws: { ($0 as? HTTPError)?.isTimeout == true }
        }
    }

    @Test("An observer may look at the body whose call ends there because no task has read it")
    func observed() async throws {
        let server = try FixtureServer.start { _ in
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nbegin", then: .keep)
        }
        let held = Locked<ResponseBody?>(nil)
        let looks = Locked(0)
        let client = HTTPClient {
            $0.loop = time.loop
            $0.timeouts = Timeouts(response: nil, read: nil, total: .seconds(10))
            $0.observer = { event in
                guard case .ended = event.kind, let body = held.withLock({ $0 }) else { return }
                if body.trailers.isEmpty { looks.withLock { $0 += 1 } }
            }
        }
        let body = try await client.send(Request(.get, server.http())).body
        held.withLock { $0 = body }
        defer { held.withLock { $0 = nil } }
        try await passLimit()
        while looks.withLock({ $0 }) == 0 { await Task.yield() }
        await #expect {
            try await body.collect(upTo: 1 << 20)
        } throws: { ($0 as? HTTPError)?.isTimeout == true }
    }

    /// Passes the limit of a call, and the second in which a task may come back.
    private func passLimit() async throws {
        try await time.pass(.seconds(10) + .nanoseconds(1))
        await time.settle()
        try await time.pass(.seconds(1))
    }

    @Test(
        "A task that is busy with a piece at the limit of the call gets the pieces that had arrived by then"
    )
    func busyReader() async throws {
        let listener = try Listener.atOwnAddress()
        let client = HTTPClient {
            $0.loop = time.loop
            $0.timeouts = Timeouts(response: nil, read: nil, total: .seconds(10))
        }
        async let answer = client.send(Request(.get, "http://\(listener.address):\(listener.port)/"))
        let peer = try await onOwnThread { try listener.accept() }
        _ = try await onOwnThread { try peer.receive() }
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nab")
        var pieces = try await answer.body.makeAsyncIterator()
        #expect(try await pieces.next() == Array("ab".utf8))
        try peer.send("cdef")
        try await time.pass(.seconds(10) + .nanoseconds(1))
        await time.settle()
        #expect(try await pieces.next() == Array("cdef".utf8))
        #expect(try await pieces.next() == nil)
    }

    @Test("A body that has arrived whole can be read after the limit of its call")
    func whole() async throws {
        let server = try FixtureServer.start { _ in .text("short") }
        let client = HTTPClient {
            $0.loop = time.loop
            $0.timeouts.total = .seconds(10)
        }
        let response = try await client.send(Request(.get, server.http()))
        time.advance(by: .seconds(20))
        #expect(try await response.body.collect(upTo: 100) == Array("short".utf8))
    }

    @Test("The end of a body whose last piece was read in time can be read after the limit of its call")
    func end() async throws {
        let listener = try Listener.atOwnAddress()
        let client = HTTPClient {
            $0.loop = time.loop
            $0.timeouts.total = .seconds(10)
        }
        async let answer = client.send(Request(.get, "http://\(listener.address):\(listener.port)/"))
        let peer = try await onOwnThread { try listener.accept() }
        _ = try await onOwnThread { try peer.receive() }
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")
        var iterator = try await answer.body.makeAsyncIterator()
        #expect(try await iterator.next() == Array("abc".utf8))
        try peer.send("def")
        #expect(try await iterator.next() == Array("def".utf8))
        time.advance(by: .seconds(20))
        await time.settle()
        #expect(try await iterator.next() == nil)
    }

    @Test("A task that looks at a body's properties takes no reader's place")
    func looking() async throws {
        let source = Pieces(count: 50_000)
        let body = GuardedBody(source)
        let isOver = Locked(false)
        let hasLooked = Locked(false)
        let looks = try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                try await onOwnThread {
                    var looks = 0
                    while !isOver.withLock({ $0 }) {
                        _ = (body.bytesLeft, body.trailers, body.limit)
                        looks += 1
                        hasLooked.withLock { $0 = true }
                    }
                    return looks
                }
            }
            defer { isOver.withLock { $0 = true } }
            // The looks begin before the reading, however busy the machine is.
            while !hasLooked.withLock({ $0 }) { await Task.yield() }
            var count = 0
            while try await body.next() != nil { count += 1 }
            #expect(count == 50_000)
            isOver.withLock { $0 = true }
            return try await group.reduce(0, +)
        }
        #expect(looks > 0)
    }

    /// Some pieces of one byte.
    private final class Pieces: ResponseBodySource {
        private var left: Int
        let location = BodyLocation()

        init(count: Int) { left = count }

        var bytesLeft: UInt64? { UInt64(left) }

        func next() async throws -> [UInt8]? {
            guard left > 0 else { return nil }
            left -= 1
            return [1]
        }
    }
}
