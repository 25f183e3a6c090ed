import DirectTestResolvers
import DirectCore
@testable import DirectHTTP
import DirectIO
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@Suite("Unix domain sockets", .idleLimit)
struct UnixSocketTests {
    private func plainServer(_ handler: @escaping FixtureHandler = { .text("\($0.host ?? "") \($0.target)") })
        throws
        -> FixtureServer
    {
        try .start(handler: handler)
    }

    private func request(_ url: String, _ relay: UnixRelay) -> Request {
        var request = Request(.get, url)
        request.unixSocket = relay.path
        return request
    }

    @Test("The URL keeps its name and its path, and the connection is used again")
    func plain() async throws {
        let relay = try UnixRelay(to: try plainServer())
        let client = HTTPClient.untimed()
        let request = request("http://docker/v1.43/info?all=1", relay)
        let first = try await client.fetch(request)
        #expect(first.text == "docker /v1.43/info?all=1")
        #expect(first.transaction?.unixSocket == relay.path)
        #expect(first.transaction?.endpoint == nil)
        #expect(client.connections.flatMap(\.connections).map(\.endpoint) == [nil])
        #expect(first.transaction?.description.contains("unix:\(relay.path)") == true)
        #expect(try await client.fetch(request).isReused)
        #expect(relay.count == 1)
    }

    @Test("Over TLS, name and certificate check follow the URL", arguments: [TLSVersion.tls12, .tls13])
    func secure(version: TLSVersion) async throws {
        let server = try FixtureServer.secure("a.test") { .text($0.serverName ?? "-") }
        let relay = try UnixRelay(to: server)
        let client = HTTPClient.trusting { $0.tls.maximumVersion = version }
        #expect(try await client.fetch(request("https://a.test/", relay)).text == "a.test")
        let error = try await httpError { try await client.fetch(request("https://b.test/", relay)) }
        #expect(error.tlsError == .nameMismatch(expected: "b.test", served: ["a.test"]))
    }

    @Test("It works on the event loop's own thread, and with a body that is sent and retried")
    func onLoop() async throws {
        let isAnswered = Locked(false)
        let server = try plainServer { request in
            let text = try request.text
            let isFirst = isAnswered.withLock { answered in
                defer { answered = true }
                return !answered
            }
            return isFirst ? .status(503, ["Retry-After": "0"]) : .text(text)
        }
        let relay = try UnixRelay(to: server)
        let client = HTTPClient.untimed { $0.retries = RetryPolicy() }
        var request = request("http://docker/", relay)
        request.method = .put
        request.body = .text(String(repeating: "body", count: 100_000))
        let response = try await withTaskExecutorPreference(client.configuration.loop) { [request] in
            try await client.fetch(request)
        }
        #expect(response.text?.utf8.count == 400_000 && server.requests.count == 2)
    }

    @Test("A connection to a socket serves neither addresses nor another socket")
    func apart() async throws {
        let server = try plainServer()
        let (one, other) = (try UnixRelay(to: server), try UnixRelay(to: server))
        let client = HTTPClient.untimed()
        let url = server.http("/")
        for isReused in [false, true] {
            #expect(try await client.fetch(request(url, one)).isReused == isReused)
            #expect(try await client.fetch(request(url, other)).isReused == isReused)
            #expect(try await client.fetch(Request(.get, url)).isReused == isReused)
        }
        #expect(one.count == 1 && other.count == 1 && server.records.count == 3)
    }

    @Test("It holds for redirects within the origin, and ends at another origin")
    func redirects() async throws {
        let far = try plainServer { _ in .text("far") }
        let target = far.http("/end")
        let near = try plainServer { request in
            switch request.target {
            case "/": .status(302, ["Location": "/near"])
            case "/near": .status(302, ["Location": target])
            default: .text("wrong")
            }
        }
        let relay = try UnixRelay(to: near)
        let response = try await HTTPClient.untimed().fetch(request("http://docker/", relay))
        #expect(response.text == "far" && response.transaction?.unixSocket == nil)
        #expect(near.requests.count == 2)
    }

