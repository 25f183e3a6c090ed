import TLSFixtures
import Testing

@testable import SNIProbe

@Suite("Servers that answer in odd ways")
struct OddServersTests {
    private let root = TestAuthority()

    private func record(_ arguments: [String]) async throws -> ProbeRecord {
        try #require(try await probe(arguments, trusting: root.rootPEM).record)
    }

    @Test("An alert without a name is given by its number")
    func unknownAlert() async throws {
        let server = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .alert(254), .awaitClose]))
        let record = try await record(["a.test@\(server.authority)"])
        #expect(record.faults.first?.text == "server refused the handshake: alert 254")
    }

    @Test("A redirect to the same URL is a warning")
    func redirectToItself() async throws {
        let server = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { request in
            .redirect(to: request.target == "/x" ? "/x#top" : "/y")
        }
        let place = "https://a.test:\(server.port)"
        let looping = try await record(["\(place)/x", "@127.0.0.1"])
        #expect(looping.passed)
        #expect(looping.warnings.map(\.id) == [.redirectsToItself])
        #expect(try await record(["\(place)/z", "@127.0.0.1"]).warnings.isEmpty)
        let seeOther = try FixtureServer.start(.tls(root.certificate(for: "a.test"))) { _ in
            .status(303, ["Location": "/"])
        }
        let again = try await record(["https://a.test:\(seeOther.port)/", "@127.0.0.1"])
        #expect(again.warnings.map(\.id) == [.redirectsToItself])
    }

    @Test("A server of HTTP/2 in clear text is recognised")
    func clearTextHTTP2() async throws {
        let settings: [UInt8] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]
        let server = try FixtureServer.start(behaviour: .bytes([.bytes(settings), .awaitClose]))
        let record = try await record(["a.test@\(server.authority)"])
        #expect(record.faults.first?.text == "not TLS: the server speaks HTTP/2 without TLS")
        #expect(record.hint?.text.contains("h2c") == true)
    }

    @Test("An answer in HTTP/2 that was not agreed on is recognised")
    func unagreedHTTP2() async throws {
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")),
            behaviour: .bytes([.awaitHead, .bytes(settings), .awaitClose])
        )
        let record = try await record(["https://a.test:\(server.port)/", "@127.0.0.1"])
        #expect(record.faults.map(\.id) == [.httpBroken])
        #expect(record.faults.first?.text == "the server answers in HTTP/2, which was not agreed on")
    }

    @Test("A server that asks to renegotiate after the request is recognised")
    func renegotiation() async throws {
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")) { $0.allowsRenegotiation = true },
            behaviour: .bytes([.awaitHead, .askForNewKeys, .cut])
        )
        let record = try await record(["https://a.test:\(server.port)/", "@127.0.0.1", "--tls", "1.2"])
        #expect(record.faults.map(\.id) == [.httpBroken])
        #expect(record.hint?.text.hasPrefix("the server asks to renegotiate") == true)
    }

    @Test("A server that ends the connection at once may expect a PROXY header")
    func proxyHeader() async throws {
        let server = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .cut]))
        let record = try await record(["a.test@\(server.authority)"])
        #expect(record.faults.map(\.id) == [.reset])
        #expect(record.hint?.text.contains("PROXY header") == true)
    }

    @Test("A server that does not expect the PROXY header of --proxy-protocol has a hint that says so")
    func unexpectedHeader() async throws {
        let cut = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .cut]))
        // As nginx answers on a port for TLS.
        let answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
        let web = try FixtureServer.start(behaviour: .bytes([.awaitArrival, .send(answer), .awaitClose]))
        for (target, fault) in [
            ("a.test@\(cut.authority)", Fault.ID.reset), ("a.test@\(web.authority)", .notTLS),
            ("http://a.test:\(web.port)/@\(web.address)", .httpStatus),
        ] {
            let record = try await record([target, "--proxy-protocol", "1"])
            #expect(record.faults.map(\.id) == [fault])
            #expect(record.hint?.text.contains("leave out --proxy-protocol") == true)
        }
    }

    @Test("A body that ends with the connection, without close_notify, is a warning")
    func uncleanEnd() async throws {
        let server = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")),
            behaviour: .bytes([.awaitHead, .send("HTTP/1.0 200 OK\r\n\r\nhello"), .cut])
        )
        let outcome = try await probe(
            ["https://a.test:\(server.port)/", "@127.0.0.1"],
            trusting: root.rootPEM
        )
        #expect(outcome.code == 0)
        #expect(outcome.record?.warnings.map(\.id) == [.uncleanEnd])
        #expect(outcome.record?.observation.exchange?.bodyCount == 5)
        // With a length the end is an error as before.
        let short = try FixtureServer.start(
            .tls(root.certificate(for: "a.test")),
            behaviour: .bytes([.awaitHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"), .cut])
        )
        let broken = try await probe(
            ["https://a.test:\(short.port)/", "@127.0.0.1"],
            trusting: root.rootPEM
        )
        #expect(broken.code == 56)
    }
}
