import DirectTestResolvers
import DirectCore
import DirectTestCommands
import DirectTestTime
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Blocking calls", .idleLimit)
struct BlockingTests {
    private let server: FixtureServer

    init() throws {
        server = try FixtureServer.start { request in
            let body = try request.text
            switch request.path {
            case "/from": return .redirect(to: "/to")
            case "/404": return .text("none", status: 404)
            default: return .text("\(request.method) \(body)")
            }
        }
    }

    private static func isRefused(_ error: any Error) -> Bool {
        guard let error = error as? HTTPError, case .blockingInTask = error.reason else { return false }
        return true
    }

    @Test("Every call works on a thread of the program's own")
    func methods() async throws {
        let text = server.http("/a")
        let results = try await onOwnThread {
            let client = HTTPClient.untimed().blocking
            return try [
                client.get(text), client.post(text, .text("1")),
                client.fetch(Request(.put, text, body: .text("2"))),
                client.fetch(Request(.get, server.http("/from"))), client.run { try await $0.delete(text) },
            ].map { $0.text ?? "" }
        }
        #expect(results == ["GET ", "POST 1", "PUT 2", "GET ", "DELETE "])
        // One connection served all of them.
        #expect(server.records.count == 1)
    }

    @Test("A time limit ends an upload whose source or trailers block", arguments: [true, false])
    func blockingSource(isSource: Bool) async throws {
        let (time, source) = (HeldTime(), BlockingSource())
        let folder = try TemporaryFolder()
        try folder.write("text", "body")
        let file = RequestBody.file(folder.path + "/body")
        let body = isSource ? .stream(source) : file.followed { await source.trailers() }
        defer { source.gate.open() }
        let client = HTTPClient {
            $0.loop = time.loop
            $0.timeouts = Timeouts(total: .seconds(7))
        }
        let url = server.http()
        async let error = onOwnThread { () -> HTTPError? in
            do { _ = try client.blocking.post(url, body) } catch { return error as? HTTPError }
            return nil
        }
        while !source.isAsked.withLock({ $0 }) { await Task.yield() }
        try await time.pass(.seconds(7))
        #expect(try await error?.isTimeout == true)
    }

    @Test("Errors and time limits are those of the asynchronous calls")
    func errors() async throws {
        let silent = try FixtureServer.unresponsive()
        let client = HTTPClient { $0.timeouts.total = .milliseconds(50) }
        let errors = try await onOwnThread {
            [silent.http(), "http://a b/"].map { url in
                do { return try client.blocking.get(url).requiringSuccess() as Any } catch { return error }
            }.compactMap { $0 as? HTTPError }
        }
        #expect(errors.count == 2 && errors[0].isTimeout && errors[1].phase == .request)
        let status = try await onOwnThread {
            try HTTPClient.untimed().blocking.get(server.http("/404")).status
        }
        #expect(status == 404)
    }

    @Test("A body is read piece by piece, and a file is downloaded, through run and download")
    func run() async throws {
        let folder = try TemporaryFolder()
        let (pieces, size) = try await onOwnThread {
            let client = HTTPClient.untimed()
            let pieces = try client.blocking.run { client in
                try await client.send(Request(.get, server.http("/a"))).body.collect(upTo: 100)
            }
            let request = Request(.get, server.http("/a"))
            let size = try client.blocking.download(request, to: folder.path + "/file").size
            return (
                pieces, try client.blocking.download(server.http("/b"), to: folder.path + "/b").size + size
            )
        }
        #expect(pieces == Array("GET ".utf8) && size == 8)
        #expect(try folder.read("b") == Array("GET ".utf8))
        #expect(try folder.read("file") == Array("GET ".utf8))
    }

    @Test("Calls on more threads than Swift's own pool has do not wait for one of them")
    func manyThreads() async throws {
        let client = HTTPClient.untimed()
        let url = server.http("/a")
        let statuses = Locked<[Int]>([])
        // libdispatch has one pool for its queues and for Swift's tasks.
        await withCheckedContinuation { continuation in
            let group = DispatchGroup()
            for _ in 0..<64 {
                DispatchQueue.global().async(group: group) {
                    let status = try? client.blocking.get(url).status.code
                    statuses.withLock { $0.append(Int(status ?? 0)) }
                }
            }
            group.notify(queue: .global()) { continuation.resume() }
        }
        #expect(statuses.withLock { $0 } == Array(repeating: 200, count: 64))
    }

