@testable import DirectCore
import DirectTestCommands
@testable import DirectTransport
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP
@testable import DirectIO

/// Programs of their own, whose descriptors are few. The servers are here, with others.
@Suite("Clients with few descriptors", .idleLimit)
struct FewDescriptorsTests {
    @Test("By default 400 concurrent requests to one origin succeed with 128 descriptors", .ownProcess)
    func oneOrigin() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        await #expect(processExitsWith: .success) { [port = server.port as UInt16] in
            allowDescriptors(128)
            let client = HTTPClient()
            await countFailures(of: 400) { _ in try await client.get("http://127.0.0.1:\(port)/").text }
        }
        #expect(server.records.count <= 8)
    }

    @Test("By default 2,000 concurrent requests to 500 names succeed with 256 descriptors", .ownProcess)
    func manyNames() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        await #expect(processExitsWith: .success) { [port = server.port as UInt16] in
            allowDescriptors(256)
            let client = HTTPClient()
            await countFailures(of: 2000) { try await get("n\($0 % 500).test", at: [port], client) }
        }
    }

    @Test("Requests that race two addresses each succeed with 64 descriptors", .ownProcess)
    func races() async throws {
        let dead = try FixtureServer.unresponsive(on: "127.0.0.2")
        let server = try FixtureServer.start { _ in .text("hello") }
        await #expect(processExitsWith: .success) { [ports = [dead.port, server.port] as [UInt16]] in
            allowDescriptors(64)
            let client = HTTPClient { $0.dialling.stagger = .milliseconds(100) }
            await countFailures(of: 100) { try await get("n\($0).test", at: ports, client) }
        }
    }

    @Test("Without limits, requests wait for a free descriptor, and idle connections make room", .ownProcess)
    func noLimits() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        await #expect(processExitsWith: .success) { [port = server.port as UInt16] in
            allowDescriptors(40)
            let client = HTTPClient(.unlimited)
            await countFailures(of: 300) { try await get("n\($0).test", at: [port], client) }
        }
    }

    @Test(
        "Idle connections of another client make room, too, and some descriptors always stay free",
        .ownProcess
    )
    func otherClient() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        await #expect(processExitsWith: .success) { [port = server.port as UInt16] in
            allowDescriptors(64)
            let (first, second) = (HTTPClient(.unlimited), HTTPClient(.unlimited))
            await countFailures(of: 80) { try await get("n\($0).test", at: [port], first) }
            await countFailures(of: 30) { try await get("n\($0).test", at: [port], second) }
            // The descriptor that a file would get now.
            let next = open("/dev/null", O_RDONLY)
            guard next >= 0, next < 62 else { exit(100) }
        }
    }

    @Test("A lack of descriptors is no failed attempt, and does not demote an address")
    func noGrudge() async throws {
        let servers = try FixtureServer.startOnSamePort(["127.0.0.2", "127.0.0.3"]) { _ in .text("hello") }
        let tried = Locked<[IPAddress]>([])
        let lab = Lab(canMakeRoom: true) { address throws(Socket.StartFailure) in
            let count = tried.withLock { tried in
                tried.append(address)
                return tried.count
            }
            if count < 4 { throw .system(SystemError("socket", code: EMFILE)) }
        }
        for _ in 0..<2 {
            let connection = try await lab.dial(servers.map(\.endpoint))
            connection.close()
            #expect(
                !connection.facts.search.failedAttempts.contains { "\($0)".contains("Too many open files") }
            )
            // With a grudge it would be the other one's turn.
            #expect(tried.withLock { $0.first } == servers[0].endpoint.address)
            tried.withLock { $0 = [] }
        }
    }

    @Test("Idle connections make room for an address that is tried when the time limit has passed")
    func late() async throws {
        let server = try FixtureServer.start { _ in .text("hello") }
        let asked = Locked(0)
        let lab = Lab(canMakeRoom: true) { _ throws(Socket.StartFailure) in
            // Also when the dialler asks once more, without having made room.
            let count = asked.withLock { asked in
                asked += 1
                return asked
            }
            if count < 3 { throw .system(SystemError("socket", code: EMFILE)) }
        }
        try await lab.dial([server.endpoint], queue: .zero).close()
        #expect(asked.withLock { $0 } == 3)
    }

    @Test("The system's resolver is asked again if it lacked a descriptor")
    func lookUp() async throws {
        let lab = Lab(canMakeRoom: true) { _ in }
        let room = CallLimit.none.deadline(.queue, stall: CallLimit.none.timeouts.queue, from: .now)
        let asked = Locked(0)
        let answer = try await lab.dialler.network.shortage.retryLookup(room, on: .shared) {
            () async throws(DialFailure) in
            let isFirst = asked.withLock { asked in
                asked += 1
                return asked == 1
            }
            guard isFirst else { return "an answer" }
            let error = LookupError(code: EAI_SYSTEM, systemCode: EMFILE)
            throw DialFailure(cause: .failed(.resolve, .lookup(error)))
        }
        #expect(answer == "an answer" && asked.withLock { $0 } == 2)
    }

    @Test("A request that waited in vain reports the lack of descriptors, and no failed address")
    func inVain() async throws {
        let servers = try FixtureServer.startOnSamePort(["127.0.0.2", "127.0.0.3"]) { _ in .text("hello") }
        let tried = Locked<[IPAddress]?>(nil)
        let lab = Lab { address throws(Socket.StartFailure) in
            let fails = tried.withLock { tried in
                tried?.append(address)
                return tried == nil
            }
            if fails { throw .system(SystemError("socket", code: ENFILE)) }
        }
        let failure = await #expect(throws: DialFailure.self) {
            _ = try await lab.dial(servers.map(\.endpoint), queue: .milliseconds(20))
        }
        guard case .failed(.connect, .system(let error))? = failure?.cause else {
            Issue.record("\(failure as Any)")
            return
        }
        #expect(error.code == ENFILE && failure?.attempts.isEmpty == true)
        tried.withLock { $0 = [] }
        try await lab.dial(servers.map(\.endpoint)).close()
        #expect(tried.withLock { $0?.first } == servers[0].endpoint.address)
    }
}

