import DirectHTTP
import DirectHTTPFoundation
import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("DirectURLProtocol", .idleLimit)
struct DirectURLProtocolTests {
    @Test("A body of many chunks arrives whole")
    func aBodyOfManyPiecesComesWhole() async throws {
        let server = try FixtureServer.start { _ in
            .chunked((0..<50).map { [UInt8](repeating: $0, count: 5000) })
        }
        let (data, response) = try await session().data(from: server.url())
        #expect(data.count == 250_000)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test("The length of a body that was decoded is unknown to the session")
    func lengthOfADecodedBody() async throws {
        // "hello", as gzip codes it.
        let coded: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72,
            205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
        ]
        let server = try FixtureServer.start { _ in .bytes(coded, ["Content-Encoding": "gzip"]) }
        let (data, response) = try await session().data(from: server.url())
        #expect(String(decoding: data, as: UTF8.self) == "hello" && response.expectedContentLength == -1)
    }

    @Test("Bodies in memory and body streams are sent")
    func bodiesInMemoryAndStreamsAreSent() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        var request = try server.request("POST")
        request.httpBody = Data("in memory".utf8)
        #expect(try await session().data(for: request).0 == Data("in memory".utf8))
        request.httpBodyStream = InputStream(data: Data("streamed".utf8))
        #expect(try await session().data(for: request).0 == Data("streamed".utf8))
    }

    @Test("Uploads of data and of files send their bodies")
    func uploadsSendTheirBodies() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let request = try server.request("POST")
        #expect(try await session().upload(for: request, from: Data("data".utf8)).0 == Data("data".utf8))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(repeating: 7, count: 300_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try await session().upload(for: request, fromFile: file).0.count == 300_000)
    }

    @Test("Each session resolves names with its own client")
    func severalSessionsHaveSeveralClients() async throws {
        let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2", "127.0.0.3"]) {
            .text($0.serverAddress)
        }
        for server in servers {
            var addresses = StaticMap()
            try addresses.set([Endpoint(stringLiteral: server.authority)], for: HostPattern("www.example"))
            let client = HTTPClient.untimed { [addresses] in $0.addresses = addresses }
            let url = try #require(URL(string: "http://www.example:\(server.port)/"))
            let (data, _) = try await session(client).data(from: url)
            #expect(String(decoding: data, as: UTF8.self) == server.address)
            #expect(server.requests.first?.headers["host"] == "www.example:\(server.port)")
        }
    }

    @Test("A 401 response without a credential is delivered with its body")
    func aRefusalThatAsksForAPasswordIsDelivered() async throws {
        let server = try FixtureServer.start { _ in
            .text("who are you?", status: 401, ["WWW-Authenticate": "Basic realm=\"here\""])
        }
        let (data, response) = try await session().data(from: server.url())
        #expect(String(decoding: data, as: UTF8.self) == "who are you?")
        #expect((response as? HTTPURLResponse)?.statusCode == 401)
    }

    @Test("A download task fails with an error that says that its file cannot be created")
    func aDownloadFailsWithWords() async throws {
        let server = try FixtureServer.start { _ in .text("x") }
        let error = await urlError { _ = try await session().download(from: server.url()) }
        #expect(error?.code == .cannotCreateFile)
    }

    @Test("Cancelling a task ends its request and its connection")
    func cancellingTheTaskEndsTheRequest() async throws {
        // It never answers: a response that arrives before the cancelled task looks for it leaves the
        // connection open.
        let server = try FixtureServer.start { _ in .script([.awaitClose]) }
        let url = try server.url()
        let work = Task { await urlError { _ = try await session().data(from: url) } }
        _ = try await server.nextRequest()
        work.cancel()
        #expect(await work.value?.code == .cancelled)
        // The connection is closed, too: no task waits for the response.
        #expect(try await server.nextRecord().end == .clientClosed)
    }

    @Test("A task may be cancelled while it ends")
    func cancellingWhileTheTaskEndsIsNoHarm() async throws {
        let server = try FixtureServer.start { _ in .text("now") }
        let session = session()
        let url = try server.url()
        for _ in 0..<200 {
            let ended = AsyncStream<Void>.makeStream()
            let task = session.dataTask(with: url) { _, _, _ in ended.continuation.finish() }
            task.resume()
            if Bool.random() { await Task.yield() }
            task.cancel()
            for await _ in ended.stream {}
        }
    }

    /// As FoundationNetworking does now and then to one that is cancelled at once.
    @Test("A load that is stopped before it is started sends no request")
    func whatIsStoppedBeforeItIsStartedSendsNothing() async throws {
        let (sent, record) = AsyncStream<String>.makeStream()
        let client = HTTPClient.untimed {
            $0.transport = { request in
                record.yield(try request.url.text)
                return try Response(to: request, .ok)
            }
        }
        let url = try #require(URL(string: "http://www.example/stopped"))
        let loading = client.urlProtocolClass()
            .init(request: URLRequest(url: url), cachedResponse: nil, client: nil)
        loading.stopLoading()
        loading.startLoading()
        // A request that had been started would come first.
        await withTaskExecutorPreference(client.executor) {
            _ = try? await client.get("http://www.example/next")
        }
        record.finish()
        var urls: [String] = []
        for await url in sent { urls.append(url) }
        #expect(urls == ["http://www.example/next"])
    }

    @Test("200 concurrent requests each receive their own response")
    func twoHundredRequestsAtATime() async throws {
        let server = try FixtureServer.start { .text($0.target) }
        let session = session()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                let url = try server.url("/\(number)")
                group.addTask {
                    String(decoding: try await session.data(from: url).0, as: UTF8.self) == "/\(number)"
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("The canonical request has the URL that is sent, and keeps its fields")
    func theCanonicalRequestHasTheURLThatIsSent() throws {
        let type = HTTPClient.untimed().urlProtocolClass()
        for (text, canonical) in [
            ("HTTP://WWW.Example:80/a/../b%20?q", "http://www.example/b%20?q"),
            ("https://www.example", "https://www.example/"), ("http://127.1/", "http://127.1/"),
        ] {
            var request = URLRequest(url: try #require(URL(string: text)))
            request.setValue("1", forHTTPHeaderField: "X-One")
            let found = type.canonicalRequest(for: request)
            #expect(found.url?.absoluteString == canonical)
            #expect(found.value(forHTTPHeaderField: "X-One") == "1")
            #expect(type.requestIsCacheEquivalent(request, to: found))
        }
    }

    @Test("Only requests with the chosen schemes are carried")
    func onlyTheNamedSchemesAreCarried() throws {
        let type = HTTPClient.untimed().urlProtocolClass(schemes: [.https])
        for (text, isCarried) in [("https://a.example/", true), ("http://a.example/", false)] {
            let request = URLRequest(url: try #require(URL(string: text)))
            #expect(type.canInit(with: request) == isCarried)
        }
    }

    @Test("Only http and https URLs of the chosen hosts are carried")
    func onlyTheNamedHostsAreCarried() throws {
        let binding = URLProtocolBinding(
            .shared,
            hosts: [try HostPattern("*.example"), try HostPattern("::1")]
        )
        for (text, isCarried) in [
            ("http://a.example/", true), ("https://A.Example:8443/", true), ("http://example/", false),
            ("http://b.test/", false), ("ftp://a.example/", false), ("http://a.example:99999/", true),
            ("file:///a.example", false),
        ] {
            #expect(binding.accepts(try #require(URL(string: text))) == isCarried, "\(text)")
        }
    }

    private func session(_ client: HTTPClient = HTTPClient.untimed()) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [client.urlProtocolClass()]
        return URLSession(configuration: configuration)
    }
}
