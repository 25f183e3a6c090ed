import DirectHTTP
import DirectHTTPFoundation
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Bad input")
struct BadInputTests {
    @Test(arguments: [
        ("http:///path", URLError.Code.badURL),
        ("http://", .badURL),
        ("/relative", .unsupportedURL),
        ("file:///etc/hostname", .unsupportedURL),
        ("ftp://example.com/", .unsupportedURL),
        ("http://127.1/", .badURL),
    ])
    func aURLThatIsNotOurs(_ text: String, _ code: URLError.Code) async throws {
        let url = try #require(URL(string: text))
        let error = await urlError { _ = try await HTTPClient().data(from: url) }
        #expect(error?.code == code)
        guard case .url = error?.httpError?.reason else {
            Issue.record("\(error as Any) has no fault of a URL underneath")
            return
        }
        #expect(error?.httpError?.phase == .request)
    }

    @Test func theErrorsURLHasNoPassword() async throws {
        let url = try #require(URL(string: "http://user:secret@127.1/"))
        let error = try #require(await urlError { _ = try await HTTPClient().data(from: url) })
        #expect(!"\(error) \(error.userInfo)".contains("secret"))
    }

    @Test(arguments: [("X Y", "z"), ("", "z"), ("X-Y", "a\u{1}b"), ("X-Y", "a\u{7F}b")])
    func aFieldThatBreaksTheGrammarIsNotSent(_ name: String, _ value: String) async throws {
        let server = try FixtureServer.start { _ in .text("never") }
        var request = try server.request("GET")
        request.setValue(value, forHTTPHeaderField: name)
        try #require(request.allHTTPHeaderFields?[name] == value)
        let error = await urlError { _ = try await HTTPClient().data(for: request) }
        #expect(error?.code == .badURL)
        #expect(error?.httpError?.phase == .request)
        #expect(server.requests.isEmpty)
    }

    @Test func aMethodThatBreaksTheGrammarIsNotSent() async throws {
        let server = try FixtureServer.start { _ in .text("never") }
        let request = try server.request("GET / HTTP/1.1\r\nX: y")
        let error = await urlError { _ = try await HTTPClient().data(for: request) }
        #expect(error?.code == .badURL)
        #expect(server.requests.isEmpty)
    }

    @Test func anotherHostThanTheURLsIsRefused() async throws {
        let server = try FixtureServer.start { _ in .text("never") }
        var request = try server.request("GET")
        request.setValue("example.com", forHTTPHeaderField: "Host")
        let error = await urlError { _ = try await HTTPClient().data(for: request) }
        #expect(error?.httpError?.phase == .request)
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [nil, "12"])
    func aStreamThatFailsMidwayFailsTheRequest(_ announced: String?) async throws {
        let server = try FixtureServer.start { try .echo($0) }
        var request = try server.request("POST")
        request.httpBodyStream = ScriptedStream([Data("half".utf8)], failure: Breakdown())
        request.setValue(announced, forHTTPHeaderField: "Content-Length")
        let error = await urlError { _ = try await HTTPClient().data(for: request) }
        #expect(error?.code == .requestBodyStreamExhausted)
        guard case .bodySource = error?.httpError?.reason else {
            Issue.record("\(error as Any) does not blame the body")
            return
        }
        #expect(server.requests.allSatisfy { !$0.isComplete })
    }

    @Test(arguments: ["9", "3"])
    func aStreamOfAnotherLengthFailsTheRequest(_ announced: String) async throws {
        let server = try FixtureServer.start { try .echo($0) }
        var request = try server.request("POST")
        request.httpBodyStream = ScriptedStream([Data("half".utf8)])
        request.setValue(announced, forHTTPHeaderField: "Content-Length")
        let error = await urlError { _ = try await HTTPClient().data(for: request) }
        #expect(error?.code == .requestBodyStreamExhausted)
    }

    @Test func aFileThatIsNotThereFailsTheUpload() async throws {
        let server = try FixtureServer.start { try .echo($0) }
        let file = URL(fileURLWithPath: "/nowhere/at/all")
        let error = await urlError {
            _ = try await HTTPClient().upload(for: server.request("POST"), fromFile: file)
        }
        #expect(error?.code == .fileDoesNotExist)
        #expect(server.requests.isEmpty)
    }

    @Test func aFolderThatIsNotThereFailsTheDownload() async throws {
        let server = try FixtureServer.start { _ in .text("x") }
        let error = await urlError {
            _ = try await HTTPClient().download(from: server.url(), in: URL(fileURLWithPath: "/nowhere"))
        }
        #expect(error?.code == .cannotCreateFile)
    }

    @Test func aRefusedConnectionNamesEveryAttempt() async throws {
        let refusing = try FixtureServer.refusing()
        let url = try #require(URL(string: "http://\(refusing.authority)/"))
        let error = await urlError { _ = try await HTTPClient().data(from: url) }
        #expect(error?.code == .cannotConnectToHost)
        #expect(error?.httpError?.phase == .connect)
        #expect(error?.failingURL == url)
    }

    @Test func aCertificateForAnotherNameIsUntrusted() async throws {
        let authority = TestAuthority()
        let certificate = authority.certificate(for: "other.example")
        let server = try FixtureServer.start(.tls(certificates: [certificate])) { _ in .text("never") }
        var addresses = StaticMap()
        try addresses.set([Endpoint(stringLiteral: server.authority)], for: HostPattern("www.example"))
        let client = HTTPClient { [addresses] in
            $0.tls.roots = .only([.der(authority.rootDER)])
            $0.addresses = addresses
        }
        let url = try #require(URL(string: "https://www.example/"))
        let error = await urlError { _ = try await client.data(from: url) }
        #expect(error?.code == .serverCertificateUntrusted)
        #expect(error?.httpError?.phase == .tls)
    }
}
