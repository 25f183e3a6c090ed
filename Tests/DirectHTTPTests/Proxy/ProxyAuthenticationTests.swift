@testable import DirectCore
import DirectTestCommands
import DirectTestTime
import TLSFixtures
import Testing

@testable import DirectHTTP

/// A proxy that wants Digest credentials with a nonce that no client has had, and takes no count twice.
private final class DigestGate: Sendable {
    private let used = Locked<[String: Set<String>]>([:])
    private let values = Locked<[String?]>([])
    private let nonce: String

    init(nonce: String = "n1") {
        self.nonce = nonce
    }

    /// The parameters of the values that came; `nil` for a request without any.
    var seen: [[String: String]?] {
        values.withLock { $0 }.map { $0.flatMap { Challenge.all(of: $0).first?.parameters } }
    }

    /// Returns the challenge to this value; `nil` if it is right.
    func challenge(_ method: DirectHTTP.HTTPMethod, _ value: String?) -> String? {
        values.withLock { $0.append(value) }
        let challenge = "Digest realm=\"p\", nonce=\"\(nonce)\", qop=\"auth\""
        guard let said = value.flatMap({ Challenge.all(of: $0).first?.parameters }), said["nonce"] == nonce,
            let count = said["nc"], let target = said["uri"],
            used.withLock({ $0[nonce, default: []].insert(count).inserted }),
            var session = DigestSession.best(of: Challenge.all(of: challenge)),
            let number = UInt32(count, radix: 16), let url = try? HTTPURL("http://proxy.test/")
        else { return challenge }
        session.count = number
        let right = try? session.answer(
            AuthenticationRequest(method: method, url: url, body: [], proxyTarget: target),
            user: "u",
            password: "p",
            clientNonce: said["cnonce"] ?? ""
        )
        let response = right.flatMap { Challenge.all(of: $0).first }?.parameters["response"]
        return response == said["response"] ? nil : challenge
    }
}

/// Fails, or waits until its task is cancelled.
private struct OddAuthenticator: Authenticator {
    struct Failure: Error {}
    /// Opened when it has been asked; `nil` if it fails.
    var hanging: Gate?

    func authorization(for request: AuthenticationRequest) async throws -> String? {
        guard let hanging else { throw Failure() }
        hanging.open()
        try await Task.sleep(for: .seconds(86_400))
        return nil
    }

    func authorization(
        for request: AuthenticationRequest,
        answering challenges: [Challenge],
        after refused: String?
    ) async throws -> String? { nil }
}

@Suite("Authenticators of proxies", .idleLimit)
struct ProxyAuthenticationTests {
    private let time = HeldTime()

    private func client(
        _ proxy: FixtureServer,
        _ authenticator: any Authenticator = .digest(user: "u", password: "p"),
        user: String = "",
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) throws -> HTTPClient {
        var settings = try Proxy("http://\(user)proxy.test:\(proxy.port)")
        settings.addresses = [proxy.endpoint]
        let origin = try HTTPURL("http://proxy.test:\(proxy.port)").origin
        return time.client {
            $0.proxy = ProxySettings(settings)
            $0.proxyAuthenticators[origin] = authenticator
            configure(&$0)
        }
    }

    private func tunnels(_ origin: FixtureServer, _ gate: DigestGate) throws -> FixtureServer {
        var proxy = FixtureProxy(["a.test:443": origin.authority, "b.test:443": origin.authority])
        proxy.challenge = { gate.challenge(.connect, $0) }
        return try FixtureServer.start(on: "127.0.0.3", behaviour: .proxy(proxy))
    }

    private func origin() throws -> FixtureServer {
        try .secure("a.test", "b.test") { .text($0.headers["proxy-authorization"] ?? "none") }
    }

    @Test("A tunnel is opened with an answer to the challenge, and the next one with its nonce in advance")
    func tunnel() async throws {
        let (origin, gate) = (try origin(), DigestGate())
        let proxy = try tunnels(origin, gate)
        let client = try client(proxy)
        #expect(try await client.get("https://a.test/").text == "none")
        #expect(try await client.get("https://b.test/").text == "none")
        #expect(gate.seen.map { $0?["nc"] } == [nil, "00000001", "00000002"])
        #expect(gate.seen.map { $0?["uri"] } == [nil, "a.test:443", "b.test:443"])
        #expect(proxy.records.count == 3)
    }

    @Test("A wrong password is sent once, and the refusal is an error with the proxy's status")
    func wrongPassword() async throws {
        let (origin, gate) = (try origin(), DigestGate())
        let proxy = try tunnels(origin, gate)
        let client = try client(proxy, .digest(user: "u", password: "wrong"), user: "u:p@")
        let error = try await httpError { try await client.get("https://a.test/") }
        guard case .proxy(.refused(let refusal)) = error.reason else { throw error }
        #expect(refusal.status == 407 && error.phase == .proxy && gate.seen.count == 2)
        // The credentials of the settings are not used beside the authenticator.
        #expect(proxy.records.allSatisfy { !$0.receivedText.contains("Basic") } && origin.records.isEmpty)
        #expect(try await httpError { try await client.get("https://b.test/") }.phase == .proxy)
    }

