import DirectHTTP
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@Suite("A race of addresses", .idleLimit)
struct RaceTests {
    private let time = HeldTime()
    /// The setting's default.
    private let stagger = Duration.milliseconds(250)

    /// For the handshake; unlike that for connecting.
    private let handshakeLimit = Duration.seconds(7)

    private func client(_ configure: (inout DiallingSettings) -> Void = { _ in }) -> HTTPClient {
        time.client {
            $0.timeouts.tls = handshakeLimit
            configure(&$0.dialling)
        }
    }

    private func request(_ servers: FixtureServer...) -> Request {
        var request = Request(.get, "https://a.test/")
        request.addresses = servers.map(\.endpoint)
        return request
    }

    private func good(_ address: String) throws -> FixtureServer {
        try FixtureServer.secure("a.test", on: address) { _ in .text("hello", ["Connection": "close"]) }
    }

    @Test("An address that does not answer costs one stagger, not its time limit")
    func silent() async throws {
        let dead = try FixtureServer.unresponsive(on: "127.0.0.2")
        let good = try good("127.0.0.3")
        let (result, elapsed) = await time.passing(stagger) { try await client().fetch(request(dead, good)) }
        let transaction = try #require(try result.get().transaction)
        #expect(transaction.endpoint == good.endpoint && elapsed == stagger)
        let attempt = try #require(transaction.failedAttempts.first)
        #expect(transaction.failedAttempts.count == 1)
        #expect(attempt.endpoint == dead.endpoint)
        #expect(attempt.source == .request)
        #expect(attempt.phase == .connect)
        guard case .overtaken = attempt.reason else {
            Issue.record("\(attempt)")
            return
        }
        #expect(attempt.elapsed == stagger)
    }

    @Test("A silent first address of three delays the response by one stagger, and the third is not tried")
    func delay() async throws {
        let dead = try FixtureServer.unresponsive(on: "127.0.0.2")
        let (second, third) = (try good("127.0.0.3"), try good("127.0.0.4"))
        let (result, elapsed) = await time.passing(stagger) {
            try await client().fetch(request(dead, second, third))
        }
        #expect(try result.get().transaction?.endpoint == second.endpoint && elapsed == stagger)
        #expect(third.records.isEmpty)
    }

    @Test("An address that stops in its handshake is overtaken, and its connection is closed")
    func mute() async throws {
        let mute = try FixtureServer.scripted([.awaitClose], on: "127.0.0.2")
        let good = try good("127.0.0.3")
        async let answer = client().fetch(request(mute, good))
        try await time.waitBegins(for: handshakeLimit)
        try await time.pass(stagger)
        let response = try await answer
        #expect(response.transaction?.endpoint == good.endpoint)
        #expect(response.transaction?.failedAttempts.map(\.phase) == [.tls])
        try await mute.waitUntil { $0.count == 1 && $0.allSatisfy { $0.end != nil } }
    }

    @Test("A slow first address wins if it completes its handshake before the others")
    func slowButFirst() async throws {
        let mayShakeHands = Gate()
        let slow = try slow("127.0.0.2", behind: mayShakeHands)
        let mute = try FixtureServer.scripted([.awaitClose], on: "127.0.0.3")
        async let answer = client().fetch(request(slow, mute))
        try await time.pass(stagger)
        try await mute.waitUntil { $0.count == 1 }
        mayShakeHands.open()
        let response = try await answer
        #expect(response.transaction?.endpoint == slow.endpoint)
        #expect(response.transaction?.failedAttempts.map(\.endpoint) == [mute.endpoint])
        try await mute.waitUntil { $0.allSatisfy { $0.end != nil } }
    }

    /// A server that shakes hands when the gate opens.
    private func slow(_ address: String, behind gate: Gate) throws -> FixtureServer {
        try .scripted(
            [
                .awaitArrival, .wait(gate), .handshake, .awaitHead,
                .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"),
            ],
            .tls(testAuthority.certificate(for: "a.test")),
            on: address
        )
    }

    @Test("After a failure the next address is tried at once, without the stagger")
    func failure() async throws {
        let servers = try (2...9).map { try FixtureServer.refusing(on: "127.0.0.\($0)") }
        let good = try good("127.0.0.10")
        var request = Request(.get, "https://a.test/")
        request.addresses = servers.map(\.endpoint) + [good.endpoint]
        let transaction = try #require(try await client().fetch(request).transaction)
        #expect(transaction.endpoint == good.endpoint && transaction.requestTime == .zero)
        #expect(transaction.failedAttempts.count == servers.count)
    }

    @Test("A wrong certificate ends the race, also while another address is being tried")
    func wrongCertificate() async throws {
        let mute = try FixtureServer.scripted([.awaitClose], on: "127.0.0.2")
        let wrong = try FixtureServer.secure("b.test", on: "127.0.0.3")
        async let failure = httpError { try await client().fetch(request(mute, wrong)) }
        try await time.pass(stagger)
        let error = try await failure
        #expect(error.endpoint == wrong.endpoint)
        #expect(error.tlsError == .nameMismatch(expected: "a.test", served: ["b.test"]))
        #expect(error.attempts.map(\.endpoint) == [mute.endpoint, wrong.endpoint])
        try await mute.waitUntil { $0.allSatisfy { $0.end != nil } }
    }

    @Test("After a wrong certificate its address keeps its place in the next race")
    func wrongCertificateAgain() async throws {
        let wrong = try FixtureServer.secure("b.test", on: "127.0.0.2")
        let mute = try FixtureServer.scripted([.awaitClose], on: "127.0.0.3")
        let client = client()
        for _ in 0..<2 {
            let error = try await httpError { try await client.fetch(request(wrong, mute)) }
            #expect(error.endpoint == wrong.endpoint && error.attempts.first?.endpoint == wrong.endpoint)
        }
    }

