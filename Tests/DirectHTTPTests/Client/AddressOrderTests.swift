import DirectHTTP
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@Suite("Several addresses", .idleLimit)
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

    @Test("are tried in the order given, and the first that works is used")
    func order() async throws {
        let first = try FixtureServer.secure("a.test", on: "127.0.0.2")
        let second = try FixtureServer.secure("a.test", on: "127.0.0.3")
        let response = try await client().fetch(request(second, first))
        #expect(response.transaction?.endpoint == second.endpoint)
        #expect(response.transaction?.failedAttempts.isEmpty == true)
        #expect(first.records.isEmpty)
    }

    @Test("one that refuses the connection gives way to the next")
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

    @Test("one that does not answer gives way to the next, in both phases of connecting")
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

    @Test("one that breaks off the handshake gives way to the next")
    func brokenHandshake() async throws {
        let broken = try FixtureServer.scripted([.awaitArrival, .alert(80)], on: "127.0.0.2")
        let cut = try FixtureServer.scripted([.awaitArrival, .reset], on: "127.0.0.2")
        let good = try FixtureServer.secure("a.test", on: "127.0.0.3")
        let response = try await client().fetch(request(broken, cut, good))
        #expect(response.transaction?.failedAttempts.map(\.phase) == [.tls, .tls])
    }

    @Test("a wrong certificate is not passed over in silence: the next address is not tried")
    func wrongCertificate() async throws {
        let wrong = try FixtureServer.secure("b.test", on: "127.0.0.2")
        let good = try FixtureServer.secure("a.test", on: "127.0.0.3")
        let error = try await httpError { try await client().fetch(request(wrong, good)) }
        #expect(error.phase == .tls)
        #expect(error.tlsError == .nameMismatch(expected: "a.test", served: ["b.test"]))
        #expect(error.endpoint == wrong.endpoint)
        #expect(good.records.isEmpty)
    }

    @Test("when all fail, the error names the name, the last address and every attempt")
    func allFail() async throws {
        let dead = try FixtureServer.refusing(on: "127.0.0.2")
        let broken = try FixtureServer.scripted([.awaitArrival, .alert(40)], on: "127.0.0.3")
        let error = try await httpError { try await client().fetch(request(dead, broken)) }
        #expect(error.name == "a.test")
        #expect(error.endpoint == broken.endpoint)
        #expect(error.phase == .tls)
        #expect(error.tlsError == .alertReceived(number: 40, name: "handshake_failure"))
        #expect(error.attempts.map(\.endpoint) == [dead.endpoint, broken.endpoint])
        #expect(error.attempts.map(\.phase) == [.connect, .tls])
        for part in ["a.test", dead.authority, broken.authority, "handshake_failure"] {
            #expect(error.description.contains(part), "\(error)")
        }
    }

    @Test("that failed before the one whose response broke are told of, too")
    func failureAfterConnecting() async throws {
        let dead = try FixtureServer.refusing(on: "127.0.0.2")
        let certificate = testAuthority.certificate(for: "a.test")
        let broken = try FixtureServer.scripted([.awaitHead, .cut], .tls(certificate), on: "127.0.0.3")
        let error = try await httpError { try await client().fetch(request(dead, broken)) }
        #expect(error.phase == .response)
        #expect(error.endpoint == broken.endpoint)
        #expect(error.attempts.map(\.endpoint) == [dead.endpoint])
    }

    @Test("the limit for everything ends the walk along the addresses")
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
