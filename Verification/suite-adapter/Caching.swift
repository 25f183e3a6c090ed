import DirectHTTP
import Foundation

extension SuiteAdapter {
    /// Makes each request of the standard input as it comes, with one client and one cache, and answers in
    /// the order in which the responses come.
    ///
    /// The cache is in memory, or in that folder. What the suite asks of one that cannot reach the origin
    /// only a cache that may use stale responses can answer. With the file of the suite's tests it has their
    /// time, else the machine's.
    static func cache(in folder: String?, tests: String?) async throws {
        let clock = try tests.map(SuiteClock.init(path:))
        let cache = try ResponseCache(folder: folder, staleWhenUnreachable: .seconds(3600)) {
            SuiteClock.now ?? UnixTime.now
        }
        let client = HTTPClient {
            $0.cache = cache
            // The origin closes idle connections after 5 s: a request that is late must not meet one.
            $0.maximumIdleConnections = 0
        }
        let output = Output()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for await line in inputLines() {
                let question = try JSONDecoder().decode(CacheQuestion.self, from: Data(line.utf8))
                group.addTask {
                    let now = clock?.time(of: question.value(of: "Test-ID"), question.value(of: "Req-Num"))
                    let answer = await SuiteClock.$now.withValue(now) { await question.answer(client) }
                    try await output.print(answer)
                }
            }
            try await group.waitForAll()
        }
    }
}

/// The time of each test by itself: it passes where the suite waits, and not while a busy machine is late.
///
/// The suite judges in whole seconds, and its origin dates responses by the machine's clock. That is never
/// behind this one, and a response from the future counts as one of now (RFC 9111, section 4.2.3); a lifetime
/// is the difference of two fields.
private struct SuiteClock: Sendable {
    @TaskLocal static var now: UnixTime?

    /// By the test: whether the suite waits behind each of its requests.
    private let waits: [String: [Bool]]
    private let start = UnixTime.now

    private struct Group: Decodable {
        struct Test: Decodable {
            struct Request: Decodable {
                let pauseAfter: Bool?
            }

            let id: String
            let requests: [Request]
        }

        let tests: [Test]
    }

    init(path: String) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let groups = try decoder.decode([Group].self, from: Data(contentsOf: URL(filePath: path)))
        let tests = groups.flatMap(\.tests).map { ($0.id, $0.requests.map { $0.pauseAfter == true }) }
        waits = Dictionary(tests) { first, _ in first }
    }

    /// The time of a test's request, which are counted from 1.
    func time(of test: String?, _ request: String?) -> UnixTime {
        let before = request.flatMap { Int($0) }.map { max(0, $0 - 1) } ?? 0
        let pauses = test.flatMap { waits[$0] }?.prefix(before).count { $0 } ?? 0
        return start.advanced(bySeconds: Int64(pauses) * Self.pause)
    }

    /// As long as the suite waits.
    private static let pause: Int64 = 3
}

/// Read by a thread of their own: waiting for the next one must not keep the answers to the others.
private func inputLines() -> AsyncStream<String> {
    AsyncStream { lines in
        Thread.detachNewThread {
            while let line = readLine() { lines.yield(line) }
            lines.finish()
        }
    }
}

/// One line at a time.
private actor Output {
    func print(_ answer: CacheAnswer) throws {
        try printLine(answer)
    }
}

private struct CacheQuestion: Decodable, Sendable {
    let id: Int
    let method: String
    let url: String
    let headers: [[String]]
    let body: String?
    let cache: String?
    let redirect: String?

    func value(of name: String) -> String? {
        headers.first { $0.first == name }?.last
    }

    func answer(_ client: HTTPClient) async -> CacheAnswer {
        var answer = CacheAnswer(id: id)
        do {
            guard let method = HTTPMethod(validating: method) else {
                throw UsageError("method \(self.method)")
            }
            var request = Request(method, url)
            request.headers = HTTPHeaders(headers.map { (name: $0[0], value: $0[1]) })
            if cache == "no-store" { request.headers.add("Cache-Control", "no-store") }
            if let body { request.body = .text(body) }
            if redirect == "manual" { request.redirects = .deliver }
            request.timeouts.total = .seconds(12)
            let response = try await client.fetch(request)
            answer.status = Int(response.status.code)
            answer.headers = response.headers.map { [$0.name, $0.value] }
            answer.body = String(decoding: response.body, as: UTF8.self)
        } catch {
            answer.error = "\(error)"
        }
        return answer
    }
}

private struct CacheAnswer: Encodable {
    let id: Int
    var status = 0
    var headers: [[String]] = []
    var body = ""
    var error: String?
}
