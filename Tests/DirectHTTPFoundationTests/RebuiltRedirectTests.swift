import DirectCore
import DirectHTTP
import DirectHTTPFoundation
import DirectIO
import Foundation
import TLSFixtures
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Redirects changed by a session's delegate")
struct RebuiltRedirectTests {
    @Test("A redirect that the delegate has changed sends no secret of the client to another origin")
    func clientFields() async throws {
        let b = try FixtureServer.start { _ in .text("b") }
        let a = try FixtureServer.start { _ in .redirect(to: "http://\(b.authority)/") }
        let client = HTTPClient { $0.headers = ["X-Api-Key": "secret", "Authorization": "Bearer secret"] }
        #expect(try await Self.body(of: a.url(), by: client) == "b")
        let seen = try #require(b.requests.first)
        #expect(seen.headers["x-api-key"] == nil && seen.headers["authorization"] == nil)
        #expect(seen.headers["x-trace"] == "1")
        #expect(a.requests.first?.headers["x-api-key"] == "secret")
    }

    @Test(
        "A redirect keeps its URL as the server wrote it where the delegate changes or rebuilds the request"
    )
    func writtenURL() async throws {
        let target = "/next?f[name]=J%C3%BCrgen&sig=a%2Fb"
        let server = try FixtureServer.start { request in
            request.path == "/" ? .redirect(to: target) : .text(request.target)
        }
        for isCopy in [true, false] {
            let text = try await Self.body(of: server.request("GET", "/"), by: HTTPClient()) {
                var request = isCopy ? $0 : URLRequest(url: $0.url ?? URL(fileURLWithPath: "/"))
                request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
                return request
            }
            #expect(text == target)
        }
    }

    @Test("A request that the delegate has made anew has no body, and a changed one has that of the redirect")
    func body() async throws {
        let b = try FixtureServer.start { request in .text("\(request.method) \(try request.text)") }
        let a = try FixtureServer.start { request in
            _ = try request.body
            return .redirect(to: "http://\(b.authority)/", status: 307)
        }
        let url = try a.url()
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data("password".utf8)
        let anew = try await Self.body(
            of: request,
            by: HTTPClient(),
            deciding: { URLRequest(url: $0.url ?? url) }
        )
        #expect(anew == "GET ")
        // Also where it announces the same as the task did.
        let posted = try await Self.body(of: request, by: HTTPClient()) {
            var request = URLRequest(url: $0.url ?? url)
            request.httpMethod = "POST"
            return request
        }
        #expect(posted == "POST ")
        let other = try await Self.body(of: request, by: HTTPClient()) {
            var request = $0
            request.httpBody = Data("other".utf8)
            return request
        }
        #expect(other == "POST other")
        #expect(try await Self.body(of: request, by: HTTPClient()) == "POST password")
    }

    @Test("The body that the delegate gives its request is sent, also after a redirect without one")
    func bodyOfTheDelegate() async throws {
        let server = try FixtureServer.start { request in
            let text = try request.text
            guard request.path != "/next" else { return .text("\(request.method) \(text)") }
            return .redirect(to: "/next", status: Int(request.path.dropFirst()) ?? 0)
        }
        for isCopy in [true, false] {
            let seeOther = try await Self.body(of: server.request("POST", "/303"), by: HTTPClient()) {
                var request = isCopy ? $0 : URLRequest(url: $0.url ?? URL(fileURLWithPath: "/"))
                request.httpMethod = "POST"
                request.httpBody = Data("other".utf8)
                return request
            }
            #expect(seeOther == "POST other")
        }
        var put = try server.request("PUT", "/307")
        put.httpBody = Data("body".utf8)
        for (method, text) in [("POST", "POST body"), ("GET", "GET ")] {
            let answer = try await Self.body(of: put, by: HTTPClient()) {
                var request = $0
                request.httpMethod = method
                return request
            }
            #expect(answer == text)
        }
    }

    /// The response to a session whose delegate adds a field to each redirect.
    private static func body(of url: URL, by client: HTTPClient) async throws -> String {
        try await body(of: URLRequest(url: url), by: client)
    }

    private static func body(
        of request: URLRequest,
        by client: HTTPClient,
        deciding decide: @escaping @Sendable (URLRequest) -> URLRequest = traced
    ) async throws -> String {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [client.urlProtocolClass()]
        let delegate = RedirectingDelegate { _, request in decide(request) }
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        session.dataTask(with: request).resume()
        defer { session.finishTasksAndInvalidate() }
        return try await delegate.text()
    }

    private static func traced(_ request: URLRequest) -> URLRequest {
        var request = request
        request.setValue("1", forHTTPHeaderField: "X-Trace")
        // On Linux requests are equal that differ in fields only.
        request.url = request.url.flatMap { URL(string: $0.absoluteString + "?traced") }
        return request
    }
}