    @Test("An operation runs on the thread that waits for it")
    func ownThread() async throws {
        @Sendable func currentThread() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }
        let isSame = try await onOwnThread {
            let thread = currentThread()
            return try HTTPClient.untimed().blocking.run { client in
                let before = currentThread() == thread
                _ = try await client.get(server.http("/a"))
                return before && currentThread() == thread
            }
        }
        #expect(isSame)
    }

    @Test("An operation that ends on an actor brings its outcome to the thread that waits")
    func operationOnActor() async throws {
        let values = try await onOwnThread {
            let client = HTTPClient.untimed().blocking
            return try (0..<50).map { number in try client.run { @Elsewhere _ in number } }
        }
        #expect(values == Array(0..<50))
    }

    @Test("Interceptors run on the thread that waits, and need none of Swift's own")
    func interceptors() async throws {
        @Sendable func currentThread() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }
        let threads = Locked<[ObjectIdentifier]>([])
        let interceptor: Interceptor = { request, forward in
            threads.withLock { $0.append(currentThread()) }
            return try await forward(request)
        }
        let client = HTTPClient.untimed {
            $0.interceptors = [interceptor]
            $0.networkInterceptors = [interceptor]
        }
        let thread = try await onOwnThread {
            _ = try client.blocking.get(server.http("/a"))
            return currentThread()
        }
        #expect(threads.withLock { $0 } == [thread, thread])
    }

    @Test("Code that a cancelled call has left behind goes on after the operation")
    func leftBehind() async throws {
        let (gate, end) = (Barrier(), Barrier())
        let client = HTTPClient.untimed {
            $0.transport = { request in
                await gate.pass()
                await end.pass()
                return try Response(to: request, 200)
            }
        }
        try await onOwnThread {
            try client.blocking.run { client in
                await withThrowingTaskGroup { group in
                    group.addTask { _ = try await client.get("http://a.test/") }
                    await gate.arrivals(1)
                    group.cancelAll()
                    await #expect(throws: CancellationError.self) { try await group.waitForAll() }
                }
            }
        }
        gate.open()
        await end.arrivals(1)
        end.open()
    }

    @Test("Inside a task a call is refused at once, also in a synchronous function and on the loop")
    func refused() async throws {
        let client = HTTPClient.untimed()
        func synchronous() throws -> BufferedResponse { try client.blocking.get(server.http()) }
        #expect(throws: HTTPError.self) { try synchronous() }
        do { _ = try synchronous() } catch { #expect(Self.isRefused(error)) }
        for executor in [client.executor, .shared] {
            let isRefused = await withTaskExecutorPreference(executor) {
                do {
                    _ = try synchronous()
                    return false
                } catch {
                    return Self.isRefused(error)
                }
            }
            #expect(isRefused)
        }
        #expect(await MainActor.run { (try? synchronous()) == nil })
        #expect(server.requests.isEmpty)
    }

    @Test("Callbacks of the client are refused as well, and their calls go on")
    func callbacks() async throws {
        let refusals = Locked(0)
        let other = HTTPClient.untimed()
        let address = server.http()
        let client = HTTPClient.untimed {
            $0.observer = { _ in
                do { _ = try other.blocking.get(address) } catch  where Self.isRefused(error) {
                    refusals.withLock { $0 += 1 }
                } catch {}
            }
        }
        #expect(try await client.get(address).status == 200)
        #expect(refusals.withLock { $0 } > 3 && server.requests.count == 1)
    }

    @Test("Many threads block at the same time, more than Swift has threads of its own")
    func many() async throws {
        let client = HTTPClient.untimed()
        let gate = Gate()
        let slow = try FixtureServer.start { request in
            try request.wait(for: gate)
            return .text("late")
        }
        let count = ProcessInfo.processInfo.activeProcessorCount * 2 + 4
        let queue = DispatchQueue(label: "blocking", attributes: .concurrent)
        let answers = Locked<[String]>([])
        let group = DispatchGroup()
        let limited = HTTPClient.untimed { $0.maximumConnectionsPerOrigin = count }
        for _ in 0..<count {
            Thread.detachNewThread {
                let text = (try? limited.blocking.get(slow.http()))?.text ?? "failed"
                answers.withLock { $0.append(text) }
                group.leave()
            }
            group.enter()
        }
        while slow.requests.count < count { await Task.yield() }
        // Asynchronous calls still have threads to run on.
        #expect(try await client.get(server.http()).status == 200)
        gate.open()
        await withCheckedContinuation { continuation in group.notify(queue: queue) { continuation.resume() } }
        #expect(answers.withLock { $0 } == Array(repeating: "late", count: count))
    }
}

@globalActor
private actor Elsewhere {
    static let shared = Elsewhere()
}

/// A body whose first piece blocks the thread that asks for it.
private struct BlockingSource: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let gate = DiskGate()
    let isAsked = Locked(false)

    func makeAsyncIterator() -> BlockingSource { self }

    func next() async -> [UInt8]? {
        isAsked.withLock { $0 = true }
        gate.wait()
        return nil
    }

    func trailers() async -> HTTPHeaders {
        _ = await next()
        return [:]
    }
}
