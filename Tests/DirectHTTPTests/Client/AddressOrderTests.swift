import DirectHTTP
import TLSFixtures
import Testing

@Suite("Several addresses", .timeLimit(.minutes(1)))
struct AddressOrderTests {
    private func client(_ connect: Duration = .seconds(10), tls: Duration = .seconds(10)) -> HTTPClient {
        .trusting {
            // No race: on a slow machine the next one would be tried beside the first.
            $0.dialling.keepsOrder = true
            $0.timeouts.connect = connect
            $0.timeouts.tls = tls
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
        try await withGrowingLimits { limit in
            do {
                let response = try await client(limit, tls: limit).fetch(request(dead, mute, good))
                #expect(response.transaction?.endpoint == good.endpoint)
                #expect(
                    response.transaction?.failedAttempts.map(\.endpoint) == [dead.endpoint, mute.endpoint]
                )
                return response.transaction?.failedAttempts.map(\.phase) == [.connect, .tls]
            } catch let error as HTTPError where error.isTimeout {
                return false
            }
        }
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
        let client = HTTPClient.trusting { $0.timeouts.total = .milliseconds(80) }
        let error = try await httpError { try await client.fetch(request(dead, good)) }
        #expect(error.phase == .connect)
        #expect(error.isTimeout)
        #expect(good.records.isEmpty)
    }
}
