import DirectTestCommands
import TLSFixtures
import Testing

/// The examples of docs/TLSFixtures.md, with curl in the place of a user's client.
@Suite("Examples of the documentation", .idleLimit, .enabled(if: isInstalled("curl")))
struct DocumentationTests {
    @Test("The first example tests a client against two names")
    func firstExample() async throws {
        let authority = TestAuthority()
        let server = try FixtureServer.start(
            .tls(certificates: [authority.certificate(for: "a.test"), authority.certificate(for: "b.test")]),
            on: "127.0.0.2"
        ) { request in
            switch request.path {
            case "/old": .redirect(to: "/new")
            case "/echo": try .echo(request)
            default: .text("hello, \(request.serverName ?? "stranger")")
            }
        }

        let root = try TemporaryFile(authority.rootPEM)
        let body = try await run(
            "curl",
            [
                "-sSL", "--cacert", root.path, "--resolve", "a.test:\(server.port):127.0.0.2",
                "https://a.test:\(server.port)/old",
            ]
        ).output

        #expect(body == "hello, a.test")
        let record = try await server.nextRecord()
        #expect(record.serverName == "a.test")
        #expect(record.requests.map(\.target) == ["/old", "/new"])
    }

    @Test("The second example has several addresses of one name, some of them bad")
    func badAddresses() async throws {
        let authority = TestAuthority()
        let good = authority.certificate(for: "a.test")
        let port = try SharedPort(on: ["127.0.0.2", "127.0.0.3", "127.0.0.4"])
        let dead = try FixtureServer.refusing(on: "127.0.0.2", port: port.number)
        let wrong = try FixtureServer.start(
            .tls(authority.certificate(for: "b.test")),
            on: "127.0.0.3",
            port: port.number
        ) {
            _ in .text("never seen")
        }
        let right = try FixtureServer.start(.tls(good), on: "127.0.0.4", port: port.number) { _ in
            .text("here")
        }

        let root = try TemporaryFile(authority.rootPEM)
        func get(_ address: String) async throws -> String {
            let resolve = "a.test:\(port.number):\(address)"
            let url = "https://a.test:\(port.number)/"
            return try await run("curl", ["-sS", "--cacert", root.path, "--resolve", resolve, url]).output
        }
        #expect(try await get(dead.address) == "")
        #expect(try await get(wrong.address) == "")
        #expect(try await get("127.0.0.2,127.0.0.4") == "here")
        #expect(try await right.nextRecord().requests.count == 1)
        #expect(wrong.requests.isEmpty)
    }
}
