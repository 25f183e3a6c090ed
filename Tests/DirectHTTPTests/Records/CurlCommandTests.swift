import DirectCore
import DirectHTTP1
import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP
@testable import DirectHTTPRecords

@Suite("Requests as curl commands", .idleLimit)
struct CurlCommandTests {
    private static let hasCurl = ["/usr/bin/curl", "/usr/local/bin/curl", "/opt/homebrew/bin/curl"]
        .contains { FileManager.default.isExecutableFile(atPath: $0) }

    /// Runs the command with this input, and returns the exit status.
    private func run(_ command: String, input: String? = nil) async throws -> Int32 {
        let folder = try TemporaryFolder()
        if let input { try folder.write(input, "input") }
        let redirected = input == nil ? command : "(\(command)) <'\(folder.path)/input'"
        let child = try TestProcess(
            "/bin/sh",
            ["-c", redirected],
            environment: [
                "PATH": "/usr/bin:/bin:/usr/local/bin", "http_proxy": "http://127.0.0.1:9",
                "no_proxy": "b.test",
            ]
        )
        return try await onOwnThread { child.waitForEnd() }
    }

    private func fields(_ record: RequestRecord) -> [String: String] {
        Dictionary(record.headers.fields.map { ($0.name.lowercased(), $0.value) }) { $0 + ", " + $1 }
    }

    private static let bodies: [RequestBody] = [
        .none, .text(""), .text("it's @file $HOME `x` \\ \"q\" %41\nnext\tline é"), .text("@/etc/passwd"),
        .bytes([0, 1, 39, 92, 37, 115, 255, 10, 13]), .form(["a b": "c&d", "e": "é"]),
    ]

