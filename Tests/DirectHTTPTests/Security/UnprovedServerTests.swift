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
        try .start(.tls(stranger.certificate(for: "a.test")), handler)
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
