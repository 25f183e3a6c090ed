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
            "ftp://u:secret@h.test/", "https://u:secret@h.test:99999/x@y", "https:\\\\u:secret@h.test/",
            "https:u:secret@h.test/", "https:/u:secret@h.test/", "/\\u:secret@h.test", "mailto:u:secret@h",
            "//u:sec/ret@h.test",
        ] { #expect(redaction.shown(["Location": text])["Location"] == "***", "\(text)") }
        #expect(redaction.shown(["Location": "//u:secret@h.test/x"])["Location"] == "//h.test/x")
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

    @Test("What may be a form is hidden as a form, however its type is written")
    func types() {
        let form = Array("user=u&password=hush".utf8)
        let types: [HTTPHeaders] = [
            ["Content-Type": "application/x-www-form-urlencoded;\u{301}charset=utf-8"],
            ["Content-Type": "application/x-www-form-urlencoded \u{301}"],
            ["Content-Type": "application/x-www-form-urlencoded,text/plain"],
            ["Content-Type": "Application/X-WWW-Form-Urlencoded", "content-type": "text/plain"],
            ["Content-Type": "\"application/x-www-form-urlencoded\""],
        ]
        for headers in types {
            let shown = Redaction().shown(body: form, of: headers).map { String(decoding: $0, as: UTF8.self) }
            #expect(shown == "user=***&password=***", "\(headers.map(\.value))")
        }
        for headers in [["Content-Type": "text/plain"], [:]] as [HTTPHeaders] {
            #expect(Redaction().shown(body: form, of: headers) == form)
        }
    }

    @Test("A secret ends with its item and not at a semicolon, behind which another may begin")
    func semicolons() {
        var redaction = Redaction()
        redaction.items = ["password", "token"]
        for (query, shown) in [
            ("user=me&password=hush;hush&x=1", "user=me&password=***&x=1"),
            ("a=1;password=hush;b=2&c=3", "a=1;password=***&c=3"), ("a=1;b=2", "a=1;b=2"),
            ("token=hush;hush", "token=***"), ("", ""), ("&;=;&a", "&;=;&a"),
        ] {
            #expect(redaction.shown(["Location": "/?" + query])["Location"] == "/?" + shown, "\(query)")
        }
        #expect(Redaction().shown(["Location": "/?;a=hush;hush&hush&;"])["Location"] == "/?;a=***&***&;")
    }

    @Test("The references of Link and Refresh are shown without secrets, as those of Location")
    func linksAndRefresh() {
        let redaction = Redaction()
        for (name, value, shown) in [
            (
                "Link", "</a?t=hush>; rel=next, <https://u:hush@h.test/>",
                "</a?t=***>; rel=next, <https://h.test/>"
            ),
            ("Link", "<https:u:hush@h>; rel=next", "<***>; rel=next"),
            ("Link", "</a>; title=\"who?\"", "***"), ("Link", "u:hush@h", "***"),
            ("Refresh", "5; url=https://u:hush@h.test/?t=hush", "5; url=https://h.test/?t=***"),
            ("Refresh", "0;URL='/a#t=hush'", "0; url=/a#t=***"), ("Refresh", "3", "3"),
            ("Refresh", "x:hush", "***"),
        ] {
            #expect(redaction.shown([name: value])[name] == shown, "\(value)")
            #expect(Redaction.insecureNone.shown([name: value])[name] == value)
        }
    }

    @Test("What looks like a credential is hidden, by the name of its field or by its value, and no more")
    func looksSecret() async throws {
        let secret: HTTPHeaders = [
            "X-Access-Token": "hush1", "Ocp-Apim-Subscription-Key": "hush2", "X-AccessToken": "hush3",
            "X-Session-Id": "hush4", "My-Password": "hush5", "X-Anything": "Bearer hush6", "X-Sid": "hush9",
            "X-Other": "eyJhbGciOiJub25lIn0.hush7.", "X-Origin": "https://u:hush8@h.test/",
            "X-OAuth": "hush10",
            "X-Marked": "Bearer \u{301}hush11", "X-Place": "x://\u{301}u:hush12@h.test/",
            "X-Upstream": "//u:hush13@h.test/",
        ]
        let plain: HTTPHeaders = [
            "WWW-Authenticate": "Basic realm=r", "ETag": "\"token\"", "Content-Type": "text/plain",
            "Access-Control-Allow-Credentials": "true", "Surrogate-Key": "a b", "Idempotency-Key": "1",
            "X-Request-Id": "abc", "Author": "me", "X-Site": "https://h.test/@me", "Keep-Alive": "timeout=5",
            "Cache-Control": "max-age=5", "Strict-Transport-Security": "max-age=600",
        ]
        let redaction = Redaction()
        #expect(redaction.shown(secret).allSatisfy { $0.value == "***" })
        #expect(redaction.shown(plain) == plain)
        #expect(Redaction.insecureNone.shown(secret) == secret)
        // The archive, the command and the log ask the same function.
        let recorder = HARRecorder()
        let client = HTTPClient.untimed {
            $0.networkInterceptors = [recorder.interceptor]
            $0.transport = { try Response(to: $0, 200, headers: secret) }
        }
        let request = Request(.get, "http://a.test/?q=hush", headers: secret)
        _ = try await client.fetch(request)
        let command = try request.curlCommand()
        #expect(!recorder.archive.contains("hush") && !command.contains("hush"))
        #expect(!"\(request)".contains("hush"))
    }

    @Test("A cookie is split at its equals sign in an archive, also if a mark combines with that")
    func cookiesInArchives() async throws {
        for (redaction, value) in [(Redaction(), "***"), (.insecureNone, "\u{301}hush")] {
            let recorder = HARRecorder(redacting: redaction)
            let client = HTTPClient.untimed {
                $0.networkInterceptors = [recorder.interceptor]
                $0.transport = {
                    try Response(to: $0, 200, headers: ["Set-Cookie": "sid=\u{301}hush; Path=/"])
                }
            }
            _ = try await client.get("http://a.test/", headers: ["Cookie": "a=1;\u{301}b; sid=\u{301}hush"])
            let text = recorder.archive
            #expect(text.contains("hush") == (value != "***"))
            let cookie = "{\"name\":\"sid\",\"value\":\"\(value)\"}"
            #expect(text.components(separated: cookie) == 3, "\(text)")
        }
    }

    @Test("A command shows no invisible or reordering character as it is")
    func deceptiveCommands() {
        for scalar in ["\u{200B}", "\u{202E}", "\u{2066}", "\u{AD}", "\u{E0041}", "\u{9B}"] {
            #expect(ShellWord.quoted("a \(scalar)b").unicodeScalars.allSatisfy { $0.isASCII })
        }
        #expect(ShellWord.quoted("caf\u{E9} au lait") == "'caf\u{E9} au lait'")
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

extension String {
    /// The number of parts between the occurrences of another text.
    fileprivate func components(separated separator: String) -> Int {
        split(separator: separator, omittingEmptySubsequences: false).count
    }
}
