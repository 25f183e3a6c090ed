import DirectTestResolvers
@testable import DirectCore
import DirectIO
import DirectTLS
@testable import DirectTransport
import DirectTestCommands
import Synchronization
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Credentials of requests", .idleLimit)
struct AuthenticationTests {
    @Test("Credentials of the URL are sent as Basic to its origin, and appear nowhere else")
    func urlUser() async throws {
        let script = Script.redirecting(302, "/next", "http://b.test/")
        let response = try await script.client().get("http://Aladdin:open%20sesame@a.test/")
        let basic = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        #expect(script.requests.map { $0.headers["Authorization"] } == [basic, basic, nil])
        #expect(script.urls == ["http://a.test/", "http://a.test/next", "http://b.test/"])
        #expect(!"\(response.history)".contains("Aladdin"))
    }

    @Test("The caller's own Authorization field comes before all credentials")
    func ownField() async throws {
        let script = Script((401, ["WWW-Authenticate": "Basic realm=x"]))
        let response = try await script.client().get("http://u:p@a.test/", headers: ["Authorization": "mine"])
        #expect(script.requests.map { $0.headers["Authorization"] } == ["mine"])
        #expect(response.status == 401)
    }

    @Test("A client's credentials are only for their origins")
    func clientCredentials() async throws {
        let script = Script.redirecting(302, "http://b.test/", "http://a.test/")
        let origin = try HTTPURL("http://a.test").origin
        let client = script.client { $0.authenticators[origin] = .bearer("token") }
        _ = try await client.get("http://a.test/")
        #expect(script.requests.map { $0.headers["Authorization"] } == ["Bearer token", nil, "Bearer token"])
    }

    @Test("Refused credentials are not tried again")
    func refused() async throws {
        let script = Script((401, ["WWW-Authenticate": "Basic realm=x"]))
        var request = Request(.get, "http://a.test/")
        request.authenticator = .basic(user: "u", password: "p")
        #expect(try await script.client().fetch(request).status == 401)
        #expect(script.urls.count == 1)
    }

    @Test(
        "A user name with a colon, or a control character, is an error",
        arguments: [("a:b", "c"), ("a", "b\r\nc")]
    )
    func unfit(_ user: String, _ password: String) async throws {
        var request = Request(.get, "http://a.test/")
        request.authenticator = .basic(user: user, password: password)
        let error = try await httpError { try await Script((200, [:])).client().fetch(request) }
        #expect(error.authenticationError == .invalidUserOrPassword && error.phase == .request)
    }

    @Test("An authenticator that fails ends the call with an error that says so, and has the caller's error")
    func failing() async throws {
        let reports = Locked<[CallReport]>([])
        let client = Script().client {
            $0.observer = { event in
                if case .ended(let report) = event.kind { reports.withLock { $0.append(report) } }
            }
        }
        var request = Request(.get, "http://a.test/")
        request.authenticator = .basic(user: "a:b", password: "hush")
        let unanswerable = try await httpError { [request] in try await client.fetch(request) }
        #expect(unanswerable.authenticationError == .invalidUserOrPassword && unanswerable.phase == .request)
        request.authenticator = .bearer { throw NoToken(secret: "hush") }
        let failed = try await httpError { [request] in try await client.fetch(request) }
        guard case .authenticator(is NoToken) = failed.reason else { throw failed }
        #expect(failed.phase == .request && failed.url?.text == "http://a.test/" && !failed.isWorthRetrying)
        // The request for the token has an error of its own, which may be temporary.
        request.authenticator = .bearer { throw HTTPError(.connect, .timedOut(after: .seconds(1))) }
        let temporary = try await httpError { [request] in try await client.fetch(request) }
        #expect(temporary.isWorthRetrying)
        let texts = reports.withLock { $0.map { "\($0)" } }
        // One that fails when it has to answer a challenge has sent a request before.
        let count = Locked(0)
        var challenged = request
        challenged.authenticator = .bearer {
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number == 1 else { throw NoToken(secret: "hush") }
            return "first"
        }
        let late = try await httpError { [challenged] in
            try await Script((401, ["WWW-Authenticate": "Bearer"])).client().fetch(challenged)
        }
        guard case .authenticator(is NoToken) = late.reason else { throw late }
        #expect(late.phase == .response)
        #expect(texts.count == 3 && texts.allSatisfy { $0.contains("failed: GET http://a.test/: re") })
        #expect(texts.allSatisfy { $0.contains("the authenticator failed") && !$0.contains("hush") })
    }

