import DirectHTTP
import Glibc
import Work

/// The benchmark's work by this package's client, through its public interface and with all defaults.
///
/// `ours WORK key=value...`; peers/bench.h describes the settings. `executor=loop` makes the calls on the
/// client's executor, `executor=task` on the default one, like a program that does not set one.
@main
enum Ours {
    static func main() {
        let settings = Settings(CommandLine.arguments)
        if settings.work == "once", settings.onLoop { return once(settings) }
        // The main thread only waits: it is no executor, and this function does not return.
        Task.detached {
            do {
                try await run(settings)
                exit(0)
            } catch {
                fail("\(error)")
            }
        }
        while true { pause() }
    }

    /// Makes one request on the first thread, as a command-line tool without `async` does.
    private static func once(_ settings: Settings) {
        do { try Works(settings).printOne() } catch { fail("\(error)") }
    }

    private static func run(_ settings: Settings) async throws {
        if settings.work.hasPrefix("cache") { return try await CacheWorks(settings: settings).run() }
        if settings.work.hasPrefix("scale") {
            let works = try ScaleWorks(settings)
            return try await withTaskExecutorPreference(works.client.executor) { try await works.run() }
        }
        let works = Works(settings)
        if settings.onLoop {
            try await withTaskExecutorPreference(works.client.executor) { try await works.run() }
        } else {
            try await works.run()
        }
    }
}

/// The works. Each has a warm-up and a measured run, and both end with no request in flight.
struct Works: Sendable {
    let settings: Settings
    let client: HTTPClient
    private let latencies = Latencies()

    init(_ settings: Settings) {
        self.settings = settings
        client = HTTPClient {
            if settings.roots != "system" { $0.tls.roots = .only([.pemFile(settings.roots)]) }
            // With resumption, chance decides how many of the connections opened together are cheap. After
            // that it makes no difference.
            if settings.work == "fresh" || settings.opening > 0 { $0.tls.resumesSessions = settings.resumes }
            // One connection for each request in flight, so that the work is measured without waiting.
            $0.maximumConnectionsPerOrigin = settings.work == "queued" ? 1 : settings.inFlight
            $0.maximumConnections = nil
            if settings.work == "burst" { $0.maximumBufferedBody = settings.length }
            $0.maximumIdleConnections = max($0.maximumIdleConnections, settings.inFlight)
        }
    }

    func run() async throws {
        if settings.work == "once" { return try await print(client.fetch(request(.get, settings.path))) }
        if settings.work == "queued" { return try await queue() }
        let memoryAtStart = memoryKiB("VmRSS")
        if settings.opening > 0 { try await openConnections() }
        try await stretch(settings.warmUp, last: nil)
        latencies.removeAll()
        let start = Reading.now
        try await stretch(settings.count, last: settings.last)
        let end = Reading.now
        if settings.work == "idle" { await settle() }
        // What the allocator kept counts here.
        if settings.work == "burst" { try await Task.sleep(for: .seconds(settings.settle)) }
        latencies.report()
        report(units: settings.count, from: start, to: end, memoryAtStart: memoryAtStart)
    }

    /// Does the warm-up or the measured run. The warm-up does not check the last byte of bodies: its first
    /// connection cannot resume.
    private func stretch(_ count: Int, last: UInt8?) async throws {
        guard count > 0 else { return }
        switch settings.work {
        case "requests", "fresh", "idle", "burst": try await requests(count, last: last)
        case "latency": try await timedRequests(count)
        case "down", "gzip": try await download(kib: count)
        case "bomb": try await refuseBomb()
        case "up": try await upload(kib: count)
        default: fail("unknown work: \(settings.work)")
        }
    }

    private func request(_ method: HTTPMethod, _ path: String) -> HTTPClient.Request {
        var request = HTTPClient.Request(method, settings.url(path))
        request.addresses = [Endpoint(stringLiteral: settings.address)]
        return request
    }

