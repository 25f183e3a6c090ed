import DirectHTTP
import DirectTestCommands
import DirectTestTime
import Foundation
import TLSFixtures
import Testing

@Suite("Cancellation", .idleLimit)
struct CancellationTests {
    private let time = HeldTime()

    /// Starts the operation, cancels it when `isThere` returns, and expects it to end of that, while no time
    /// passes.
    private func expectCancellation(
        _ location: SourceLocation = #_sourceLocation,
        of operation: @escaping @Sendable () async throws -> some Sendable,
        when isThere: () async throws -> Void
    ) async throws {
        let task = Task { _ = try await operation() }
        try await isThere()
        task.cancel()
        await #expect(throws: CancellationError.self, sourceLocation: location) { try await task.value }
    }

    private func expectClosed(_ server: FixtureServer) async throws {
        let end = try await server.nextRecord().end
        #expect(
            end == .clientClosed || end == .clientReset || end == .clientCut,
            "\(String(describing: end))"
        )
    }

    @Test("A call cancelled before its start sends nothing, not even on an idle connection")
    func beforeStart() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let client = HTTPClient.untimed()
        _ = try await client.get(server.http())
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.get(server.http())
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await client.get(server.http()).text == "hello")
        #expect(server.requests.count == 2)
    }

    @Test("Cancelling takes effect at once, without any progress of the clock")
    func promptness() async throws {
        let server = try FixtureServer.scripted([.awaitHead, .awaitClose])
        let client = HTTPClient.untimed()
        for round in 1...8 {
            try await expectCancellation {
                try await client.get(server.http())
            } when: {
                try await server.waitUntil { $0.count == round && ($0.last?.receivedCount ?? 0) > 0 }
            }
        }
    }

    @Test("A call can be cancelled while it connects")
    func connect() async throws {
        let dead = try FixtureServer.unresponsive()
        let client = time.client { $0.timeouts.connect = .seconds(7) }
        try await expectCancellation {
            try await client.get(dead.http())
        } when: {
            try await time.waitBegins(for: .seconds(7))
        }
    }

    @Test("A call cancelled while the roots are read is cancelled, and no fault of the settings")
    func roots() async throws {
        let pipe = try NamedPipe()
        let server = try FixtureServer.secure("a.test")
        let client = HTTPClient.untimed { $0.tls.roots = .only([.pemFile(pipe.path)]) }
        try await expectCancellation {
            try await client.fetch(server.request("https://a.test/"))
        } when: {
            // Opened by the reader as well: it waits for text now.
            try await pipe.open()
        }
        #expect(server.records.isEmpty)
        pipe.close(writing: testAuthority.rootPEM)
        #expect(try await client.fetch(server.request("https://a.test/")).text == "hello")
    }

    @Test("Reading roots that hangs delays only calls that need them, and only up to their limit")
    func hangingRoots() async throws {
        let pipe = try NamedPipe()
        let secure = try FixtureServer.secure("a.test")
        let plain = try FixtureServer.start { _ in .text("plain") }
        let client = time.client { $0.tls.roots = .only([.pemFile(pipe.path)]) }
        async let first = client.fetch(secure.request("https://a.test/"))
        try await pipe.open()
        // All on the loop: would one of them block there, the others were never answered.
        try await withTaskExecutorPreference(time.loop) {
            async let second = client.fetch(secure.request("https://a.test/"))
            for _ in 0..<3 { #expect(try await client.get(plain.http()).text == "plain") }
            var impatient = secure.request("https://a.test/")
            impatient.timeouts.total = .seconds(7)
            async let failure = httpError { [impatient] in try await client.fetch(impatient) }
            try await time.pass(.seconds(7))
            let error = try await failure
            #expect(error.phase == .tls && error.isTimeout, "\(error)")
            pipe.close(writing: testAuthority.rootPEM)
            #expect(try await second.text == "hello")
        }
        #expect(try await first.text == "hello")
    }

    @Test("Reading roots has a limit that is not the handshake's, and its failure names the file")
    func limitOfRoots() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/roots.pem"
        let pipe = try NamedPipe()
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: pipe.path)
        let server = try FixtureServer.secure("a.test")
        let client = time.client {
            $0.tls.roots = .only([.pemFile(path)])
            $0.timeouts = Timeouts(tls: nil)
        }
        async let failure = httpError { try await client.fetch(server.request("https://a.test/")) }
        try await time.pass(.seconds(15))
        let error = try await failure
        #expect(error.phase == .tls && error.systemError?.path == path && error.isWorthRetrying, "\(error)")
        // Nothing writes to the pipe, so its reader still hangs.
        try FileManager.default.removeItem(atPath: path)
        try folder.write(testAuthority.rootPEM, "roots.pem")
        #expect(try await client.fetch(server.request("https://a.test/")).text == "hello")
    }

    @Test("A call can be cancelled in the TLS handshake")
    func tls() async throws {
        let server = try FixtureServer.scripted([.awaitArrival, .awaitClose])
        let client = HTTPClient.trusting()
        try await expectCancellation {
            try await client.fetch(server.request("https://a.test/"))
        } when: {
            try await server.waitUntil { $0.first != nil }
        }
        try await expectClosed(server)
    }

    @Test("A call cancelled in the queue gives up its place")
    func queue() async throws {
        let mayAnswer = Gate()
        let server = try FixtureServer.start { request in
            try request.wait(for: mayAnswer)
            return .text(request.target)
        }
        let client = time.client {
            $0.maximumConnectionsPerOrigin = 1
            $0.timeouts.queue = .seconds(7)
        }
        async let first = client.get(server.http("/1"))
        try await server.waitUntil { $0.first?.requests.count == 1 }
        try await expectCancellation {
            try await client.get(server.http("/2"))
        } when: {
            try await time.waitBegins(for: .seconds(7))
        }
        async let third = client.get(server.http("/3"))
        mayAnswer.open()
        #expect(try await first.text == "/1")
        #expect(try await third.text == "/3")
        #expect(server.requests.map(\.target) == ["/1", "/3"])
    }

    @Test(
        "A call can be cancelled while it awaits the response, on a new connection and on a reused one",
        arguments: [false, true]
    )
    func response(isReused: Bool) async throws {
        let ok = ByteScript.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let start: [ByteScript.Step] = isReused ? [.awaitHead, ok] : []
        let server = try FixtureServer.scripted(
            ByteScript(start + [.awaitHead, .awaitClose]),
            .tls(testAuthority.certificate(for: "a.test"))
        )
        let client = HTTPClient.trusting()
        if isReused { _ = try await client.fetch(server.request("https://a.test/")) }
        let before = server.records.first?.receivedCount ?? 0
        try await expectCancellation {
            try await client.fetch(server.request("https://a.test/"))
        } when: {
            try await server.waitUntil { $0.first?.receivedCount ?? 0 > before }
        }
        try await expectClosed(server)
        #expect(server.records.count == 1)
    }

    @Test(
        "A response that is there when its call is cancelled may be returned, but no request follows it",
        arguments: [200, 302, 421, 503]
    )
    func arrivedBefore(status: Int) async throws {
        let mayAnswer = Gate()
        let server = try FixtureServer.start { request in
            if request.target == "/" { return .text("") }
            try request.wait(for: mayAnswer)
            return .text("", status: status, ["Location": "/"])
        }
        var retries = RetryPolicy()
        retries.delay = .zero
        let client = HTTPClient.untimed { [retries] in $0.retries = retries }
        _ = try await client.get(server.http("/"))
        let executor = HeldExecutor()
        let call = Task(executorPreference: executor) { try await client.get(server.http("/first")).status }
        await executor.runNext()
        mayAnswer.open()
        await executor.jobComes()
        call.cancel()
        executor.release()
        if status == 200 {
            #expect(try await call.value == .ok)
        } else {
            await #expect(throws: CancellationError.self) { try await call.value }
        }
        #expect(server.requests.map(\.target) == ["/", "/first"])
    }

    @Test(
        "A call can be cancelled while it reads the body, by pieces or as a whole",
        arguments: [true, false]
    )
    func body(collects: Bool) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nfirst"
        let server = try FixtureServer.scripted([.awaitHead, .send(head), .awaitClose])
        let hasHead = Gate()
        try await expectCancellation {
            let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
            hasHead.open()
            if collects {
                _ = try await response.body.collect(upTo: 1000)
            } else {
                for try await _ in response.body {}
            }
        } when: {
            while !hasHead.isOpen { await Task.yield() }
        }
        try await expectClosed(server)
    }

    @Test("A call can be cancelled while a body arrives without a pause")
    func fastBody() async throws {
        let server = try FixtureServer.start { _ in
            .written(length: 1 << 40, framing: .length) { writer in
                let piece = [UInt8](repeating: 1, count: 1 << 18)
                while true { try writer.write(piece) }
            }
        }
        let received = Counter()
        try await expectCancellation {
            let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
            for try await piece in response.body { received.add(piece.count) }
        } when: {
            while received.value < 8 << 20 { await Task.yield() }
        }
        _ = try await server.nextRecord()
    }

    @Test("A body cancelled between two pieces does not deliver the next one, although it has arrived")
    func betweenPieces() async throws {
        let server = try FixtureServer.start { _ in .pattern(count: 1 << 20) }
        let task = Task {
            let response = try await HTTPClient.untimed().send(Request(.get, server.http()))
            var iterator = response.body.makeAsyncIterator()
            _ = try await iterator.next()
            withUnsafeCurrentTask { $0?.cancel() }
            return try await iterator.next()?.count
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        _ = try await server.nextRecord()
    }

    @Test(
        "A call can be cancelled while it sends a body, whether the server or the source is slow",
        arguments: [true, false]
    )
    func upload(waitsForSource: Bool) async throws {
        let server = try FixtureServer.start { request in
            if !waitsForSource { try request.wait(for: Gate()) }
            _ = try request.discardBody()
            return .text("never")
        }
        let pieces = PatternPieces(sizes: Array(repeating: 1 << 16, count: 1000))
        let (never, continuation) = AsyncStream.makeStream(of: Void.self)
        let (sourceIsAsked, sourceIsCancelled) = (Gate(), Gate())
        if waitsForSource {
            pieces.beforeEachAsync = {
                sourceIsAsked.open()
                for await _ in never {}
                if Task.isCancelled { sourceIsCancelled.open() }
                try Task.checkCancellation()
            }
        }
        try await expectCancellation {
            try await HTTPClient.untimed().post(server.http(), .stream(pieces))
        } when: {
            try await server.waitUntil { $0.first?.requests.count == 1 }
            if waitsForSource {
                while !sourceIsAsked.isOpen { await Task.yield() }
            } else {
                while pieces.given < 2 { await Task.yield() }
            }
        }
        if waitsForSource {
            try await expectClosed(server)
            while !sourceIsCancelled.isOpen { await Task.yield() }
        }
        continuation.finish()
    }

    @Test("Cancelling one request does not affect others on their connections")
    func others() async throws {
        let mayAnswer = Gate()
        let server = try FixtureServer.start { request in
            try request.wait(for: mayAnswer)
            return .text(request.target)
        }
        let client = HTTPClient.untimed()
        async let kept = client.get(server.http("/kept"))
        try await server.waitUntil { $0.count == 1 }
        try await expectCancellation {
            try await client.get(server.http("/cancelled"))
        } when: {
            try await server.waitUntil { $0.flatMap(\.requests).count == 2 }
        }
        mayAnswer.open()
        #expect(try await kept.text == "/kept")
    }
}
