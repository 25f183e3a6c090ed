@testable import DirectCore
@testable import DirectTransport
import DirectTestCommands
import Synchronization
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Digest credentials of concurrent requests")
struct DigestConcurrencyTests {
    @Test(
        "All of many concurrent requests are accepted after the server has forgotten its nonces",
        arguments: [NonceServer.Manner.oneEach, .oneForAll, .oneEachSayingStale]
    )
    func forgottenNonces(_ manner: NonceServer.Manner) async throws {
        let server = NonceServer(manner, user: "u", password: "p")
        let authenticator = DigestAuthenticator(user: "u", password: "p")
        for round in 0..<3 {
            // None has its answer before all have asked.
            let statuses = try await server.answer(8, with: authenticator)
            #expect(statuses == Array(repeating: 200, count: 8), "round \(round)")
            server.forget()
        }
        #expect(server.replays == 0)
    }

    @Test("Each of many concurrent requests sends a wrong password once")
    func wrongPasswordAtATime() async throws {
        let server = NonceServer(.oneEach, user: "u", password: "p")
        let authenticator = DigestAuthenticator(user: "u", password: "wrong")
        for _ in 0..<2 {
            let statuses = try await server.answer(8, with: authenticator)
            #expect(statuses == Array(repeating: 401, count: 8))
        }
        #expect(server.refusedAnswers == 16)
    }

    @Test("Each of many concurrent requests has its own nonce count, with or without an earlier challenge")
    func countsOfTheirOwn() async throws {
        let server = NonceServer(.oneForAll, user: "u", password: "p")
        let authenticator = DigestAuthenticator(user: "u", password: "p")
        for _ in 0..<2 {
            #expect(try await server.answer(8, with: authenticator) == Array(repeating: 200, count: 8))
        }
        #expect(server.replays == 0 && server.refusedAnswers == 0)
    }

    @Test(
        "All answers of a session have the client nonce of its first one (RFC 7616, section 3.4.2)",
        arguments: ["MD5-sess", "SHA-256-sess"]
    )
    func sessionKey(_ algorithm: String) async throws {
        let server = NonceServer(.oneForAll, user: "u", password: "p", algorithm: algorithm)
        let authenticator = DigestAuthenticator(user: "u", password: "p")
        for _ in 0..<2 {
            for _ in 0..<2 {
                let statuses = try await server.answer(8, with: authenticator)
                #expect(statuses == Array(repeating: 200, count: 8))
            }
            #expect(server.clientNonces.values.allSatisfy { $0.count == 1 })
            server.forget()
        }
        #expect(server.clientNonces.count == 2)
        #expect(Set(server.clientNonces.values.flatMap { $0 }).count == 2)
    }

    @Test("A nonce serves no other request before the one that it was made for has been accepted")
    func publishedWhenAccepted() throws {
        let authenticator = DigestAuthenticator(user: "u", password: "p")
        let url = try HTTPURL("http://a.test/")
        let subjects = (0..<3).map { _ in AuthenticationRequest(method: .get, url: url, body: []) }
        let nonces = try subjects.prefix(2).enumerated().map { index, subject in
            try authenticator.authorization(
                for: subject,
                answering: Challenge.all(of: "Digest realm=r, nonce=n\(index), qop=auth"),
                after: nil
            ) ?? ""
        }
        #expect(nonces[0].contains("nonce=\"n0\"") && nonces[1].contains("nonce=\"n1\""))
        #expect(try authenticator.authorization(for: subjects[2]) == nil)
        // Its own request is sent again with it, and counts.
        let again = try authenticator.authorization(for: subjects[0])
        #expect(again?.contains("nonce=\"n0\"") == true && again?.contains("nc=00000002") == true)
        subjects[1].pending.accept()
        subjects[0].pending.accept()
        let next = try authenticator.authorization(for: subjects[2])
        #expect(next?.contains("nonce=\"n1\"") == true && next?.contains("nc=00000002") == true)
    }

    @Test("None of many concurrent requests is lost at a server that takes each nonce once", .idleLimit)
    func nonceForOneRequest() async throws {
        let open = Mutex<Set<String>>([])
        let made = Mutex(0)
        let server = try FixtureServer.start { request in
            let said = request.headers["authorization"].flatMap { Challenge.all(of: $0).first }
            if let nonce = said?.parameters["nonce"], open.withLock({ $0.remove(nonce) }) != nil {
                return .text("in")
            }
            let nonce = made.withLock { made in
                made += 1
                return "n\(made)"
            }
            open.withLock { _ = $0.insert(nonce) }
            let stale = said == nil ? "" : ", stale=true"
            return .status(401, ["WWW-Authenticate": "Digest realm=r, nonce=\(nonce), qop=auth\(stale)"])
        }
        let authenticator: StandardAuthenticator = .digest(user: "u", password: "p")
        let client = HTTPClient.untimed()
        let refused = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var refused = 0
                    for _ in 0..<25 {
                        var request = Request(.get, server.http())
                        request.authenticator = authenticator
                        if try await client.fetch(request).status != 200 { refused += 1 }
                    }
                    return refused
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(refused == 0)
    }

