@testable import DirectCore
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Descriptions, logs and dumps")
struct DescriptionTests {
    private static let url = "https://joe:hunter2@a.test/path"

    /// Everything that holds a secret, which is `hunter2` in each.
    private static func holders() async throws -> [Any] {
        let url = try HTTPURL(url)
        var request = Request(.post, url, headers: ["Authorization": "hunter2"], body: .text("hunter2"))
        request.authenticator = .basic(user: "joe", password: "hunter2")
        var settings = HTTPClient.Configuration()
        settings.headers["X-API-Key"] = "hunter2"
        settings.authenticators[url.origin] = .basic(user: "joe", password: "hunter2")
        settings.proxy = ProxySettings(try Proxy("http://joe:hunter2@proxy.test"))
        let jar = CookieJar()
        jar.add(try Cookie("sid", "hunter2", for: url.host))
        settings.cookies = jar
        settings.cache = .memory()
        settings.transport = { request in
            let fields: HTTPHeaders = ["Set-Cookie": "a=hunter2", "Cache-Control": "max-age=60"]
            return try Response(to: request, 200, headers: fields, body: Array("hunter2".utf8))
        }
        let client = HTTPClient(settings)
        return [
            url, request, settings, client, try await client.send(Request(.get, url)),
            try await client.fetch(Request(.get, url)),
            StandardAuthenticator.bearer("hunter2"),
            StandardAuthenticator.digest(user: "joe", password: "hunter2"),
            RequestBody.form(["password": "hunter2"]), FormPart.field("password", "hunter2"),
            RequestBody.multipart([.field("password", "hunter2")]),
        ]
    }

    @Test("The history of an error, and its dump, show no value of an earlier URL's query")
    func history() async throws {
        let script = Script.redirecting(302, "https://joe:hunter2@b.test/?to=hunter2", "ftp://a.test/")
        let error = try await httpError {
            try await script.client().get("https://a.test/?code=hunter2#hunter2")
        }
        #expect(error.history.count == 1)
        var dumped = "\(error) \(error.history) \(String(reflecting: error))"
        dump(error, to: &dumped)
        dump(error.history, to: &dumped)
        #expect(!dumped.contains("hunter2") && dumped.contains("https://a.test/"))
        #expect(error.history[0].url.text.contains("hunter2"))
    }

