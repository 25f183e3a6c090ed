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
            guard cache.statistics[.hit, default: 0] == settings.warmUp + settings.count else {
                fail("not all were hits")
            }
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
            guard cache.statistics[.hit, default: 0] == 1 else { fail("nothing was found") }
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

/// The works that show what a request costs while something grows: `objects` origins, idle connections,
/// waiting requests, cookies, cached responses, or entries of a map.
struct ScaleWorks: Sendable {
    let settings: Settings
    let client: HTTPClient

    init(_ settings: Settings) throws {
        self.settings = settings
        let size = settings.objects
        var configuration = HTTPClient.Configuration()
        configuration.maximumConnections = nil
        configuration.maximumConnectionsPerOrigin = settings.work == "scale-connections" ? size : 1
        configuration.maximumIdleConnections = max(configuration.maximumIdleConnections, size)
        configuration.timeouts = Self.patience
        switch settings.work {
        case "scale-map": configuration.addresses = try Self.map(size, settings.address)
        case "scale-cookies": configuration.cookies = try Self.jar(size)
        case "scale-cache":
            configuration.cache = .memory()
            configuration.transport = { try Self.answer($0) }
        default: break
        }
        client = HTTPClient(configuration)
    }

    /// Thousands of requests at a time take long under valgrind.
    private static let patience = {
        let long = Duration.seconds(600)
        return Timeouts(queue: long, connect: long, response: long, read: long)
    }()

    func run() async throws {
        let requests = requests()
        let memoryAtStart = memoryKiB("VmRSS")
        switch settings.work {
        case "scale-connections": try await openConnections()
        default: for request in requests.prefix(settings.warmUp) { try await get(request) }
        }
        let start = Reading.now
        if settings.work == "scale-waiters" {
            try await wait(requests[0])
        } else {
            // In another order than the first time.
            for number in 0..<settings.count { try await get(requests[number &* 7919 % requests.count]) }
        }
        if let cache = client.configuration.cache, cache.statistics[.hit, default: 0] != settings.count {
            fail("\(cache.statistics[.hit, default: 0]) hits")
        }
        report(units: settings.count, from: start, to: .now, memoryAtStart: memoryAtStart)
    }

    /// Returns the requests that are sent in turn, made beforehand so that only sending them is measured.
    private func requests() -> [HTTPClient.Request] {
        switch settings.work {
        case "scale-origins": (0..<settings.objects).map { request("h\($0).\(settings.host)", "/small") }
        case "scale-cache": (0..<settings.objects).map { request(settings.host, "/\($0)") }
        default: [request(settings.host, "/small")]
        }
    }

    private func request(_ host: String, _ path: String) -> HTTPClient.Request {
        // Only TLS tells the whole body of a response without a length from a part of it, which is not kept.
        if settings.work == "scale-cache" { return HTTPClient.Request(.get, "https://\(host)\(path)") }
        var request = HTTPClient.Request(.get, "http://\(host):\(settings.port)\(path)")
        if settings.work != "scale-map" { request.addresses = [Endpoint(stringLiteral: settings.address)] }
        return request
    }

    private func get(_ request: HTTPClient.Request) async throws {
        let response = try await client.fetch(request)
        guard response.status == 200, response.body.count == settings.length else { fail("another response") }
    }

    /// Sends the requests over one connection, with as many callers as `objects`: all but one of them wait.
    private func wait(_ request: HTTPClient.Request) async throws {
        let taken = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<settings.objects {
                group.addTask { while taken.next() <= settings.count { try await get(request) } }
            }
            try await group.waitForAll()
        }
    }

    /// Opens a connection for each of `objects` responses, which are all unfinished at the same time.
    private func openConnections() async throws {
        let request = request(settings.host, "/down/64")
        let responses = try await withThrowingTaskGroup(of: HTTPClient.Response.self) { group in
            for _ in 0..<settings.objects { group.addTask { try await client.send(request) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for response in responses { for try await _ in response.body {} }
    }

    /// A map in which the entry that is looked up is one of many.
    private static func map(_ size: Int, _ address: String) throws -> StaticMap {
        var map = StaticMap()
        try map.set([Endpoint(stringLiteral: address)], for: HostPattern("bench.test"))
        for number in 1..<size { try map.set(["192.0.2.1"], for: HostPattern("h\(number).bench.test")) }
        return map
    }

    /// A jar with one cookie for the host of the requests, and others for other sites.
    private static func jar(_ size: Int) throws -> CookieJar {
        let jar = CookieJar()
        for number in 0..<size {
            let host = number == 0 ? "bench.test" : "h\(number).test"
            jar.take(["Set-Cookie": "session=0123456789abcdef; Path=/"], from: try HTTPURL("http://\(host)/"))
        }
        guard jar.cookies.count == size else { fail("the jar has \(jar.cookies.count) cookies") }
        return jar
    }

    /// Answers what the cache does not.
    private static func answer(_ request: HTTPClient.Request) throws -> HTTPClient.Response {
        let body = [UInt8](repeating: 46, count: 13)
        return try HTTPClient.Response(
            to: request,
            .ok,
            headers: ["Cache-Control": "max-age=3600"],
            body: body
        )
    }
}
