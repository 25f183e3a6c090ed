import DirectCore
import DirectHTTP
import DirectHTTPFoundation
import DirectIO
import DirectTestTime
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Foundation's requests through a client")
struct BridgeTests {
    @Test("A response has its data, status, joined fields, length and URL")
    func dataComesWithItsHead() async throws {
        let server = try FixtureServer.start { _ in .text("hello", ["X-One": "1", "x-one": "2"]) }
        let (data, response) = try await HTTPClient.untimed().data(from: server.url("/a%20b?c"))
        #expect(String(decoding: data, as: UTF8.self) == "hello")
        #expect(response.statusCode == 200)
        #expect(response.value(forHTTPHeaderField: "X-ONE") == "1, 2")
        #expect(response.expectedContentLength == 5)
        #expect(try response.url == server.url("/a%20b?c"))
        #expect(server.requests.first?.target == "/a%20b?c")
    }

    @Test("The length of a body that was decoded is unknown, and that of any other is its own")
    func lengthOfADecodedBody() async throws {
        // "hello", as gzip codes it.
        let coded: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72,
            205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
        ]
        let server = try FixtureServer.start { request in
            request.path == "/coded" ? .bytes(coded, ["Content-Encoding": "gzip"]) : .text("hello")
        }
        let client = HTTPClient.untimed()
        for path in ["/coded", "/plain"] {
            let length: Int64 = path == "/coded" ? -1 : 5
            let (data, head) = try await client.data(from: server.url(path))
            #expect(String(decoding: data, as: UTF8.self) == "hello" && head.expectedContentLength == length)
            let (bytes, streamed) = try await client.bytes(from: server.url(path))
            #expect(streamed.expectedContentLength == length)
            #expect(streamed.value(forHTTPHeaderField: "Content-Encoding") == (length < 0 ? "gzip" : nil))
            for try await _ in bytes {}
            let response = try await client.get("http://\(server.authority)\(path)")
            #expect(HTTPURLResponse(response)?.expectedContentLength == length)
        }
        // A client that does not decode hands out what the length is of.
        let raw = HTTPClient.untimed { $0.decoding.isEnabled = false }
        let (data, head) = try await raw.data(from: server.url("/coded"))
        #expect(data.count == coded.count && head.expectedContentLength == Int64(coded.count))
    }

    @Test("A body in memory is sent with the method and fields of its request")
    func aBodyInMemoryIsSentWithItsFields() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        var request = try server.request("PUT")
        request.httpBody = Data("body".utf8)
        request.setValue("text/x-odd", forHTTPHeaderField: "Content-Type")
        let (data, response) = try await HTTPClient.untimed().data(for: request)
        #expect(data == Data("body".utf8))
        #expect(response.mimeType == "text/x-odd")
        #expect(server.requests.first?.method == "PUT")
    }

    @Test("A body stream is sent in chunks")
    func aBodyStreamIsSentInChunks() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        var request = try server.request("POST")
        request.httpBodyStream = InputStream(data: Data("streamed".utf8))
        let (data, _) = try await HTTPClient.untimed().data(for: request)
        #expect(data == Data("streamed".utf8))
        #expect(server.requests.first?.headers["transfer-encoding"] == "chunked")
    }

    @Test("A body stream with a Content-Length is sent with this length")
    func aBodyStreamOfAnnouncedLengthIsSentWithThatLength() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        var request = try server.request("POST")
        request.httpBodyStream = InputStream(data: Data("streamed".utf8))
        request.setValue("8", forHTTPHeaderField: "Content-Length")
        let (data, _) = try await HTTPClient.untimed().data(for: request)
        #expect(data == Data("streamed".utf8))
        #expect(server.requests.first?.headers["content-length"] == "8")
    }

    @Test("An upload sends data in memory and files, with the length of the file")
    func uploadsSendDataAndFiles() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let client = HTTPClient.untimed()
        let (echo, _) = try await client.upload(for: server.request("POST"), from: Data("data".utf8))
        #expect(echo == Data("data".utf8))

        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(repeating: 7, count: 300_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let (content, _) = try await client.upload(for: server.request("POST"), fromFile: file)
        #expect(content == Data(repeating: 7, count: 300_000))
        #expect(server.requests.last?.headers["content-length"] == "300000")
    }

    @Test("A download is a complete file with permissions for its owner only, and its progress is counted")
    func aDownloadBecomesAFileThatOnlyItsOwnerReads() async throws {
        let server = try FixtureServer.start { _ in .bytes([UInt8](repeating: 9, count: 2_000_000)) }
        let progress = Progress(totalUnitCount: -1)
        let (file, response) = try await HTTPClient.untimed().download(from: server.url(), progress: progress)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data(repeating: 9, count: 2_000_000))
        #expect(response.expectedContentLength == 2_000_000)
        #expect(progress.completedUnitCount == 2_000_000 && progress.totalUnitCount == 2_000_000)
        #expect(try permissions(of: file) == 0o600)
    }

    @Test("A truncated download leaves no file")
    func aDownloadThatBreaksOffLeavesNoFile() async throws {
        let server = try FixtureServer.start { _ in
            .bytes([1, 2, 3], status: 200, ["Content-Length": "10"]).then(.close)
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let error = await urlError {
            _ = try await HTTPClient.untimed().download(from: server.url(), in: folder)
        }
        #expect(error?.code == .networkConnectionLost)
        #expect(error?.httpError?.phase == .body)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("Bytes and lines of a response are delivered one by one")
    func bytesAndLinesComeOneByOne() async throws {
        let server = try FixtureServer.start { _ in .chunked([Array("a\r".utf8), Array("\nb\n\nc".utf8)]) }
        let (bytes, response) = try await HTTPClient.untimed().bytes(from: server.url())
        #expect(response.statusCode == 200)
        var all: [UInt8] = []
        for try await byte in bytes { all.append(byte) }
        #expect(String(decoding: all, as: UTF8.self) == "a\r\nb\n\nc")

        let (again, _) = try await HTTPClient.untimed().bytes(from: server.url())
        var lines: [String] = []
        for try await line in again.lines { lines.append(line) }
        #expect(lines == ["a", "b", "", "c"])
    }

    @Test("The progress of an upload counts the bytes of both directions")
    func progressCountsBothDirections() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let progress = Progress(totalUnitCount: -1)
        let body = Data(repeating: 5, count: 400_000)
        _ = try await HTTPClient.untimed().upload(for: server.request("POST"), from: body, progress: progress)
        #expect(progress.completedUnitCount == 800_000 && progress.totalUnitCount == 800_000)
    }

    @Test("A call whose progress was cancelled before is not sent")
    func progressCancelledBefore() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let client = HTTPClient.untimed()
        for _ in 0..<50 {
            let progress = Progress(totalUnitCount: -1)
            progress.cancel()
            let error = await urlError {
                _ = try await client.upload(
                    for: server.request("POST"),
                    from: Data("a".utf8),
                    progress: progress
                )
            }
            #expect(error?.code == .cancelled)
        }
        #expect(server.requests.isEmpty)
    }

    @Test("A file is sent again when a redirect keeps method and body")
    func aFileIsSentAgainWhereARedirectAsksForIt() async throws {
        let server = try FixtureServer.start { request in
            let count = try request.discardBody()
            return request.path == "/" ? .redirect(to: "/next", status: 307) : .text("\(count)")
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(repeating: 7, count: 100_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let (answer, head) = try await HTTPClient.untimed().upload(
            for: server.request("POST"),
            fromFile: file
        )
        #expect(String(decoding: answer, as: UTF8.self) == "100000")
        #expect(try head.url == server.url("/next"))
    }

    @Test("A JSON body is encoded for the request and decoded from the response")
    func jsonGoesOutAndComesIn() async throws {
        struct Point: Codable, Equatable { var x, y: Int }
        let server = try FixtureServer.start { try .echo($0) }
        let request = Request(.post, try server.url(), body: try .json(Point(x: 1, y: 2)))
        let answer = try await HTTPClient.untimed().fetch(request)
        #expect(try answer.decode() == Point(x: 1, y: 2))
    }

    @Test("The error of a program's own code is under a URLError, and no text of that shows it")
    func foreignErrors() async throws {
        struct Own: Error, Equatable { var token = "hush" }
        let client = HTTPClient.untimed { $0.interceptors = [{ _, _ in throw Own() }] }
        let url = try #require(URL(string: "http://a.test/"))
        do {
            _ = try await client.data(from: url)
            Issue.record("there was no error")
        } catch let error as URLError {
            #expect(error.programError as? Own == Own() && error.code == .unknown)
            var dumped = ""
            dump(error, to: &dumped)
            for text in [
                "\(error)", error.localizedDescription, "\(error.userInfo)", dumped, "\(error as NSError)",
            ] {
                #expect(!text.contains("hush"), "\(text)")
            }
            #expect("\(error)".contains("Own"))
        }
    }

    @Test(
        "The error of an authenticator is the program's, and no connection to a proxy is one that cannot be made"
    )
    func authenticatorAndProxy() async throws {
        struct Own: Error, Equatable {}
        let url = try #require(URL(string: "http://a.test/"))
        let origin = try HTTPURL("http://a.test/").origin
        let signedOut = HTTPClient.untimed {
            $0.authenticators[origin] = StandardAuthenticator.bearer(refreshing: { throw Own() })
        }
        let error = await urlError { _ = try await signedOut.data(from: url) }
        #expect(error?.programError as? Own == Own() && error?.code == .unknown)
        let dead = try FixtureServer.refusing()
        let proxy = try Proxy("http://\(dead.authority)")
        let behind = HTTPClient.untimed { $0.proxy = ProxySettings(proxy) }
        #expect(await urlError { _ = try await behind.data(from: url) }?.code == .cannotConnectToHost)
    }

    @Test("A cancelled task ends with the URLError for cancellation")
    func cancellingTheTaskIsAnErrorOfFoundations() async throws {
        let gate = Gate()
        let server = try FixtureServer.start { request in
            try request.wait(for: gate)
            return .text("late")
        }
        let url = try server.url()
        let work = Task { await urlError { _ = try await HTTPClient.untimed().data(from: url) } }
        _ = try await server.waitUntil { !$0.isEmpty }
        work.cancel()
        #expect(await work.value?.code == .cancelled)
        gate.open()
    }

    @Test("Cancelling the progress cancels the request")
    func cancellingTheProgressEndsTheRequest() async throws {
        let gate = Gate()
        let server = try FixtureServer.start { request in
            try request.wait(for: gate)
            return .text("late")
        }
        let url = try server.url()
        let progress = Progress(totalUnitCount: -1)
        let work = Task {
            await urlError { _ = try await HTTPClient.untimed().data(from: url, progress: progress) }
        }
        _ = try await server.waitUntil { !$0.isEmpty }
        progress.cancel()
        #expect(await work.value?.code == .cancelled)
        gate.open()
    }

    @Test("The request's own timeout ends the wait for its response")
    func theRequestsOwnTimeoutIsHonoured() async throws {
        let gate = Gate()
        let server = try FixtureServer.start { request in
            try request.wait(for: gate)
            return .text("late")
        }
        var request = try server.request("GET")
        request.timeoutInterval = 7
        let time = HeldTime()
        let client = HTTPClient { $0.loop = time.loop }
        async let failure = urlError { [request] in _ = try await client.data(for: request) }
        try await server.waitUntil { $0.first?.receivedCount ?? 0 > 0 }
        try await time.pass(.seconds(7))
        let error = await failure
        #expect(error?.code == .timedOut)
        #expect(error?.httpError?.phase == .response)
        gate.open()
    }

    @Test(
        "The request's cache policy is sent as Cache-Control directives",
        arguments: [
            (URLRequest.CachePolicy.useProtocolCachePolicy, nil),
            (.reloadIgnoringLocalCacheData, "no-cache"),
            (.reloadRevalidatingCacheData, "no-cache"),
            (.returnCacheDataElseLoad, "max-stale"),
        ]
    )
    func theCachePolicyIsSaidInHTTP(_ policy: URLRequest.CachePolicy, _ directives: String?) async throws {
        let server = try FixtureServer.start { _ in .text("fresh") }
        var request = try server.request("GET")
        request.cachePolicy = policy
        _ = try await HTTPClient.untimed().data(for: request)
        #expect(server.requests.first?.headers["cache-control"] == directives)
    }

    @Test("A request that does not handle cookies neither sends nor stores any")
    func whoHandlesCookiesHimselfIsNotHelped() async throws {
        let server = try FixtureServer.start { request in
            .text(request.headers["cookie"] ?? "none", ["Set-Cookie": "number=\(request.path.count)"])
        }
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let client = HTTPClient.untimed { $0.useCookies(of: storage) }
        var request = try server.request("GET", "/first")
        for progress in [nil, Progress(totalUnitCount: -1)] {
            request.httpShouldHandleCookies = false
            #expect(try await client.data(for: request, progress: progress).0 == Data("none".utf8))
            #expect(storage.cookies?.isEmpty == true)
        }
        request.httpShouldHandleCookies = true
        _ = try await client.data(for: request)
        #expect(try await client.data(for: request).0 == Data("number=6".utf8))
        request.httpShouldHandleCookies = false
        #expect(try await client.data(for: request).0 == Data("none".utf8))
    }

    @Test(
        "A request that may only use the cache sends nothing, and fails without a cached response",
        arguments: [nil, "no-transform", "max-age=60"]
    )
    func whoWantsNothingButTheCacheGetsNothingElse(directive: String?) async throws {
        let server = try FixtureServer.start { _ in .text("fresh", ["Cache-Control": "max-age=60"]) }
        var request = try server.request("GET")
        request.cachePolicy = .returnCacheDataDontLoad
        request.setValue(directive, forHTTPHeaderField: "Cache-Control")
        let cached = HTTPClient.untimed { $0.cache = .memory() }
        for client in [HTTPClient.untimed(), cached] {
            let error = await urlError { _ = try await client.data(for: request) }
            #expect(error?.code == .resourceUnavailable)
        }
        #expect(server.requests.isEmpty)
        _ = try await cached.data(from: server.url())
        #expect(try await cached.data(for: request).0 == Data("fresh".utf8))
        #expect(server.requests.count == 1)
    }

    private func permissions(of file: URL) throws -> Int? {
        let facts = try FileManager.default.attributesOfItem(atPath: file.path)
        return (facts[FileAttributeKey.posixPermissions] as? NSNumber)?.intValue
    }
}
