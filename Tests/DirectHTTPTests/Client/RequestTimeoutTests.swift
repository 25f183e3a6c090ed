@testable import DirectCore
import DirectTestCommands
import DirectTestTime
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Time limits of a request", .idleLimit)
struct RequestTimeoutTests {
    private let time = HeldTime()

    @Test("A limit that is set in the request replaces the client's")
    func one() async throws {
        let server = try FixtureServer.scripted(.silent)
        let client = time.client { $0.timeouts.response = .seconds(90) }
        var request = Request(.get, server.http())
        request.timeouts.response = .seconds(7)
        let (result, elapsed) = await time.passing(.seconds(7)) { [request] in try await client.fetch(request)
        }
        let error = try await httpError { try result.get() }
        #expect(error.phase == .response && error.isTimeout && elapsed == .seconds(7))
    }

    @Test("A limit that is not set in the request is the client's")
    func others() async throws {
        let server = try FixtureServer.scripted(.silent)
        let client = time.client { $0.timeouts.response = .seconds(7) }
        var request = Request(.get, server.http())
        request.timeouts.total = .seconds(90)
        let (result, elapsed) = await time.passing(.seconds(7)) { [request] in try await client.fetch(request)
        }
        let error = try await httpError { try result.get() }
        #expect(error.phase == .response && error.isTimeout && elapsed == .seconds(7))
    }

    @Test("Each limit of a request replaces the client's limit of this name and no other")
    func eachOfThem() {
        let names:
            [(WritableKeyPath<RequestTimeouts, RequestTimeouts.Limit?>, WritableKeyPath<Timeouts, Duration?>)] =
                [
                    (\.queue, \.queue), (\.resolve, \.resolve), (\.connect, \.connect), (\.tls, \.tls),
                    (\.write, \.write),
                    (\.response, \.response), (\.read, \.read), (\.continue, \.continue), (\.total, \.total),
                ]
        // No two of the limits are alike.
        var clients = Timeouts(minimumSpeed: .init(bytes: 10, in: .seconds(10)))
        for (place, (_, name)) in names.enumerated() { clients[keyPath: name] = .seconds(place + 1) }
        #expect(clients.replaced(by: RequestTimeouts()) == clients)
        for (own, name) in names {
            for (limit, duration) in [
                (RequestTimeouts.Limit.after(.seconds(99)), Duration.seconds(99)), (.unlimited, nil),
            ] {
                var timeouts = RequestTimeouts()
                timeouts[keyPath: own] = limit
                var expected = clients
                expected[keyPath: name] = duration
                #expect(clients.replaced(by: timeouts) == expected)
            }
        }
        let slow = Timeouts.Speed(bytes: 1, in: .seconds(1))
        var expected = clients
        expected.minimumSpeed = slow
        #expect(clients.replaced(by: RequestTimeouts(minimumSpeed: slow)) == expected)
        expected.minimumSpeed = .unlimited
        #expect(clients.replaced(by: RequestTimeouts(minimumSpeed: .unlimited)) == expected)
        #expect(Timeouts(total: nil).replaced(by: RequestTimeouts(clients)) == clients)
    }

    @Test("A limit in fractions of a second is none if it is no time that a Duration holds")
    func fractions() {
        #expect(RequestTimeouts.Limit.seconds(2.5) == .after(.milliseconds(2500)))
        #expect(RequestTimeouts.Limit.seconds(1e19) == .after(.seconds(1e19)))
        #expect(RequestTimeouts.Limit.seconds(-.infinity) == .after(.seconds(-1e20)))
        for seconds in [1e21, .infinity, .nan] {
            #expect(RequestTimeouts.Limit.seconds(seconds) == .unlimited)
        }
    }

    @Test("The limits are kept when an interceptor rebuilds the request")
    func rebuilt() async throws {
        let server = try FixtureServer.scripted(.silent)
        let client = time.client {
            $0.interceptors = [{ _, forward in try await forward(Request(.get, server.http("/other"))) }]
        }
        var request = Request(.get, server.http())
        request.timeouts.response = .seconds(7)
        let (result, elapsed) = await time.passing(.seconds(7)) { [request] in try await client.fetch(request)
        }
        #expect(throws: HTTPError.self) { try result.get() }
        #expect(elapsed == .seconds(7))
    }
}
