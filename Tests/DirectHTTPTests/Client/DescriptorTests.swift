import DirectHTTP
import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@Suite("Descriptors of a client", .idleLimit)
struct DescriptorTests {
    /// In a process of its own, where no other test opens and closes any.
    @Test(
        "No descriptor is left open by successful, failed and cancelled requests of a deleted client",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd")),
        .ownProcess
    )
    func noneLeft() async throws {
        await #expect(processExitsWith: .success) {
            try await useOnce(rounds: 1)
            let before = try openSocketCount()
            try await useOnce(rounds: 40)
            // The number of those left open shows in the report.
            exit(Int32(clamping: max(0, try openSocketCount() - before)))
        }
    }
}

/// Requests of all kinds, several hundred of them with forty rounds, and the end of client and servers.
private func useOnce(rounds: Int) async throws {
    let authority = TestAuthority()
    let good = try FixtureServer.start(.tls(authority.certificate(for: "a.test"))) {
        .pattern(count: $0.target.count * 1000)
    }
    let wrong = try FixtureServer.start(.tls(authority.certificate(for: "b.test"))) { _ in .text("never") }
    let dead = try FixtureServer.unresponsive()
    let refusing = try FixtureServer.refusing()
    let mute = try FixtureServer.start(behaviour: .bytes([.awaitHead, .awaitClose]))
    let cutting = try FixtureServer.start(
        behaviour: .bytes([.awaitHead, .send("HTTP/1.1 200 OK\r\n"), .reset])
    )
    do {
        // On the system's clock, so that the race passes dead addresses, and without limits that may be too
        // short.
        let client = HTTPClient {
            $0.tls.roots = .only([.der(authority.rootDER)])
            $0.timeouts = Timeouts(
                queue: nil,
                resolve: nil,
                connect: nil,
                tls: nil,
                write: nil,
                response: nil,
                read: nil
            )
        }
        func request(_ server: FixtureServer, _ scheme: String = "https") -> Request {
            var request = Request(.get, "\(scheme)://a.test/")
            request.addresses = [server.endpoint]
            return request
        }
        for round in 0..<rounds {
            let isSecond = round % 2 == 1
            try await withThrowingTaskGroup { group in
                for target in [good, wrong, refusing] {
                    group.addTask { [request = request(target)] in _ = try? await client.fetch(request) }
                }
                var hopeless = request(dead)
                hopeless.timeouts = RequestTimeouts(
                    connect: .milliseconds(20),
                    tls: .unlimited,
                    response: .unlimited,
                    read: .unlimited
                )
                group.addTask { [hopeless] in _ = try? await client.fetch(hopeless) }
                var raced = request(dead)
                raced.addresses = [mute, dead, refusing, good].map(\.endpoint)
                if isSecond { raced.addresses?.append(wrong.endpoint) }
                group.addTask { [raced] in _ = try? await client.fetch(raced) }
                group.addTask { [request = request(cutting, "http")] in _ = try? await client.fetch(request) }
                group.addTask { [request = request(good)] in
                    let response = try await client.send(request)
                    if isSecond { for try await _ in response.body { break } }
                }
                group.addTask { [request = request(mute, "http")] in
                    let task = Task { _ = try await client.fetch(request) }
                    if isSecond { try await mute.waitUntil { $0.last?.receivedCount ?? 0 > 0 } }
                    task.cancel()
                    _ = await task.result
                }
                try await group.waitForAll()
            }
        }
    }
    for server in [good, wrong, dead, refusing, mute, cutting] { server.stop() }
}
