import DirectHTTP
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("Concurrent requests", .idleLimit)
struct ParallelTests {
    /// Answers with a body whose length and beginning follow from the target.
    private static let numbered: FixtureHandler = { request in
        let number = Int(request.path.dropFirst()) ?? 0
        return .bytes(pattern(at: number, count: number % 3000))
    }

    private func fetch(_ number: Int, _ client: HTTPClient, _ server: FixtureServer) async throws {
        let body = try await client.fetch(server.request("https://a.test/\(number)")).body
        if body.count != number % 3000 || !isPattern(body, at: number) {
            Issue.record("wrong body for \(number)")
        }
    }

    @Test(
        "200 concurrent requests share a client, from the client's own thread or any other",
        arguments: [true, false]
    )
    func burst(onLoop: Bool) async throws {
        let server = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")),
            handler: Self.numbered
        )
        let client = HTTPClient.trusting { $0.maximumConnectionsPerOrigin = 64 }
        try await withTaskExecutorPreference(onLoop ? client.executor : nil) {
            try await withThrowingTaskGroup { group in
                for number in 0..<200 { group.addTask { try await fetch(number, client, server) } }
                try await group.waitForAll()
            }
        }
        #expect(server.requests.count == 200)
        #expect(server.records.count <= 64)
    }

    @Test("2000 requests with 50 at once each get their own body", arguments: [true, false])
    func steady(onLoop: Bool) async throws {
        let server = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")),
            handler: Self.numbered
        )
        let client = HTTPClient.trusting()
        try await withTaskExecutorPreference(onLoop ? client.executor : nil) {
            try await withThrowingTaskGroup { group in
                for lane in 0..<50 {
                    group.addTask {
                        for round in 0..<40 { try await fetch(lane * 40 + round, client, server) }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(server.records.count <= 50)
        #expect(server.requests.count == 2000)
    }

    @Test("Uploads, downloads, small and cancelled requests do not disturb each other")
    func mixed() async throws {
        let server = try FixtureServer.start(.tls(testAuthority.certificate(for: "a.test"))) { request in
            if request.method == "POST" { return .text("\(try request.discardBody())") }
            return try Self.numbered(request)
        }
        let client = HTTPClient.trusting { $0.maximumConnectionsPerOrigin = 8 }
        try await withThrowingTaskGroup { group in
            for number in 0..<160 {
                group.addTask {
                    switch number % 4 {
                    case 0: try await fetch(number * 19, client, server)
                    case 1:
                        let pieces = PatternPieces(sizes: [50_000, 1, 70_000])
                        let post = server.request("https://a.test/", .post, body: .stream(pieces))
                        let text = try await client.fetch(post).text
                        #expect(text == "120001")
                    case 2:
                        let response = try await client.send(server.request("https://a.test/2999"))
                        for try await _ in response.body { break }
                    default:
                        let task = Task { try await fetch(number, client, server) }
                        await Task.yield()
                        task.cancel()
                        do { try await task.value } catch is CancellationError {}
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("No request waits forever in the queue when many others give up")
    func queue() async throws {
        let server = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "a.test")),
            handler: Self.numbered
        )
        let client = HTTPClient.trusting { $0.maximumConnectionsPerOrigin = 2 }
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    let task = Task { try await fetch(number, client, server) }
                    if number % 2 == 0 { task.cancel() }
                    do { try await task.value } catch is CancellationError { #expect(number % 2 == 0) }
                }
            }
            try await group.waitForAll()
        }
        try await fetch(1234, client, server)
    }
}
