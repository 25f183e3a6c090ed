import DirectCore
import DirectHTTP
import DirectHTTPExtras
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("Links and pages", .idleLimit)
struct PageTests {
    private func links(_ values: String...) async throws -> [WebLink] {
        let headers = HTTPHeaders(values.map { ("Link", $0) })
        let client = HTTPClient.untimed { $0.transport = { try .init(to: $0, 200, headers: headers) } }
        return try await client.get("https://a.test/v1/items?page=1").links
    }

    @Test("Links are read as RFC 8288 says")
    func parsing() async throws {
        let all = try await links(
            #"<?page=2>; rel="next"; title="a, \"b\"; c" , </x>;REL="Last  first";rel=no;title*=UTF-8'en'%e2"#,
            "<https://b.test/>",
            "<//c.test/y>; rel = prev ;flag"
        )
        #expect(
            all.map { $0.target.text } == [
                "https://a.test/v1/items?page=2", "https://a.test/x", "https://b.test/", "https://c.test/y",
            ]
        )
        #expect(all.map(\.relations) == [["next"], ["last", "first"], [], ["prev"]])
        #expect(all[0].parameters == ["title": #"a, "b"; c"#])
        #expect(all[1].parameters == ["title*": "UTF-8'en'%e2"] && all[3].parameters == ["flag": ""])
    }

    @Test("The bytes of a link that are not UTF-8 stay in its target, as those of a redirect do")
    func latin1() async throws {
        let head = "HTTP/1.1 200 OK\r\nLink: </k\u{FC}che>; rel=next\r\nContent-Length: 0\r\n\r\n"
        let script: ByteScript = [
            .awaitHead, .bytes(head.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }),
        ]
        let server = try FixtureServer.start(.plain, behaviour: .bytes(script))
        let links = try await HTTPClient.untimed().get("http://\(server.authority)/").links
        #expect(links.map(\.target.path) == ["/k%FCche"] && links.first?.relations == ["next"])
    }

    @Test("What is no link, has no URL of HTTP, user and password, or another context is left out")
    func leftOut() async throws {
        #expect(try await links("", ",,", "x", "<", "<a", "x<y>", "<a b\t>").count <= 1)
        let odd = try await links(
            "<mailto:x@a.test>; rel=next, <http://u:p@a.test/>; rel=next, <ok>; rel=\"unended, <no>",
            "</other>; rel=next; anchor=\"#x\", </right>; rel=next"
        )
        #expect(odd.map(\.target.path) == ["/v1/ok", "/right"])
        let deep = String(repeating: "<a>;", count: 10_000)
        #expect(try await links(deep).count == 1)
    }

    private func client(
        _ next: [String: String],
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> (HTTPClient, Locked<[HTTPClient.Request]>) {
        let requests = Locked<[HTTPClient.Request]>([])
        let client = HTTPClient.untimed {
            $0.transport = { request in
                requests.withLock { $0.append(request) }
                let url = try request.url
                if url.path == "/moved" {
                    return try .init(to: request, 302, headers: ["Location": "http://b.test/1"])
                }
                if url.path == "/500" { return try .init(to: request, 500) }
                let link = next[url.text].map { ["Link": "<\($0)>; rel=next"] as HTTPHeaders } ?? [:]
                return try .init(to: request, 200, headers: link, body: Array(url.text.utf8))
            }
            configure(&$0)
        }
        return (client, requests)
    }

    private func pages(_ client: HTTPClient, _ request: HTTPClient.Request, upTo limit: Int = 1000)
        async throws
        -> ([String], PageError?)
    {
        var texts: [String] = []
        do {
            for try await page in client.pages(of: request, upTo: limit) { texts.append(page.text ?? "") }
        } catch let error as PageError {
            return (texts, error)
        }
        return (texts, nil)
    }

    @Test(
        "Pages follow each other with fields, addresses and credentials of the request, until there is no link"
    )
    func following() async throws {
        let (client, requests) = client(["http://a.test/1": "/2", "http://a.test/2": "3?x"]) {
            $0.cookies = CookieJar()
        }
        var request = HTTPClient.Request(.get, "http://a.test/1", headers: ["X-Key": "k"])
        request.addresses = ["192.0.2.1"]
        request.authenticator = .bearer("t")
        let (texts, error) = try await pages(client, request)
        #expect(texts == ["http://a.test/1", "http://a.test/2", "http://a.test/3?x"] && error == nil)
        for sent in requests.withLock({ $0 }) {
            #expect(sent.headers["X-Key"] == "k" && sent.headers["Authorization"] == "Bearer t")
            #expect(sent.addresses == ["192.0.2.1"])
        }
    }

    @Test(
        "User and password of the first URL, or of the base URL, are for all pages",
        arguments: [true, false]
    )
    func user(isOfBase: Bool) async throws {
        let base = try HTTPURL("http://u:p@a.test/")
        let (client, requests) = client(["http://a.test/1": "/2", "http://a.test/2": "http://a.test/3"]) {
            if isOfBase { $0.baseURL = base }
        }
        let first = HTTPClient.Request(.get, isOfBase ? "1" : "http://u:p@a.test/1")
        #expect(try await pages(client, first).0.count == 3)
        #expect(
            requests.withLock { $0.map { $0.headers["Authorization"] } }
                == Array(repeating: "Basic dTpw", count: 3)
        )
    }

    @Test(
        "Pages of an http URL that HSTS makes https of keep what was set for the first",
        arguments: [true, false]
    )
    func upgraded(hasUser: Bool) async throws {
        let hsts = HSTSStore()
        hsts.add(HSTSStore.Entry(try DomainName("a.test"), until: UnixTime(seconds: 4_000_000_000)))
        // A server behind a proxy that ends TLS may write http.
        let (client, requests) = client(["https://a.test/1": "http://a.test/2", "https://a.test/2": "/3"]) {
            $0.hsts = hsts
        }
        var request = HTTPClient.Request(.get, hasUser ? "http://u:p@a.test/1" : "http://a.test/1")
        if !hasUser { request.authenticator = .basic(user: "u", password: "p") }
        let (texts, error) = try await pages(client, request)
        #expect(texts == ["https://a.test/1", "https://a.test/2", "https://a.test/3"] && error == nil)
        #expect(requests.withLock { $0.allSatisfy { $0.headers["Authorization"] == "Basic dTpw" } })
    }

    @Test("Another origin, a loop and too many pages end the sequence, after the pages that were there")
    func bounds() async throws {
        for other in ["http://b.test/2", "https://a.test/2", "http://a.test:81/2", "//b.test/2"] {
            let (client, requests) = client(["http://a.test/1": other])
            let (texts, error) = try await pages(client, HTTPClient.Request(.get, "http://a.test/1"))
            guard case .otherOrigin? = error else { throw try #require(error) }
            #expect(texts.count == 1 && requests.withLock { $0.count } == 1)
        }
        let (loop, _) = client(["http://a.test/1": "/2", "http://a.test/2": "/1"])
        var (texts, error) = try await pages(loop, HTTPClient.Request(.get, "http://a.test/1"))
        #expect(try texts.count == 2 && error == .loop(HTTPURL("http://a.test/1")))
        (texts, error) = try await pages(loop, HTTPClient.Request(.get, "http://a.test/1"), upTo: 1)
        #expect(texts.count == 1 && error == .tooMany(limit: 1))
        let (failing, _) = client(["http://a.test/1": "/500"])
        await #expect(throws: HTTPError.self) {
            for try await _ in failing.pages(of: HTTPClient.Request(.get, "http://a.test/1")) {}
        }
    }

    @Test(
        "An origin that an interceptor chose for the first page gets no later one with the request's secrets"
    )
    func elsewhere() async throws {
        let base = try HTTPURL("https://a.test/")
        for (first, other) in [("/1", "https://b.test"), ("https://a.test/1", "http://a.test")] {
            let (client, requests) = client(["\(other)/1": "/2"]) {
                $0.baseURL = base
                $0.interceptors.append { request, forward in
                    try await forward(request.replacing(url: "\(other)\(request.url.path)"))
                }
            }
            var request = HTTPClient.Request(.get, first, headers: ["X-Key": "k"])
            request.authenticator = .bearer("t")
            let (texts, error) = try await pages(client, request)
            #expect(try texts.count == 1 && error == .otherOrigin(HTTPURL(other).origin))
            for sent in requests.withLock({ $0 }) {
                #expect(sent.headers["X-Key"] == nil && sent.headers["Authorization"] == nil)
            }
        }
    }

    @Test("A first page that HSTS moves to https is followed there")
    func upgraded() async throws {
        let store = HSTSStore()
        let (client, _) = client(["https://a.test/1": "/2"]) { $0.hsts = store }
        store.add(.init(try DomainName("a.test"), until: UnixTime(seconds: .max)))
        let (texts, error) = try await pages(client, HTTPClient.Request(.get, "http://a.test/1"))
        #expect(texts == ["https://a.test/1", "https://a.test/2"] && error == nil)
    }

    @Test("A redirect to another origin does not make that the origin of the pages, and a base URL works")
    func redirected() async throws {
        let (client, _) = client(["http://b.test/1": "http://b.test/2"])
        let (texts, error) = try await pages(client, HTTPClient.Request(.get, "http://a.test/moved"))
        #expect(try texts == ["http://b.test/1"] && error == .otherOrigin(HTTPURL("http://b.test/").origin))
        let base = try HTTPURL("http://a.test/")
        let (based, _) = self.client(["http://a.test/1": "/2"]) { $0.baseURL = base }
        #expect(
            try await pages(based, HTTPClient.Request(.get, "1")).0 == ["http://a.test/1", "http://a.test/2"]
        )
    }

    @Test("A page to which a redirect has led does not lead back to the first origin, with its secrets")
    func ledBack() async throws {
        let (client, requests) = client(["http://b.test/1": "http://a.test/transfer"])
        let first = HTTPClient.Request(.get, "http://a.test/moved", headers: ["X-Secret": "s"])
        let (texts, error) = try await pages(client, first)
        #expect(try texts == ["http://b.test/1"] && error == .otherOrigin(HTTPURL("http://b.test/").origin))
        #expect(requests.withLock { $0.count } == 2)
        var dumped = ""
        dump(PageError.loop(try HTTPURL("http://a.test/?code=hunter2")), to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }

    @Test("The next page may come from the body")
    func custom() async throws {
        let (client, _) = client([:])
        var count = 0
        let request = HTTPClient.Request(.get, "http://a.test/1")
        for try await _ in client.pages(
            of: request,
            next: { page in
                page.url.path == "/1" ? try page.url.resolving("/2") : nil
            }
        ) { count += 1 }
        #expect(count == 2)
    }
}