    @Test("The command of curl sends what the client sends, at the same address", .enabled(if: hasCurl))
    func sameRequest() async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            return .text("ok")
        }
        let client = HTTPClient.untimed { $0.cookies = CookieJar() }
        var requests = Self.bodies.flatMap { body in
            [.post, .put, .patch].map { Request($0, "http://a.test:\(server.port)/p?q='x'&[1]", body: body) }
        }
        for method in [.get, .head, .delete, .options, "REPORT"] as [DirectHTTP.HTTPMethod] {
            requests.append(
                Request(
                    method,
                    "http://a.test:\(server.port)/a/%2e/b",
                    headers: [
                        "X-Empty": "", "X-Blank": " \t", "X-Quote": "it's \"$1\"", "Cookie": "a=b",
                        "Proxy-Authorization": "Basic bWU6cA==",
                    ]
                )
            )
            requests.append(Request(method, "http://a.test:\(server.port)/", body: .bytes([])))
        }
        requests.append(Request(.options, "http://a.test:\(server.port)/", body: .bytes([1])))
        var upgrading = Request(.get, "http://a.test:\(server.port)/", headers: ["TE": "trailers"])
        upgrading.upgrade = ["echo/2", "echo"]
        var expecting = Request(.put, "http://a.test:\(server.port)/", body: .text("x"))
        expecting.expectsContinue = true
        var empty = Request(.put, "http://a.test:\(server.port)/", body: .text(""))
        empty.expectsContinue = true
        requests += [upgrading, expecting, empty]
        for var request in requests {
            request.addresses = ["127.0.0.1"]
            _ = try await client.fetch(request)
            let command = try client.curlCommand(for: request, redacting: .insecureNone)
            #expect(try await run(command) == 0, "\(command)")
            let records = server.requests.suffix(2)
            let (ours, curls) = (records[records.startIndex], records[records.startIndex + 1])
            #expect(fields(ours) == fields(curls), "\(command)")
            #expect(ours.method == curls.method && ours.target == curls.target && ours.body == curls.body)
        }
        #expect(server.requests.count == 2 * requests.count)
    }

    @Test("A command for TRACE has no cookies of the client, which sends none")
    func trace() throws {
        let jar = CookieJar()
        jar.add(try Cookie("sid", "1", for: DirectHTTP.HTTPHost("a.test")))
        let client = HTTPClient.untimed { $0.cookies = jar }
        for (method, isSent) in [(DirectHTTP.HTTPMethod.trace, false), (.get, true)] {
            let request = Request(method, "http://a.test/")
            let command = try client.curlCommand(for: request, redacting: .insecureNone)
            #expect(command.contains("sid=1") == isSent)
        }
    }

    @Test("Another port, an address as the host and a proxy become --connect-to", .enabled(if: hasCurl))
    func otherPlaces() async throws {
        let server = try FixtureServer.start { _ in .text("ok") }
        for host in ["a.test", "192.0.2.1", "[2001:db8::1]"] {
            var request = Request(.get, "http://\(host)/")
            request.addresses = [server.endpoint]
            #expect(try await run(HTTPClient.untimed().curlCommand(for: request)) == 0)
            #expect(server.requests.last?.host == host)
        }
        let proxy = try FixtureServer.start(
            .plain,
            behaviour: .proxy(FixtureProxy([server.authority: server.authority], credentials: "me:p'w"))
        )
        let client = try HTTPClient.untimed {
            $0.proxy = ProxySettings(try Proxy("http://me:p%27w@\(proxy.authority)"))
        }
        var request = Request(.get, "http://b.test/")
        request.addresses = [server.endpoint]
        #expect(try await run(client.curlCommand(for: request, redacting: .insecureNone)) == 0)
        #expect(server.requests.last?.host == "b.test")
    }

    @Test("The credentials in a request's field for a proxy go to no server", .enabled(if: hasCurl))
    func proxyCredentials() async throws {
        let proxy = try FixtureServer.start { request in
            .text(request.headers["proxy-authorization"] ?? "none")
        }
        let field: DirectHTTP1.HTTPHeaders = ["Proxy-Authorization": "Basic bWU6cA=="]
        func command(_ url: String, _ proxy: String, _ addresses: [Endpoint]? = nil) throws -> String {
            var request = Request(.get, url, headers: field)
            request.addresses = addresses
            let client = try HTTPClient.untimed { $0.proxy = ProxySettings(try Proxy(proxy)) }
            return try client.curlCommand(for: request, redacting: .insecureNone)
        }
        let forwarded = try command("http://a.test/", "http://\(proxy.authority)")
        #expect(try await run(forwarded) == 0)
        #expect(proxy.requests.last?.headers["proxy-authorization"] == "Basic bWU6cA==")
        for command in [
            try command("http://a.test/", "http://u:p@\(proxy.authority)"),
            try command("http://a.test/", "socks5://\(proxy.authority)"),
            try command("http://a.test/", "http://\(proxy.authority)", ["192.0.2.1"]),
            try command("https://a.test/", "http://\(proxy.authority)"),
            try HTTPClient.untimed().curlCommand(for: Request(.get, "http://a.test/", headers: field)),
        ] { #expect(!command.contains("bWU6cA==") && !command.contains("Proxy-Auth"), "\(command)") }
    }

    @Test(
        "A final dot of the host is left out, as the client leaves it out, and the chosen address is reached",
        .enabled(if: hasCurl)
    )
    func finalDot() async throws {
        let server = try FixtureServer.start { _ in .text("ok") }
        let client = HTTPClient.untimed()
        for (port, endpoint) in [(":\(server.port)", "127.0.0.1"), ("", server.endpoint)]
            as [(String, Endpoint)]
        {
            var request = Request(.get, "http://u:p@a.test.\(port)/p?q")
            request.addresses = [endpoint]
            _ = try await client.fetch(request)
            #expect(try await run(client.curlCommand(for: request, redacting: .insecureNone)) == 0)
            let records = server.requests.suffix(2)
            #expect(records.map(\.headers["host"]) == ["a.test\(port)", "a.test\(port)"])
        }
    }

    @Test("A body that the command cannot hold is read from standard input", .enabled(if: hasCurl))
    func standardInput() async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            return .text("ok")
        }
        let large = RequestBody.text(String(repeating: "x", count: 100_001))
        let stream = RequestBody.stream(AsyncStream<[UInt8]> { $0.finish() })
        var hidden = Redaction()
        hidden.hidesBodies = true
        let measured = RequestBody.stream(AsyncStream<[UInt8]> { $0.finish() }, length: 5)
        let bodies = [
            (large, Redaction(), false), (stream, Redaction(), true), (measured, Redaction(), false),
            (.text("secret"), hidden, false),
        ]
        for (body, redaction, isChunked) in bodies {
            let command = try Request(.put, server.http(), body: body).curlCommand(redacting: redaction)
            #expect(!command.contains("secret") && command.utf8.count < 1_000)
            #expect(command.hasPrefix(": 'missing: the body"), "\(command)")
            #expect(try await run("unset http_proxy; \(command)", input: "given") == 0)
            #expect(server.requests.last?.bodyText == "given")
            let headers = try #require(server.requests.last?.headers)
            #expect(headers["Transfer-Encoding"] == (isChunked ? "chunked" : nil), "\(command)")
            #expect(headers["Content-Length"] == (isChunked ? nil : "5"))
        }
    }

    @Test(
        "A file is read by curl itself, whatever its name means to a shell or to curl",
        .enabled(if: hasCurl)
    )
    func files() async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            return .text("ok")
        }
        let (folder, content) = (try TemporaryFolder(), "\r\n@x\0" + String(repeating: "y", count: 200_000))
        func run(_ body: RequestBody, _ redaction: Redaction = Redaction()) async throws -> String {
            let command = try Request(.put, server.http(), body: body).curlCommand(redacting: redaction)
            let line = "unset http_proxy; cd '\(folder.path)' && { \(command)\n}"
            #expect(try await self.run(line, input: "given") == 0, "\(command)")
            return command
        }
        for name in ["plain", "it's $HOME", "-", "@at", "-o", "a\u{1B}[1m", "é;x,y"] {
            try folder.write(content, name)
            for path in [name, "\(folder.path)/\(name)"] {
                let command = try await run(.file(path, contentType: "text/x"))
                #expect(server.requests.last?.bodyText == content, "\(command)")
                #expect(server.requests.last?.headers["content-type"] == "text/x")
                #expect(!command.contains("missing"))
            }
        }
        // What is made of a file is not the file.
        for body in [try RequestBody.file("plain").gzipped(), .file("plain").followed { [:] }, .file("a\0b")]
        {
            #expect(try await run(body).hasPrefix(": 'missing: the body"))
            #expect(server.requests.last?.bodyText == "given")
        }
        var hidden = Redaction()
        hidden.hidesBodies = true
        let left = try await run(.file("plain"), hidden)
        #expect(!left.contains("plain"))
    }

    @Test("Credentials that an authenticator provides, or that are hidden, are named as missing")
    func missingCredentials() throws {
        let url = "https://a.test/"
        let proxy = try HTTPURL("http://proxy.test:3128")
        let client = try HTTPClient.untimed {
            $0.authenticators[try HTTPURL(url).origin] = .basic(user: "u", password: "hush")
            $0.proxyAuthenticators[proxy.origin] = .basic(user: "u", password: "hush")
        }
        func lines(_ request: Request, _ redaction: Redaction = Redaction()) throws -> [Substring] {
            let command = try client.curlCommand(for: request, redacting: redaction)
            #expect(!command.contains("hush"), "\(command)")
            return command.split(separator: "\n").filter { $0.hasPrefix(": 'missing: --") }
        }
        let named = try lines(Request(.get, url))
        #expect(named.count == 1 && named[0].contains("Authorization"))
        #expect(try lines(Request(.get, url, headers: ["Authorization": "mine"])).isEmpty)
        #expect(try lines(Request(.get, "https://b.test/")).isEmpty)
        #expect(try lines(Request(.get, "https://u:hush@b.test/")).count == 1)
        #expect(try lines(Request(.get, "https://u:shown@b.test/"), .insecureNone).isEmpty)
        var own = Request(.get, "https://b.test/")
        own.authenticator = .bearer("hush")
        #expect(try lines(own).count == 1)
        #expect(try own.curlCommand().contains("Authorization"))
        own.authenticator = nil
        own.proxy = ProxySettings(try Proxy(proxy.text))
        #expect(try lines(own).map { $0.contains("Proxy-Authorization") } == [true])
    }

    @Test("Secrets are hidden unless the caller asks for them")
    func secrets() throws {
        var request = Request(
            .post,
            "https://user:hush1@a.test/p?key=hush2&K%65y=hush2&other=shown#hush3",
            headers: [
                "Authorization": "Bearer hush4", "cookie": "a=hush5", "X-API-Key": "hush6",
                "Referer": "https://u:hush7@b.test/?key=hush8", "X-Shown": "shown",
                "X-Xsrf-Token": "hush11", "X-Goog-Api-Key": "hush12", "Private-Token": "hush13",
                "x-vault-token": "hush14", "Content-Location": "/app#/done?a=b&key=hush15",
                "Location": "/app#/done?key=hush16",
            ],
            body: .form(["key": "hush9", "name": "shown"])
        )
        request.addresses = ["192.0.2.1", "2001:db8::1"]
        var redaction = Redaction()
        redaction.items = ["KEY"]
        let client = try HTTPClient.untimed {
            $0.cookies = CookieJar()
            $0.proxy = ProxySettings(try Proxy("http://me:hush10@192.0.2.9:3128"))
        }
        let command = try client.curlCommand(for: request, redacting: redaction)
        #expect(!command.contains("hush"), "\(command)")
        #expect(command.split(separator: "shown").count == 4 && command.contains("***"))
        let all = try client.curlCommand(for: request, redacting: .insecureNone)
        for number in 1...16 where number != 3 { #expect(all.contains("hush\(number)"), "\(number)") }
        let direct = try request.curlCommand()
        #expect(
            direct.contains("--resolve a.test:443:192.0.2.1,[2001:db8::1]")
                || direct.contains("--resolve 'a.test:443:192.0.2.1,[2001:db8::1]'")
        )
    }

    @Test(
        "The client's map, cookies, fields and HSTS are part of its command; the environment's proxy is not"
    )
    func clientsOwn() throws {
        let jar = CookieJar()
        let url = try HTTPURL("https://a.test/")
        jar.take(["Set-Cookie": "id=7"], from: url)
        let hsts = HSTSStore()
        hsts.learn(from: ["Strict-Transport-Security": "max-age=600"], host: url.host, at: .now)
        let client = try HTTPClient.untimed {
            $0.cookies = jar
            $0.hsts = hsts
            $0.addresses = try StaticMap(curl: ["a.test:443:192.0.2.7"])
            $0.headers["X-Client"] = "1"
        }
        let command = try client.curlCommand(for: Request(.get, "http://a.test/"), redacting: .insecureNone)
        for part in [
            "https://a.test/", "a.test:443:192.0.2.7", "id=7", "X-Client: 1", "--noproxy", "--compressed",
        ] {
            #expect(command.contains(part), "\(part) is missing in \(command)")
        }
    }

    @Test(
        "The command has the client's local address, its roots from a file, and names what it lacks",
        .enabled(if: hasCurl)
    )
    func bindingsAndTrust() async throws {
        let server = try FixtureServer.secure("a.test") { _ in .text("ok") }
        let folder = try TemporaryFolder()
        try folder.write(testAuthority.rootPEM, "it's roots")
        let roots = folder.path + "/it's roots"
        var addresses = StaticMap()
        try addresses.set([server.endpoint], for: .host(try HTTPHost("a.test")))
        let map = addresses
        var client = HTTPClient.untimed {
            $0.addresses = map
            $0.tls.roots = .only([.pemFile(roots)])
            $0.localBinding = IPAddress("127.0.0.5").map { .address($0) }
        }
        let request = Request(.get, server.https("a.test"))
        _ = try await client.fetch(request)
        let command = try client.curlCommand(for: request)
        #expect(try await run(command) == 0, "\(command)")
        #expect(server.records.map(\.clientAddress) == ["127.0.0.5", "127.0.0.5"])
        client = HTTPClient.untimed { configuration in
            configuration.tls.roots = .systemAnd([.pem(Array(testAuthority.rootPEM.utf8))])
            configuration.tls.clientIdentity = ClientIdentity(certificateChain: [1], privateKey: [2])
            configuration.localBinding = .interface("eth0")
        }
        let lacking = try client.curlCommand(for: Request(.get, "https://a.test/"))
        let lines = lacking.split(separator: "\n").prefix { $0.hasPrefix(": ") }
        #expect(lines.count == 2 && lines[0].contains("--cacert") && lines[1].contains("--cert"))
        #expect(lacking.contains("--interface 'if!eth0'"))
        // What is missing is no part of the command, and harms none.
        #expect(try await run(lines.joined(separator: "\n")) == 0)
        #expect(!(try client.curlCommand(for: Request(.get, "http://a.test/")).contains("missing")))
    }

    @Test("What the client demands of a certificate is in the command, or named as missing")
    func demands() throws {
        let client = try HTTPClient.untimed {
            $0.tls.minimumVersion = .tls13
            $0.tls.stapling = .required
            $0.tls.revocationLists = RevocationLists([.pemFile("/lists.pem")])
            $0.tls.pins = try KeyPins(["a.test": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]])
            $0.tls.verifier = CertificateVerifier { _ in .accept }
            $0.tls.certificateRules = .webPKI
            $0.tls.groups = ["X25519"]
            $0.encryptedClientHello = .required
        }
        let command = try client.curlCommand(for: Request(.get, "https://a.test/"))
        for part in ["--tlsv1.3", "--cert-status", "--crlfile /lists.pem"] {
            #expect(command.contains(part), "\(part) is missing in \(command)")
        }
        let lines = command.split(separator: "\n").prefix { $0.hasPrefix(": ") }
        #expect(lines.count == 5)
        for word in ["pins", "function", "rules", "--curves", "server name"] {
            #expect(lines.contains { $0.contains(word) })
        }
    }

    @Test("The folder of roots that curl was built with is not trusted, also not for a proxy")
    func roots() throws {
        var proxy = try Proxy("https://proxy.test:3128")
        let request = Request(.get, "https://a.test/")
        func command(_ roots: TrustRoots) throws -> String {
            let client = HTTPClient.untimed { [proxy] in
                $0.tls.roots = roots
                $0.proxy = ProxySettings(proxy)
            }
            return try client.curlCommand(for: request)
        }
        let own = try command(.only([.pemFile("/own.pem")]))
        #expect(own.contains("--cacert /own.pem --capath /dev/null"))
        #expect(own.contains("--proxy-cacert /own.pem --proxy-capath /dev/null"))
        #expect(!own.contains("missing"))
        #expect(try !command(.system).contains("cacert"))
        #expect(try command(.only([.der([1])])).contains("--proxy-cacert FILE"))
        var tls = TLSSettings()
        tls.roots = .only([.pemFile("/proxy.pem")])
        tls.minimumVersion = .tls13
        proxy.tls = tls
        let others = try command(.system)
        #expect(others.contains("--proxy-cacert /proxy.pem") && !others.contains(" --cacert"))
        #expect(others.contains("missing: the client demands more"))
    }

    @Test("A request that cannot be sent has no command")
    func faults() throws {
        var empty = Request(.get, "http://a.test/")
        empty.addresses = []
        var faulty = Request(.get, "http://a.test/")
        faulty.addresses = ["192.0.2.999"]
        let requests = [
            Request(.get, "http://a b/"), Request("A B", "http://a.test/"), empty, faulty,
            Request(.get, "http://a.test/", headers: ["X": "a\r\nY: b"]),
            Request(.get, "http://a.test/", headers: ["X: y\nZ": "a"]),
        ]
        for request in requests {
            #expect(throws: HTTPError.self) { try request.curlCommand() }
        }
    }

    @Test(
        "The client's command for a final request has its credentials, its addresses and its roots",
        .enabled(if: hasCurl)
    )
    func finalRequestOfClient() async throws {
        let server = try FixtureServer.secure("a.test") { _ in .text("ok") }
        let folder = try TemporaryFolder()
        try folder.write(testAuthority.rootPEM, "roots")
        let final = Locked<Request?>(nil)
        let client = try HTTPClient.untimed { [endpoint = server.endpoint] in
            $0.addresses = try StaticMap(curl: ["a.test:\(endpoint.port ?? 0):127.0.0.1"])
            $0.tls.roots = .only([.pemFile(folder.path + "/roots")])
            $0.authenticators[try HTTPURL("https://a.test:\(endpoint.port ?? 0)").origin] = .bearer("token")
            $0.networkInterceptors.append { request, forward in
                final.withLock { $0 = request }
                return try await forward(request)
            }
        }
        _ = try await client.get(server.https("a.test"))
        let request = try #require(final.withLock { $0 })
        let command = try client.curlCommand(for: request, redacting: .insecureNone)
        #expect(!command.contains("missing"))
        #expect(try await run(command) == 0, "\(command)")
        #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer token", "Bearer token"])
        #expect(fields(server.requests[0]) == fields(server.requests[1]))
    }

    @Test("A network interceptor gets the command of the final request", .enabled(if: hasCurl))
    func finalRequest() async throws {
        let server = try FixtureServer.start { request in
            _ = try request.body
            return .text("ok")
        }
        let command = Locked("")
        let client = HTTPClient.untimed {
            $0.networkInterceptors = [
                { request, forward in
                    let text = try request.curlCommand()
                    command.withLock { $0 = text }
                    return try await forward(request)
                }
            ]
        }
        var request = Request(.put, "http://a.test:\(server.port)/", body: .text("x"))
        request.addresses = ["127.0.0.1"]
        _ = try await client.fetch(request)
        #expect(try await run("unset http_proxy; " + command.withLock { $0 }) == 0)
        #expect(fields(server.requests[0]) == fields(server.requests[1]))
    }

    @Test(
        "A command shows no character that controls a terminal, and sends it all the same",
        .enabled(if: hasCurl)
    )
    func controls() async throws {
        let server = try FixtureServer.start { _ in .text("ok") }
        let client = HTTPClient.untimed()
        for value in ["a\u{9B}31m%s\\b'", "a\u{85}b", "a\u{202E}b\u{2066}c \"$1\"", "\u{9F}"] {
            let request = Request(.get, server.http(), headers: ["X-Odd": value])
            let command = try client.curlCommand(for: request)
            let scalars = command.unicodeScalars.map(\.value)
            #expect(!scalars.contains { (0x7F...0x9F).contains($0) || (0x2028...0x2069).contains($0) })
            #expect(try await run(command) == 0)
            #expect(server.requests.last?.headers["x-odd"] == value)
        }
    }
}
