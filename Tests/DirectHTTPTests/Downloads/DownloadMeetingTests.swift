@testable import DirectCore
import DirectIO
import DirectTLS
import DirectTestCommands
import DirectTestData
import DirectTestTime
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Downloads and the rest of the client", .idleLimit)
struct DownloadMeetingTests {
    private let folder: TemporaryFolder
    private let content = pattern(at: 0, count: 300_000)

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.path + "/film" }

    @Test("The validator belongs to the URL at the end of the redirects")
    func redirects() async throws {
        let resource = Resource(content, faults: [.cut(after: 100_000)])
        let end = try FixtureServer.start(on: "127.0.0.2") { resource.answer($0) }
        let start = try FixtureServer.start { _ in .redirect(to: end.http("/film")) }
        let result = try await HTTPClient.downloading().download(start.http(), to: path)
        #expect(try folder.read("film") == content && result.url.text == end.http("/film"))
        // If-Range crosses to the other origin together with Range.
        #expect(resource.asked.map(\.condition) == [nil, "\"1\""] && resource.ranges.last == "bytes=100000-")
        #expect(result.history.map(\.reason) == [.redirect, .retry, .redirect])
    }

    @Test(
        "A redirect to another URL begins anew, unless the digest of the whole is checked",
        arguments: [true, false]
    )
    func signedURLs(isVerified: Bool) async throws {
        let resource = Resource(content, faults: [.cut(after: 100_000)])
        let end = try FixtureServer.start(on: "127.0.0.2") { resource.answer($0) }
        let count = Locked(0)
        let start = try FixtureServer.start { _ in
            let number = count.withLock { number in
                number += 1
                return number
            }
            return .redirect(to: end.http("/film?signature=\(number)"))
        }
        let digest = try #require(MessageDigest.sha256.digest(of: content))
        let options = DownloadOptions(sha256: isVerified ? digest : nil)
        let result = try await HTTPClient.downloading().download(start.http(), to: path, options: options)
        #expect(try folder.read("film") == content)
        #expect(resource.ranges == (isVerified ? [nil, "bytes=100000-"] : [nil, "bytes=100000-", nil]))
        #expect(result.restarts == (isVerified ? 0 : 1))
    }

    @Test(
        "Parts of two URLs are continued only by a download that checks a digest, too",
        arguments: [true, false]
    )
    func joinedParts(isVerified: Bool) async throws {
        // The other URL has other content under the same entity tag.
        let faults: [Resource.Fault] = [.cut(after: 50_000), .reply(.status(404))]
        let resource = Resource(content, faults: faults)
        let other = Resource(pattern(at: 7, count: content.count), faults: [.cut(after: 100_000)])
        let end = try FixtureServer.start(on: "127.0.0.2") { request in
            request.path == "/b" ? resource.answer(request) : other.answer(request)
        }
        let count = Locked(0)
        let start = try FixtureServer.start { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return .redirect(to: end.http(isFirst ? "/a" : "/b"))
        }
        let client = HTTPClient.downloading()
        let options = DownloadOptions(sha256: MessageDigest.sha256.digest(of: content))
        _ = try await httpError { try await client.download(start.http(), to: path, options: options) }
        #expect(try folder.read("film.part").count == 150_000)
        let result = try await client.download(
            end.http("/b"),
            to: path,
            options: isVerified ? options : DownloadOptions()
        )
        #expect(try folder.read("film") == content)
        #expect(
            resource.ranges.prefix(3) == [
                "bytes=100000-", "bytes=150000-", isVerified ? "bytes=150000-" : nil,
            ]
        )
        // With the digest the mixture is found at the end, and downloaded anew.
        #expect(result.restarts == (isVerified ? 1 : 0) && result.resumedBytes == 0)
    }

    @Test("The record has neither user nor password, and only its owner can read it")
    func secrets() async throws {
        let resource = Resource(content, faults: [.cut(after: 100_000), .reply(.status(404))])
        let server = try resource.server()
        let client = HTTPClient.downloading()
        _ = try await httpError {
            try await client.download("http://joe:secret@\(server.authority)/", to: path)
        }
        let record = String(decoding: try folder.read("film.part.info"), as: UTF8.self)
        #expect(record.contains("url \(server.http())\n") && !record.contains("secret"))
        let attributes = try FileManager.default.attributesOfItem(atPath: path + ".part.info")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("A cancelled download keeps what it has, and frees its files at once")
    func cancelled() async throws {
        let never = Gate()
        defer { never.open() }
        let resource = Resource(content, faults: [.stall(after: 100_000, never)])
        let server = try resource.server()
        let heard = Heard<TransferProgress>()
        let client = HTTPClient.downloading()
        let task = Task { try await client.download(server.http(), to: path) { heard.add($0) } }
        try await waitUntil { heard.all.last?.bytes == 100_000 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let result = try await client.download(server.http(), to: path)
        #expect(result.resumedBytes == 100_000 && resource.ranges.last == "bytes=100000-")
        #expect(try folder.read("film") == content)
    }

    @Test("A download cancelled at any moment has its file exactly if it reports success")
    func cancelledAnywhere() async throws {
        let resource = Resource(content)
        let server = try resource.server()
        let client = HTTPClient.downloading()
        var random = SystemRandomNumberGenerator()
        for number in 0..<100 {
            let path = folder.path + "/\(number)"
            let task = Task { try await client.download(server.http(), to: path) }
            for _ in 0..<Int.random(in: 0..<600, using: &random) { await Task.yield() }
            task.cancel()
            let isDone = (try? await task.value) != nil
            #expect(FileManager.default.fileExists(atPath: path) == isDone, "\(number)")
            if !isDone { try await client.download(server.http(), to: path) }
            #expect(try folder.read("\(number)") == content)
        }
        try await BlockingWork.shared.run(until: .never, on: .still) {}
        #expect(folder.names.count == 100)
    }

    @Test("The total limit is one for all attempts, and the file is kept")
    func total() async throws {
        let never = Gate()
        defer { never.open() }
        let resource = Resource(
            content,
            faults: [.stall(after: 100_000, never), .stall(after: 100_000, never)]
        )
        let server = try resource.server()
        let time = HeldTime()
        let client = HTTPClient.downloading {
            $0.loop = time.loop
            $0.timeouts.read = .seconds(60)
        }
        var request = Request(.get, server.http())
        request.timeouts.total = .seconds(100)
        let heard = Heard<TransferProgress>()
        let task = Task { [request] in try await client.download(request, to: path) { heard.add($0) } }
        try await waitUntil { heard.all.last?.bytes == 100_000 }
        try await time.pass(.seconds(60))
        try await waitUntil { heard.all.last?.bytes == 200_000 }
        try await time.pass(.seconds(40))
        let error = try await httpError { try await task.value }
        guard case .timedOut(.seconds(100)) = error.reason else { throw error }
        #expect(error.method == .get && error.url?.text == server.http())
        #expect(error.history.count == 1 && folder.names == ["film.part", "film.part.info"])
        let result = try await client.download(server.http(), to: path)
        #expect(result.resumedBytes == 200_000)
    }

    @Test("Two downloads to one path at a time are an error for the second, whichever client makes it")
    func twice() async throws {
        let never = Gate()
        let resource = Resource(content, faults: [.stall(after: 100_000, never)])
        let server = try resource.server()
        let heard = Heard<TransferProgress>()
        let task = Task {
            try await HTTPClient.downloading().download(server.http(), to: path) { heard.add($0) }
        }
        try await waitUntil { heard.all.last?.bytes == 100_000 }
        let error = try await httpError {
            try await HTTPClient.downloading().download(server.http(), to: path)
        }
        #expect(error.downloadError == .inProgress && resource.asked.count == 1)
        #expect(error.method == .get && error.url?.text == server.http())
        _ = try await HTTPClient.downloading().download(server.http(), to: folder.path + "/other")
        task.cancel()
        _ = await task.result
        never.open()
    }

    @Test("Each error of a download names the method and the URL, without secrets")
    func errors() async throws {
        let resource = Resource(content)
        let server = try resource.server()
        let client = HTTPClient.downloading()
        let wrong = DownloadOptions(sha256: [UInt8](repeating: 0, count: 32))
        var tooLarge = DownloadOptions()
        tooLarge.maximumSize = 1
        let url = server.http("/film?token=secret"), shown = "GET \(server.http("/film"))?token=***: "
        for (path, options) in [
            (folder.path, DownloadOptions()), (path + "/none", DownloadOptions()), (path, wrong),
            (path, tooLarge), (path, DownloadOptions(length: 7)),
        ] {
            let error = try await httpError { try await client.download(url, to: path, options: options) }
            #expect(error.method == .get && error.description.hasPrefix(shown), "\(error)")
            #expect(!"\(error)".contains("secret"))
        }
        let other = try FixtureServer.start(on: "127.0.0.2") { _ in .redirect(to: server.http("/end")) }
        let error = try await httpError {
            try await client.download(other.http(), to: path, options: wrong)
        }
        #expect(error.url?.text == server.http("/end"))
    }

    @Test("A missing folder is an error of the system before anything is sent")
    func noFolder() async throws {
        let resource = Resource(content)
        let server = try resource.server()
        let error = try await httpError {
            try await HTTPClient.downloading().download(server.http(), to: folder.path + "/none/film")
        }
        #expect(error.systemError?.code == ENOENT && resource.asked.isEmpty)
    }

    @Test("The cache neither answers a download nor stores it")
    func cache() async throws {
        let resource = Resource(content, ["ETag": "\"1\"", "Cache-Control": "max-age=600"])
        let server = try resource.server()
        let client = HTTPClient.downloading { $0.cache = ResponseCache.memory() }
        try await client.download(server.http("/1"), to: path)
        _ = try await client.get(server.http("/1"))
        #expect(resource.asked.count == 2)
        try await client.download(server.http("/1"), to: path)
        #expect(resource.asked.count == 3)
        #expect(try await client.get(server.http("/1")).cacheUse == .hit && resource.asked.count == 3)
    }

    @Test("The content is asked for without coding, and coded content is refused")
    func coding() async throws {
        let packed = deflated(content)
        let server = try FixtureServer.start { request in
            #expect(request.headers["accept-encoding"] == "identity")
            return .bytes(packed, ["ETag": "\"1\"", "Content-Encoding": "gzip"])
        }
        let error = try await httpError {
            try await HTTPClient.downloading().download(server.http(), to: path)
        }
        #expect(error.downloadError == .coded && folder.names.isEmpty)
    }

    @Test("Through a proxy the rest is asked for in the same way")
    func proxy() async throws {
        let resource = Resource(content, faults: [.cut(after: 100_000)])
        let origin = try FixtureServer.secure("a.test") { resource.answer($0) }
        let routes = ["a.test:443": origin.authority]
        let server = try FixtureServer.start(on: "127.0.0.2", behaviour: .proxy(FixtureProxy(routes)))
        var proxy = try Proxy("http://proxy.test:3128")
        proxy.addresses = [server.endpoint]
        let settings = ProxySettings(proxy)
        let client = HTTPClient.downloading { $0.proxy = settings }
        let result = try await client.download("https://a.test/film", to: path)
        #expect(try folder.read("film") == content && resource.ranges == [nil, "bytes=100000-"])
        #expect(result.transaction?.proxy != nil)
    }

    @Test(
        "An interceptor and an observer see each attempt as a call, and an interceptor cannot lose the addresses to avoid"
    )
    func interceptors() async throws {
        let resource = Resource(content, faults: [.cut(after: 100_000)])
        let servers = try resource.servers("127.0.0.1", "127.0.0.2")
        let endpoints = servers.map(\.endpoint)
        let calls = Locked(0)
        let client = HTTPClient.downloading {
            $0.interceptors = [
                { request, forward in
                    var copy = Request(.get, try request.url, headers: request.headers)
                    copy.addresses = endpoints
                    return try await forward(copy)
                }
            ]
            $0.observer = { event in if case .ended = event.kind { calls.withLock { $0 += 1 } } }
        }
        try await client.download("http://a.test:\(servers[0].port)/", to: path)
        #expect(try folder.read("film") == content && calls.withLock { $0 } == 2)
        #expect(resource.asked.map(\.address) == ["127.0.0.1", "127.0.0.2"])
    }

    @Test("The largest size is respected before and while the content is received", arguments: [true, false])
    func limit(isAnnounced: Bool) async throws {
        let server = try FixtureServer.start { [content] _ in
            .bytes(content, ["ETag": "\"1\""], framing: isAnnounced ? .length : .chunked)
        }
        var options = DownloadOptions()
        options.maximumSize = 299_999
        let error = try await httpError { [options] in
            try await HTTPClient.downloading().download(server.http(), to: path, options: options)
        }
        guard case .bodyTooLarge(limit: 299_999) = error.reason else { throw error }
        options.maximumSize = 300_000
        try await HTTPClient.downloading().download(server.http(), to: path, options: options)
        #expect(try folder.read("film") == content)
    }

    @Test("A request that is no plain GET is refused before anything is sent")
    func requests() async throws {
        let wrong: [(Request, DownloadError)] = [
            (Request(.post, "http://a.test/"), .method(.post)),
            (Request(.get, "http://a.test/", body: .text("x")), .hasBody),
            (Request(.get, "http://a.test/", headers: ["range": "bytes=0-"]), .field("Range")),
            (Request(.get, "http://a.test/", headers: ["If-Range": "\"1\""]), .field("If-Range")),
        ]
        for (request, expected) in wrong {
            let error = try await httpError { try await HTTPClient.downloading().download(request, to: path) }
            #expect(error.downloadError == expected && error.phase == .request && folder.names.isEmpty)
        }
        let error = try await httpError { try await HTTPClient.downloading().download("nonsense", to: path) }
        guard case .url = error.reason else { throw error }
    }

    @Test("The file has the requested permissions")
    func mode() async throws {
        let resource = Resource(content)
        let server = try resource.server()
        var options = DownloadOptions()
        options.mode = 0o600
        try await HTTPClient.downloading().download(server.http(), to: path, options: options)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("A challenge is answered in each attempt")
    func authentication() async throws {
        let resource = Resource(content, faults: [.cut(after: 100_000)])
        let server = try FixtureServer.start { request in
            guard request.headers["authorization"] != nil else {
                return .status(401, ["WWW-Authenticate": "Basic realm=\"x\""])
            }
            return resource.answer(request)
        }
        var request = Request(.get, server.http())
        request.authenticator = .basic(user: "joe", password: "secret")
        try await HTTPClient.downloading().download(request, to: path)
        #expect(try folder.read("film") == content && resource.ranges == [nil, "bytes=100000-"])
    }
}