    @Test(
        "Requests that the proxy forwards carry answers for their whole URL, and interceptors do not see them"
    )
    func forwarded() async throws {
        let (gate, seen) = (DigestGate(), Heard<String?>())
        let proxy = try FixtureServer.start { request in
            _ = try request.body
            let method = DirectHTTP.HTTPMethod(validating: request.method) ?? .get
            if let challenge = gate.challenge(method, request.headers["proxy-authorization"]) {
                return .status(407, ["Proxy-Authenticate": challenge])
            }
            return request.target.hasSuffix("/from")
                ? .redirect(to: "http://b.test/to") : .text("\(request.target)")
        }
        let authenticator = DigestAuthenticator(user: "u", password: "p")
        let client = try client(proxy, authenticator) {
            $0.networkInterceptors = [
                { request, forward in
                    seen.add(request.headers["Proxy-Authorization"])
                    return try await forward(request)
                }
            ]
        }
        let response = try await client.post("http://a.test/from", .text("x"))
        #expect(response.text == "http://b.test/to")
        #expect(response.history.map(\.reason) == [.authentication, .redirect])
        #expect(gate.seen.map { $0?["uri"] } == [nil, "http://a.test/from", "http://b.test/to"])
        #expect(gate.seen.map { $0?["nc"] } == [nil, "00000001", "00000002"])
        #expect(seen.all == [nil, nil])
        // Without network interceptors the way is another one.
        let plain = try self.client(proxy, authenticator)
        #expect(try await plain.get("http://a.test/x").text == "http://a.test/x")
    }

    @Test(
        "A body that can be read once is not sent again after 407, and a field of the request's own is left alone"
    )
    func refusedOnce() async throws {
        let gate = DigestGate()
        let proxy = try FixtureServer.start { request in
            _ = try request.body
            let challenge = gate.challenge(.put, request.headers["proxy-authorization"])
            return challenge.map { .status(407, ["Proxy-Authenticate": $0]) } ?? .text("in")
        }
        let once = RequestBody.stream(AsyncStream<[UInt8]> { $0.finish() })
        let client = try client(proxy)
        #expect(try await client.fetch(Request(.put, "http://a.test/", body: once)).status == 407)
        let own = Request(.put, "http://a.test/", headers: ["Proxy-Authorization": "Basic eDp5"])
        #expect(try await client.fetch(own).status == 407)
        #expect(
            proxy.requests.count == 2 && proxy.requests.last?.headers["proxy-authorization"] == "Basic eDp5"
        )
    }

    @Test("A server's own 407 is not answered, neither behind a tunnel nor without a proxy")
    func serversRefusal() async throws {
        let gate = DigestGate(nonce: "server")
        let origin = try FixtureServer.secure("a.test") { request in
            .status(
                407,
                ["Proxy-Authenticate": gate.challenge(.get, request.headers["proxy-authorization"]) ?? ""]
            )
        }
        let proxy = try tunnels(origin, DigestGate())
        #expect(try await client(proxy).get("https://a.test/").status == 407)
        var direct = origin.request("https://a.test/")
        direct.method = .get
        let without = try client(proxy) { $0.proxy = ProxySettings() }
        #expect(try await without.fetch(direct).status == 407)
        #expect(gate.seen.allSatisfy { $0 == nil } && gate.seen.count == 2)
    }

    @Test("A hedge and a retry over a forwarding proxy have nonce counts of their own")
    func retried() async throws {
        let gate = DigestGate()
        let count = Locked(0)
        let proxy = try FixtureServer.start { request in
            if let challenge = gate.challenge(.get, request.headers["proxy-authorization"]) {
                return .status(407, ["Proxy-Authenticate": challenge])
            }
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return isFirst ? .status(503) : .text("in")
        }
        let client = try client(proxy) {
            $0.retries = RetryPolicy()
            $0.retries?.delay = .zero
        }
        #expect(try await client.get("http://a.test/").text == "in")
        #expect(gate.seen.map { $0?["nc"] } == [nil, "00000001", "00000002"])
    }

    @Test("An authenticator that fails, hangs or is cancelled ends the call in the proxy's phase")
    func odd() async throws {
        let (origin, gate) = (try origin(), DigestGate())
        let proxy = try tunnels(origin, gate)
        let failing = try client(proxy, OddAuthenticator())
        for url in ["https://a.test/", "http://a.test/"] {
            let error = try await httpError { try await failing.get(url) }
            guard case .proxy(.authenticator(is OddAuthenticator.Failure)) = error.reason else { throw error }
            #expect(error.phase == .proxy && !error.isWorthRetrying)
        }
        for url in ["https://a.test/", "http://a.test/"] {
            let isAsked = Gate()
            let hanging = try client(proxy, OddAuthenticator(hanging: isAsked)) {
                $0.timeouts = Timeouts()
                $0.timeouts.connect = .seconds(5)
                $0.timeouts.total = .seconds(5)
            }
            let call = Task { try await httpError { try await hanging.get(url) } }
            // The connection has the same limit.
            while !isAsked.isOpen { await Task.yield() }
            try await time.waitBegins(for: .seconds(5))
            await time.settle()
            time.advance(by: .seconds(5))
            let late = try await call.value
            #expect(late.isTimeout && late.phase == .proxy, "\(late)")
            let cancelled = Task { try await hanging.get(url) }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
        }
        #expect(origin.records.isEmpty)
    }

    @Test("Connections to servers that the client resolves itself are authenticated in the same way")
    func chosenAddress() async throws {
        let (origin, gate) = (try origin(), DigestGate())
        var route = FixtureProxy(["127.0.0.9:443": origin.authority])
        route.challenge = { gate.challenge(.connect, $0) }
        let proxy = try FixtureServer.start(on: "127.0.0.3", behaviour: .proxy(route))
        var request = Request(.get, "https://a.test/")
        request.addresses = ["127.0.0.9"]
        #expect(try await client(proxy).fetch(request).text == "none")
        #expect(gate.seen.map { $0?["uri"] } == [nil, "127.0.0.9:443"])
    }
}
