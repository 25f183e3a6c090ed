@testable import DirectCore
import DirectTestCommands
@testable import DirectTransport
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("A cache below which requests change", .idleLimit)
struct SentRequestsTests {
    private let who = Locked("")

    /// Answers with the fields that identify the user; each answer may be stored.
    private func server(_ fields: FixtureHeaders = ["Cache-Control": "max-age=60"]) throws -> FixtureServer {
        try FixtureServer.start { request in
            let names = ["Authorization", "Cookie", "X-Api-Key", "X-User"].compactMap { request.headers[$0] }
            return .text("\(request.target) for \(names.joined(separator: " "))", fields)
        }
    }

    private func client(_ change: @escaping @Sendable (inout Request, String) throws -> Void) -> HTTPClient {
        HTTPClient { [who] in
            $0.cache = .memory()
            $0.networkInterceptors.append { request, forward in
                var request = request
                try change(&request, who.withLock { $0 })
                return try await forward(request)
            }
        }
    }

    private func ask(_ client: HTTPClient, _ url: String, as name: String) async throws -> BufferedResponse {
        who.withLock { $0 = name }
        return try await client.get(url)
    }

    @Test(
        "A response to credentials that an interceptor added is not stored",
        arguments: ["Authorization", "Cookie", "X-Api-Key"]
    )
    func credentials(field: String) async throws {
        let server = try server()
        let client = client { request, name in request.headers[field] = name }
        for name in ["alice", "bob", "alice"] {
            let response = try await ask(client, server.http("/"), as: name)
            #expect(response.text == "/ for \(name)" && response.cacheUse == .miss)
        }
    }

    @Test("A response that was selected by an interceptor's field is not stored")
    func selecting() async throws {
        let server = try server(["Cache-Control": "max-age=60", "Vary": "X-User"])
        let client = client { request, name in request.headers["X-User"] = name }
        for name in ["alice", "bob"] {
            #expect(try await ask(client, server.http("/"), as: name).text == "/ for \(name)")
        }
    }

    @Test("A response to another URL or method, or to a body, chosen by an interceptor is not stored")
    func otherRequests() async throws {
        let server = try server()
        let base = server.http()
        let clients = [
            client { request, name in request = Request(.get, base + name) },
            client { request, name in
                request.headers["X-User"] = name; request.method = "REPORT"
            },
            client { request, name in
                request.headers["X-User"] = name; request.body = .text(name)
            },
        ]
        for client in clients {
            for name in ["alice", "bob"] {
                let response = try await ask(client, base, as: name)
                #expect(response.text?.contains(name) == true && response.cacheUse == .miss)
            }
        }
    }

    @Test("A response that an interceptor has rewritten is not stored for other users")
    func ownResponses() async throws {
        let server = try server()
        let client = HTTPClient { [who] in
            $0.cache = .memory()
            $0.networkInterceptors.append { original, forward in
                var request = original
                request.headers["Authorization"] = who.withLock { $0 }
                let response = try await forward(request)
                let body = try await response.body.collect(upTo: 1000)
                return try Response(to: original, response.status, headers: response.headers, body: body)
            }
        }
        for name in ["alice", "bob"] {
            #expect(try await ask(client, server.http(), as: name).text == "/ for \(name)")
        }
    }

    @Test("A response is stored if an interceptor changed no relevant field, or answered itself")
    func harmless() async throws {
        let server = try server()
        let tracing = client { request, name in request.headers["X-Trace"] = name }
        let answering = HTTPClient {
            $0.cache = .memory()
            $0.networkInterceptors.append { request, _ in
                try Response(
                    to: request,
                    .ok,
                    headers: ["Cache-Control": "max-age=60", "Content-Length": "0"]
                )
            }
        }
        for client in [tracing, answering] {
            for use in [CacheUse.miss, .hit] {
                #expect(try await ask(client, server.http(), as: "1").cacheUse == use)
            }
        }
    }

