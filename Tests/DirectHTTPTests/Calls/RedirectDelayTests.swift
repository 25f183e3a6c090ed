@testable import DirectCore
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Redirects that ask for a delay", .idleLimit)
struct RedirectDelayTests {
    private let time = HeldTime()

    private func server(_ delay: String, _ fields: FixtureHeaders = [:]) throws -> FixtureServer {
        try FixtureServer.start { request in
            guard request.path == "/" else { return .text("there") }
            var headers: FixtureHeaders = ["Location": "/next", "Retry-After": delay]
            for field in fields.fields { headers.append(field.name, field.value) }
            return .text("", status: 302, headers)
        }
    }

    private func client(
        _ longest: Duration?,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient {
        time.client {
            $0.redirects.longestDelay = longest
            configure(&$0)
        }
    }

    @Test("The client waits as long as the server asks if the policy allows it, and otherwise not at all")
    func delayed() async throws {
        let server = try server("7")
        let client = client(.seconds(10))
        let call = Task { try await client.get(server.http()) }
        try await time.waitBegins(for: .seconds(7))
        #expect(server.requests.count == 1)
        time.advance(by: .seconds(7))
        let response = try await call.value
        #expect(response.text == "there" && response.history.map(\.reason) == [.redirect])
        #expect(try await self.client(nil).get(server.http()).text == "there")
        // A request's own policy takes the place of the client's.
        var request = Request(.get, server.http())
        request.redirects = .follow
        #expect(try await client.fetch(request).text == "there")
    }

    @Test(
        "A longer delay, and one past the call's deadline, are errors that say how long it is",
        arguments: [8, 300]
    )
    func tooLong(longest: Int) async throws {
        let server = try server("9")
        let client = client(.seconds(longest)) { $0.timeouts.total = longest > 9 ? .seconds(9) : nil }
        let error = try await httpError { try await client.get(server.http()) }
        guard case .redirect(.delay(.seconds(9))) = error.reason else { throw error }
        #expect(error.phase == .redirect && server.requests.count == 1)
    }

    @Test("Cancellation ends the wait")
    func cancelled() async throws {
        let server = try server("7")
        let client = client(.seconds(10))
        let call = Task { try await client.get(server.http()) }
        try await time.waitBegins(for: .seconds(7))
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(server.requests.count == 1)
    }

    @Test("A delay that makes no sense is none, and one of a stored redirect has been waited for")
    func none() async throws {
        let odd = try server("soon")
        #expect(try await client(.seconds(10)).get(odd.http()).text == "there")
        let server = try server("7", ["Cache-Control": "max-age=600"])
        let client = client(.seconds(10)) { $0.cache = .memory() }
        let call = Task { try await client.get(server.http()) }
        try await time.pass(.seconds(7))
        #expect(try await call.value.text == "there")
        let again = try await client.get(server.http())
        #expect(again.text == "there" && server.requests.map(\.target).filter { $0 == "/" }.count == 1)
    }
}
