#if canImport(FoundationNetworking)
import DirectCore
import DirectHTTP
import DirectHTTPFoundation
import DirectIO
import DirectTestCommands
import Dispatch
import Foundation
import FoundationNetworking
import TLSFixtures
import Testing

@Suite("Lifetimes and fields at the seam to URLSession", .idleLimit)
struct SeamTests {
    @Test("A task that is suspended and resumed at once ends, also where a session asks its cache first")
    func suspendedAtOnce() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let configuration = configuration(HTTPClient.untimed())
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        let session = URLSession(configuration: configuration)
        let url = try server.url()
        for _ in 0..<50 {
            let text = await withCheckedContinuation { continuation in
                let task = session.dataTask(with: url) { data, _, _ in
                    continuation.resume(returning: data.map { String(decoding: $0, as: UTF8.self) })
                }
                task.resume()
                task.suspend()
                task.resume()
            }
            #expect(text == "hello")
        }
        #expect(server.requests.count == 50)
    }

    @Test("A task that stays suspended while its response comes is not cut off")
    func suspendedForLong() async throws {
        let gate = Gate()
        let server = try FixtureServer.start { request in
            try request.wait(for: gate)
            return .text("late")
        }
        let delegate = RecordingDelegate()
        let session = URLSession(
            configuration: configuration(HTTPClient.untimed()),
            delegate: delegate,
            delegateQueue: nil
        )
        let task = session.dataTask(with: try server.url())
        task.resume()
        try await server.waitUntil { $0.first?.receivedCount ?? 0 > 0 }
        task.suspend()
        gate.open()
        var events: [RecordingDelegate.Event] = []
        for await event in delegate.events { events.append(event) }
        #expect(events == [.response(200), .data(Data("late".utf8)), .end(nil)])
    }

    @Test("A cancelled task gives its connection back although the delegate's queue is busy")
    func busyQueue() async throws {
        let server = try FixtureServer.start { request in
            guard request.path == "/" else { return .text("there") }
            return .chunked((0..<100).map { _ in [UInt8](repeating: 1, count: 100_000) })
        }
        let client = HTTPClient.untimed { $0.maximumConnectionsPerOrigin = 1 }
        let (queue, isFree) = (OperationQueue(), DispatchSemaphore(value: 0))
        queue.maxConcurrentOperationCount = 1
        let delegate = RecordingDelegate()
        let session = URLSession(
            configuration: configuration(client),
            delegate: delegate,
            delegateQueue: queue
        )
        let task = session.dataTask(with: try server.url())
        task.resume()
        for await event in delegate.events where event == .response(200) { break }
        queue.addOperation { isFree.wait() }
        task.cancel()
        #expect(try await client.get("http://\(server.authority)/other").text == "there")
        isFree.signal()
    }

    @Test("Fields that the client writes itself fail no request, in a session and in the bridge")
    func ownedFields() async throws {
        let server = try FixtureServer.start { request in
            let count = try request.discardBody()
            return .text("\(count) \(request.headers["expect"] ?? "-") \(request.headers["x-own"] ?? "-")")
        }
        let owned = [
            "Connection": "keep-alive, Upgrade", "Content-Length": "99", "Expect": "100-Continue",
            "Upgrade": "h2c", "Keep-Alive": "timeout=5", "Proxy-Connection": "keep-alive",
            "Transfer-Encoding": "chunked", "TE": "chunked", "Host": server.address, "X-Own": "1",
        ]
        let configuration = configuration(HTTPClient.untimed())
        configuration.httpAdditionalHeaders = owned
        let session = URLSession(configuration: configuration)
        var request = try server.request("POST")
        request.httpBody = Data("body".utf8)
        let (data, response) = try await session.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(String(decoding: data, as: UTF8.self) == "4 100-continue 1")
        for (name, value) in owned { request.setValue(value, forHTTPHeaderField: name) }
        let (bridged, head) = try await HTTPClient.untimed().data(for: request)
        #expect(head.statusCode == 200 && bridged == data)
    }

    @Test(
        "Host is completed for an address of IPv6 and a name in other letters, and no other host is accepted"
    )
    func hosts() throws {
        func host(_ url: String, _ value: String) throws -> String? {
            var request = URLRequest(url: try #require(URL(string: url)))
            request.setValue(value, forHTTPHeaderField: "Host")
            return HTTPClient.Request(request).headers["Host"]
        }
        #expect(try host("http://[::1]:8167/", "[::1]") == nil)
        #expect(try host("http://A.test:81/", "a.TEST") == nil)
        #expect(try host("http://a.test:81/", "A.test:81") == nil)
        for other in ["b.test", "a.test:82", "[::1]", "a.test/x"] {
            #expect(try host("http://a.test:81/", other) == other)
        }
        #expect(try host("http://a.test/", "a.test/x") == "a.test/x")
    }

    @Test("A progress keeps the cancellation handler of the program, which is called as well")
    func cancellationHandler() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let calls = Locked(0)
        let progress = Progress(totalUnitCount: -1)
        progress.cancellationHandler = { calls.withLock { $0 += 1 } }
        _ = try await HTTPClient.untimed().data(from: server.url(), progress: progress)
        progress.cancellationHandler?()
        #expect(calls.withLock { $0 } == 1)
    }

    @Test("Content is decoded although the request asks for codings itself; identity asks for none")
    func codings() async throws {
        // "hello", as gzip codes it.
        let coded: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72,
            205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
        ]
        // It codes whatever it is asked.
        let server = try FixtureServer.start { _ in .bytes(coded, ["Content-Encoding": "gzip"]) }
        let client = HTTPClient.untimed()
        for asked in ["br;q=1.0, gzip;q=0.9, deflate;q=0.8", "identity", "Identity"] {
            var request = try server.request("GET")
            request.setValue(asked, forHTTPHeaderField: "accept-encoding")
            #expect(try await client.data(for: request).0 == Data("hello".utf8))
            let session = URLSession(configuration: configuration(client))
            #expect(try await session.data(for: request).0 == Data("hello".utf8))
        }
        let asked = server.requests.map { $0.headers["accept-encoding"] ?? "" }
        #expect(asked.dropFirst(2).allSatisfy { $0 == "identity" })
        #expect(asked.prefix(2).allSatisfy { $0.contains("gzip") && !$0.contains("q=0.9") })
    }

    @Test("The user's languages are named unless the request or the client names others")
    func languages() async throws {
        let server = try FixtureServer.start { .text($0.headers["accept-language"] ?? "none") }
        let client = HTTPClient.untimed()
        let first = Locale.preferredLanguages.first ?? "none"
        #expect(try await client.data(from: server.url()).0.starts(with: Data(first.utf8)))
        let session = URLSession(configuration: configuration(client))
        #expect(try await session.data(from: server.url()).0.starts(with: Data(first.utf8)))
        var request = try server.request("GET")
        request.setValue("fr", forHTTPHeaderField: "Accept-Language")
        #expect(try await client.data(for: request).0 == Data("fr".utf8))
        let own = HTTPClient.untimed { $0.headers["Accept-Language"] = "ja" }
        #expect(try await own.data(from: server.url()).0 == Data("ja".utf8))
    }

    @Test("A delegate may turn a redirect to an app's URL into one over HTTP, which carries no secrets")
    func redirectedToApp() async throws {
        let server = try FixtureServer.start { request in
            request.path == "/"
                ? .text("moved", status: 302, ["Location": "myapp://callback?code=4%2F2&state={x}"])
                : .text(request.headers["x-secret"] ?? "none")
        }
        let target = try server.url("/callback")
        let delegate = RedirectingDelegate { _, request in
            let isShown = request.url?.absoluteString == "myapp://callback?code=4%2F2&state=%7Bx%7D"
            return isShown ? URLRequest(url: target) : nil
        }
        let client = HTTPClient.untimed { $0.headers["X-Secret"] = "client's" }
        let session = URLSession(
            configuration: configuration(client),
            delegate: delegate,
            delegateQueue: nil
        )
        var request = try server.request("GET")
        request.setValue("request's", forHTTPHeaderField: "X-Secret")
        session.dataTask(with: request).resume()
        #expect(try await delegate.text() == "none")
    }

    @Test(
        "A request that the delegate makes anew has the session's fields, as far as a redirect carries them"
    )
    func additionalFields() async throws {
        let other = try FixtureServer.start { _ in .text("there") }
        let server = try FixtureServer.start { request in
            switch request.path {
            case "/app": .redirect(to: "myapp://callback")
            case "/other": .redirect(to: "http://\(other.authority)/next")
            case "/own": .redirect(to: "/next")
            default: .text("here")
            }
        }
        let target = try server.url("/next")
        let configuration = configuration(HTTPClient.untimed())
        configuration.httpAdditionalHeaders = [
            "User-Agent": "App/1", "Authorization": "Bearer x", "X-App": "a",
        ]
        for (path, hasSecrets) in [("/app", false), ("/other", false), ("/own", true)] {
            let delegate = RedirectingDelegate { _, request in
                URLRequest(url: request.url.flatMap { $0.scheme == "http" ? $0 : nil } ?? target)
            }
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.url(path)).resume()
            #expect(try await delegate.text().hasSuffix("here") || path == "/other")
            let seen = try #require((path == "/other" ? other : server).requests.last)
            #expect(seen.headers["user-agent"] == "App/1" && seen.headers["accept-language"] != nil)
            #expect((seen.headers["authorization"] != nil) == hasSecrets)
            #expect((seen.headers["x-app"] != nil) == hasSecrets)
        }
    }

    @Test("Redirects to an app's URL count too: no server goes on for ever", arguments: ["/app", "/"])
    func endlessRedirectsToApp(_ path: String) async throws {
        let server = try FixtureServer.start { request in
            .redirect(to: request.path == "/app" ? "myapp://callback" : "/app")
        }
        let target = try server.url(path)
        let delegate = RedirectingDelegate { _, request in
            request.url?.scheme == "myapp" ? URLRequest(url: target) : request
        }
        let session = URLSession(
            configuration: configuration(HTTPClient.untimed()),
            delegate: delegate,
            delegateQueue: nil
        )
        session.dataTask(with: target).resume()
        let error = await urlError { _ = try await delegate.text() }
        #expect(error?.code == .httpTooManyRedirects)
        #expect(server.requests.count == 21)
    }

    @Test("A delegate that copies the fields of its task into a redirect copies no cookies of the session's")
    func copiedFields() async throws {
        let server = try FixtureServer.start { request in
            request.path == "/"
                ? .text("moved", status: 302, ["Location": "/next", "Set-Cookie": "sid=new"])
                : .text("\(request.headers["x-kept"] ?? "none") \(request.headers["cookie"] ?? "none")")
        }
        let configuration = configuration(HTTPClient.untimed())
        for name in ["sid", "secret"] {
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: name, .value: "old", .domain: server.address, .path: "/",
                .secure: name == "secret" ? "TRUE" : "",
            ]
            let cookie = try #require(HTTPCookie(properties: properties.filter { $0.value as? String != "" }))
            configuration.httpCookieStorage?.setCookie(cookie)
        }
        let delegate = RedirectingDelegate { task, request in
            var request = request
            let fields = task.originalRequest?.allHTTPHeaderFields ?? [:]
            for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
            return request
        }
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        var request = try server.request("GET")
        request.setValue("kept", forHTTPHeaderField: "X-Kept")
        session.dataTask(with: request).resume()
        #expect(try await delegate.text() == "kept sid=new")
    }

    @Test("The error of a bridged call after a redirect to an app's URL says that it is not supported")
    func bridgedRedirectToApp() async throws {
        for location in ["myapp://callback?code=42", "mailto:someone@www.example"] {
            let server = try FixtureServer.start { _ in .redirect(to: location) }
            let error = await urlError { _ = try await HTTPClient.untimed().data(from: server.url()) }
            #expect(error?.code == .unsupportedURL)
            let failing = error?.userInfo["NSErrorFailingURLStringKey"] as? String
            #expect(try failing == server.url().absoluteString)
        }
    }

    @Test(
        "An upload arrives whole, and again after a redirect, whether it is sent at once or in pieces",
        arguments: [Way.bridge, .urlProtocol],
        [1000, 1_000_001]
    )
    func wholeUpload(_ way: Way, _ count: Int) async throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let server = try FixtureServer.start { request in
            let isWhole = try request.body == bytes
            return request.path == "/" ? .redirect(to: "/next", status: 307) : .text("\(isWhole)")
        }
        // Not from the beginning of its storage.
        let body = Data([0] + bytes).dropFirst()
        let (data, _) = try await Sender(way).upload(for: server.request("PUT"), from: body)
        #expect(data == Data("true".utf8))
        #expect(server.requests.map { $0.headers["content-length"] } == ["\(count)", "\(count)"])
    }

    @Test("The cache policy of a session holds for its requests that have none of their own")
    func cachePolicyOfTheSession() async throws {
        let server = try FixtureServer.start { _ in .text("hello", ["Cache-Control": "max-age=60"]) }
        let configuration = configuration(HTTPClient.untimed { $0.cache = .memory() })
        let url = try server.url()
        for (policy, count) in [
            (URLRequest.CachePolicy.useProtocolCachePolicy, 1), (.useProtocolCachePolicy, 1),
            (.reloadIgnoringLocalCacheData, 2), (.returnCacheDataDontLoad, 2),
            // However young the stored response is.
            (.reloadRevalidatingCacheData, 3), (.returnCacheDataDontLoad, 3),
        ] {
            configuration.requestCachePolicy = policy
            _ = try await URLSession(configuration: configuration).data(from: url)
            #expect(server.requests.count == count)
        }
        let session = URLSession(configuration: configuration)
        let error = await urlError { _ = try await session.data(from: server.url("/other")) }
        #expect(error?.code == .resourceUnavailable)
        _ = try await session.data(for: URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData))
        #expect(server.requests.count == 4)
    }

    @Test("A delegate that answers a redirect with the stream of its task sends neither its rest nor nothing")
    func streamOfTheTask() async throws {
        let server = try FixtureServer.start { request in
            let text = try request.text
            return request.path == "/" ? .redirect(to: "/next", status: 303) : .text(text)
        }
        let delegate = RedirectingDelegate { task, request in
            var next = task.originalRequest
            next?.url = request.url
            return next
        }
        let session = URLSession(
            configuration: configuration(HTTPClient.untimed()),
            delegate: delegate,
            delegateQueue: nil
        )
        var request = try server.request("POST")
        request.httpBodyStream = ForgetfulStream("content")
        session.dataTask(with: request).resume()
        let error = await urlError { _ = try await delegate.text() }
        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(server.requests.count { $0.isComplete } == 1)
    }

    private func configuration(_ client: HTTPClient) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [client.urlProtocolClass()]
        return configuration
    }
}
#endif
