import DirectCore
import DirectHTTP
import DirectHTTPFoundation
import DirectTestCommands
import DirectTestTime
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Completion handlers", .idleLimit)
struct CompletionTests {
    private let server: FixtureServer

    init() throws {
        server = try FixtureServer.start { request in
            let body = try request.text
            return request.path == "/from" ? .redirect(to: "/to") : .text("\(request.method) \(body)")
        }
    }

    private func url(_ path: String) throws -> URL {
        try #require(URL(string: "http://\(server.authority)\(path)"))
    }

    @Test("Data, uploads and downloads arrive at their handlers, redirects followed, on one connection")
    func results() async throws {
        let client = HTTPClient()
        let got = try await withCheckedThrowingContinuation { done in
            do {
                client.data(from: try url("/from")) { data, head, error in
                    done.resume(
                        returning:
                            "\(String(decoding: data ?? Data(), as: UTF8.self)) \(head?.statusCode ?? 0) \(error == nil)"
                    )
                }
            } catch { done.resume(throwing: error) }
        }
        #expect(got == "GET  200 true")
        var request = URLRequest(url: try url("/up"))
        request.httpMethod = "PUT"
        let sent = await withCheckedContinuation { done in
            client.upload(for: request, from: Data("body".utf8)) { data, _, _ in
                done.resume(returning: String(decoding: data ?? Data(), as: UTF8.self))
            }
        }
        #expect(sent == "PUT body")
        let source = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("file".utf8).write(to: source)
        defer { try? FileManager.default.removeItem(at: source) }
        let sentFile = await withCheckedContinuation { done in
            client.upload(for: request, fromFile: source) { data, _, _ in
                done.resume(returning: String(decoding: data ?? Data(), as: UTF8.self))
            }
        }
        #expect(sentFile == "PUT file")
        let files = [
            await withCheckedContinuation { done in
                client.download(for: URLRequest(url: server.root)) { url, _, _ in done.resume(returning: url)
                }
            },
            await withCheckedContinuation { done in
                client.download(from: server.root) { url, _, _ in done.resume(returning: url) }
            },
        ]
        for file in files {
            let place = try #require(file)
            #expect(try String(contentsOf: place, encoding: .utf8) == "GET ")
            try FileManager.default.removeItem(at: place)
        }
        #expect(server.records.count == 1)
    }

    @Test(
        "Interceptors that wait for a call of the same client work for nine calls and for ninety",
        arguments: [9, 90]
    )
    func nestedCalls(count: Int) async throws {
        let own = Locked<HTTPClient?>(nil)
        let token = try url("/token")
        let client = HTTPClient.untimed {
            $0.maximumConnectionsPerOrigin = 200
            $0.interceptors = [
                { request, forward in
                    if try request.url.path != "/token" { Self.wait(for: token, of: own.withLock { $0 }) }
                    return try await forward(request)
                }
            ]
        }
        own.withLock { $0 = client }
        defer { own.withLock { $0 = nil } }
        let target = try url("/a")
        let statuses = Locked<[Int]>([])
        await withCheckedContinuation { continuation in
            for _ in 0..<count {
                client.data(from: target) { _, head, _ in
                    let isLast = statuses.withLock { statuses in
                        statuses.append(head?.statusCode ?? 0)
                        return statuses.count == count
                    }
                    if isLast { continuation.resume() }
                }
            }
        }
        #expect(statuses.withLock { $0 } == Array(repeating: 200, count: count))
    }

    @Test("A call that an interceptor makes and waits for has a place while the interceptor holds a response")
    func calledByInterceptor() async throws {
        let asked = DiskGate()
        defer { asked.open() }
        let server = try FixtureServer.start { request in
            if request.target == "/token" {
                asked.open()
                return .text("good")
            }
            return .written(status: 200, [:]) { writer in
                try writer.write([0])
                asked.wait()
            }
        }
        let own = Locked<HTTPClient?>(nil)
        let token = try #require(URL(string: "http://\(server.authority)/token"))
        let client = HTTPClient.untimed {
            $0.maximumConnectionsPerOrigin = 1
            $0.interceptors = [
                { request, forward in
                    let response = try await forward(request)
                    if try request.url.path == "/token" { return response }
                    await withCheckedContinuation { done in
                        _ = own.withLock { $0 }?.data(from: token) { _, _, _ in done.resume() }
                    }
                    return response
                }
            ]
        }
        own.withLock { $0 = client }
        #expect(try await client.get("http://\(server.authority)/").body == [0])
        own.withLock { $0 = nil }
    }