    /// Opens one connection for each request in flight, by keeping that many responses unfinished at the same
    /// time. By itself the pool opens as few connections as it can, and their number depends on the
    /// scheduling.
    private func openConnections() async throws {
        var request = request(.get, "/down/\(settings.opening)")
        // A hundred handshakes at a time take long under valgrind.
        let long = RequestTimeouts.Limit.seconds(600)
        request.timeouts = RequestTimeouts(connect: long, tls: long, write: long, response: long, read: long)
        let responses = try await withThrowingTaskGroup(of: HTTPClient.Response.self) { group in
            for _ in 0..<settings.inFlight { group.addTask { [request] in try await client.send(request) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for response in responses {
            guard response.status == 200 else { fail("status \(response.status)") }
            for try await _ in response.body {}
        }
    }

    /// Sends small requests, with a worker for each that may be in flight: it sends the next after each
    /// response.
    private func requests(_ count: Int, last: UInt8?) async throws {
        let request = request(.get, settings.path)
        let taken = Counter()
        try await inFlight(count) {
            while taken.next() <= count { check(try await client.fetch(request), last) }
        }
    }

    /// Like ``requests(_:last:)``, with the time of each. Reading the clock would show in the figures of the
    /// others.
    private func timedRequests(_ count: Int) async throws {
        let request = request(.get, settings.path)
        let taken = Counter()
        try await inFlight(count) {
            var times: [Int32] = []
            while taken.next() <= count {
                let start = ContinuousClock.now
                check(try await client.fetch(request), nil)
                times.append(Int32((ContinuousClock.now - start) / .microseconds(1)))
            }
            latencies.add(times)
        }
    }

    private func inFlight(_ count: Int, _ work: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<min(settings.inFlight, count) { group.addTask(operation: work) }
            try await group.waitForAll()
        }
    }

    private func check(_ response: HTTPClient.BufferedResponse, _ last: UInt8?) {
        guard response.status == 200 else { fail("status \(response.status)") }
        guard response.body.count == settings.length else { fail("a body of \(response.body.count) bytes") }
        if let last, response.body.last != last { fail("a body ends with \(response.body.last ?? 0)") }
    }

    private func download(kib: Int) async throws {
        let response = try await client.send(request(.get, settings.path + String(kib)))
        guard response.status == 200 else { fail("status \(response.status)") }
        var received = 0
        for try await piece in response.body { received += piece.count }
        guard received == kib * 1024 else { fail("a body of \(received) bytes") }
    }

    /// Reads a body that decodes to far too much, which has to fail soon.
    private func refuseBomb() async throws {
        let response = try await client.send(request(.get, settings.path))
        var received = 0
        do {
            for try await piece in response.body { received += piece.count }
        } catch let error as HTTPError {
            guard case .coding(.ratioTooHigh) = error.reason, received <= 1 << 20 else {
                fail("after \(received) bytes: \(error)")
            }
            return
        }
        fail("a bomb of \(received) bytes was accepted")
    }

    private func upload(kib: Int) async throws {
        var request = request(.post, settings.path)
        request.body = .stream(Pieces(total: kib * 1024), length: UInt64(kib * 1024))
        let response = try await client.fetch(request)
        guard response.status == 200 else { fail("status \(response.status)") }
        guard response.text == "\(kib * 1024)\n" else { fail("the server counted \(response.text ?? "")") }
    }

    /// Keeps requests waiting for the only connection, and reads the memory meanwhile.
    private func queue() async throws {
        let first = try await client.send(request(.get, "/down/\(settings.opening)"))
        let memoryAtStart = memoryKiB("VmRSS")
        let start = Reading.now
        let request = request(.get, settings.path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<settings.inFlight { group.addTask { _ = try await client.fetch(request) } }
            while client.connections.first?.waiting != settings.inFlight {
                try await Task.sleep(for: .milliseconds(10))
            }
            trimHeap()
            report(units: settings.inFlight, from: start, to: .now, memoryAtStart: memoryAtStart)
            for try await _ in first.body {}
            try await group.waitForAll()
        }
    }

    /// Makes a blocking call.
    func printOne() throws {
        try print(client.blocking.fetch(request(.get, settings.path)))
    }

    private func print(_ response: HTTPClient.BufferedResponse) {
        check(response, nil)
        Swift.print(response.text ?? "", terminator: "")
        fflush(nil)
    }

    /// Waits until the client has released memory that idle connections do not need, and returns free memory
    /// to the system. The memory read afterwards is what the connections hold.
    private func settle() async {
        try? await Task.sleep(for: .seconds(settings.settle))
        trimHeap()
    }
}

/// The pieces of an upload: the same block of 64 KiB repeatedly, without copies.
struct Pieces: AsyncSequence {
    let total: Int

    func makeAsyncIterator() -> Iterator {
        Iterator(left: total)
    }

    struct Iterator: AsyncIteratorProtocol {
        private static let block = [UInt8](repeating: 46, count: 64 * 1024)
        var left: Int

        mutating func next() async -> [UInt8]? {
            guard left > 0 else { return nil }
            let count = Swift.min(left, Self.block.count)
            left -= count
            return count == Self.block.count ? Self.block : Array(Self.block[..<count])
        }
    }
}