    @Test("With `tryNext` the next address follows a wrong certificate, which is never accepted")
    func tryNext() async throws {
        let wrong = try FixtureServer.secure("b.test", on: "127.0.0.2")
        let good = try good("127.0.0.3")
        let client = client { $0.onCertificateMismatch = .tryNext }
        let response = try await client.fetch(request(wrong, good))
        #expect(response.transaction?.endpoint == good.endpoint)
        #expect(response.transaction?.failedAttempts.map(\.phase) == [.tls])
        #expect(wrong.requests.isEmpty)
        let error = try await httpError { try await client.fetch(request(wrong)) }
        #expect(error.tlsError == .nameMismatch(expected: "a.test", served: ["b.test"]))
    }

    @Test("The address that worked is tried first in the next race")
    func memory() async throws {
        let dead = try FixtureServer.refusing(on: "127.0.0.2")
        let good = try good("127.0.0.3")
        let client = client()
        let first = try await client.fetch(request(dead, good))
        let second = try await client.fetch(request(dead, good))
        #expect(!second.isReused)
        #expect(first.transaction?.failedAttempts.count == 1)
        #expect(second.transaction?.failedAttempts.isEmpty == true)
    }

    @Test("In strict order no result is remembered, and no address overtakes another")
    func strictOrder() async throws {
        let dead = try FixtureServer.refusing(on: "127.0.0.2")
        let mayShakeHands = Gate()
        let slow = try slow("127.0.0.3", behind: mayShakeHands)
        let fast = try good("127.0.0.4")
        let client = client { $0.keepsOrder = true }
        for isFirst in [true, false] {
            async let answer = client.fetch(request(dead, slow, fast))
            if isFirst {
                try await time.waitBegins(for: handshakeLimit)
                time.advance(by: .seconds(6))
                await time.settle()
                mayShakeHands.open()
            }
            let response = try await answer
            #expect(response.transaction?.endpoint == slow.endpoint)
            #expect(response.transaction?.failedAttempts.map(\.endpoint) == [dead.endpoint])
        }
        #expect(fast.records.isEmpty)
    }

    @Test("If all addresses fail, the error lists each in the order of trying, with its source")
    func allFail() async throws {
        let mute = try FixtureServer.scripted([.awaitClose], on: "127.0.0.2")
        let dead = try FixtureServer.refusing(on: "127.0.0.3")
        let cut = try FixtureServer.scripted([.awaitArrival, .reset], on: "127.0.0.4")
        async let failure = httpError { try await client().fetch(request(mute, dead, cut)) }
        try await time.waitBegins(for: handshakeLimit)
        try await time.pass(stagger)
        // One refuses, and the next one is tried at once; that leaves the first.
        try await cut.waitUntil { $0.contains { $0.end != nil } }
        time.advance(by: handshakeLimit - stagger)
        let error = try await failure
        #expect(error.attempts.map(\.endpoint) == [mute.endpoint, dead.endpoint, cut.endpoint])
        #expect(error.attempts.map(\.phase) == [.tls, .connect, .tls])
        #expect(error.attempts.allSatisfy { $0.source == .request })
    }

    @Test("A vetting checks each address just before it is dialled, and refused ones are attempts")
    func vetting() async throws {
        let refused = try good("127.0.0.2")
        let allowed = try good("127.0.0.3")
        let bad = try address(of: refused)
        let client = HTTPClient.trusting {
            $0.vetting = AddressVetting { address, _, _ in
                address == bad ? AddressRefusal(address, "not this one") : nil
            }
        }
        let response = try await client.fetch(request(refused, allowed))
        #expect(response.transaction?.endpoint == allowed.endpoint)
        let attempt = try #require(response.transaction?.failedAttempts.first)
        #expect("\(attempt)".contains("not this one"))
        #expect(refused.records.isEmpty)
    }

    @Test("Cancelling ends each attempt at once")
    func cancellation() async throws {
        let mutes = try (2...4).map { try FixtureServer.scripted([.awaitClose], on: "127.0.0.\($0)") }
        var request = Request(.get, "https://a.test/")
        request.addresses = mutes.map(\.endpoint)
        let client = client()
        let task = Task { [request] in try await client.fetch(request) }
        for mute in mutes {
            try await mute.waitUntil { $0.count == 1 }
            if mute !== mutes[2] { try await time.pass(stagger) }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        for mute in mutes { try await mute.waitUntil { $0.count == 1 && $0.allSatisfy { $0.end != nil } } }
    }

    @Test("The total limit ends each attempt, and the error lists them all")
    func total() async throws {
        let dead = try (2...4).map { try FixtureServer.unresponsive(on: "127.0.0.\($0)") }
        var request = Request(.get, "https://a.test/")
        request.addresses = dead.map(\.endpoint)
        let client = time.client { $0.timeouts.total = .seconds(5) }
        async let failure = httpError { [request] in try await client.fetch(request) }
        try await time.pass(stagger)
        // The second attempt has begun where the third one's turn is waited for. It may begin just before the
        // end.
        try await time.waitBegins(for: stagger)
        time.advance(by: .seconds(5))
        let error = try await failure
        let tried = error.attempts.map(\.endpoint)
        #expect(error.isTimeout && tried.count >= 2)
        #expect(tried == Array(dead.map(\.endpoint).prefix(tried.count)))
    }
}

private func address(of server: FixtureServer) throws -> IPAddress {
    try #require(IPAddress(server.address))
}
