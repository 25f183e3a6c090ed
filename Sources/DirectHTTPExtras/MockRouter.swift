public import DirectHTTP
internal import Synchronization

/// Answers the requests of a client in tests, and knows which of them were made.
///
/// ```swift
/// let router = MockRouter()
/// let items = router.on(.get, "https://api.example.com/items/*") { try .init(to: $0, 200) }
/// let client = HTTPClient { $0.transport = router.transport }
/// _ = try await client.get("https://api.example.com/items/7?page=2")
/// print(items.requests.count)
/// try router.verify()         // throws if a route was not called, or a request had none
/// ```
///
/// A request is answered by the first route that fits and has not had all of its calls. A request without
/// one fails, and ``verify()`` reports it even if the program has handled the error. Redirects, cookies,
/// cache, retries and credentials work as usual, and each of their requests counts.
public final class MockRouter: Sendable {
    /// A rule that answers some requests.
    public final class Route: Sendable {
        /// The method and the URL, as they were given.
        public let name: String
        fileprivate let calls: ClosedRange<Int>
        fileprivate let fits: @Sendable (HTTPClient.Request) -> Bool
        fileprivate let respond: Respond
        private let received = Mutex<[HTTPClient.Request]>([])

        fileprivate init(
            _ name: String,
            calls: ClosedRange<Int>,
            fits: @escaping @Sendable (HTTPClient.Request) -> Bool,
            respond: @escaping Respond
        ) {
            (self.name, self.calls, self.fits, self.respond) = (name, calls, fits, respond)
        }

        /// The requests that the route has been asked for, in order, with their final fields.
        public var requests: [HTTPClient.Request] { received.withLock { $0 } }

        /// Takes the request if the route fits and has not had all of its calls.
        fileprivate func take(_ request: HTTPClient.Request) -> Bool {
            guard fits(request) else { return false }
            return received.withLock { received in
                guard received.count < calls.upperBound else { return false }
                received.append(request)
                return true
            }
        }
    }

    /// Makes the response to a request, or throws the error that a network would end in.
    public typealias Respond = @Sendable (HTTPClient.Request) async throws -> HTTPClient.Response

    private struct State {
        var routes: [Route] = []
        var unexpected: [String] = []
    }

    private let state = Mutex(State())

    /// Makes a router without routes.
    public init() {}

    /// Adds a route.
    ///
    /// - Parameters:
    ///   - method: The method; `nil` for every one.
    ///   - url: The URL, or its beginning followed by `*`. Without a question mark it fits whatever the query
    ///     is, and with one the whole query counts.
    ///   - calls: How many requests the route has to answer; further ones go to routes behind it.
    ///   - fits: Whether a request with this method and URL belongs to the route, by its fields for example.
    ///   - respond: Makes the response.
    @discardableResult
    public func on(
        _ method: HTTPMethod?,
        _ url: String,
        calls: ClosedRange<Int> = 1...Int.max,
        where fits: @escaping @Sendable (HTTPClient.Request) -> Bool = { _ in true },
        respond: @escaping Respond
    ) -> Route {
        let pattern = URLPattern(url)
        let name = "\(method.map { "\($0)" } ?? "any method") \(url)"
        let route = Route(name, calls: calls) { request in
            (method == nil || request.method == method) && pattern.fits(request) && fits(request)
        } respond: {
            try await respond($0)
        }
        state.withLock { $0.routes.append(route) }
        return route
    }

    /// Answers requests, as a client's `Configuration.transport`.
    public var transport: Forward {
        { [self] request in
            let routes = state.withLock { $0.routes }
            if let route = routes.first(where: { $0.take(request) }) {
                return try await route.respond(request)
            }
            let name = "\(request.method) \((try? request.url.redacted.text) ?? "an invalid URL")"
            state.withLock { $0.unexpected.append(name) }
            throw MockRouterError(uncalled: [], unexpected: [name])
        }
    }

    /// Checks that each route has been called as often as it has to be, and that each request had a route.
    ///
    /// - Throws: ``MockRouterError``, with all that differs.
    public func verify() throws {
        // Not typed: in an `async` function, a `catch let error as MockRouterError` behind which this is
        // called once more stops the compiler of Swift 6.3 ("Found ownership error").
        let (routes, unexpected) = state.withLock { ($0.routes, $0.unexpected) }
        let uncalled = routes.filter { $0.requests.count < $0.calls.lowerBound }.map {
            "\($0.name) (\($0.requests.count) of \($0.calls.lowerBound) calls)"
        }
        guard uncalled.isEmpty, unexpected.isEmpty else {
            throw MockRouterError(uncalled: uncalled, unexpected: unexpected)
        }
    }
}

/// The requests that a ``MockRouter`` has missed.
public struct MockRouterError: Error, Hashable, CustomStringConvertible {
    /// The routes that were called less often than they have to be.
    public let uncalled: [String]
    /// The requests that no route was for, without the values of their queries.
    public let unexpected: [String]

    /// All of them.
    public var description: String {
        let parts = [("not called", uncalled), ("without a route", unexpected)].filter { !$0.1.isEmpty }
        return parts.map { "\($0): \($1.joined(separator: ", "))" }.joined(separator: "; ")
    }
}

/// The URLs that a route is for.
private struct URLPattern: Sendable {
    private let text: String
    private let isPrefix: Bool
    private let hasQuery: Bool

    init(_ pattern: String) {
        isPrefix = pattern.hasSuffix("*")
        let bare = isPrefix ? String(pattern.dropLast()) : pattern
        // In the form in which requests have it: `HTTP://A.TEST` is `http://a.test/`.
        text = (try? HTTPURL(bare))?.text ?? bare
        hasQuery = bare.contains("?")
    }

    func fits(_ request: HTTPClient.Request) -> Bool {
        guard var url = (try? request.url)?.text else { return false }
        if let end = url.firstIndex(of: "#") { url = String(url[..<end]) }
        if !hasQuery, let end = url.firstIndex(of: "?") { url = String(url[..<end]) }
        return isPrefix ? url.hasPrefix(text) : url == text
    }
}