    @Test("A client has sockets by origin, and a request of its own comes first")
    func ofClient() async throws {
        let server = try plainServer()
        let (one, other) = (try UnixRelay(to: server), try UnixRelay(to: server))
        let url = try HTTPURL("http://docker/")
        let client = HTTPClient.untimed { $0.unixSockets[url.origin] = one.path }
        #expect(try await client.fetch(Request(.get, url)).transaction?.unixSocket == one.path)
        #expect(
            try await client.fetch(request("http://docker/", other)).transaction?.unixSocket == other.path
        )
        var trusting = Request(.get, url)
        trusting.tls = TLSSettings()
        #expect(try await client.fetch(trusting).transaction?.unixSocket == one.path)
        try await client.prewarm(Request(.get, url))
        #expect(try await client.fetch(Request(.get, url)).isReused)
    }

    @Test("No resolver is asked, and no proxy is used")
    func direct() async throws {
        let relay = try UnixRelay(to: try plainServer())
        let resolver = ScriptedResolver("scripted", ["127.0.0.1"])
        let gate = try FixtureServer.start(.plain, behaviour: .proxy(FixtureProxy([:])))
        let proxy = try Proxy("http://\(gate.authority)")
        let client = HTTPClient.untimed {
            $0.resolver = resolver
            $0.proxy = ProxySettings(proxy)
        }
        #expect(try await client.fetch(request("http://docker/", relay)).status == 200)
        #expect(resolver.asked.isEmpty && gate.records.isEmpty)
    }

    @Test("Settings that make no sense with it are errors")
    func conflicts() async throws {
        let relay = try UnixRelay(to: try plainServer())
        func fault(
            _ change: (inout Request) -> Void,
            _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
        ) async throws -> ConnectionSettingsError? {
            var request = request("http://docker/", relay)
            change(&request)
            let client = HTTPClient.untimed { configure(&$0) }
            let error = try await httpError { try await client.fetch(request) }
            guard case .settings(let fault) = error.reason else { return nil }
            return fault
        }
        #expect(try await fault { $0.addresses = ["127.0.0.1"] } == .unixSocketAndAddresses)
        #expect(try await fault { $0.localBinding = .interface("lo") } == .unixSocketAndBinding)
        #expect(try await fault({ _ in }) { $0.vetting = .publicInternetOnly } == .unixSocketAndVetting)
        #expect(relay.count == 0)
    }

    @Test("A socket that is not there, or that no process listens on, is an error with its path")
    func missing() async throws {
        let folder = try TemporaryFolder()
        try folder.write("", "file")
        for name in ["none", "file"] {
            var request = Request(.get, "http://docker/")
            request.unixSocket = try UnixSocketPath(folder.path + "/" + name)
            let error = try await httpError { try await HTTPClient.untimed().fetch(request) }
            #expect(error.phase == .connect && error.systemError?.path == folder.path + "/" + name)
            #expect(error.endpoint == nil && error.attempts.isEmpty && !error.description.contains("0.0.0.0"))
        }
    }

    @Test("While the queue of the server is full, connecting is tried again until the time for it is over")
    func fullQueue() async throws {
        let time = HeldTime()
        let relay = try UnixRelay(to: try plainServer(), queue: 0, isAccepting: false)
        let waiting = try relay.connection()
        defer { withExtendedLifetime(waiting) {} }
        let client = time.client { $0.timeouts.connect = .milliseconds(10) }
        var request = request("http://docker/", relay)
        let (result, _) = await time.passing(.milliseconds(10)) { [request] in
            try await httpError { try await client.fetch(request) }
        }
        #expect(try result.get().isTimeout && result.get().phase == .connect)
        request.timeouts.connect = .seconds(60)
        let call = Task { [request] in try await client.fetch(request) }
        try await time.waitBegins(for: .milliseconds(10))
        relay.acceptAll()
        let response = try await time.passing(repeatedly: .milliseconds(10)) { try await call.value }
        #expect(response.status == 200)
    }

    @Test("The errors of a download name no address")
    func download() async throws {
        let relay = try UnixRelay(to: try plainServer { _ in .text("four") })
        let folder = try TemporaryFolder()
        var options = DownloadOptions()
        options.length = 3
        let error = try await httpError { [options] in
            try await HTTPClient.untimed().download(
                request("http://docker/", relay),
                to: folder.path + "/file",
                options: options
            )
        }
        #expect(error.endpoint == nil)
    }

    @Test("Paths that the system cannot take are refused")
    func paths() {
        #expect(throws: UnixSocketPathError.empty) { try UnixSocketPath("") }
        #expect(throws: UnixSocketPathError.containsNUL) { try UnixSocketPath("/a\0b") }
        #expect(throws: UnixSocketPathError.self) {
            try UnixSocketPath("/" + String(repeating: "a", count: 107))
        }
        #expect(throws: Never.self) { try UnixSocketPath("/" + String(repeating: "a", count: 102)) }
    }

    @Test("The call's deadline and cancellation end a request over it")
    func limits() async throws {
        let time = HeldTime()
        let server = try FixtureServer.scripted([.awaitHead, .awaitClose])
        let relay = try UnixRelay(to: server)
        let client = time.client()
        var request = request("http://docker/", relay)
        let task = Task { [request] in try await client.fetch(request) }
        try await server.waitUntil { ($0.last?.receivedCount ?? 0) > 0 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        request.timeouts.response = .seconds(5)
        let (result, _) = await time.passing(.seconds(5)) { [request] in
            try await httpError { try await client.fetch(request) }
        }
        #expect(try result.get().isTimeout)
    }

    @Test("A redirect does not lead from another origin to one with a Unix domain socket")
    func redirected() async throws {
        let service = try FixtureServer.start { request in
            request.path == "/old" ? .redirect(to: "/new") : .text("\(request.method) \(request.path)")
        }
        let relay = try UnixRelay(to: service)
        let outside = try FixtureServer.start { _ in
            .text("", status: 307, ["Location": "http://docker/containers/create"])
        }
        let origin = try HTTPURL("http://docker/").origin
        let client = HTTPClient.untimed { $0.unixSockets[origin] = relay.path }
        let error = try await httpError { try await client.post(outside.http(), .text("x")) }
        guard case .settings(.unixSocketBehindRedirect) = error.reason else { throw error }
        #expect(error.history.map(\.reason) == [.redirect] && relay.count == 0)
        // Redirects of the service itself, and requests that the program's own code sends there, are
        // followed.
        #expect(try await client.get("http://docker/old").text == "GET /new")
        let choosing = HTTPClient.untimed {
            $0.unixSockets[origin] = relay.path
            $0.interceptors = [
                { request, forward in try await forward(request.replacing(url: "http://docker/own")) }
            ]
        }
        #expect(try await choosing.get(outside.http()).text == "GET /own")
        let deciding = HTTPClient.untimed {
            $0.unixSockets[origin] = relay.path
            $0.redirects.decide = { redirect in
                var next = redirect.next
                next.unixSocket = relay.path
                return next
            }
        }
        #expect(try await deciding.get(outside.http()).text == "GET /containers/create")
        // The way back to the socket is the other server's choice as well.
        let back = try FixtureServer.start { _ in .redirect(to: "http://docker/back") }
        let away = try FixtureServer.start { _ in .redirect(to: back.http()) }
        let pair = try UnixRelay(to: away)
        let returning = HTTPClient.untimed { $0.unixSockets[origin] = pair.path }
        let second = try await httpError { try await returning.get("http://docker/") }
        guard case .settings(.unixSocketBehindRedirect) = second.reason else { throw second }
        #expect(pair.count == 1)
    }
}