    @Test(
        "A response that another client has brought, who may add what identifies a user, is not stored",
        arguments: [true, false]
    )
    func otherClients(asTransport isTransport: Bool) async throws {
        let server = try server()
        let cache = ResponseCache.memory()
        func client(of name: String, withCache: Bool) -> HTTPClient {
            let inner = HTTPClient {
                $0.headers["Authorization"] = name
                if withCache { $0.cache = .memory() }
            }
            return HTTPClient {
                $0.cache = cache
                if isTransport {
                    $0.transport = { try await inner.send($0) }
                } else {
                    $0.networkInterceptors = [{ request, _ in try await inner.send(request) }]
                }
            }
        }
        for withCache in [false, true] {
            for client in ["alice", "bob"].map({ (name: $0, client: client(of: $0, withCache: withCache)) }) {
                for _ in 0..<2 {
                    let response = try await client.client.get(server.http())
                    #expect(response.text == "/ for \(client.name)" && response.cacheUse == .miss)
                }
            }
        }
        #expect(server.requests.count == 6)
    }

    @Test("For redirects and retries, the request sent on each hop decides about storage")
    func walks() async throws {
        let count = Locked(0)
        let server = try FixtureServer.start { request in
            let name = request.headers["Authorization"] ?? "all"
            let number = count.withLock { count in
                count += 1
                return count
            }
            switch request.target {
            case "/from":
                return .redirect(to: "/to", status: 301).adding("Cache-Control", value: "max-age=60")
            default:
                return number == 2
                    ? .status(503) : .text("for \(name)", ["Cache-Control": "max-age=60"])
            }
        }
        let client = HTTPClient { [who] in
            $0.cache = .memory()
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
            $0.networkInterceptors.append { request, forward in
                var request = request
                if try request.url.path == "/to" { request.headers["Authorization"] = who.withLock { $0 } }
                return try await forward(request)
            }
        }
        for name in ["alice", "bob"] {
            #expect(try await ask(client, server.http("/from"), as: name).text == "for \(name)")
        }
        // The redirect itself was sent as the cache had seen it, and was kept.
        #expect(server.records.flatMap(\.requests).count { $0.target == "/from" } == 1)
    }

    @Test("A request with a body or for another protocol bypasses the cache")
    func passingBy() async throws {
        let server = try FixtureServer.start { request in
            let body = try request.text
            return .text("found \(body)", ["Cache-Control": "max-age=60"])
        }
        let client = HTTPClient { $0.cache = .memory() }
        for body in ["apples", "pears"] {
            let response = try await client.fetch(Request(.get, server.http(), body: .text(body)))
            #expect(response.text == "found \(body)" && response.cacheUse == .bypassed)
        }
        #expect(try await client.get(server.http()).cacheUse == .miss)
        var request = Request(.get, server.http())
        request.upgrade = ["websocket"]
        let response = try await client.fetch(request)
        #expect(response.cacheUse == .bypassed && response.transaction != nil)
        let empty = Request(.get, server.http(), body: .bytes([]))
        #expect(try await client.fetch(empty).cacheUse == .hit)
    }

    @Test(
        "A response to a retry with another account's credentials is not stored for the first account",
        arguments: [("alice", "bob"), ("alice", "alice")]
    )
    func renewedCredentials(accounts: (String, String)) async throws {
        let (first, second) = accounts
        let count = Locked(0)
        let server = try FixtureServer.start { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let name = request.headers["Authorization"] ?? "nobody"
            return number == 1 ? .status(503) : .text("for \(name)", ["Cache-Control": "max-age=60"])
        }
        let client = HTTPClient {
            $0.cache = .memory()
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
        }
        func ask(as names: [String]) async throws -> BufferedResponse {
            var request = Request(.get, server.http())
            request.authenticator = Accounts(names: names)
            return try await client.fetch(request)
        }
        #expect(try await ask(as: [first, second]).text == "for \(second)")
        let again = try await ask(as: [first])
        #expect(again.text == "for \(first)")
        #expect(again.cacheUse == (first == second ? .hit : .miss))
    }
}

/// Sends each request with the credentials of the next account.
private final class Accounts: Authenticator {
    private let names: Locked<[String]>

    init(names: [String]) {
        self.names = Locked(names)
    }

    func authorization(for request: AuthenticationRequest) async throws -> String? {
        names.withLock { $0.count > 1 ? $0.removeFirst() : $0.first }
    }

    func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after said: String?
    ) async throws -> String? { nil }
}
