@testable import DirectCore
@testable import DirectTransport
import Synchronization
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Redirects")
struct RedirectTests {
    @Test(
        "A redirect changes method and body as its status demands",
        arguments: [
            (301, "POST", "GET", false), (301, "PUT", "PUT", true), (301, "GET", "GET", false),
            (302, "POST", "GET", false), (302, "DELETE", "DELETE", true), (302, "HEAD", "HEAD", false),
            (303, "POST", "GET", false), (303, "PUT", "GET", false), (303, "HEAD", "HEAD", false),
            (307, "POST", "POST", true), (307, "GET", "GET", false), (308, "POST", "POST", true),
            (308, "PATCH", "PATCH", true), (308, "QUERY", "QUERY", true),
        ] as [(UInt16, String, String, Bool)]
    )
    func methods(_ code: UInt16, _ method: String, _ next: String, _ keepsBody: Bool) async throws {
        let script = Script.redirecting(HTTPStatus(code: Int(code)) ?? 200, "/next")
        var request = Request(DirectHTTP.HTTPMethod(stringLiteral: method), "http://a.test/")
        if ["POST", "PUT", "DELETE", "PATCH", "QUERY"].contains(method) {
            request.body = .text("body")
            request.headers["Content-Type"] = "text/plain"
        }
        let response = try await script.client().fetch(request)
        #expect(script.requests.map { "\($0.method)" } == [method, next])
        #expect(script.requests[1].hasBody == keepsBody)
        #expect(script.requests[1].headers.contains("Content-Type") == keepsBody)
        #expect(try response.url == HTTPURL("http://a.test/next"))
        #expect(response.history.map(\.status?.code) == [code])
    }

    @Test("Other statuses are not redirects", arguments: [300, 304, 305, 306, 309, 399] as [UInt16])
    func otherStatuses(_ code: UInt16) async throws {
        let script = Script((HTTPStatus(code: Int(code)) ?? 200, ["Location": "/next"]))
        #expect(try await script.client().get("http://a.test/").status.code == code)
        #expect(script.urls.count == 1)
    }

    @Test(
        "A redirect of CONNECT is not followed, since the tunnel would lead elsewhere",
        arguments: [301, 302, 303, 307, 308]
    )
    func connect(_ code: Int) async throws {
        let other = try FixtureServer.start { _ in .text("not here") }
        let server = try FixtureServer.start { _ in
            .status(code, ["Location": "http://\(other.authority)/"])
        }
        let response = try await HTTPClient().fetch(server.request("http://mail.test:25", .connect))
        #expect(Int(response.status.code) == code && response.history.isEmpty)
        #expect(server.records.first?.requests.first?.target == "mail.test:25" && other.records.isEmpty)
    }

    @Test("A redirect without Location, or with an empty one, is the response")
    func withoutLocation() async throws {
        #expect(try await Script((302, [:])).client().get("http://a.test/").status == 302)
        #expect(try await Script((302, ["Location": ""])).client().get("http://a.test/").status == 302)
    }

    @Test("A redirect to two places is an error, and to the same place twice it is not")
    func severalLocations() async throws {
        let error = try await httpError {
            try await Script((302, ["Location": "/a", "location": "/b"])).client().get("http://a.test/")
        }
        #expect(error.redirectFault == .severalLocations)
        let script = Script((302, ["Location": "/a", "location": "/a"]), (200, [:]))
        #expect(try await script.client().get("http://a.test/").status == 200)
    }

    @Test(
        "A redirect resolves its reference against the URL that it came from",
        arguments: [
            ("x", "http://a.test/dir/x"), ("/x?q", "http://a.test/x?q"), ("?q", "http://a.test/dir/file?q"),
            ("../x", "http://a.test/x"), ("//b.test/x", "http://b.test/x"),
            ("#new", "http://a.test/dir/file?old#new"),
            ("HTTPS://B.test", "https://b.test/"),
        ]
    )
    func references(_ location: String, _ wanted: String) async throws {
        let script = Script.redirecting(302, location)
        _ = try await script.client().get("http://a.test/dir/file?old")
        #expect(script.urls.last == wanted)
    }

