import TLSFixtures
import Testing

@Suite("A fixture server", .timeLimit(.minutes(1)))
struct FixtureServerTests {
    @Test("answers curl in plain HTTP and records the request", .enabled(if: isInstalled("curl")))
    func plain() async throws {
        let server = try FixtureServer.start { request in .text("hello from \(request.path)") }
        let result = try await run("curl", ["-sS", "http://\(server.authority)/a?b=c", "-H", "X-Test: 1"])
        #expect(result.output == "hello from /a")
        let request = try await server.nextRequest()
        #expect(request.target == "/a?b=c")
        #expect(request.headers["x-test"] == "1")
        #expect(request.headText.hasPrefix("GET /a?b=c HTTP/1.1\r\n"))
        let record = try await server.nextRecord()
        #expect(record.end == .clientClosed)
        #expect(record.hello == nil)
    }

    @Test("chooses the certificate by SNI and records the handshake", .enabled(if: isInstalled("curl")))
    func certificatesBySNI() async throws {
        let authority = TestAuthority()
        let root = try TemporaryFile(authority.rootPEM)
        let server = try FixtureServer.start(
            .tls(certificates: [authority.certificate(for: "a.test"), authority.certificate(for: "*.b.test")]
            ),
            on: "127.0.0.2"
        ) { request in .text("\(request.serverName ?? "-") \(request.host ?? "-")") }

        for name in ["a.test", "x.b.test"] {
            let result = try await run("curl", curl(server, name, root))
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output == "\(name) \(name):\(server.port)")
            let record = try await server.nextRecord()
            #expect(record.serverName == name)
            #expect(record.tls?.version == "TLSv1.3")
            #expect(record.tls?.applicationProtocol == "http/1.1")
            #expect(record.hello?.applicationProtocols.contains("http/1.1") == true)
            #expect(record.serverAddress == "127.0.0.2")
            #expect(record.end == .clientClosed)
        }

        let wrong = try await run("curl", curl(server, "c.test", root))
        #expect(wrong.status == 60)
        #expect(try await server.nextRecord().requests.isEmpty)
    }

    @Test("starts a hundred times in well under a second, and leaves nothing behind")
    func manyServers() throws {
        let authority = TestAuthority()
        let certificate = authority.certificate(for: "a.test")
        let before = try openDescriptors()
        let clock = ContinuousClock()
        let time = try clock.measure {
            let servers = try (0..<100).map { _ in
                try FixtureServer.start(.tls(certificate)) { _ in .text("") }
            }
            servers.forEach { $0.stop() }
        }
        #expect(time < .seconds(1))
        // Other tests run beside this one; a leak would show as 300.
        #expect(try openDescriptors() < before + 100)
    }
}

private func curl(_ server: FixtureServer, _ name: String, _ root: TemporaryFile) -> [String] {
    [
        "-sS", "--cacert", root.path, "--resolve", "\(name):\(server.port):\(server.address)",
        "https://\(name):\(server.port)/",
    ]
}
