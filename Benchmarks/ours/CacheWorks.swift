import DirectHTTP
import Work

/// The works of a cache that holds many responses. They use no network.
struct CacheWorks: Sendable {
    let settings: Settings

    func run() async throws {
        let cache = try settings.folder.map { try ResponseCache.directory($0) } ?? .memory()
        let memoryAtStart = memoryKiB("VmRSS")
        let client = client(cache)
        var start = Reading.now
        for number in 0..<settings.objects { try await get(client, number) }
        switch settings.work {
        case "cache-keep": break
        case "cache-hit":
            for number in 0..<settings.warmUp { try await get(client, number) }
            start = .now
            try await hit(client)
            guard cache.statistics.hits == settings.warmUp + settings.count else { fail("not all were hits") }
        case "cache-open":
            start = .now
            try await open(settings.folder ?? "")
        default: fail("unknown work: \(settings.work)")
        }
        report(units: settings.count, from: start, to: .now, memoryAtStart: memoryAtStart)
    }

    /// Requests cached responses in another order than that in which they were stored.
    private func hit(_ client: HTTPClient) async throws {
        for number in 0..<settings.count { try await get(client, number &* 7919) }
    }

    /// Opens the folder repeatedly, as a program does at its start, and requests one response each time.
    private func open(_ folder: String) async throws {
        for number in 0..<settings.count {
            let cache = try ResponseCache.directory(folder)
            try await get(client(cache), number &* 7919)
            guard cache.statistics.hits == 1 else { fail("nothing was found") }
        }
    }

    private func get(_ client: HTTPClient, _ number: Int) async throws {
        let response = try await client.fetch(
            HTTPClient.Request(.get, "https://bench.test/\(number % settings.objects)?of=\(settings.objects)")
        )
        guard response.status == 200, response.body.count == settings.length else { fail("another response") }
    }

    /// A client whose transport answers immediately every request that the cache does not answer.
    private func client(_ cache: ResponseCache) -> HTTPClient {
        let body = [UInt8](repeating: 46, count: settings.length)
        return HTTPClient {
            $0.cache = cache
            $0.transport = { request in
                let fields: HTTPHeaders = [
                    "Cache-Control": "max-age=3600", "Content-Type": "text/plain", "ETag": "\"a\"",
                    "Server": "bench",
                ]
                return try HTTPClient.Response(to: request, .ok, headers: fields, body: body)
            }
        }
    }
}
