import DirectCore
import DirectTestCommands
import TLSFixtures
import Testing

@testable import DirectHTTP
@testable import DirectHTTPRecords

@Suite("Where quotes, compression, interceptors and the cache meet", .idleLimit)
struct MeetingTests {
    @Test("A quote with a combining mark behind it is quoted, in commands and in forms")
    func combiningMarks() async throws {
        #expect(ShellWord.quoted("x'\u{301}; y").utf8.elementsEqual("'x'\\''\u{301}; y'".utf8))
        let part = FormPart("file", fileName: "a\"\u{301}; name=\"\u{301}b", body: .text("x"))
        let body = try await RequestBody.multipart([part]).collect(upTo: 10_000)
        let head = String(decoding: body, as: UTF8.self)
        #expect(head.contains("filename=\"a%22\u{301}; name=%22\u{301}b\""))
        var redaction = Redaction()
        redaction.items = ["password"]
        let shown = redaction.shown(
            body: Array("user=1&password=\u{301}secret".utf8),
            of: ["Content-Type": "application/x-www-form-urlencoded"]
        )
        #expect(shown.map { String(decoding: $0, as: UTF8.self) } == "user=1&password=***")
        let reference = redaction.shown(["Location": "/to?\u{301}&password=secret#\u{301}a&password=1"])[
            "Location"
        ]
        #expect(reference == "/to?\u{301}&password=***#\u{301}a&password=***")
    }

    @Test("A compressed body keeps its coding when it is collected, or when its type is removed")
    func compressed() async throws {
        let server = try FixtureServer.start { request in
            let coding = request.headers["content-encoding"] ?? "none"
            return .text("\(coding) \(try request.body.first ?? 0)")
        }
        let seen = Heard<String>()
        let collecting = HTTPClient.untimed {
            $0.networkInterceptors = [
                { request, forward in
                    var request = request
                    seen.add(request.headers["Content-Encoding"] ?? "none")
                    try await request.collectBody(upTo: 1000)
                    request.headers.remove("Content-Type")
                    return try await forward(request)
                }
            ]
        }
        let stream = AsyncStream<[UInt8]> { source in
            source.yield(Array("hello".utf8))
            source.finish()
        }
        for body in [RequestBody.text("hello"), .stream(stream, contentType: "text/plain")] {
            #expect(try await collecting.post(server.http(), try body.gzipped()).text == "gzip 31")
        }
        #expect(seen.all == ["gzip", "gzip"])
    }

    @Test("What one interceptor adds for an origin does not go to another one that the next chooses")
    func chained() async throws {
        let first = try FixtureServer.start(on: "127.0.0.1") { _ in .text("first") }
        let second = try FixtureServer.start(on: "127.0.0.2") { request in
            .text(request.headers["authorization"] ?? "none")
        }
        let adding: Interceptor = { request, forward in
            var request = request
            request.headers["Authorization"] = "Bearer secret"
            return try await forward(request)
        }
        let moving: Interceptor = { request, forward in
            try await forward(request.replacing(url: second.http("/")))
        }
        let client = HTTPClient.untimed { $0.interceptors = [adding, moving] }
        #expect(try await client.get(first.http("/")).text == "none")
        let network = HTTPClient.untimed { $0.networkInterceptors = [adding, moving] }
        #expect(try await network.get(first.http("/")).text == "none")
        let staying = HTTPClient.untimed { $0.interceptors = [moving, adding] }
        #expect(try await staying.get(first.http("/")).text == "Bearer secret")
    }

    @Test("The response of a server that an override has accepted is not kept for other clients")
    func overridden() async throws {
        let server = try FixtureServer.start(.tls(certificates: [TestAuthority().certificate(for: "a.test")]))
        { _ in
            .text("rogue", ["Cache-Control": "max-age=600"])
        }
        let cache = ResponseCache.memory()
        var request = Request(.get, "https://a.test:\(server.port)/")
        request.addresses = [server.endpoint]
        let accepting = HTTPClient.trusting {
            $0.cache = cache
            $0.tls.insecureOverride = InsecureCertificateOverride { _ in true }
        }
        #expect(try await accepting.fetch(request).text == "rogue")
        let strict = HTTPClient.trusting { $0.cache = cache }
        let error = try await httpError { [request] in try await strict.fetch(request) }
        guard case .tls(.certificateRejected) = error.reason else { throw error }
    }

    @Test("A Unix domain socket is part of a curl command, and its responses are not cached")
    func unixSockets() throws {
        let path = try UnixSocketPath("/run/a b.sock")
        var request = Request(.get, "http://docker.test/secret")
        request.unixSocket = path
        let proxy = try Proxy("http://proxy.test:3128")
        let client = HTTPClient { $0.proxy = ProxySettings(proxy) }
        let command = try client.curlCommand(for: request)
        #expect(command.contains("--unix-socket '/run/a b.sock'") && !command.contains("proxy.test"))
        request.unixSocket = nil
        let origin = try request.url.origin
        let always = HTTPClient { $0.unixSockets[origin] = path }
        #expect(try always.curlCommand(for: request).contains("--unix-socket"))
        #expect(!CacheRequestPolicy(request, defaults: [:]).passes)
        request.unixSocket = path
        #expect(CacheRequestPolicy(request, defaults: [:]).passes)
    }

    @Test("Users in references that are no URLs are hidden, and bodies that cannot be searched are left out")
    func redaction() {
        var redaction = Redaction()
        for text in [
            "//u:secret@h.test/", "ftp://u:secret@h.test/", "https://u:secret@h.test:99999/x@y",
            "https:\\\\u:secret@h.test/",
        ] {
            let shown = redaction.shown(["Location": text])["Location"] ?? ""
            #expect(!shown.contains("secret") && shown.contains("h.test"), "\(text)")
        }
        #expect(redaction.shown(["Location": "/a/b@c"])["Location"] == "/a/b@c")
        for (text, shown) in [
            ("/a?b=hush#access_token=hush&hush", "/a?b=***#access_token=***&***"),
            ("/#a?b=hush", "/#a?b=***"),
            ("/a?\u{301}b=hush", "/a?\u{301}b=***"), ("/a?#", "/a?#"),
        ] { #expect(redaction.shown(["Location": text])["Location"] == shown) }
        redaction.items = ["password"]
        let form: HTTPHeaders = ["Content-Type": "application/x-www-form-urlencoded"]
        #expect(redaction.shown(body: Array("a=\u{E9}".utf16.map { UInt8($0) }), of: form) == nil)
        var coded = form
        coded["Content-Encoding"] = "gzip"
        #expect(redaction.shown(body: [31, 139], of: coded) == nil)
    }

    @Test("Behind a proxy with TLS, a rejected certificate is the error, and is not tried again")
    func rejectedBehindProxy() async throws {
        let server = try FixtureServer.start(.tls(certificates: [TestAuthority().certificate(for: "a.test")]))
        { _ in
            .text("rogue")
        }
        let proxy = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "proxy.test")),
            on: "127.0.0.3",
            behaviour: .proxy(FixtureProxy(["a.test:443": server.authority]))
        )
        var through = try Proxy("https://proxy.test:\(proxy.port)")
        through.addresses = [proxy.endpoint]
        let client = HTTPClient.trusting { [through] in
            $0.proxy = ProxySettings(through)
            $0.retries = RetryPolicy()
        }
        let error = try await httpError { try await client.get("https://a.test/") }
        guard case .tls(.certificateRejected) = error.reason else { throw error }
        #expect(error.history.isEmpty && server.records.count == 1)
    }
}