    @Test("A redirect inherits the fragment unless it has its own")
    func fragments() async throws {
        let script = Script.redirecting(302, "/a", "/b#own", "/c")
        let response = try await script.client().get("http://a.test/#first")
        #expect(
            script.urls == [
                "http://a.test/#first", "http://a.test/a#first", "http://a.test/b#own", "http://a.test/c#own",
            ]
        )
        #expect(response.url.fragment == "own")
    }

    @Test(
        "A redirect to a scheme other than http or https is an error",
        arguments: [
            "ftp://a.test/", "file:///etc/passwd", "javascript:alert(1)", "http://", "http://a b/",
            "http://[::1/",
        ]
    )
    func foreignSchemes(_ location: String) async throws {
        let error = try await httpError {
            try await Script.redirecting(302, location).client().get("https://a.test/")
        }
        guard case .location = error.redirectFault else {
            Issue.record("\(error)")
            return
        }
        #expect(error.phase == .redirect && error.name == "a.test")
    }

    @Test("A redirect from https to http is refused unless the policy permits it")
    func downgrade() async throws {
        let error = try await httpError {
            try await Script.redirecting(302, "http://a.test/").client().get("https://a.test/")
        }
        #expect(error.redirectFault == .downgrade)
        let script = Script.redirecting(302, "http://a.test/")
        let client = script.client { $0.redirects.insecureAllowsDowngrade = true }
        #expect(try await client.get("https://a.test/").status == 200)
    }

    @Test("A loop of redirects ends, and the error has its steps")
    func loop() async throws {
        let script = Script((302, ["Location": "/again"]))
        let error = try await httpError { try await script.client().get("http://a.test/") }
        #expect(error.redirectFault == .tooMany(limit: 20, isLoop: true))
        #expect(error.history.count == 20 && script.urls.count == 21)
        #expect(error.name == "a.test")
    }

    @Test("Redirects can be left to the caller, for a client or for one request")
    func delivered() async throws {
        let script = Script.redirecting(302, "/next")
        var request = Request(.get, "http://a.test/")
        request.redirects = .deliver
        #expect(try await script.client().fetch(request).status == 302)
        #expect(try await script.client { $0.redirects = .deliver }.get("http://a.test/").status == 200)
    }

    @Test(
        "A redirect sends no secret to another scheme, host, port or subdomain, nor back to the first",
        arguments: ["https://b.test/", "https://a.test:444/", "https://sub.a.test/", "https://192.0.2.1/"]
    )
    func secretsAcrossOrigins(_ other: String) async throws {
        let script = Script.redirecting(302, "/same", other, "https://a.test/back")
        let request = Request(
            .get,
            "https://a.test/",
            headers: [
                "Authorization": "secret", "Proxy-Authorization": "secret", "Cookie": "secret",
                "X-API-Key": "secret",
                "Origin": "https://a.test", "Host": "a.test", "If-None-Match": "secret",
                "Accept-Language": "de",
                "X-Trace": "1",
            ]
        )
        let client = script.client {
            $0.headers = ["User-Agent": "me", "X-Client-Key": "secret", "Authorization": "secret"]
            $0.redirects.extraCrossOriginFields = ["X-Trace"]
        }
        _ = try await client.fetch(request)
        let seen = script.requests.map(\.headers)
        #expect(seen[1].filter { $0.value == "secret" }.count == 6 && seen[1].contains("host"))
        for headers in seen[2...] {
            #expect(
                Set(headers.map(\.name)) == [
                    "Host", "Accept-Encoding", "Accept-Language", "X-Trace", "User-Agent",
                ]
            )
        }
    }

    @Test("The request's own policy decides which fields of the client survive a redirect")
    func extraCrossOriginFields() async throws {
        for (ofClient, ofRequest, survives) in [(["X-Trace"], [], false), ([], ["x-trace"], true)] {
            let script = Script.redirecting(302, "https://b.test/")
            let client = script.client {
                $0.headers = ["X-Trace": "1", "X-Api-Key": "secret"]
                $0.redirects.extraCrossOriginFields = ofClient
            }
            var request = Request(.get, "https://a.test/")
            var policy = RedirectPolicy()
            policy.extraCrossOriginFields = ofRequest
            request.redirects = policy
            _ = try await client.fetch(request)
            #expect(script.requests[1].headers.contains("X-Trace") == survives)
            #expect(!script.requests[1].headers.contains("X-Api-Key"))
        }
    }

    @Test("A redirect from http to https of the same host leads to another origin")
    func secretsAcrossSchemes() async throws {
        let script = Script.redirecting(301, "https://a.test/")
        _ = try await script.client().get("http://a.test/", headers: ["Authorization": "secret"])
        #expect(!script.requests[1].headers.contains("Authorization"))
    }

    @Test("User information in Location never becomes credentials")
    func locationUser() async throws {
        let script = Script.redirecting(302, "http://user:pass@a.test/in", "http://u@b.test/")
        let response = try await script.client().get("http://a.test/")
        #expect(script.urls == ["http://a.test/", "http://a.test/in", "http://b.test/"])
        #expect(script.requests.allSatisfy { !$0.headers.contains("Authorization") })
        #expect(response.url.user == nil)
    }

    @Test("A redirect that needs an unrepeatable body again is an error before anything is sent")
    func bodySentOnce() async throws {
        let script = Script.redirecting(307, "/next")
        let pieces = AsyncStream<[UInt8]> { $0.finish() }
        let error = try await httpError {
            try await script.client().send(Request(.post, "http://a.test/", body: .stream(pieces)))
        }
        #expect(error.redirectFault == .bodyNotReplayable && script.urls.count == 1)
    }

    @Test("A redirect sends the body to another origin unless the policy forbids it")
    func bodyAcrossOrigins() async throws {
        let allowed = Script.redirecting(308, "http://b.test/")
        _ = try await allowed.client().post(
            "http://a.test/",
            .text("body"),
            headers: ["Content-Type": "a/b", "X": "1"]
        )
        #expect(allowed.requests[1].hasBody && allowed.requests[1].headers["Content-Type"] == "a/b")
        #expect(!allowed.requests[1].headers.contains("X"))
        let error = try await httpError {
            try await Script.redirecting(308, "http://b.test/").client {
                $0.redirects.carriesBodyAcrossOrigins = false
            }
            .post("http://a.test/", .text("body"))
        }
        #expect(error.redirectFault == .bodyAcrossOrigins)
    }

    @Test("A redirect that drops the body drops the digests of it as well")
    func digests() async throws {
        let script = Script.redirecting(303, "/next")
        let fields: HTTPHeaders = [
            "Digest": "md5=x", "Repr-Digest": "sha-256=:x:", "Content-Digest": "sha-256=:x:", "X-Key": "k",
        ]
        _ = try await script.client().post("https://a.test/", .text("body"), headers: fields)
        #expect(script.requests.map { $0.headers.contains("Repr-Digest") } == [true, false])
        let last = try #require(script.requests.last).headers
        #expect(!last.contains("Digest") && !last.contains("Content-Digest") && last["X-Key"] == "k")
    }

    @Test("The client's default type of bodies goes with a body to another origin, and not without one")
    func defaultType() async throws {
        for (status, crosses) in [(307, true), (308, true), (302, false)] as [(HTTPStatus, Bool)] {
            let script = Script.redirecting(status, "https://b.test/", "https://a.test/")
            let client = script.client {
                $0.headers = ["Content-Type": "a/b", "Content-Language": "de", "X-Key": "secret"]
            }
            _ = try await client.post("https://a.test/", .text("body"))
            #expect(script.requests[0].headers["Content-Type"] == "a/b")
            for request in script.requests[1...] {
                #expect(request.headers["Content-Type"] == (crosses ? "a/b" : nil))
                #expect(request.headers["Content-Language"] == (crosses ? "de" : nil))
                #expect(!request.headers.contains("X-Key"))
            }
        }
    }

    @Test("Referer is sent only on demand, and then without secrets and not from https to http")
    func referer() async throws {
        let silent = Script.redirecting(302, "/next")
        _ = try await silent.client().get("http://a.test/")
        #expect(!silent.requests[1].headers.contains("Referer"))
        let script = Script.redirecting(302, "/b", "/c", "http://a.test/d")
        let client = script.client {
            $0.redirects.sendsReferer = true
            $0.redirects.insecureAllowsDowngrade = true
        }
        _ = try await client.get("https://user:pass@a.test/a#part")
        #expect(
            script.requests.map { $0.headers["Referer"] } == [
                nil, "https://a.test/a", "https://a.test/b", nil,
            ]
        )
    }

    @Test("A redirect keeps the request's addresses for its own host and port only")
    func addresses() async throws {
        let script = Script.redirecting(
            302,
            "http://b.test/",
            "http://a.test/",
            "https://a.test/",
            "https://a.test:1/"
        )
        var request = Request(.get, "http://a.test/")
        request.addresses = ["192.0.2.1"]
        _ = try await script.client().fetch(request)
        #expect(script.requests.map(\.addresses) == [["192.0.2.1"], nil, ["192.0.2.1"], ["192.0.2.1"], nil])
    }

    @Test("A redirect to a name without an address fails, names it, and does not ask the system")
    func unknownHop() async throws {
        let server = try FixtureServer.start { request in
            .status(302, ["Location": "http://localhost:\(request.serverPort)/"])
        }
        let client = HTTPClient.untimed { $0.resolver = StaticMap() }
        let error = try await httpError {
            try await client.fetch(server.request("http://a.test:\(server.port)/"))
        }
        #expect(error.phase == .resolve && error.name == "localhost" && error.history.count == 1)
        guard case .resolver(let fault) = error.reason, case .notListed = fault.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(fault.source == "static map" && server.records.count == 1)
    }

    @Test("A custom decision follows, stops or fails a redirect")
    func decision() async throws {
        struct Enough: Error {}
        let script = Script.redirecting(302, "/next", "http://b.test/", "/never", "/never")
        let client = script.client {
            $0.redirects.decide = { redirect in
                switch redirect.count {
                case 0:
                    var next = redirect.next
                    next.headers["X-Changed"] = "1"
                    return next
                case 1: return redirect.crossesOrigins ? redirect.next : nil
                case 2 where redirect.url.path == "/never": return nil
                default: throw Enough()
                }
            }
        }
        let response = try await client.get("http://a.test/")
        #expect(response.status == 302 && response.history.count == 2)
        #expect(script.requests[1].headers["X-Changed"] == "1")
        let failing = Script.redirecting(302, "/next").client {
            $0.redirects.decide = { _ in throw Enough() }
        }
        await #expect(throws: Enough.self) { try await failing.get("http://a.test/") }
    }

    @Test("Redirects over real connections dial each name at its own address, and reuse connections")
    func overTheNetwork() async throws {
        let names = Mutex<[String]>([])
        let servers = try FixtureServer.startOnSamePort(["127.0.0.1", "127.0.0.2"], security: .plain) {
            request in
            names.withLock { $0.append("\(request.host ?? "-")@\(request.serverAddress)\(request.target)") }
            let port = request.serverPort
            switch request.target {
            case "/": return .status(302, ["Location": "http://b.test:\(port)/b"])
            case "/b": return .status(307, ["Location": "//a.test:\(port)/c"])
            default: return .text("there")
            }
        }
        let port = servers[0].port
        let client = HTTPClient.trusting { settings in
            try? settings.addresses.set(["127.0.0.2"], for: HostPattern("b.test"))
        }
        var request = Request(.get, "http://a.test:\(port)/")
        request.addresses = ["127.0.0.1"]
        let response = try await client.fetch(request)
        #expect(response.text == "there")
        #expect(
            names.withLock { $0 } == [
                "a.test:\(port)@127.0.0.1/", "b.test:\(port)@127.0.0.2/b", "a.test:\(port)@127.0.0.1/c",
            ]
        )
        #expect(response.isReused)
        #expect(
            response.history.map { $0.transaction?.endpoint?.address } == [
                IPAddress("127.0.0.1"), IPAddress("127.0.0.2"),
            ]
        )
    }
}

extension HTTPError {
    var redirectFault: RedirectError? {
        if case .redirect(let fault) = reason { fault } else { nil }
    }
}