extension HTTPClient.Configuration {
    fileprivate static var unlimited: HTTPClient.Configuration {
        var settings = HTTPClient.Configuration()
        settings.maximumConnectionsPerOrigin = nil
        settings.maximumConnections = nil
        settings.maximumIdleConnections = 1000
        return settings
    }
}

/// A dialler of which the test says when there is a descriptor, and which shares none with other tests.
private struct Lab {
    let dialler: Dialler

    init(
        canMakeRoom: Bool = false,
        _ allow: @escaping @Sendable (IPAddress) throws(Socket.StartFailure) -> Void
    ) {
        let settings = HTTPClient.Configuration()
        var network = Network()
        network.shortage = DescriptorShortage(queue: DescriptorQueue(), closeIdleConnection: { canMakeRoom })
        network.connect = { (address, port, _, loop) throws(Socket.StartFailure) in
            try allow(address)
            return try Socket.connecting(to: address, port: port, on: loop)
        }
        dialler = Dialler(settings.dialConfiguration, network: network)
    }

    func dial(_ endpoints: [Endpoint], queue: Duration = .seconds(50)) async throws(DialFailure) -> Connection
    {
        let url: HTTPURL
        do { url = try HTTPURL("http://a.test/") } catch { fatalError("\(error)") }
        let timeouts = Timeouts(queue: queue, connect: .seconds(50))
        let route = Route.chosen(endpoints, port: 80, source: .request)
        return try await dialler.dial(
            ConnectionTarget(url, route: route),
            within: CallLimit(timeouts.nanoseconds, until: .never)
        )
    }
}

private func get(_ name: String, at ports: [UInt16], _ client: HTTPClient) async throws -> String? {
    var request = Request(.get, "http://\(name)/")
    // The first of two is the one that does not answer.
    request.addresses = ports.enumerated().map { index, port in
        Endpoint(stringLiteral: "127.0.0.\(index == 0 && ports.count == 2 ? 2 : 1):\(port)")
    }
    return try await client.fetch(request).text
}

/// Makes that many requests at a time; ends the process with their number if any fails, and says why the
/// first did.
private func countFailures(of count: Int, _ request: @escaping @Sendable (Int) async throws -> String?) async
{
    let failures = await withTaskGroup(of: String?.self) { group in
        for number in 0..<count {
            group.addTask {
                do { return try await request(number) == "hello" ? nil : "a wrong answer" } catch {
                    return "\(error)"
                }
            }
        }
        return await group.reduce(into: [String]()) { failures, failure in
            if let failure { failures.append(failure) }
        }
    }
    guard let first = failures.first else { return }
    print("\(failures.count) of \(count) failed, the first one: \(first)")
    exit(Int32(clamping: min(99, failures.count)))
}
