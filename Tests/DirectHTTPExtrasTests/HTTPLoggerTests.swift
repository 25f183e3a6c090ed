import DirectCore
import DirectHTTP
import DirectHTTPExtras
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("A log in levels", .idleLimit)
struct HTTPLoggerTests {
    private let lines = Locked<[String]>([])

    private func client(
        _ level: HTTPLogger.Level,
        hiding fields: Set<String> = [],
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient {
        HTTPClient.untimed {
            configure(&$0)
            HTTPLogger(level, hiding: fields) { [lines] line in lines.withLock { $0.append(line) } }
                .install(in: &$0)
        }
    }

    private var text: String { lines.withLock { $0 }.joined(separator: "\n") }

    @Test(
        "Each level logs what the one before logs, and more; none logs nothing",
        arguments: [(HTTPLogger.Level.none, 0), (.basic, 2), (.headers, 2), (.bodySizes, 4)]
    )
    func levels(level: HTTPLogger.Level, fixed: Int) async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            return .text("hello", ["X-Answer": "1"])
        }
        let client = client(level)
        let url = "http://\(server.authority)/a"
        _ = try await client.post(url, .text("four"), headers: ["X-Question": "2"])
        let all = lines.withLock { $0 }
        let isLong = level >= .headers
        #expect(isLong ? all.count > fixed : all.count == fixed, "\(text)")
        #expect(text.contains("X-Question: 2") == isLong && text.contains("X-Answer: 1") == isLong)
        #expect(text.contains("Content-Length: 4") == isLong)
        #expect(text.contains("--> 4 bytes of body") == (level == .bodySizes))
        #expect(text.contains("<-- 5 bytes of body") == (level == .bodySizes))
        guard level > .none else { return }
        #expect(text.contains("--> POST \(url)") && text.contains("<-- 200 from \(server.authority)"))
        let number = all[0].prefix { $0 != " " }
        #expect(all.allSatisfy { $0.hasPrefix(number + " ") })
    }

    @Test("The size of a body that came with its head is behind the fields of the response")
    func endBehindHead() async throws {
        let server = try FixtureServer.start { _ in .text("hello", ["X-Answer": "1"]) }
        let client = client(.bodySizes)
        for _ in 0..<20 { _ = try await client.get("http://\(server.authority)/") }
        let all = lines.withLock { $0 }
        let ends = all.indices.filter { all[$0].hasSuffix("<-- 5 bytes of body") }
        #expect(ends.count == 20)
        #expect(ends.allSatisfy { $0 + 1 == all.count || all[$0 + 1].contains("--> GET") }, "\(text)")
    }

    @Test("No line shows a secret: of fields, of a URL, of a redirect, of an error")
    func secrets() async throws {
        let client = client(.bodySizes, hiding: ["X-Own"]) {
            $0.headers = ["X-Api-Key": "secret1", "x-own": "secret2"]
            $0.cookies = CookieJar()
            $0.transport = { request in
                let path = try request.url.path
                let fields: HTTPHeaders = [
                    "Set-Cookie": "id=secret3", "Location": "/to?token=secret4",
                    "Link": "</x?secret5>; rel=next", "X-Access-Token": "secret13",
                    "Referer": "//u:secret6@a.test/",
                ]
                if path == "/from" { return try .init(to: request, 302, headers: fields) }
                if path == "/throw" { throw HTTPError(.response, .connectionClosed) }
                struct Secret: Error { let text = "secret7" }
                if path == "/odd" { throw Secret() }
                return try .init(to: request, 200)
            }
        }
        _ = try await client.get("http://user:secret8@a.test/from?q=secret9#secret10")
        _ = try? await client.get("http://a.test/throw?secret11")
        _ = try? await client.get("http://a.test/odd", headers: ["Authorization": "Bearer secret12"])
        #expect(!text.contains("secret"), "\(text)")
        #expect(text.contains("http://a.test/from?q=***") && text.contains("Location: /to?token=***"))
        #expect(text.contains("failed in other code") && text.contains("failed: "))
    }

    @Test(
        "The fragment of a redirect, in which servers put tokens, is not shown",
        arguments: [
            "/to#token=secret", "app:to#token=secret", "https://b.test/to#secret", "/to?a=secret#secret",
            // A mark that combines with the character before it.
            "/to?\u{301}secret", "/to#\u{301}secret", "//u:secret@\u{301}b.test/",
        ]
    )
    func fragments(location: String) async throws {
        let client = client(.headers) {
            $0.transport = { try .init(to: $0, 201, headers: ["Location": location]) }
        }
        _ = try await client.get("http://a.test/")
        #expect(!text.contains("secret") && text.contains("Location: "), "\(text)")
    }

    @Test("A value breaks no line and controls no terminal")
    func oneLine() async throws {
        let client = client(.headers) {
            $0.transport = { try .init(to: $0, 200, headers: ["X": "a\tb\u{9B}31m\u{202E}"]) }
        }
        _ = try await client.get("http://a.test/")
        #expect(text.contains(#"X: a\u{9}b\u{9b}31m\u{202e}"#))
    }

    @Test("Redirects, retries and requests over TLS to a chosen address are requests of their own")
    func severalRequests() async throws {
        let authority = TestAuthority()
        let server = try FixtureServer.start(.tls(certificates: [authority.certificate(for: "a.test")])) {
            request in
            request.path == "/" ? .redirect(to: "/b") : .text("b")
        }
        let client = client(.basic) { $0.tls.roots = .only([.der(authority.rootDER)]) }
        var request = HTTPClient.Request(.get, "https://a.test/")
        request.addresses = [Endpoint(stringLiteral: server.authority)]
        #expect(try await client.fetch(request).text == "b")
        #expect(lines.withLock { $0.count } == 4 && text.contains("reused"))
    }

    @Test("An observer that was there hears the same as before, and a cancelled call is logged as such")
    func otherObserver() async throws {
        let count = Locked(0)
        let observed = client(.bodySizes) {
            $0.observer = { _ in count.withLock { $0 += 1 } }
            $0.transport = { try .init(to: $0, 200, steps: [.text("a")]) }
        }
        _ = try await observed.get("http://a.test/")
        #expect(count.withLock { $0 } > 1)
        let hanging = client(.basic) { settings in
            settings.transport = { request in
                withUnsafeCurrentTask { $0?.cancel() }
                throw CancellationError()
            }
        }
        _ = try? await hanging.get("http://a.test/")
        #expect(text.contains("<-- cancelled"))
    }

    @Test("Several logs of one client have numbers and sizes of their own")
    func several() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let logs = Locked<[Int: [String]]>([:])
        let client = HTTPClient.untimed { settings in
            for log in 0..<2 {
                HTTPLogger(.bodySizes) { line in logs.withLock { $0[log, default: []].append(line) } }
                    .install(in: &settings)
            }
        }
        _ = try await client.get("http://\(server.authority)/")
        for lines in logs.withLock({ $0.values }) {
            let number = try #require(lines.first).prefix { $0 != " " }
            #expect(lines.allSatisfy { $0.hasPrefix(number + " ") }, "\(lines)")
            #expect(lines.count { $0.hasSuffix("<-- 5 bytes of body") } == 1, "\(lines)")
        }
    }
}
