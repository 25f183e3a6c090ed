import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@Suite("A listener", .idleLimit)
struct ListenerTests {
    @Test("A server starts again at the port of one that has stopped, whose client keeps its connection")
    func restart() async throws {
        let first = try FixtureServer.start { _ in .text("first") }
        let client = try #require(connectBlocking(first, 30_000).descriptor)
        defer { close(client) }
        try await first.waitUntil { $0.count == 1 }
        first.stop()
        let second = try FixtureServer.start(on: first.address, port: first.port) { _ in .text("second") }
        #expect(await talk(to: second, sending: "GET / HTTP/1.0\r\n\r\n").text.hasSuffix("second"))
    }

    @Test(
        "A listener refuses each address beyond loopback",
        arguments: ["0.0.0.0", "192.0.2.1", "::", "128.0.0.1", "::ffff:127.0.0.1"]
    )
    func loopbackOnly(address: String) {
        #expect(throws: FixtureError.notLoopback(address)) {
            try FixtureServer.start(on: address) { _ in .text("") }
        }
    }

    @Test("A listener accepts no name as address", arguments: ["localhost", "", "127.1", "[::1]"])
    func noNames(text: String) {
        #expect(throws: FixtureError.notAnAddress(text)) {
            try FixtureServer.start(on: text) { _ in .text("") }
        }
    }

    @Test(
        "A listener accepts any 127.0.0.x and ::1",
        arguments: ["127.0.0.1", "127.0.0.77", "127.9.8.7", "::1"]
    )
    func anyLoopback(address: String) async throws {
        let server = try FixtureServer.start(on: address) { request in
            .text(request.serverAddress).then(.close)
        }
        let outcome = await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(outcome.text.hasSuffix("\r\n\r\n\(address)"))
        #expect(server.records.first?.serverAddress == address)
        #expect(server.records.first?.clientAddress.isEmpty == false)
    }

    @Test("Several addresses share one port, each with its own server")
    func samePort() async throws {
        let servers = try FixtureServer.startOnSamePort(["127.0.0.2", "127.0.0.3", "::1"]) { request in
            .text("at \(request.serverAddress)").then(.close)
        }
        #expect(Set(servers.map(\.port)).count == 1)
        for server in servers {
            let outcome = await talk(to: server, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(outcome.text.hasSuffix("at \(server.address)"))
        }
    }

    @Test("A shared port permits servers of different kinds")
    func sharedPort() async throws {
        let port = try SharedPort(on: ["127.0.0.2", "127.0.0.3", "127.0.0.4"])
        let good = try FixtureServer.start(on: "127.0.0.2", port: port.number) { _ in .text("").then(.close) }
        let refusing = try FixtureServer.refusing(on: "127.0.0.3", port: port.number)
        let dead = try FixtureServer.unresponsive(on: "127.0.0.4", port: port.number)
        #expect(await talk(to: good, sending: "GET / HTTP/1.1\r\nHost: x\r\n\r\n").end == .fin)
        #expect(await talk(to: refusing).end == .failed(ECONNREFUSED))
        #expect(await talk(to: dead, waitingAtMost: 300).end == .silence)
        #expect(dead.records.isEmpty)
    }

    @Test("A port is shared by loopback addresses only, of which there has to be one")
    func reservation() throws {
        #expect(throws: FixtureError.notLoopback("192.0.2.1")) {
            try SharedPort(on: ["127.0.0.2", "192.0.2.1"])
        }
        #expect(throws: FixtureError.notAnAddress("a.test")) { try SharedPort(on: ["127.0.0.2", "a.test"]) }
        #expect(throws: FixtureError.badSettings("a shared port needs an address")) { try SharedPort(on: []) }
    }

    @Test("A port in use is an error that says so")
    func takenPort() throws {
        let first = try FixtureServer.start { _ in .text("") }
        #expect(throws: FixtureError.systemCallFailed("bind 127.0.0.1 port \(first.port)", EADDRINUSE)) {
            try FixtureServer.start(port: first.port) { _ in .text("") }
        }
    }

    @Test("Stopping ends open connections, pauses and waits at once")
    func stopping() async throws {
        let gate = Gate()
        let servers = try [
            ByteScript.silent, [.awaitHead], [.wait(gate)], [.pause(.seconds(86_400))],
            [.send("x"), .awaitClose],
        ].map { try FixtureServer.start(behaviour: .bytes($0)) }
        let outcomes = servers.map { server in Task { await talk(to: server) } }
        for server in servers { try await server.waitUntil { $0.count == 1 } }
        servers.forEach { $0.stop() }
        for (server, outcome) in zip(servers, outcomes) {
            #expect(await outcome.value.end == .fin)
            #expect(server.records.map(\.end) == [.serverStopped])
        }
    }

    @Test("Releasing the last reference stops the server")
    func dropping() async throws {
        // An address of its own, so that no other test is given the port once it is free.
        var server: FixtureServer? = try FixtureServer.start(on: "127.44.55.66") { _ in .text("") }
        let port = try #require(server?.port)
        server = nil
        let again = try FixtureServer.refusing(on: "127.44.55.66", port: port)
        #expect(await talk(to: again).end == .failed(ECONNREFUSED))
    }
}
