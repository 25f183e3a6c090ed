import DirectHTTP
import DirectIO
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTPFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Cookies of Foundation")
struct CookieTests {
    private let configuration = URLSessionConfiguration.ephemeral

    private func text(_ client: HTTPClient, _ url: URL) async throws -> String {
        String(decoding: try await client.data(from: url).0, as: UTF8.self)
    }

    @Test("Cookies select among cached responses, so that no user gets another user's response")
    func varyingByCookie() async throws {
        let server = try FixtureServer.start { request in
            .text(request.headers["cookie"] ?? "none", ["Cache-Control": "max-age=60", "Vary": "Cookie"])
        }
        let storage = try #require(configuration.httpCookieStorage)
        let client = HTTPClient {
            $0.cache = .memory()
            $0.useCookies(of: storage)
        }
        for _ in 0..<2 {
            for user in ["user=alice", "user=bob"] {
                let properties: [HTTPCookiePropertyKey: Any] = [
                    .name: "user", .value: user.dropFirst(5), .domain: server.address, .path: "/",
                ]
                storage.setCookie(try #require(HTTPCookie(properties: properties)))
                #expect(try await text(client, server.url()) == user)
            }
        }
        // The second time both came from the cache.
        #expect(server.requests.count == 2)
    }

    @Test("A storage keeps all of the program's cookies, however many they are")
    func moreThanAJar() async throws {
        let storage = try #require(configuration.httpCookieStorage)
        for number in 0..<10_000 {
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "a", .value: "b", .domain: "\(number).test", .path: "/",
            ]
            storage.setCookie(try #require(HTTPCookie(properties: properties)))
        }
        let server = try FixtureServer.start { _ in .text("", ["Set-Cookie": "one=more"]) }
        _ = try await text(HTTPClient { $0.useCookies(of: storage) }, server.url())
        #expect(storage.cookies?.count == 10_001)
    }

    @Test("Of two cookies with one name the older one is sent first, whatever order the storage has")
    func order() async throws {
        for number in 0..<20 {
            let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
            let client = HTTPClient {
                $0.useCookies(of: storage)
                $0.transport = { request in
                    let cookie: HTTPHeaders =
                        switch try request.url.path {
                        case "/1": ["Set-Cookie": "sid=old; Path=/; Domain=example.com"]
                        case "/2": ["Set-Cookie": "sid=new; Path=/"]
                        case "/3": ["Set-Cookie": "sid=older; Path=/; Domain=example.com"]
                        default: [:]
                        }
                    let body = Array((request.headers["Cookie"] ?? "none").utf8)
                    return try .init(to: request, .ok, headers: cookie, body: body)
                }
            }
            let host = "https://www\(number).example.com"
            for path in ["/1", "/2"] { _ = try await client.get(host + path) }
            #expect(try await client.get(host).text == "sid=old; sid=new")
            // A new value does not make it younger (RFC 6265, section 5.3).
            _ = try await client.get(host + "/3")
            #expect(try await client.get(host).text == "sid=older; sid=new")
        }
    }

    @Test("A response from the cache does not set its cookies again", arguments: [Way.bridge, .urlProtocol])
    func cachedResponses(way: Way) async throws {
        let server = try FixtureServer.start { request in
            switch request.path {
            case "/kept": .text("kept", ["Set-Cookie": "a=old; Path=/", "Cache-Control": "max-age=60"])
            case "/new": .text("new", ["Set-Cookie": "a=new; Path=/", "Cache-Control": "no-store"])
            default: .text(request.headers["cookie"] ?? "none", ["Cache-Control": "no-store"])
            }
        }
        let storage = try #require(configuration.httpCookieStorage)
        let client = HTTPClient {
            $0.cache = .memory()
            if way == .bridge { $0.useCookies(of: storage) }
        }
        configuration.protocolClasses = [client.urlProtocolClass()]
        let session = URLSession(configuration: configuration)
        var answers: [String] = []
        for path in ["/kept", "/new", "/kept", "/show"] {
            let url = try server.url(path)
            let data =
                way == .bridge ? try await client.data(from: url).0 : try await session.data(from: url).0
            answers.append(String(decoding: data, as: UTF8.self))
        }
        #expect(answers == ["kept", "new", "kept", "a=new"])
        #expect(server.requests.map(\.target) == ["/kept", "/new", "/show"])
    }

    @Test("A dump of a client shows no value of a cookie")
    func descriptions() throws {
        let storage = try #require(configuration.httpCookieStorage)
        let cookie = try Cookie("sid", "hunter2", for: DirectHTTP.HTTPHost("a.test"))
        storage.setCookie(try #require(HTTPCookie(cookie)))
        let client = HTTPClient { $0.useCookies(of: storage) }
        var text = ""
        dump(client, to: &text)
        dump(client.configuration, to: &text)
        #expect(!text.contains("hunter2"))
    }

    @Test(
        "A session's cookies are the session's alone: the client's own jar neither adds to them nor learns of them"
    )
    func sessionsOwn() async throws {
        let server = try FixtureServer.start { request in
            .text(request.headers["cookie"] ?? "none", ["Set-Cookie": "c=3; Path=/"])
        }
        let jar = CookieJar()
        let host = try DirectHTTP.HTTPHost(server.address)
        jar.add(try Cookie("b", "2", for: host))
        let storage = try #require(configuration.httpCookieStorage)
        let own = try Cookie("a", "1", for: host)
        storage.setCookie(try #require(HTTPCookie(own)))
        let client = HTTPClient { $0.cookies = jar }
        configuration.protocolClasses = [client.urlProtocolClass()]
        let data = try await URLSession(configuration: configuration).data(from: server.url()).0
        #expect(String(decoding: data, as: UTF8.self) == "a=1")
        #expect(jar.cookies.map(\.name) == ["b"])
        #expect(storage.cookies?.contains { $0.name == "c" } == true)
        // A session that wants no cookies gets none.
        configuration.httpShouldSetCookies = false
        let bare = try await URLSession(configuration: configuration).data(from: server.url()).0
        #expect(String(decoding: bare, as: UTF8.self) == "none")
    }

    @Test("Sessions with storages of their own share no cached responses, though the server forgets Vary")
    func cachesOfSessions() async throws {
        let server = try FixtureServer.start { request in
            guard request.path == "/account" else {
                let user = request.path.dropFirst()
                return .text("in", ["Set-Cookie": "sid=\(user); Path=/", "Cache-Control": "no-store"])
            }
            let page = "page of \(request.headers["cookie"] ?? "nobody")"
            return .text(page, ["Cache-Control": "private, max-age=600"])
        }
        let client = HTTPClient { $0.cache = .memory() }
        let protocolClass = client.urlProtocolClass()
        let sessions = ["alice", "bob"].map { user in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [protocolClass]
            return (user, URLSession(configuration: configuration))
        }
        for (user, session) in sessions { _ = try await session.data(from: server.url("/\(user)")) }
        for _ in 0..<2 {
            for (user, session) in sessions {
                let page = try await session.data(from: server.url("/account")).0
                #expect(String(decoding: page, as: UTF8.self) == "page of sid=\(user)")
            }
            var anonymous = URLRequest(url: try server.url("/account"))
            anonymous.httpShouldHandleCookies = false
            #expect(try await client.data(for: anonymous).0 == Data("page of nobody".utf8))
        }
        // The second time all came from the cache.
        #expect(server.requests.count { $0.target == "/account" } == 3)
    }

    @Test("What others change in the storage counts at once: cookies set, replaced and deleted")
    func foreignChanges() async throws {
        let server = try FixtureServer.start { .text($0.headers["cookie"] ?? "none") }
        let storage = try #require(configuration.httpCookieStorage)
        let client = HTTPClient { $0.useCookies(of: storage) }
        let host = try DirectHTTP.HTTPHost(server.address)
        func cookie(_ value: String) throws -> HTTPCookie {
            try #require(HTTPCookie(try Cookie("a", value, for: host)))
        }
        #expect(try await text(client, server.url()) == "none")
        storage.setCookie(try cookie("1"))
        for _ in 0..<2 { #expect(try await text(client, server.url()) == "a=1") }
        storage.setCookie(try cookie("2"))
        #expect(try await text(client, server.url()) == "a=2")
        storage.deleteCookie(try cookie("2"))
        #expect(try await text(client, server.url()) == "none")
    }

    @Test(
        "A cookie that a server sets takes the place of one that the storage still has and that has expired"
    )
    func expired() async throws {
        let server = try FixtureServer.start { request in
            .text(
                request.headers["cookie"] ?? "none",
                request.path == "/login" ? ["Set-Cookie": "sid=new; Path=/"] : [:]
            )
        }
        let storage = try #require(configuration.httpCookieStorage)
        // A storage removes expired cookies when one is set. This one expires within its second, which to a
        // jar is over already.
        while storage.cookies?.isEmpty != false {
            let end = Date().timeIntervalSince1970.rounded(.down) + 0.999
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "sid", .value: "old", .domain: server.address, .path: "/",
                .expires: Date(timeIntervalSince1970: end),
            ]
            storage.setCookie(try #require(HTTPCookie(properties: properties)))
        }
        let client = HTTPClient { $0.useCookies(of: storage) }
        #expect(try await text(client, server.url("/login")) == "none")
        #expect(try await text(client, server.url()) == "sid=new")
        #expect(storage.cookies?.map(\.value) == ["new"])
    }

    @Test(
        "New cookies in the places of expired ones are stored in any order, also behind others",
        arguments: [
            ["csrf", "sid", "refresh"], ["sid", "csrf", "refresh"], ["sid", "refresh", "csrf"],
        ],
        [true, false]
    )
    func expiredLogin(_ names: [String], isKnown: Bool) async throws {
        let server = try FixtureServer.start { request in
            guard request.path == "/login" else { return .text(request.headers["cookie"] ?? "none") }
            return names.reduce(.text("in")) { $0.adding("Set-Cookie", value: "\($1)=new; Path=/") }
        }
        let storage = try #require(configuration.httpCookieStorage)
        let client = HTTPClient { $0.useCookies(of: storage) }
        let end = Date(timeIntervalSinceNow: 0.1)
        for (name, expiry) in [("csrf", Date.distantFuture), ("sid", end), ("refresh", end)] {
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: name, .value: "old", .domain: server.address, .path: "/", .expires: expiry,
            ]
            storage.setCookie(try #require(HTTPCookie(properties: properties)))
        }
        if isKnown { #expect(try await text(client, server.url()).contains("csrf=old")) }
        while Date() <= end { await Task.yield() }
        #expect(try await text(client, server.url("/login")) == "in")
        #expect(storage.cookies?.map(\.value) == ["new", "new", "new"])
        let sent = try await text(client, server.url()).components(separatedBy: "; ")
        #expect(Set(sent) == ["csrf=new", "sid=new", "refresh=new"])
    }

    @Test(
        "A cookie that Foundation stores with a dot before a single label or an address is its host's own",
        arguments: ["localhost", "127.0.0.1"]
    )
    func dotBeforeHost(_ host: String) async throws {
        let storage = try #require(configuration.httpCookieStorage)
        let client = HTTPClient {
            $0.useCookies(of: storage)
            $0.transport = { request in
                let headers: HTTPHeaders =
                    switch try request.url.path {
                    case "/login": ["Set-Cookie": "sid=new; Path=/"]
                    case "/logout": ["Set-Cookie": "sid=; Path=/; Max-Age=0"]
                    default: [:]
                    }
                let body = Array((request.headers["Cookie"] ?? "none").utf8)
                return try .init(to: request, .ok, headers: headers, body: body)
            }
        }
        func store() throws {
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "sid", .value: "old", .domain: ".\(host)", .path: "/",
            ]
            storage.setCookie(try #require(HTTPCookie(properties: properties)))
        }
        let url = "http://\(host)"
        try store()
        #expect(try await client.get(url).text == "sid=old")
        _ = try await client.get(url + "/login")
        #expect(storage.cookies?.map { $0.domain + $0.value } == ["\(host)new"])
        #expect(try await client.get(url).text == "sid=new")
        // The older of two is not left behind by a logout.
        try store()
        _ = try await client.get(url + "/logout")
        #expect(storage.cookies?.isEmpty == true)
        #expect(try await client.get(url).text == "none")
    }

    @Test(
        "A call with the cookies of a storage, which may be writing its file, is on no thread of Swift's own"
    )
    func threads() async throws {
        let storage = try #require(configuration.httpCookieStorage)
        let url = try #require(URL(string: "http://a.test/"))
        for usesStorage in [false, true] {
            let client = HTTPClient { if usesStorage { $0.useCookies(of: storage) } }
            let request = BridgedRequest(URLRequest(url: url), client.configuration)
            let prefersThreads = try await request.perform(nil, with: client) { _, _ in
                preferredExecutor() != nil
            }
            #expect(prefersThreads == usesStorage)
        }
    }

    @Test("A site may have more cookies in a storage than in a jar: none is removed, and the oldest are sent")
    func many() async throws {
        let server = try FixtureServer.start { request in
            .text(request.headers["cookie"] ?? "none", ["Set-Cookie": "last=1; Path=/"])
        }
        let storage = try #require(configuration.httpCookieStorage)
        let host = try DirectHTTP.HTTPHost(server.address)
        for number in 0..<250 {
            storage.setCookie(try #require(HTTPCookie(try Cookie("c\(number)", "1", for: host))))
        }
        let client = HTTPClient { $0.useCookies(of: storage) }
        for _ in 0..<2 {
            let sent = try await text(client, server.url())
            #expect(sent.hasPrefix("c0=1; ") && sent.split(separator: ";").count == 150)
            #expect(storage.cookies?.count == 251)
        }
    }

    @Test("A renewed cookie is only set, and one that has ended is removed after the others were set")
    func renewal() throws {
        let host = try DirectHTTP.HTTPHost("a.test")
        func cookie(_ name: String, _ value: String) throws -> Cookie { try Cookie(name, value, for: host) }
        let before = [try cookie("sid", "1"), try cookie("old", "1"), try cookie("same", "1")]
        let after = [try cookie("sid", "2"), try cookie("same", "1"), try cookie("new", "1")]
        let stored = before.compactMap { HTTPCookie($0) }
        let changes = PendingCookie.changes(from: before, to: after, in: stored)
        #expect(changes.map(\.after) == [after[0], after[2], nil])
        #expect(changes.map(\.before) == [[stored[0]], [], [stored[1]]])
    }

    @Test(
        "A cookie that the program removes while a response's cookies are stored is not sent, and one that it sets is"
    )
    func changesMeanwhile() async throws {
        let server = try FixtureServer.start { request in
            .text(
                request.headers["cookie"] ?? "none",
                request.path == "/set" ? ["Set-Cookie": "other=1"] : [:]
            )
        }
        let storage = try #require(configuration.httpCookieStorage)
        let host = try DirectHTTP.HTTPHost(server.address)
        let sid = try #require(HTTPCookie(try Cookie("sid", "1", for: host)))
        let client = HTTPClient { $0.useCookies(of: storage) }
        let stores = Task {
            while !Task.isCancelled { _ = try await client.data(from: server.url("/set")) }
        }
        for _ in 0..<40 {
            storage.setCookie(sid)
            #expect(try await text(client, server.url()).contains("sid=1"))
            storage.deleteCookie(sid)
            #expect(try await !text(client, server.url()).contains("sid"))
        }
        stores.cancel()
        _ = await stores.result
    }

    @Test("A request that handles cookies itself gets none, neither from the storage nor from a jar")
    func jarOfTheClient() async throws {
        let server = try FixtureServer.start { request in
            request.path == "/"
                ? .redirect(to: "/next").adding("Set-Cookie", value: "a=1; Path=/")
                : .text(request.headers["cookie"] ?? "none", ["Set-Cookie": "b=2; Path=/"])
        }
        let jar = CookieJar()
        // An interceptor that builds the request anew changes nothing about it.
        let client = HTTPClient {
            $0.cookies = jar
            $0.interceptors.append { request, forward in
                try await forward(Request(request.method, try request.url, headers: request.headers))
            }
        }
        var request = try server.request("GET")
        request.httpShouldHandleCookies = false
        #expect(try await client.data(for: request).0 == Data("none".utf8))
        #expect(try await client.fetch(Request(request)).text == "none")
        #expect(jar.cookies.isEmpty)
        request.httpShouldHandleCookies = true
        #expect(try await client.data(for: request).0 == Data("a=1".utf8))
        #expect(jar.cookies.count == 2)
    }
}
