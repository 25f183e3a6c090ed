import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectCore
@testable import DirectHTTP

/// Numbers its answers; from one of them on it fails, or waits until its task is cancelled.
private final class NumberingAuthenticator: Authenticator {
    struct Failure: Error {}

    enum End: Sendable {
        case fails, hangs
    }

    private let count = Locked(0)
    private let end: (after: Int, End)?

    init(end: (after: Int, End)? = nil) {
        self.end = end
    }

    func authorization(for request: AuthenticationRequest) async throws -> String? {
        let number = count.withLock { count in
            count += 1
            return count
        }
        if let end, number > end.after, end.1 == .fails { throw Failure() }
        if let end, number > end.after { try await Task.sleep(for: .seconds(86_400)) }
        return "Number \(number)"
    }

    func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? { nil }
}

@Suite("Credentials of requests whose kept connection was dead", .idleLimit)
struct RenewedCredentialsTests {
    private static let ok: ByteScript.Step = .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    private let time = HeldTime()

    /// A server whose first connection dies with the second request, and whose later ones return a field's value.
    private func server(before steps: [ByteScript.Step] = [], echoing field: String = "authorization") throws
        -> FixtureServer
    {
        try FixtureServer.start(
            behaviour: .sequence([
                .bytes(ByteScript(steps + [.awaitHead, Self.ok, .awaitHead, .cut])),
                .http { .text($0.headers[field] ?? "none") },
            ])
        )
    }

    private func refusal(_ status: String, _ field: String) -> ByteScript.Step {
        .send(
            "HTTP/1.1 \(status)\r\n\(field): Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
                + "Content-Length: 0\r\n\r\n"
        )
    }

    private func count(in credentials: String?) -> String? {
        Challenge.all(of: credentials ?? "").first?.parameters["nc"]
    }

    @Test("The answer to a digest challenge has a count of its own on the new connection")
    func digest() async throws {
        let server = try server(before: [.awaitHead, refusal("401 No", "WWW-Authenticate")])
        let client = HTTPClient.untimed()
        var request = Request(.get, server.http())
        request.authenticator = .digest(user: "u", password: "p")
        #expect(try await client.fetch(request).text == "ok")
        let second = try await client.fetch(request)
        #expect(count(in: second.text) == "00000003")
        #expect(server.records.count == 2)
    }

    @Test("The same for the proxy that forwards the request")
    func proxy() async throws {
        let proxy = try server(
            before: [.awaitHead, refusal("407 No", "Proxy-Authenticate")],
            echoing: "proxy-authorization"
        )
        let url = "http://127.0.0.1:\(proxy.port)"
        let origin = try HTTPURL(url).origin
        let settings = try Proxy(url)
        let client = HTTPClient.untimed {
            $0.proxy = ProxySettings(settings)
            $0.proxyAuthenticators[origin] = .digest(user: "u", password: "p")
        }
        #expect(try await client.get("http://a.test/").text == "ok")
        #expect(count(in: try await client.get("http://a.test/").text) == "00000003")
    }

    @Test("A field that an interceptor has put in place of the authenticator's is sent again as it is")
    func replaced() async throws {
        let server = try server()
        let url = server.http()
        let origin = try HTTPURL(url).origin
        let client = HTTPClient.untimed {
            $0.authenticators[origin] = NumberingAuthenticator()
            $0.networkInterceptors = [
                { request, next in
                    var request = request
                    if request.headers["X-Own"] != nil { request.headers["Authorization"] = "Own" }
                    return try await next(request)
                }
            ]
        }
        #expect(try await client.get(url).text == "ok")
        var request = Request(.get, url)
        request.headers["X-Own"] = "1"
        #expect(try await client.fetch(request).text == "Own")
        #expect(try await client.get(url).text == "Number 3")
    }

    @Test("An authenticator's error ends the call, and the new connection serves the next one")
    func failure() async throws {
        let server = try server()
        let client = HTTPClient.untimed()
        var request = Request(.get, server.http())
        request.authenticator = NumberingAuthenticator(end: (after: 2, .fails))
        #expect(try await client.fetch(request).text == "ok")
        await #expect(throws: NumberingAuthenticator.Failure.self) { try await client.fetch(request) }
        let next = try await client.get(server.http())
        #expect(next.text == "none" && next.isReused)
        #expect(server.records.count == 2)
    }

    @Test("The call's deadline and its cancellation end the wait for an authenticator")
    func hanging() async throws {
        for isCancelled in [false, true] {
            let server = try server()
            let client = time.client { $0.timeouts.total = .seconds(5) }
            var request = Request(.get, server.http())
            request.authenticator = NumberingAuthenticator(end: (after: 2, .hangs))
            #expect(try await client.fetch(request).text == "ok")
            let call = Task { [request] in try await client.fetch(request) }
            try await server.waitUntil { $0.count == 2 }
            await time.settle()
            if isCancelled {
                call.cancel()
                await #expect(throws: CancellationError.self) { try await call.value }
            } else {
                time.advance(by: .seconds(5))
                let late = try await httpError { try await call.value }
                #expect(late.isTimeout, "\(late)")
            }
            #expect(try await client.get(server.http()).isReused)
        }
    }
}
