import DirectHTTP
import Foundation

extension SuiteAdapter {
    /// Makes each request of the standard input as it comes, with one client and one cache, and answers in the order
    /// in which the responses come.
    ///
    /// The cache is in memory, or in that folder. What the suite asks of one that cannot reach the origin only a cache
    /// that may use stale responses can answer.
    static func cache(in folder: String?) async throws {
        let patience = Duration.seconds(3600)
        let cache =
            try folder.map { try ResponseCache.directory($0, staleWhenUnreachable: patience) }
            ?? .memory(staleWhenUnreachable: patience)
        let client = HTTPClient { $0.cache = cache }
        let output = Output()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for await line in inputLines() {
                let question = try JSONDecoder().decode(CacheQuestion.self, from: Data(line.utf8))
                group.addTask { try await output.print(question.answer(client)) }
            }
            try await group.waitForAll()
        }
    }
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

    func answer(_ client: HTTPClient) async -> CacheAnswer {
        var answer = CacheAnswer(id: id)
        do {
            guard let method = Method(validating: method) else { throw UsageError("method \(self.method)") }
            var request = Request(method, url)
            request.headers = Headers(headers.map { (name: $0[0], value: $0[1]) })
            if cache == "no-store" { request.headers.add("Cache-Control", "no-store") }
            if let body { request.body = .text(body) }
            if redirect == "manual" { request.redirects = .deliver }
            var timeouts = Timeouts()
            timeouts.total = .seconds(12)
            request.timeouts = timeouts
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
