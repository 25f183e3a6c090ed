import DirectHTTP
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@Suite("Several addresses in order", .idleLimit)
struct AddressOrderTests {
    private let time = HeldTime()

    /// One that tries an address when the one before has failed.
    private func client() -> HTTPClient {
        time.client {
            $0.dialling.keepsOrder = true
            $0.timeouts.connect = .seconds(5)
            $0.timeouts.tls = .seconds(7)
        }
    }

    private func request(_ servers: FixtureServer...) -> Request {
        var request = Request(.get, "https://a.test/")
        request.addresses = servers.map(\.endpoint)
        return request
    }

    @Test("Addresses are tried in the given order, and the first that works is used")
    func order() async throws {
        let first = try FixtureServer.secure("a.test", on: "127.0.0.2")
        let second = try FixtureServer.secure("a.test", on: "127.0.0.3")
        let response = try await client().fetch(request(second, first))
        #expect(response.transaction?.endpoint == second.endpoint)
        #expect(response.transaction?.failedAttempts.isEmpty == true)
        #expect(first.records.isEmpty)
    }

    @Test("After a refused connection the next address is tried")
    func refused() async throws {
        let dead = try FixtureServer.refusing(on: "127.0.0.2")
        let good = try FixtureServer.secure("a.test", on: "127.0.0.3")
        let response = try await client().fetch(request(dead, good))
        #expect(response.transaction?.endpoint == good.endpoint)
        let attempt = try #require(response.transaction?.failedAttempts.first)
        #expect(attempt.endpoint == dead.endpoint)
        #expect(attempt.phase == .connect)
        guard case .system(let error) = attempt.reason else {
            Issue.record("\(attempt)")
            return
        }
        #expect(error.call == "connect")
    }

    @Test("After an address that does not answer the next is tried, in both phases of connecting")
    func unresponsive() async throws {
        let dead = try FixtureServer.unresponsive(on: "127.0.0.2")
        let mute = try FixtureServer.scripted(.silent, on: "127.0.0.4")
        let good = try FixtureServer.secure("a.test", on: "127.0.0.3")
        async let answer = client().fetch(request(dead, mute, good))
        try await time.pass(.seconds(5))
        try await time.pass(.seconds(7))
        let transaction = try #require(try await answer.transaction)
        #expect(transaction.endpoint == good.endpoint)
        #expect(transaction.failedAttempts.map(\.endpoint) == [dead.endpoint, mute.endpoint])
        #expect(transaction.failedAttempts.map(\.phase) == [.connect, .tls])
        #expect(transaction.failedAttempts.map(\.elapsed) == [.seconds(5), .seconds(7)])
    }

    @Test("After a broken handshake the next address is tried")
    func brokenHandshake() async throws {
        let broken = try FixtureServer.scripted([.awaitArrival, .alert(80)], on: "127.0.0.2")
        let cut = try FixtureServer.scripted([.awaitArrival, .reset], on: "127.0.0.2")
        let good = try FixtureServer.secure("a.test", on: "127.0.0.3")
        let response = try await client().fetch(request(broken, cut, good))
        #expect(response.transaction?.failedAttempts.map(\.phase) == [.tls, .tls])
    }

    @Test("After a wrong certificate the next address is not tried")
    func wrongCertificate() async throws {
        let wrong = try FixtureServer.secure("b.test", on: "127.0.0.2")
        let good = try FixtureServer.secure("a.test", on: "127.0.0.3")
        let error = try await httpError { try await client().fetch(request(wrong, good)) }
        #expect(error.phase == .tls)
        #expect(error.tlsError == .nameMismatch(expected: "a.test", served: ["b.test"]))
        #expect(error.endpoint == wrong.endpoint)
        #expect(good.records.isEmpty)
    }

    @Test("If all addresses fail, the error has the name, the last address and each attempt")
    func allFail() async throws {
        let dead = try FixtureServer.refusing(on: "127.0.0.2")
        let broken = try FixtureServer.scripted([.awaitArrival, .alert(40)], on: "127.0.0.3")
        let error = try await httpError { try await client().fetch(request(dead, broken)) }
        #expect(error.name == "a.test")
        #expect(error.endpoint == broken.endpoint)
        #expect(error.phase == .tls)
        #expect(error.tlsError == .alertReceived(.handshakeFailure))
        #expect(error.attempts.map(\.endpoint) == [dead.endpoint, broken.endpoint])
        #expect(error.attempts.map(\.phase) == [.connect, .tls])
        for part in ["a.test", dead.authority, broken.authority, "handshake_failure"] {
            #expect(error.description.contains(part), "\(error)")
        }
    }

    @Test("Addresses that failed before the connection are in the error of a broken response, too")
    func failureAfterConnecting() async throws {
        let dead = try FixtureServer.refusing(on: "127.0.0.2")
        let certificate = testAuthority.certificate(for: "a.test")
        let broken = try FixtureServer.scripted([.awaitHead, .cut], .tls(certificate), on: "127.0.0.3")
        let error = try await httpError { try await client().fetch(request(dead, broken)) }
        #expect(error.phase == .response)
        #expect(error.endpoint == broken.endpoint)
        #expect(error.attempts.map(\.endpoint) == [dead.endpoint])
    }

    @Test("The total limit ends the attempts")
    func total() async throws {
        let dead = try FixtureServer.unresponsive(on: "127.0.0.2")
        let good = try FixtureServer.secure("a.test", on: "127.0.0.3")
        let client = time.client {
            $0.dialling.keepsOrder = true
            $0.timeouts.total = .seconds(3)
        }
        async let failure = httpError { try await client.fetch(request(dead, good)) }
        try await time.pass(.seconds(3))
        let error = try await failure
        #expect(error.phase == .connect)
        #expect(error.isTimeout)
        #expect(good.records.isEmpty)
    }
}
