import DirectCore
import DirectTestCommands
import TLSFixtures
import Testing

@testable import DirectHTTP

/// An authority that no client of these tests trusts.
private let stranger = TestAuthority("Unknown Root")

@Suite("What is taken from a server that has not proved its name", .idleLimit)
struct UnprovedServerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func rogue(_ handler: @escaping FixtureHandler) throws -> FixtureServer {
        try .start(.tls(stranger.certificate(for: "a.test")), handler: handler)
    }

    private func accepting(_ configure: (inout HTTPClient.Configuration) -> Void = { _ in }) -> HTTPClient {
        .downloading {
            $0.tls.insecureOverride = InsecureCertificateOverride { _ in true }
            configure(&$0)
        }
    }

    private func request(_ server: FixtureServer) -> Request { server.request("https://a.test/film") }

    private static let fields: FixtureHeaders = [
        "Set-Cookie": "id=rogue; Secure", "Set-Cookie": "plain=rogue", "Set-Cookie": "new=rogue; Secure",
        "Set-Cookie": "__Host-x=rogue; Secure; Path=/", "Strict-Transport-Security": "max-age=600",
    ]

    @Test("It sets and replaces no Secure cookie, as a server over plain HTTP does not")
    func cookies() async throws {
        let server = try rogue { _ in .text("", Self.fields) }
        let other = try FixtureServer.secure("b.test") { _ in .text("", Self.fields) }
        var named = other.request("https://a.test/film")
        named.insecureServerIdentity = InsecureServerIdentity(verified: try HTTPHost("b.test"))
        let url = try HTTPURL("https://a.test/")
        for (request, client) in [(request(server), accepting), (named, { HTTPClient.trusting($0) })]
            as [(Request, ((inout HTTPClient.Configuration) -> Void) -> HTTPClient)]
        {
            let (jar, hsts) = (CookieJar(), HSTSStore())
            jar.take(["Set-Cookie": "id=true; Secure"], from: url)
            let using = client {
                $0.cookies = jar
                $0.hsts = hsts
            }
            _ = try await using.fetch(request)
            #expect(
                Set(jar.cookies(for: url).map { "\($0.name)=\($0.value)" }) == ["id=true", "plain=rogue"]
            )
            #expect(hsts.upgrades(url.with(scheme: .http), at: .now) == nil)
        }
        let honest = try FixtureServer.secure("a.test") { _ in .text("", Self.fields) }
        let jar = CookieJar()
        _ = try await HTTPClient.trusting { $0.cookies = jar }.fetch(self.request(honest))
        #expect(jar.cookies(for: url).count == 4)
    }

    @Test("A server has proved the address of a URL, whatever its zone")
    func zone() async throws {
        let server = try FixtureServer.secure("fe80::1") { _ in .text("", Self.fields) }
        let url = "https://[fe80::1%25zone9]/"
        let jar = CookieJar()
        _ = try await HTTPClient.trusting { $0.cookies = jar }.fetch(server.request(url))
        #expect(jar.cookies(for: try HTTPURL(url)).count == 4)
    }

    /// A way to reach a server that does not prove to be a.test, or not to an authority that the client
    /// trusts.
    enum Way: CaseIterable {
        case override, otherName, ownRoots
    }

    private func client(_ way: Way, cache: ResponseCache) -> HTTPClient {
        switch way {
        case .override: accepting { $0.cache = cache }
        case .otherName, .ownRoots: .trusting { $0.cache = cache }
        }
    }

    private func server(_ way: Way, _ handler: @escaping FixtureHandler) throws -> FixtureServer {
        switch way {
        case .override, .ownRoots: try rogue(handler)
        case .otherName: try .secure("b.test") { try handler($0) }
        }
    }

    private func request(_ way: Way, _ server: FixtureServer, _ method: HTTPMethod = .get) throws -> Request {
        var request = request(server)
        request.method = method
        if way == .otherName {
            request.insecureServerIdentity = InsecureServerIdentity(verified: try HTTPHost("b.test"))
        }
        if way == .ownRoots {
            var tls = TLSSettings()
            tls.roots = .only([.der(stranger.rootDER)])
            request.tls = tls
        }
        return request
    }

    @Test("The cache keeps none of its responses", arguments: Way.allCases)
    func cachedResponses(way: Way) async throws {
        let fields: FixtureHeaders = [
            "Cache-Control": "max-age=600", "Content-Location": "https://a.test/film",
        ]
        let server = try server(way) { _ in .text("rogue", fields) }
        let honest = try FixtureServer.secure("a.test") { _ in .text("honest", fields) }
        for method in [HTTPMethod.get, .post] {
            let cache = ResponseCache.memory()
            let client = client(way, cache: cache)
            #expect(try await client.fetch(request(way, server, method)).text == "rogue")
            let strict = HTTPClient.trusting { $0.cache = cache }
            #expect(try await strict.fetch(request(honest)).text == "honest")
            #expect(try await strict.fetch(request(honest)).cacheUse == .hit)
        }
    }

    @Test(
        "Those of a server that has proved its name are kept, whatever the form of the host",
        arguments: [
            ("a.test", "a.test"), ("A.test", "a.test"), ("a.test.", "a.test"), ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "::1"),
        ]
    )
    func provedHosts(host: String, name: String) async throws {
        let server = try FixtureServer.secure(name) { _ in
            .text("kept", ["Cache-Control": "max-age=600"])
        }
        let client = HTTPClient.trusting { $0.cache = .memory() }
        let request = server.request("https://\(host)/")
        _ = try await client.fetch(request)
        #expect(try await client.fetch(request).cacheUse == .hit)
    }

    @Test("What it says about a kept response changes nothing in the cache")
    func confirmations() async throws {
        let server = try rogue {
            $0.method == "HEAD"
                ? .text("", ["Cache-Control": "max-age=600", "X-From": "rogue"])
                : .status(304, ["Cache-Control": "max-age=600", "X-From": "rogue", "ETag": "\"1\""])
        }
        let honest = try FixtureServer.secure("a.test") {
            $0.headers["If-None-Match"] == "\"1\""
                ? .status(304) : .text("honest", ["Cache-Control": "max-age=0", "ETag": "\"1\""])
        }
        let cache = ResponseCache.memory()
        let strict = HTTPClient.trusting { $0.cache = cache }
        _ = try await strict.fetch(request(honest))
        let client = accepting { $0.cache = cache }
        // A client that accepts it finds none of the strict one's responses, so none is confirmed.
        #expect(try await client.fetch(request(server)).status == .notModified)
        var conditional = request(server)
        conditional.headers["If-None-Match"] = "\"1\""
        #expect(try await client.fetch(conditional).status == .notModified)
        var head = request(server)
        head.method = .head
        _ = try await client.fetch(head)
        let response = try await strict.fetch(request(honest))
        #expect(response.text == "honest" && response.headers["X-From"] == nil)
        #expect(response.cacheUse == .revalidated)
    }

    @Test(
        "A strict client does not continue the file that it has begun, nor an override that of a strict client"
    )
    func downloads() async throws {
        let content = pattern(at: 0, count: 300_000)
        let (bad, good) = (
            Resource(content.map { $0 ^ 1 }, faults: [.cut(after: 100_000), .reply(.status(404))]),
            Resource(content)
        )
        let rogue = try rogue { bad.answer($0) }
        let honest = try FixtureServer.secure("a.test") { good.answer($0) }
        _ = try await httpError { try await accepting().download(request(rogue), to: folder.path + "/film") }
        let record = try folder.read("film.part.info")
        #expect(String(decoding: record, as: UTF8.self).contains("\nserver "))
        let strict = HTTPClient.downloading()
        let result = try await strict.download(request(honest), to: folder.path + "/film")
        #expect(try folder.read("film") == content && result.restarts == 1 && result.resumedBytes == 0)
        #expect(good.ranges == ["bytes=100000-", nil])

        good.fault(.cut(after: 100_000), .reply(.status(404)))
        _ = try await httpError { try await strict.download(request(honest), to: folder.path + "/other") }
        let second = try await accepting().download(request(rogue), to: folder.path + "/other")
        #expect(try folder.read("other") == content.map { $0 ^ 1 } && second.restarts == 1)
    }

    @Test("The same override continues what it has begun with the same key, and with no other key")
    func sameKey() async throws {
        let content = pattern(at: 0, count: 300_000)
        let resource = Resource(content, faults: [.cut(after: 100_000), .reply(.status(404))])
        let server = try rogue { resource.answer($0) }
        let client = accepting()
        let path = folder.path + "/film"
        _ = try await httpError { try await client.download(request(server), to: path) }
        let result = try await client.download(request(server), to: path)
        #expect(result.resumedBytes == 100_000 && result.restarts == 0)

        resource.fault(.cut(after: 100_000), .reply(.status(404)))
        _ = try await httpError { try await client.download(request(server), to: path) }
        let another = try FixtureServer.start(.tls(TestAuthority().certificate(for: "a.test"))) {
            resource.answer($0)
        }
        let anew = try await client.download(request(another), to: path)
        #expect(try folder.read("film") == content && anew.restarts == 1)
    }

    @Test("The record of a server without proof is read as it was written, and none that was changed")
    func record() throws {
        let url = try HTTPURL("https://a.test/")
        let representation = Representation(
            url: url,
            identity: "name b.test",
            validator: .entityTag("\"1\""),
            length: 9
        )
        let digest = [UInt8](repeating: 7, count: 32)
        let record = DownloadRecord(representation, savedBytes: 3, digest: digest)
        let bytes = try #require(record?.bytes)
        #expect(DownloadRecord(parsing: bytes) == record)
        let text = String(decoding: bytes, as: UTF8.self)
        let without = text.split(separator: "\n").filter { !$0.hasPrefix("server ") }.joined(separator: "\n")
        #expect(DownloadRecord(parsing: Array((without + "\n").utf8)) == nil)
        let plain = DownloadRecord(
            Representation(url: url, validator: .entityTag("\"1\""), length: 9),
            savedBytes: 3,
            digest: digest
        )
        #expect(plain?.bytes.flatMap(DownloadRecord.init(parsing:)) == plain && plain != record)
    }
}
