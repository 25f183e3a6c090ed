import DirectCore
import DirectTestCommands
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("The authenticators of a call, and redirects to what is not HTTP", .idleLimit)
struct CallAuthenticatorTests {
    /// Lets the logins of its own user in, and sends others on where the query says.
    private func server(_ user: String) throws -> FixtureServer {
        try FixtureServer.start { request in
            let parts = request.target.split(separator: "?", maxSplits: 1).map(String.init)
            if parts.count == 2 { return .redirect(to: parts[1]) }
            let challenge: FixtureHeaders = ["WWW-Authenticate": "Basic realm=\"\(user)\""]
            guard let given = request.headers["authorization"] else {
                return .text("who?", status: 401, challenge)
            }
            return .text(given)
        }
    }

    private func basic(_ user: String) -> String { "Basic " + Base64.encode(Array("\(user):word".utf8)) }

    private func origin(_ server: FixtureServer) throws -> Origin { try HTTPURL(server.http()).origin }

    @Test("Each origin of a call gets its own credentials when it asks, and no others")
    func origins() async throws {
        let (a, b, c) = (try server("a"), try server("b"), try server("c"))
        let places = [try origin(a): "a", try origin(b): "b"]
        var request = Request(.get, a.http("/?\(b.http("/"))"))
        request.authenticators = { origin in
            places[origin].map { user in LoginAuthenticator { _, _ in Login(user: user, password: "word") } }
        }
        let client = HTTPClient.untimed()
        #expect(try await client.fetch(request).text == basic("b"))
        try request.setURL(HTTPURL(a.http("/?\(c.http("/"))")))
        #expect(try await client.fetch(request).status == 401)
        // A way back to the first origin is one more way to it.
        try request.setURL(HTTPURL(a.http("/?\(b.http("/?\(a.http("/"))"))")))
        #expect(try await client.fetch(request).text == basic("a"))
        let sent = [a, b, c].map { Set($0.requests.compactMap { $0.headers["authorization"] }) }
        #expect(sent == [[basic("a")], [basic("b")], []])
    }

    @Test("An authenticator of the request comes before those of its call, and these before the client's")
    func order() async throws {
        let (a, b, c) = (try server("a"), try server("b"), try server("c"))
        let known = [try origin(a), try origin(b)]
        let client = try HTTPClient.untimed { settings in
            for server in [a, b, c] {
                settings.authenticators[try origin(server)] = .basic(user: "client", password: "word")
            }
        }
        for (own, expected) in [(true, ["own", "call", "client"]), (false, ["call", "call", "client"])] {
            var got: [String?] = []
            for path in ["/", "/?\(b.http("/"))", "/?\(c.http("/"))"] {
                var request = Request(.get, a.http(path))
                if own { request.authenticator = .basic(user: "own", password: "word") }
                request.authenticators = {
                    known.contains($0) ? StandardAuthenticator.basic(user: "call", password: "word") : nil
                }
                got.append(try await client.fetch(request).text)
            }
            #expect(got == expected.map(basic))
        }
        // A field of the caller's own comes before all, and stays with its origin.
        var request = Request(.get, a.http("/"), headers: ["Authorization": "mine"])
        request.authenticators = { _ in StandardAuthenticator.basic(user: "call", password: "word") }
        #expect(try await client.fetch(request).text == "mine")
        try request.setURL(HTTPURL(a.http("/?\(b.http("/"))")))
        #expect(try await client.fetch(request).text == basic("call"))
    }

    /// Asks for an app's URL first, and then for what the program makes of it.
    private func client(
        through decide: @escaping @Sendable (String, Response) async throws -> Request?
    ) -> HTTPClient {
        .untimed {
            $0.headers["X-Api-Key"] = "client's"
            $0.redirects.decideOnOtherScheme = decide
        }
    }

    @Test("What the program makes of a redirect to an app's URL has nothing that was set for an origin")
    func otherScheme() async throws {
        let app = try FixtureServer.start { request in
            request.target == "/" ? .redirect(to: "myapp://callback?code=42") : .text("here")
        }
        let other = try FixtureServer.start { _ in .text("there") }
        for (server, text) in [(app, "here"), (other, "there")] {
            let target = server.http("/next")
            let client = client { location, response in
                #expect(location == "myapp://callback?code=42" && response.status == 302)
                return Request(.get, target, headers: ["X-Own": "1"])
            }
            var request = Request(.get, app.http("/"), headers: ["X-Secret": "s"])
            request.authenticator = .basic(user: "own", password: "word")
            let response = try await client.fetch(request)
            #expect(response.text == text && response.history.map(\.reason) == [.redirect])
            let seen = try #require(server.requests.last)
            #expect(seen.headers["x-own"] == "1")
            for name in ["authorization", "x-secret", "x-api-key"] { #expect(seen.headers[name] == nil) }
        }
        let first = try #require(app.requests.first)
        #expect(first.headers["x-api-key"] == "client's" && first.headers["authorization"] == basic("own"))
    }

    @Test("Redirects to an app's URL are delivered if the program says so, and count as others do")
    func otherSchemeLimit() async throws {
        let server = try server("app")
        let url = server.http("/?myapp://callback")
        let delivered = try await client { _, _ in nil }.get(url)
        #expect(delivered.status == 302 && delivered.history.isEmpty)
        let endless = client { _, _ in Request(.get, url) }
        let error = try await httpError { try await endless.get(url) }
        #expect(error.redirectFault == .tooMany(limit: 20, isLoop: true) && error.history.count == 20)
        // A program that only follows is not asked.
        let plain = try await httpError { try await HTTPClient.untimed().get(url) }
        #expect(plain.redirectFault == .location(.unsupportedScheme("myapp")))
    }
}