    /// Blocks the thread until a call with a handler has ended.
    private static func wait(for url: URL, of client: HTTPClient?) {
        let end = DispatchSemaphore(value: 0)
        client?.data(from: url) { _, _, _ in end.signal() }
        end.wait()
    }

    @Test("Hundreds of uploads with handlers end while libdispatch's threads wait for them")
    func manyUploads() async throws {
        let client = HTTPClient.untimed { $0.maximumConnectionsPerOrigin = 20 }
        var request = URLRequest(url: try url("/a"))
        request.httpMethod = "PUT"
        let upload = request
        let statuses = Locked<[Int: Int]>([:])
        await withCheckedContinuation { continuation in
            let group = DispatchGroup()
            for _ in 0..<300 {
                DispatchQueue.global().async(group: group) {
                    let end = DispatchSemaphore(value: 0)
                    client.upload(for: upload, from: Data(count: 100_000)) { _, head, _ in
                        statuses.withLock { $0[head?.statusCode ?? 0, default: 0] += 1 }
                        end.signal()
                    }
                    end.wait()
                }
            }
            group.notify(queue: .global()) { continuation.resume() }
        }
        #expect(statuses.withLock { $0 } == [200: 300])
    }

    @Test("Calls on more threads than libdispatch has do not wait for one of them", arguments: [true, false])
    func manyThreads(_ hasProgress: Bool) async throws {
        let client = HTTPClient.untimed()
        let url = try url("/a")
        let statuses = Locked<[Int]>([])
        // libdispatch has one pool for its queues and for Swift's tasks.
        await withCheckedContinuation { continuation in
            let group = DispatchGroup()
            for _ in 0..<64 {
                DispatchQueue.global().async(group: group) {
                    let end = DispatchSemaphore(value: 0)
                    let progress = hasProgress ? Progress(totalUnitCount: -1) : nil
                    client.data(from: url, progress: progress) { _, head, _ in
                        statuses.withLock { $0.append(head?.statusCode ?? 0) }
                        end.signal()
                    }
                    end.wait()
                }
            }
            group.notify(queue: .global()) { continuation.resume() }
        }
        #expect(statuses.withLock { $0 } == Array(repeating: 200, count: 64))
    }

    @Test("A handler runs on its queue, and gets the client's errors")
    func queueAndErrors() async throws {
        let queue = OperationQueue()
        queue.name = "own"
        let (name, error) = await withCheckedContinuation { done in
            HTTPClient().fetch(HTTPClient.Request(.get, "http://a b/"), on: queue) { result in
                var found: (any Error)?
                if case .failure(let error) = result { found = error }
                done.resume(returning: (OperationQueue.current?.name, found))
            }
        }
        #expect(name == "own" && (error as? HTTPError)?.phase == .request)
        let dead = try FixtureServer.refusing()
        let failure = await withCheckedContinuation { done in
            HTTPClient().data(for: URLRequest(url: dead.root)) { data, head, error in
                done.resume(returning: data == nil && head == nil ? error : nil)
            }
        }
        #expect(failure?.code == .cannotConnectToHost)
    }

    @Test("A cancelled call calls its handler once, with the error of a cancelled call")
    func cancelled() async throws {
        let silent = try FixtureServer.unresponsive()
        let results = AsyncStream<String>.makeStream()
        let client = HTTPClient()
        let first = client.data(for: URLRequest(url: silent.root)) { _, _, error in
            results.continuation.yield(
                error?.code == .cancelled ? "cancelled" : "\(String(describing: error))"
            )
        }
        let second = client.fetch(HTTPClient.Request(.get, "http://\(silent.authority)/")) { result in
            if case .failure(let error) = result {
                results.continuation.yield(error is CancellationError ? "cancelled" : "\(error)")
            }
        }
        first.cancel()
        second.cancel()
        first.cancel()
        var all: [String] = []
        for await result in results.stream {
            all.append(result)
            if all.count == 2 { break }
        }
        #expect(all == ["cancelled", "cancelled"])
    }
}

extension FixtureServer {
    fileprivate var root: URL { URL(string: "http://\(authority)/") ?? URL(fileURLWithPath: "/") }
}