    @Test(
        "A field of any name shows no query, no user of a URL, no token of a protocol and no password",
        arguments: [
            ("X-Forwarded-Uri", "/cb?code=hunter2"), ("Destination", "https://joe:hunter2@a.test/x"),
            ("SOAPAction", "\"http://a.test/x#hunter2\""),
            ("Report-To", #"{"endpoints":[{"url":"https://a.test/?k=hunter2"}]}"#),
            ("WWW-Authenticate", #"Bearer authorization_uri="https://joe:hunter2@a.test/""#),
            ("WWW-Authenticate", #"Bearer authorization_uri="https://a.test/?x=hunter2""#),
            ("Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io.hunter2"),
            ("X-Pass", "hunter2"), ("X-Otp", "hunter2"), ("X-Login", "joe:hunter2"),
            ("X-Hub-Signature-256", "sha256=hunter2"), ("Signature", "sig1=:hunter2:"),
            ("X-A", "p?k=hunter2"), ("X-A", "myapp:cb?code=hunter2"), ("X-A", "?k=hunter2;l=1"),
            ("X-A", "url=urn:x?hunter2"), ("X-A", "#hunter2"), ("Refresh", "/p?k=hunter2; url=/"),
            ("Location", "/?a=1&hunter2;b=2"), ("Link", "</p?hunter2;b=2>; rel=next"),
            ("Location", "\"https://joe:hunter2@a.test/\""), ("X-A", "Bearer\thunter2"),
            ("Location", "/cb?hunter2=="), ("X-A", "/cb?a=1&hunter2="), ("Referer", "/#hunter2="),
            ("X-A", "//joe:hunter2@a.test/p"), ("Sec-WebSocket-Protocol", "https://joe:hunter2@a.test/"),
        ]
    )
    func fields(name: String, value: String) {
        #expect(!FieldRedaction().shown(name, value).contains("hunter2"))
        #expect(FieldRedaction().shown("Signature-Input", "sig1=(\"date\")") == "sig1=(\"date\")")
        #expect(FieldRedaction().shown("X-Bypass", "1") == "1")
        #expect(FieldRedaction().shown("Accept", "text/html, */*;q=0.8") == "text/html, */*;q=0.8")
    }

    @Test("An error of the caller's own names its attempts, and has no certificates")
    func attempts() throws {
        let attempt = Attempt(
            "192.0.2.1",
            source: .resolver("sdk"),
            phase: .connect,
            reason: .timedOut(after: .seconds(2)),
            elapsed: .milliseconds(2000)
        )
        let error = HTTPError(
            .connect,
            .connectionClosed,
            url: try HTTPURL("https://a.test/"),
            attempts: [attempt]
        )
        #expect(attempt.certificates.isEmpty)
        #expect(error.description.contains("192.0.2.1"))
        #expect(error.description.contains(attempt.reason.description))
    }

    @Test("What is set of an exchange is read back")
    func exchangeOptions() throws {
        var request = Request(.get, try HTTPURL(Self.url))
        #expect(request.onInterim == nil && request.onUpload == nil && request.onDownload == nil)
        #expect(request.sendingRate == nil && request.receivingRate == nil)
        request.onInterim = { _ in }
        request.onUpload = { _ in }
        request.onDownload = { _ in }
        let (slow, fast) = (RateLimit(bytesPerSecond: 1), RateLimit(bytesPerSecond: 2))
        (request.sendingRate, request.receivingRate) = (slow, fast)
        #expect(request.onInterim != nil && request.onUpload != nil && request.onDownload != nil)
        #expect(request.sendingRate === slow && request.receivingRate === fast)
    }

    @Test("Descriptions and dumps have no password, token, field or cookie value, and no byte of a body")
    func secrets() async throws {
        let bytes = "hunter2".utf8.map { "\($0)" }
        let secrets = ["hunter2", bytes.joined(separator: ", "), Base64.encode(Array("joe:hunter2".utf8))]
        for holder in try await Self.holders() {
            var dumped = ""
            dump(holder, to: &dumped)
            // A dump has one byte on a line.
            let words = dumped.split { " \n-".contains($0) }.joined(separator: ", ")
            for text in ["\(holder)", String(reflecting: holder), dumped, words] {
                for secret in secrets { #expect(!text.contains(secret), "\(type(of: holder)): \(text)") }
            }
        }
    }

    @Test("The descriptions of messages name their parts")
    func words() async throws {
        let client = Script((404, [:])).client()
        let full = try await client.get("http://a.test/x")
        #expect("\(full)" == "404 from http://a.test/x, 1 bytes")
        #expect("\(try await client.send(Request(.get, "http://a.test/x")))" == "404 from http://a.test/x")
        #expect("\(Request(.post, Self.url))" == "POST https://a.test/path")
        #expect("\(Request(.get, "nonsense"))" == "GET without a URL")
        #expect("\(RequestBody.text("abc"))" == "3 bytes, text/plain; charset=utf-8")
    }

    @Test("A status other than success is an error if the caller requires success")
    func success() async throws {
        let client = Script((302, ["Location": "/home"]), (404, [:]), (201, [:])).client()
        let error = try await httpError { try await client.get("http://a.test/").requiringSuccess() }
        guard case .status(404) = error.reason else { throw error }
        #expect(error.description == "GET http://a.test/home: response: the server answered 404")
        #expect(error.history.map(\.reason) == [.redirect])
        #expect(try await client.send(Request(.get, "http://a.test/")).requiringSuccess().status == 201)
    }

    @Test(
        "The error for a reserved field says what to do instead",
        arguments: [
            ("Host", "addresses"), ("Connection", "upgrade"), ("Expect", "expectsContinue"),
            ("Content-Length", "the request's body determines it"),
        ]
    )
    func ownedFields(field: String, advice: String) {
        #expect("\(HTTP1Error.fieldOwnedByLibrary(name: field))".contains(advice))
    }

    @Test("The error for a file that cannot be read or written names the file")
    func files() async throws {
        let client = Script((200, [:])).client()
        let server = try FixtureServer.start { _ in .text("never") }
        let part = RequestBody.multipart([.file("f", path: "/no/such/file")])
        for body in [.file("/no/such/file"), part] {
            let missing = try await httpError { try await HTTPClient.untimed().post(server.http(), body) }
            #expect(
                missing.description.hasSuffix("open \"/no/such/file\": No such file or directory"),
                "\(missing)"
            )
        }
        let error = try await httpError {
            try await client.send(Request(.get, "http://a.test/")).body.write(to: "/no/such\n/file")
        }
        #expect(
            error.description.hasSuffix("open \"/no/such\\n/file\": No such file or directory"),
            "\(error)"
        )
    }

    @Test("An error in a client's configuration is thrown unchanged")
    func configuration() {
        #expect(throws: ProxyError.self) {
            try HTTPClient.untimed { $0.proxy = ProxySettings(try Proxy("ftp://a")) }
        }
    }
}