    private struct NoToken: Error {
        let secret: String
    }

    @Test("A caller that gives up while a token is fetched does not affect the other callers")
    func cancelledRefresh() async throws {
        let gate = Barrier()
        let fetched = Mutex(0)
        let authenticator: StandardAuthenticator = .bearer {
            fetched.withLock { $0 += 1 }
            await gate.pass()
            return "token"
        }
        let script = Script((200, [:]))
        let client = script.client()
        var request = Request(.get, "http://a.test/")
        request.authenticator = authenticator
        // The first is the one whose challenge it is.
        let tasks = (0..<3).map { _ in Task { [request] in try await client.fetch(request).status } }
        await gate.arrivals(1)
        for task in tasks.prefix(2) {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        gate.open()
        #expect(try await tasks[2].value == 200)
        #expect(script.requests.map { $0.headers["Authorization"] } == ["Bearer token"])
        #expect(fetched.withLock { $0 } == 1)
    }

    @Test("A token is refreshed once for all requests that need it")
    func refreshing() async throws {
        let fetched = Mutex(0)
        let server = try FixtureServer.start { request in
            request.headers["authorization"] == "Bearer 2"
                ? .text("in") : .status(401, ["WWW-Authenticate": "Bearer"])
        }
        let authenticator: StandardAuthenticator = .bearer {
            fetched.withLock {
                $0 += 1
                return "\($0)"
            }
        }
        let client = HTTPClient.untimed()
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    var request = Request(.get, server.http())
                    request.authenticator = authenticator
                    return try await client.fetch(request).text
                }
            }
            for try await text in group { #expect(text == "in") }
        }
        #expect(fetched.withLock { $0 } == 2)
    }

    @Test("Requests of a token's source through its own client are sent without the token")
    func sourceUsesItsClient() async throws {
        let own = Mutex<HTTPClient?>(nil)
        let fetched = Mutex(0)
        let saidToTokens = Mutex<[String?]>([])
        let origin = try HTTPURL("http://a.test").origin
        let client = HTTPClient {
            $0.transport = { request in
                let said = request.headers["Authorization"]
                if try request.url.text.hasSuffix("/token") {
                    saidToTokens.withLock { $0.append(said) }
                    return try Response(to: request, 200)
                }
                return try Response(to: request, said == "Bearer 2" ? 200 : 401)
            }
            $0.authenticators[origin] = .bearer {
                guard let client = own.withLock({ $0 }) else { return "" }
                _ = try await client.get("http://a.test/token")
                // Also in a task of the source's making.
                _ = try await Task { try await client.get("http://a.test/token") }.value
                return fetched.withLock {
                    $0 += 1
                    return "\($0)"
                }
            }
        }
        own.withLock { $0 = client }
        defer { own.withLock { $0 = nil } }
        let statuses = try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for _ in 0..<8 { group.addTask { try await client.get("http://a.test/").status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 8))
        #expect(fetched.withLock { $0 } == 2)
        #expect(saidToTokens.withLock { $0 } == [nil, nil, nil, nil])
    }

    @Test("A task that the source has started uses the token after the source has returned")
    func taskOutlivesSource() async throws {
        let script = Script((200, [:]))
        let client = script.client()
        let later = Mutex<Task<Void, any Error>?>(nil)
        let ended = Barrier()
        let box = Locked<StandardAuthenticator?>(nil)
        let authenticator: StandardAuthenticator = .bearer {
            let task = Task {
                await ended.pass()
                var request = Request(.get, "http://a.test/later")
                request.authenticator = box.withLock { $0 }
                _ = try await client.fetch(request)
            }
            later.withLock { $0 = task }
            return "token"
        }
        box.withLock { $0 = authenticator }
        var request = Request(.get, "http://a.test/")
        request.authenticator = authenticator
        _ = try await client.fetch(request)
        ended.open()
        try await later.withLock { $0 }?.value
        box.withLock { $0 = nil }  // The authenticator's closure holds the box.
        #expect(script.requests.map { $0.headers["Authorization"] } == ["Bearer token", "Bearer token"])
    }

    @Test("Digest answers are those of the example in RFC 7616", arguments: ["MD5", "SHA-256"])
    func digestExample(_ algorithm: String) throws {
        let challenge = Challenge.all(in: [
            "WWW-Authenticate":
                #"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\#(algorithm), "#
                + #"nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#
        ])
        let session = try #require(DigestSession.best(of: challenge))
        let subject = AuthenticationRequest(
            method: .get,
            url: try HTTPURL("http://www.example.org/dir/index.html"),
            body: nil
        )
        let answer = String(
            decoding: try session.answer(
                subject,
                user: "Mufasa",
                password: "Circle of Life",
                clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
            ),
            as: UTF8.self
        )
        let proof =
            algorithm == "MD5"
            ? "8ca523f5e9506fed4657c9700eebdbec"
            : "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
        #expect(answer.contains("response=\"\(proof)\""))
        #expect(
            answer.contains("nc=00000001") && answer.contains("qop=auth,")
                && answer.contains("uri=\"/dir/index.html\"")
        )
    }

    @Test(
        "Digest answers are right in each variant, however the challenge is written",
        arguments: [
            ("algorithm=MD5-sess, qop=auth", "83f3e8c8918646a47f75e99e8920b7a3"),
            (
                "ALGORITHM=\"SHA-256-sess\" ,\tqop = \"auth\"",
                "c98e12bee11e0bcd8330d601f7dbf2d96ad2217cbcf748d8ab9671974dd46126"
            ),
            ("qop=\"auth-int\"", "e50d09eba5242fe581737b1604f1d2b9"),
            (
                "qop=\"unheard-of, auth-int\", algorithm=sha-256",
                "81a1fc2ad1efa787f7d13dbca89d4621ef7151af08d7d7d0f5772e8f0b0134aa"
            ),
            ("domain=\"/\"", "bec8716ae09fa37ced70929d76b85415"),
            ("algorithm=SHA-256", "3d10efdb638d28e5b1eaf4e3746b1d9ff40f604f2952de5e25dddd26d1a0d443"),
            ("algorithm=MD5-sess", "5e058e55483ababaee2b6e24f2357c26"),
        ]
    )
    func digestVariants(_ parameters: String, _ proof: String) throws {
        let answer = try digestAnswer("dIgEsT realm=r, nonce=\"abc\", \(parameters)")
        #expect(answer.contains("response=\"\(proof)\""), "\(answer)")
        #expect(answer.contains("opaque") == false && answer.contains("nonce=\"abc\""))
        #expect(answer.contains("qop=") == parameters.contains("qop"))
        #expect(answer.contains("cnonce=") == (parameters.contains("qop") || parameters.contains("sess")))
    }

    /// RFC 7616, section 3.9.2, with the digests of erratum 4897: those in the text are of a draft of
    /// SHA-512/256.
    @Test("A digest by SHA-512-256 is that of the corrected example in RFC 7616")
    func digestOfOtherLength() throws {
        let challenge = Challenge.all(
            of: #"Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, userhash=true, "#
                + #"nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", charset=UTF-8, "#
                + #"opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS""#
        )
        let bytes = try #require(DigestSession.best(of: challenge)).answer(
            AuthenticationRequest(
                method: .get,
                url: try HTTPURL("http://api.example.org/doe.json"),
                body: nil
            ),
            user: "J\u{e4}s\u{f8}n Doe",
            password: "Secret, or not?",
            clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"
        )
        let answer = String(decoding: bytes, as: UTF8.self)
        #expect(answer.contains(#""3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5""#))
        #expect(
            answer.contains(#"username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b""#)
        )
        #expect(answer.contains("algorithm=SHA-512-256,"))
    }

    @Test(
        "A server that offers only unknown algorithms gets its 401 delivered, and of several the first known counts"
    )
    func unknownAlgorithms() async throws {
        let odd = #"Digest realm="r", nonce="odd", algorithm=SHA3-256"#
        let script = Script((401, ["WWW-Authenticate": odd]))
        var request = Request(.get, "http://a.test/")
        request.authenticator = .digest(user: "u", password: "p")
        #expect(try await script.client().fetch(request).status == 401)
        #expect(script.urls.count == 1)
        let best = DigestSession.best(of: Challenge.all(of: odd + #", Digest realm="r", nonce="known""#))
        #expect(best?.nonce == Array("known".utf8))
    }

    @Test("Digest parses and writes quoted realms, and hashes the user name on demand")
    func digestQuoting() throws {
        let quoted = try digestAnswer(
            #"Digest realm="say \"hi\" \\o/", nonce="abc", qop="auth", algorithm=SHA-256, opaque="a\"b""#
        )
        #expect(quoted.contains(#"realm="say \"hi\" \\o/""#) && quoted.contains(#"opaque="a\"b""#))
        #expect(
            quoted.contains("response=\"21a52994ca4b22fe9fcf65abcb202d942e99523d880960162ea9648b76b05032\"")
        )
        let hidden = try digestAnswer("Digest realm=r, nonce=abc, qop=auth, algorithm=SHA-256, userhash=true")
        let user = "8ec3e1d647d8bd2ae7115a19b5155727c083dd356e9e6fa526b1188461f18acf"
        #expect(hidden.contains("username=\"\(user)\"") && hidden.contains("userhash=true"))
        #expect(!hidden.contains("Mufasa"))
    }

    private func digestAnswer(_ challenge: String) throws -> String {
        let session = DigestSession.best(of: Challenge.all(in: ["WWW-Authenticate": challenge]))
        let subject = AuthenticationRequest(
            method: .post,
            url: try HTTPURL("http://www.example.org/dir/index.html?q=1"),
            body: Array("body".utf8)
        )
        let answer = try #require(session).answer(
            subject,
            user: "Mufasa",
            password: "Circle of Life",
            clientNonce: "c0ffee"
        )
        return String(decoding: answer, as: UTF8.self)
    }

    /// A device whose realm is in Latin-1.
    @Test("Digest repeats and hashes the bytes of the challenge, which need not be UTF-8")
    func digestOfBytes() async throws {
        let (realm, opaque) = (Array("K".utf8) + [0xFC] + Array("che".utf8), [0x6F, 0xE9] as [UInt8])
        var challenge = Array("Digest nonce=\"n\", qop=\"auth\", realm=\"".utf8) + realm
        challenge += Array("\", opaque=\"".utf8) + opaque + Array("\"".utf8)
        var headers = HTTPHeaders()
        headers.add("WWW-Authenticate", bytes: challenge)
        #expect(Challenge.all(in: headers).map(\.realm) == ["K\u{FC}che"])
        let script = Script((401, headers), (200, [:]))
        var request = Request(.get, "http://a.test/x")
        request.authenticator = .digest(user: "us\u{E9}r", password: "pw")
        #expect(try await script.client().fetch(request).status == 200)
        let sent = try #require(script.requests.last).headers
        let index = try #require(sent.index(of: "authorization"))
        let answer = try #require(Challenge.all(of: sent.valueBytes(at: index)).first)
        #expect(answer.values["realm"] == realm && answer.values["opaque"] == opaque)
        #expect(answer.values["username"] == Array("us\u{E9}r".utf8))
        func hash(_ parts: [UInt8]...) -> [UInt8] {
            let text = Array(parts.joined(separator: [UInt8(ascii: ":")]))
            return Array(Hex.encode(MessageDigest.md5.digest(of: text) ?? []).utf8)
        }
        let secret = hash(Array("us\u{E9}r".utf8), realm, Array("pw".utf8))
        let subject = hash(Array("GET:/x".utf8))
        let cnonce = answer.values["cnonce"] ?? []
        let proof = hash(secret, [0x6E], Array("00000001".utf8), cnonce, Array("auth".utf8), subject)
        #expect(answer.values["response"] == proof)
    }

    @Test("Digest sends a wrong password once, renews a stale nonce and counts its requests")
    func digestServer() async throws {
        let seen = Mutex<[String]>([])
        let server = try FixtureServer.start { request in
            guard let said = request.headers["authorization"] else {
                return .status(
                    401,
                    ["WWW-Authenticate": #"Digest realm="r", nonce="one", qop="auth", algorithm=SHA-256"#]
                )
            }
            seen.withLock { $0.append(said) }
            if said.contains("nonce=\"one\"") && said.contains("nc=00000002") {
                return .status(
                    401,
                    [
                        "WWW-Authenticate":
                            #"Digest realm="r", nonce="two", qop="auth", algorithm=SHA-256, stale=TRUE"#
                    ]
                )
            }
            if said.contains("username=\"eve\"") {
                return .status(
                    401,
                    ["WWW-Authenticate": #"Digest realm="r", nonce="three", qop="auth", algorithm=SHA-256"#]
                )
            }
            return .text("in")
        }
        let client = HTTPClient.untimed()
        func ask(_ authenticator: any Authenticator) async throws -> BufferedResponse {
            var request = Request(.get, server.http())
            request.authenticator = authenticator
            return try await client.fetch(request)
        }
        let mallory: StandardAuthenticator = .digest(user: "eve", password: "wrong")
        #expect(try await ask(mallory).status == 401)
        #expect(seen.withLock { $0.count } == 1)
        let alice: StandardAuthenticator = .digest(user: "alice", password: "right")
        let first = try await ask(alice)
        #expect(first.text == "in" && first.history.map(\.reason) == [.authentication])
        let second = try await ask(alice)
        #expect(second.text == "in" && second.history.count == 1)
        let third = try await ask(alice)
        #expect(third.text == "in" && third.history.isEmpty)
        #expect(seen.withLock { $0.last }?.contains("nc=00000002") == true)
    }

    @Test("Digest recovers when a server has forgotten its nonces without saying so")
    func forgottenNonce() async throws {
        let nonce = Mutex("one")
        let refusals = Mutex(0)
        let server = try FixtureServer.start { request in
            let current = nonce.withLock { $0 }
            let said = request.headers["authorization"] ?? ""
            if said.contains("nonce=\"\(current)\""), said.contains("username=\"u\"") { return .text("in") }
            if !said.isEmpty { refusals.withLock { $0 += 1 } }
            let challenge = "Digest realm=\"r\", nonce=\"\(current)\", qop=\"auth\", algorithm=SHA-256"
            return .status(401, ["WWW-Authenticate": challenge])
        }
        let client = HTTPClient.untimed()
        func ask(_ authenticator: StandardAuthenticator) async throws -> HTTPStatus {
            var request = Request(.get, server.http())
            request.authenticator = authenticator
            return try await client.fetch(request).status
        }
        let known: StandardAuthenticator = .digest(user: "u", password: "p")
        #expect(try await ask(known) == 200)
        nonce.withLock { $0 = "two" }
        #expect(try await ask(known) == 200)
        #expect(refusals.withLock { $0 } == 1)
        // A wrong password is said once in each call, and no more.
        let unknown: StandardAuthenticator = .digest(user: "eve", password: "p")
        for _ in 0..<3 { #expect(try await ask(unknown) == 401) }
        #expect(refusals.withLock { $0 } == 4)
    }

    @Test("A challenge without a known scheme is not answered")
    func unknownScheme() async throws {
        let script = Script((401, ["WWW-Authenticate": "Negotiate"]))
        var request = Request(.get, "http://a.test/")
        request.authenticator = .digest(user: "u", password: "p")
        #expect(try await script.client().fetch(request).status == 401)
        #expect(script.urls.count == 1)
    }

    @Test("A challenge with a status other than 401 is not answered", arguments: [403, 407, 200] as [UInt16])
    func otherStatus(_ code: UInt16) async throws {
        let challenge = "Digest realm=\"r\", nonce=\"n\", algorithm=SHA-256"
        let script = Script((HTTPStatus(code: Int(code)) ?? 500, ["WWW-Authenticate": challenge]))
        var request = Request(.get, "http://a.test/")
        request.authenticator = .digest(user: "u", password: "p")
        #expect(try await script.client().fetch(request).status.code == code)
        #expect(script.urls.count == 1)
    }

    @Test("A body that can be sent once is not sent again with credentials")
    func bodySentOnce() async throws {
        let script = Script((401, ["WWW-Authenticate": #"Digest realm="r", nonce="n""#]))
        var request = Request(.post, "http://a.test/", body: .stream(AsyncStream<[UInt8]> { $0.finish() }))
        request.authenticator = .digest(user: "u", password: "p")
        #expect(try await script.client().fetch(request).status == 401)
        #expect(script.urls.count == 1)
    }
}

@Suite("Challenges")
struct ChallengeTests {
    @Test(
        "Challenges are separated correctly although commas also separate their parameters",
        arguments: [
            ("Basic realm=\"a, b\"", ["basic [realm=a, b]"]),
            (
                "Basic realm=x, Digest realm=\"y\", nonce=\"z\\\"q\"",
                ["basic [realm=x]", "digest [nonce=z\"q realm=y]"]
            ),
            ("Negotiate, Basic realm=x", ["negotiate []", "basic [realm=x]"]),
            ("Negotiate YWJj==, Basic", ["negotiate YWJj==", "basic []"]),
            (" , Bearer , ", ["bearer []"]), ("NEWAUTH a = b , c=d", ["newauth [a=b c=d]"]),
            ("Basic realm=\"open", ["basic []"]), ("Basic realm=x y", ["basic []"]), ("", []), ("=", []),
            ("Digest realm=a, realm=b", ["digest [realm=a]"]),
            // As devices write it, without quotes: what is around it is not ambiguous.
            (
                "Basic realm=My Device, Digest realm=\"x\", nonce=a b, qop=\"auth\"",
                ["basic []", "digest [qop=auth realm=x]"]
            ),
            ("Digest , realm=\"r\",, nonce=n", ["digest [nonce=n realm=r]"]),
            ("realm=x, Basic, , @, realm=\"y\"", ["basic [realm=y]"]),
            (
                "Basic realm=\"a\\\", Digest nonce=b\", charset=\"UTF-8\"",
                ["basic [charset=UTF-8 realm=a\", Digest nonce=b]"]
            ),
            ("Negotiate YWJj, realm=x, Bearer realm=", ["negotiate YWJj", "bearer realm="]),
        ]
    )
    func reading(_ field: String, _ wanted: [String]) {
        let found = Challenge.all(in: ["WWW-Authenticate": field]).map { challenge in
            let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return challenge.scheme + " " + (challenge.token ?? "[\(parameters.joined(separator: " "))]")
        }
        #expect(found == wanted)
    }
}
