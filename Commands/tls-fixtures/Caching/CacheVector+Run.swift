internal import DirectHTTP

extension CacheVector {
    /// Sends the requests through a cache of our client, and returns what it does differently. The clock is
    /// simulated, so that nothing waits.
    ///
    /// - Parameter folder: The folder to store the cache in, or `nil` for a cache in memory.
    func differences(folder: String? = nil) async -> [Difference] {
        let stage = CacheStage()
        let cache: ResponseCache
        do throws(CacheError) {
            let staleTime = staleWhenUnreachable.map { Duration.seconds($0) }
            cache = try ResponseCache(folder: folder, staleWhenUnreachable: staleTime) { stage.now }
        } catch {
            return [Difference(what: "cache", expected: "opened", got: "\(error)")]
        }
        var differences: [Difference] = []
        for (index, (exchange, answer)) in zip(exchanges, answers).enumerated() {
            stage.begin(exchange)
            let got = await Self.ask(exchange, cache: cache, stage: stage)
            await cache.settle()
            let found = answer.differences(from: got, asked: stage.requests)
            differences += found.map { $0.found(in: "\(index + 1)") }
        }
        return differences
    }

    /// Sends one request through the cache.
    private static func ask(_ exchange: Exchange, cache: ResponseCache, stage: CacheStage) async
        -> Result<BufferedResponse, any Error>
    {
        do {
            let url = try HTTPURL("https://a.example/").resolving(exchange.url)
            var request = Request(HTTPMethod(stringLiteral: exchange.method), url)
            request.headers = HTTPHeaders(exchange.fields)
            if let body = exchange.body { request.body = .text(body) }
            if !exchange.upgrade.isEmpty { request.upgrade = exchange.upgrade }
            let response = try await cache.send(request) { request, sent in
                let request = request.with(exchange.added)
                sent.note(request, defaults: HTTPHeaders())
                return try stage.answer(request)
            }
            return .success(try await response.collected(upTo: 1 << 20))
        } catch {
            return .failure(error)
        }
    }
}

extension Request {
    /// The request with these header fields set, as an interceptor between cache and origin would set them.
    fileprivate func with(_ fields: [(name: String, value: String)]) -> Request {
        var request = self
        for (name, value) in fields { request.headers[name] = value }
        return request
    }
}

/// The simulated clock and the origin server of the current exchange.
private final class CacheStage: Sendable {
    private struct State {
        var now = CacheVector.start
        var exchange: CacheVector.Exchange?
        var requests: [Request] = []
    }

    private let state = Locked(State())

    var now: UnixTime { state.withLock { $0.now } }
    var requests: [Request] { state.withLock { $0.requests } }

    /// Sets the clock and the origin's answer for the next exchange.
    func begin(_ exchange: CacheVector.Exchange) {
        state.withLock { state in
            state.now = CacheVector.start.advanced(bySeconds: exchange.time)
            state.exchange = exchange
            state.requests = []
        }
    }

    /// Answers as the origin, and advances the clock by its delay.
    func answer(_ request: Request) throws -> Response {
        let exchange = state.withLock { state in
            state.requests.append(request)
            if let delay = state.exchange?.delay { state.now = state.now.advanced(bySeconds: delay) }
            return state.exchange
        }
        guard let exchange, case .answers(let code, let fields, let body) = exchange.origin,
            let status = HTTPStatus(code: code)
        else { throw HTTPError(.response, .connectionClosed) }
        let content = request.method == .head || code == 304 ? [] : Array(body.utf8)
        return try Response(to: request, status, headers: HTTPHeaders(fields), body: content)
    }
}

extension CacheVector.Answer {
    /// Compares the response, and the requests that reached the origin, with the expectation.
    fileprivate func differences(from got: Result<BufferedResponse, any Error>, asked: [Request])
        -> [Difference]
    {
        guard case .success(let response) = got else {
            return Difference.between("use", expected: use, got: "error")
        }
        var found = Difference.between("use", expected: use, got: response.cacheUse?.rawValue ?? "none")
        found += Difference.between("status", expected: status, got: Int(response.status.code))
        found += Difference.between(
            "body",
            expected: body,
            got: String(decoding: response.body, as: UTF8.self)
        )
        found += Difference.between(fields, in: response.headers, what: "header")
        let isAsked = isAsked ?? !["hit", "stale"].contains(use)
        found += Difference.between("origin asked", expected: isAsked, got: !asked.isEmpty)
        if let last = asked.last { found += Difference.between(sent, in: last.headers, what: "sent") }
        return found
    }
}

extension Difference {
    fileprivate static func between(
        _ wanted: [(name: String, value: String?)],
        in headers: HTTPHeaders,
        what: String
    ) -> [Difference] {
        wanted.flatMap { name, value in
            let values = headers.values(for: name)
            let got = values.isEmpty ? "none" : values.joined(separator: ", ")
            return between("\(what) \(name)", expected: value ?? "none", got: got)
        }
    }
}