    @Test("A request whose nonce count was overtaken is sent again with the next count")
    func overtaken() throws {
        var memory = DigestMemory()
        let challenge = Challenge.all(of: "Digest realm=r, nonce=n, qop=auth")
        let best = DigestSession.best(of: challenge)
        let offered = try #require(best)
        let nonce = Array("n".utf8)
        let first = memory.take(offered, after: nil)
        memory.accept(nonce)
        let second = memory.next()
        let third = memory.take(offered, after: DigestUse(nonce: nonce, count: 1))
        #expect([first, second, third].map { $0?.count } == [1, 2, 3])
        // The nonce has not been used since: the password is wrong.
        let fourth = memory.take(offered, after: DigestUse(nonce: nonce, count: 3))
        let fifth = memory.next()
        #expect(fourth?.count == nil && fifth?.count == nil)
    }
}

/// A server that asks for a digest, remembers its nonces until it is told to forget them, and takes no count
/// twice.
final class NonceServer: Sendable {
    enum Manner: Sendable {
        /// Each challenge has a nonce of its own.
        case oneEach
        /// The same, and a nonce that is not known is called stale.
        case oneEachSayingStale
        /// All challenges have the same nonce until it is forgotten.
        case oneForAll
    }

    private struct State {
        var made = 0
        var counts: [String: Set<String>] = [:]
        /// The client nonces of the answers, by nonce.
        var clientNonces: [String: [String]] = [:]
        var replays = 0
        var refusedAnswers = 0
    }

    private let manner: Manner
    private let user: String
    private let password: String
    private let algorithm: String
    private let state = Mutex(State())

    init(_ manner: Manner, user: String, password: String, algorithm: String = "MD5") {
        self.manner = manner
        self.user = user
        self.password = password
        self.algorithm = algorithm
    }

    var clientNonces: [String: Set<String>] { state.withLock { $0.clientNonces.mapValues { Set($0) } } }

    var replays: Int { state.withLock { $0.replays } }
    var refusedAnswers: Int { state.withLock { $0.refusedAnswers } }

    func forget() {
        state.withLock { $0.counts = [:] }
    }

    /// Requests that go in step: none is answered before all have come, in each of their rounds.
    func answer(_ count: Int, with authenticator: DigestAuthenticator) async throws -> [HTTPStatus] {
        var open = try (0..<count).map { number in
            let subject = AuthenticationRequest(
                method: .get,
                url: try HTTPURL("http://a.test/\(number)"),
                body: []
            )
            return (subject, said: try authenticator.authorization(for: subject))
        }
        var statuses: [HTTPStatus] = []
        for _ in 0..<3 {
            let verdicts = open.map { verdict(on: $0, saying: $1) }
            let asked = open
            open = []
            for ((subject, said), challenge) in zip(asked, verdicts) {
                guard let challenge else {
                    subject.pending.accept()
                    statuses.append(200)
                    continue
                }
                let answer = try authenticator.authorization(
                    for: subject,
                    answering: Challenge.all(of: challenge),
                    after: said
                )
                if let answer { open.append((subject, answer)) } else { statuses.append(401) }
            }
        }
        return statuses + open.map { _ in 401 }
    }

    /// The challenge of a refusal; `nil` for a request that is let in.
    private func verdict(on request: AuthenticationRequest, saying text: String?) -> String? {
        state.withLock { state in
            guard let said = text.flatMap({ Challenge.all(of: $0).first }),
                let nonce = said.parameters["nonce"], let count = said.parameters["nc"]
            else { return challenge(&state, isStale: false) }
            guard let known = state.counts[nonce] else {
                state.refusedAnswers += 1
                return challenge(&state, isStale: manner == .oneEachSayingStale)
            }
            guard !known.contains(count) else {
                state.replays += 1
                return challenge(&state, isStale: false)
            }
            state.counts[nonce, default: []].insert(count)
            let clientNonce = said.parameters["cnonce"] ?? ""
            state.clientNonces[nonce, default: []].append(clientNonce)
            // The secret of a session is made of its first client nonce.
            let first = state.clientNonces[nonce]?.first ?? ""
            guard isRight(said, request, clientNonce: algorithm.hasSuffix("-sess") ? first : clientNonce)
            else {
                state.refusedAnswers += 1
                return challenge(&state, isStale: false)
            }
            return nil
        }
    }

    private func challenge(_ state: inout State, isStale: Bool) -> String {
        var nonce = state.counts.keys.first
        if manner != .oneForAll || nonce == nil {
            state.made += 1
            nonce = "nonce\(state.made)"
        }
        state.counts[nonce ?? "", default: []].formUnion([])
        return "Digest realm=r, nonce=\(nonce ?? ""), qop=auth, algorithm=\(algorithm)"
            + (isStale ? ", stale=true" : "")
    }

    /// By another instance that knows the password, with the nonces and counts of the answer.
    private func isRight(_ said: Challenge, _ request: AuthenticationRequest, clientNonce: String) -> Bool {
        let parameters = said.parameters
        let challenge = Challenge.all(
            of: "Digest realm=r, nonce=\(parameters["nonce"] ?? ""), qop=auth, algorithm=\(algorithm)"
        )
        guard var session = DigestSession.best(of: challenge),
            let count = parameters["nc"].flatMap({ UInt32($0, radix: 16) })
        else { return false }
        session.count = count
        let right = try? session.answer(
            request,
            user: user,
            password: password,
            clientNonce: clientNonce
        )
        return right.flatMap { Challenge.all(of: $0).first }?.parameters["response"] == parameters["response"]
    }
}
