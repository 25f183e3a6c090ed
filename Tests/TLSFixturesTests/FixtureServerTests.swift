import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@Suite("A fixture server", .idleLimit)
struct FixtureServerTests {
    @Test(
        "A server responds to curl in plain HTTP and records the request",
        .enabled(if: isInstalled("curl"))
    )
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

    @Test(
        "A server chooses the certificate by SNI and records the handshake",
        .enabled(if: isInstalled("curl"))
    )
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

    @Test("A server that settles has recorded what has connected and gone")
    func settling() async throws {
        let server = try FixtureServer.start { _ in .status(200) }
        for count in 1...200 {
            // Its connection is accepted behind that of the client, whenever either is.
            _ = await talk(to: server, closingAfter: true)
            #expect(try await server.settle() == 2 * count - 1)
        }
        #expect(try await FixtureServer.refusing().settle() == nil)
        #expect(try await FixtureServer.unresponsive().settle() == nil)
    }

    @Test("A site that is still being made holds up nobody who asks for another")
    func slowSite() async throws {
        let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let server = try FixtureServer.start(on: "127.0.0.1", port: 0) { ask in
            if ask != .plain {
                begun.signal()
                goOn.wait()
            }
            return FixtureSite(.plain, .http { _ in .text("plain").then(.close) })
        }
        // A ClientHello without content: the server is asked for a site, and waits for it until it is told.
        _ = await talk(to: server, sending: "\u{16}\u{3}\u{1}\0\u{4}\u{1}\0\0\0", closingAfter: true)
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                begun.wait()
                continuation.resume()
            }
        }
        let outcome = await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        goOn.signal()
        #expect(outcome.text.hasSuffix("plain"))
    }

    @Test("A server starts and stops a hundred times without leaving descriptors or threads", .ownProcess)
    func manyServers() async {
        // In a process of its own: the other tests open descriptors, too.
        await #expect(processExitsWith: .success) { try startManyServers() }
    }

    @Test("A server handles two thousand connections and leaves no descriptor and no thread", .ownProcess)
    func manyConnections() async {
        await #expect(processExitsWith: .success) {
            let descriptors = try openDescriptors().count
            try await serveManyConnections()
            // A few come and go with the test library; a leak would show by the hundred.
            #expect(try openDescriptors().count < descriptors + 10)
            // A thread that has reported its end needs a moment to go; one that is left stays.
            for _ in 0..<10_000 {
                if try fixtureThreadCount() == 0 { break }
                sched_yield()
            }
            #expect(try fixtureThreadCount() == 0)
        }
    }

    @Test("Writing to closed clients does not end the process", .ownProcess, arguments: [true, false])
    func noSIGPIPE(secure: Bool) async throws {
        await #expect(processExitsWith: .success) { [secure] in
            signal(SIGPIPE, SIG_DFL)
            let security: FixtureSecurity = secure ? .tls(TestAuthority().certificate(for: "a.test")) : .plain
            let hasGone = Gate()
            let server = try FixtureServer.start(
                security,
                behaviour: .bytes([
                    .awaitArrival, .rawBytes([1]), .wait(hasGone), .send("x"), .rawBytes([2]),
                    .rawBytes([3]),
                ])
            )
            _ = await talk(to: server, sending: "x", closingAfter: true)
            hasGone.open()
            _ = try await server.nextRecord()
        }
    }
}

private func startManyServers() throws {
    let descriptors = try openDescriptors().count
    let certificate = TestAuthority().certificate(for: "a.test")
    let servers = try (0..<100).map { _ in try FixtureServer.start(.tls(certificate)) { _ in .text("") } }
    servers.forEach { $0.stop() }
    let after = try openDescriptors().count
    // A few come and go with the test library itself; a leak would show by the hundred.
    #expect(after < descriptors + 10)
}

private func serveManyConnections() async throws {
    let server = try FixtureServer.start { _ in .text("").then(.close) }
    for _ in 0..<20 {
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask { _ = await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
            }
        }
    }
    try await server.waitUntil { $0.count == 2000 && $0.allSatisfy { $0.end != nil } }
    server.stop()
}

private func curl(_ server: FixtureServer, _ name: String, _ root: TemporaryFile) -> [String] {
    [
        "-sS", "--cacert", root.path, "--resolve", "\(name):\(server.port):\(server.address)",
        "https://\(name):\(server.port)/",
    ]
}
