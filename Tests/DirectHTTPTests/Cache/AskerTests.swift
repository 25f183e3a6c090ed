import DirectCore
import DirectHTTP1
import DirectTestCommands
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Who is asking", .idleLimit)
struct AskerTests {
    /// A network that shows each request in the answer, which no `Vary` restricts.
    private static func client(
        _ cache: ResponseCache?,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) -> HTTPClient {
        .untimed {
            $0.cache = cache
            $0.transport = { request in
                let url = try request.url
                if let place = url.query {
                    return try Response(to: request, 302, headers: ["Location": place])
                }
                let fields = request.headers.map { "\($0.name): \($0.value)" }.sorted()
                let text = "\(request.method) \(url.text)\n" + fields.joined(separator: "\n")
                let headers: HTTPHeaders = [
                    "Cache-Control": "private, max-age=1000", "Content-Length": "\(text.utf8.count)",
                ]
                return try Response(to: request, 200, headers: headers, body: Array(text.utf8))
            }
            configure(&$0)
        }
    }

    private static func jar(_ user: String, lastingName: String? = nil) throws -> CookieJar {
        let jar = CookieJar(lastingName: lastingName)
        for host in ["a.test", "b.test"] {
            jar.add(try Cookie("sid", user, for: DirectHTTP.HTTPHost(host)))
        }
        return jar
    }

    /// One cache for several clients, or two objects on one folder.
    private func caches(_ place: Place, _ folder: TemporaryFolder) throws -> [ResponseCache] {
        let first = try place.cache(folder)
        return try place == .folder ? [first, place.cache(folder)] : [first]
    }

    @Test("Clients that share a cache get none of each other's responses", arguments: Place.allCases)
    func clients(place: Place) async throws {
        let folder = TemporaryFolder.planned()
        let caches = try caches(place, folder)
        let jars = [try Self.jar("alice"), try Self.jar("bob")]
        let fields: [HTTPHeaders] = [
            [:], ["Cookie": "sid=carol"], ["Cookie": "sid=dave"], ["X-Api-Key": "1"], ["X-Api-Key": "2"],
            ["Authorization": "Bearer 1"],
        ]
        var texts: Set<String?> = []
        for use in [CacheUse.miss, .hit] {
            for (number, cache) in caches.enumerated() {
                let clients =
                    jars.map { jar in Self.client(cache) { $0.cookies = jar } }
                    + fields.map { fields in
                        Self.client(cache) { settings in
                            for field in fields { settings.headers[field.name] = field.value }
                        }
                    }
                for client in clients {
                    let response = try await client.get("https://a.test/")
                    // The second object on the folder finds what the first one has stored for the same asker.
                    #expect(response.cacheUse == (number == 0 ? use : .hit))
                    texts.insert(response.text)
                }
            }
        }
        #expect(texts.count == jars.count + fields.count)
    }

    @Test("A later run on a folder finds only the responses of a jar of the same lasting name")
    func nextRun() async throws {
        let folder = TemporaryFolder.planned()
        var uses: [CacheUse?] = []
        for name in [nil, nil, "alice", "bob", "alice"] as [String?] {
            let cache = try Place.folder.cache(folder)
            let jar = try Self.jar(name ?? "guest", lastingName: name)
            let response = try await Self.client(cache) { $0.cookies = jar }.get("https://a.test/")
            #expect(response.text?.contains("sid=\(name ?? "guest")") == true)
            uses.append(response.cacheUse)
        }
        #expect(uses == [.miss, .miss, .miss, .miss, .hit])
    }

    @Test("A page from behind a redirect is not the page of a direct request, nor the other way round")
    func redirects() async throws {
        for isDirectFirst in [true, false] {
            let client = Self.client(.memory()) { $0.headers["X-Api-Key"] = "K" }
            let (direct, redirected) = ("https://b.test/page", "https://a.test/?https://b.test/page")
            for use in [CacheUse.miss, .hit] {
                for url in isDirectFirst ? [direct, redirected] : [redirected, direct] {
                    let response = try await client.get(url)
                    #expect(response.cacheUse == use)
                    #expect(response.text?.contains("X-Api-Key") == (url == direct))
                }
            }
        }
        // What the policy lets through is sent, and is the same asker.
        let client = Self.client(.memory()) {
            $0.headers["X-Api-Key"] = "K"
            $0.redirects.extraCrossOriginFields = ["x-api-key"]
        }
        _ = try await client.get("https://b.test/page")
        #expect(try await client.get("https://a.test/?https://b.test/page").cacheUse == .hit)
        // A client that has nothing to withhold has the same pages both ways.
        let plain = Self.client(.memory())
        _ = try await plain.get("https://b.test/page")
        #expect(try await plain.get("https://a.test/?https://b.test/page").cacheUse == .hit)
    }

    @Test("Settings for one base URL are withheld elsewhere, where the client is nobody in particular")
    func base() async throws {
        let cache = ResponseCache.memory()
        let url = try HTTPURL("https://a.test/")
        let based = Self.client(cache) { ($0.baseURL, $0.headers["X-Api-Key"]) = (url, "K") }
        _ = try await based.get("https://b.test/")
        #expect(try await Self.client(cache).get("https://b.test/").cacheUse == .hit)
        #expect(try await based.get("https://a.test/").cacheUse == .miss)
        #expect(try await Self.client(cache).get("https://a.test/").cacheUse == .miss)
    }

    @Test("A caller's own Cookie field counts beside the cookies of a jar")
    func callersCookie() async throws {
        let jar = try Self.jar("jar")
        let client = Self.client(.memory()) { $0.cookies = jar }
        for use in [CacheUse.miss, .hit] {
            for who in ["sid=alice", "sid=bob", "lang=en", nil] {
                var request = Request(.get, "https://a.test/")
                request.headers["Cookie"] = who
                let response = try await client.fetch(request)
                #expect(response.cacheUse == use && response.text?.contains(who ?? "sid=jar") == true)
            }
        }
        // A cookie that the jar gets does not make another asker: the server says so by `Vary`.
        jar.add(try Cookie("seen", "1", for: DirectHTTP.HTTPHost("a.test")))
        #expect(try await client.get("https://a.test/").cacheUse == .hit)
    }

    @Test("A field of one request whose name tells of a credential counts; one of another name by Vary only")
    func callersField() async throws {
        let client = Self.client(.memory())
        for use in [CacheUse.miss, .hit] {
            for (name, value) in [
                ("X-Api-Key", "1"), ("X-Api-Key", "2"), ("x-auth-token", "1"), ("Private-Token", "1"),
            ] {
                // A trace of its own in each request does not make each its own asker.
                let headers: HTTPHeaders = [name: value, "X-Trace": "\(use)", "Idempotency-Key": "\(use)"]
                let response = try await client.fetch(Request(.get, "https://a.test/", headers: headers))
                #expect(response.cacheUse == use && response.text?.contains("\(name): \(value)") == true)
            }
        }
        #expect(try await client.get("https://a.test/").cacheUse == .miss)
        // Behind a redirect the field is not sent, so that is the page of nobody in particular.
        var request = Request(.get, "https://a.test/?https://b.test/", headers: ["X-Api-Key": "1"])
        #expect(try await client.fetch(request).text?.contains("X-Api-Key") == false)
        try request.setURL(HTTPURL("https://b.test/"))
        #expect(try await client.fetch(request).cacheUse == .miss)
    }

    @Test("A field that logs hide tells askers apart, and one that they show does so by Vary only")
    func oneRule() {
        let hidden = [
            "X-Login", "X-Pass", "X-Pwd", "X-User-PW", "X-Ticket", "X-LoginTicket", "X-Otp", "X-TOTP",
            "X-MFA-Code",
            "X-Passcode", "X-Pin", "X-PSK", "X-Assertion", "Login", "Ticket", "X-Sig", "X-Sign", "Signature",
            "X-Hmac",
            "X-SAS", "X-WSSE", "X-Sid", "PHPSESSID", "X-AccessKeyId", "X-Forwarded-Client-Cert", "X-OAuth",
            "X-Api-Key",
            "X-Session", "X-Passwd", "X-Auth-Token",
        ]
        for name in hidden {
            let (alice, bob) = (Asker([name: "alice"]), Asker([name: "bob"]))
            #expect(alice != bob && !alice.isAnonymous && !bob.isAnonymous, "\(name)")
            #expect(FieldRedaction().hides(name), "\(name)")
        }
        for name in [
            "X-Trace", "Idempotency-Key", "Signature-Input", "X-Design", "Certainty", "Author", "Accept",
        ] {
            #expect(Asker([name: "alice"]).isAnonymous && !FieldRedaction().hides(name), "\(name)")
        }
    }

    @Test("Bytes that are no text tell askers apart, and no part is mistaken for another")
    func bytes() {
        func field(_ name: String, _ bytes: [UInt8]) -> HTTPHeaders {
            var headers = HTTPHeaders()
            headers.add(name, bytes: bytes)
            return headers
        }
        let askers = [
            Asker([:]), Asker(field("Cookie", [0xFF])), Asker(field("Cookie", [0xFE])),
            Asker(field("Authorization", [0xFF])), Asker([:], own: field("X-Own", [0xFF])),
            Asker([:], own: field("X-Own", [])), Asker([:], cookies: "a"), Asker([:], certificate: "a"),
            Asker([:], cookies: "a", certificate: "a"), Asker([:], cookies: "aa"),
            Asker(["Cookie": "a"], cookies: "a"),
        ]
        for (number, asker) in askers.enumerated() {
            #expect(askers.firstIndex(of: asker) == number)
        }
        #expect(askers[0] == .anonymous)
        // A request's own field takes the place of the client's.
        #expect(Asker(["X-Own": "1"], own: ["X-Own": "2"]) == Asker([:], own: ["X-Own": "1"]))
    }

    @Test("A response to a request whose identifying field an interceptor has changed is not stored")
    func changedBelow() async throws {
        let cache = ResponseCache.memory()
        let client = Self.client(cache) {
            $0.headers["X-Api-Key"] = "K"
            $0.networkInterceptors = [copying { $0.headers["X-Api-Key"] = "other" }]
        }
        for _ in 0..<2 { #expect(try await client.get("https://a.test/").cacheUse == .miss) }
    }

    @Test("A field that the client withholds and something below the cache adds is not stored for nobody")
    func addedBelow() async throws {
        for name in ["X-Api-Key", "X-Tenant"] {
            let cache = ResponseCache.memory()
            let client = Self.client(cache) {
                $0.headers[name] = "alice"
                $0.networkInterceptors = [copying { $0.headers[name] = "alice" }]
            }
            #expect(try await client.get("https://a.test/?https://b.test/").text?.contains("alice") == true)
            let other = try await Self.client(cache).get("https://b.test/")
            #expect(other.cacheUse == .miss && other.text?.contains("alice") == false)
            // Nor is what a request itself says under that name the page of nobody in particular.
            let base = try HTTPURL("https://a.test/")
            let based = Self.client(cache) { ($0.baseURL, $0.headers[name]) = (base, "alice") }
            let own = Request(.get, "https://b.test/", headers: [name: "bob"])
            #expect(try await based.fetch(own).text?.contains("bob") == true)
        }
    }

    @Test("A store that has another user from now on has none of the former one's responses")
    func changedUser() async throws {
        let store = ChangingStore()
        let client = Self.client(.memory()) { $0.cookies = store }
        for use in [CacheUse.miss, .hit] {
            for user in ["alice", "bob"] {
                store.user.withLock { $0 = user }
                let response = try await client.get("https://a.test/")
                #expect(response.cacheUse == use && response.text?.contains("sid=\(user)") == true)
            }
        }
    }

    @Test("A user who changes while a request begins gets and leaves no page of another")
    func userChangesMeanwhile() async throws {
        for look in 1...4 {
            let store = ChangingStore()
            let client = Self.client(.memory()) { $0.cookies = store }
            store.looks.withLock { $0 = look }
            _ = try await client.get("https://a.test/")
            store.looks.withLock { $0 = 0 }
            for user in ["alice", "carol"] {
                store.user.withLock { $0 = user }
                #expect(try await client.get("https://a.test/").text?.contains("sid=\(user)") == true)
            }
            // A change of the resource counts also where nobody knows who has made it.
            store.looks.withLock { $0 = look }
            store.user.withLock { $0 = "alice" }
            #expect(try await client.put("https://a.test/", .text("")).cacheUse == .bypassed)
            store.looks.withLock { $0 = 0 }
            store.user.withLock { $0 = "alice" }
            #expect(try await client.get("https://a.test/").cacheUse == .miss)
        }
    }

    @Test("A client that asks another server, or believes one that others refuse, has responses of its own")
    func places() async throws {
        let path = try UnixSocketPath("/run/local")
        let origin = try HTTPURL("https://a.test/").origin
        let root = Array(testAuthority.certificate(for: "root.test").pem.utf8)
        let override = InsecureCertificateOverride { _ in true }
        let settings: [@Sendable (inout HTTPClient.Configuration) -> Void] = [
            { _ in }, { $0.unixSockets[origin] = path }, { $0.tls.roots = .only([.pem(root)]) },
            { $0.tls.roots = .systemAnd([.pem(root)]) }, { $0.tls.roots = .only([.pemFile("/roots")]) },
            { $0.tls.roots = .only([.pemFile("roots")]) }, { $0.tls.insecureOverride = override },
        ]
        let cache = ResponseCache.memory()
        for use in [CacheUse.miss, .hit] {
            for setting in settings {
                #expect(try await Self.client(cache, setting).get("https://a.test/").cacheUse == use)
            }
        }
        // What listens at a socket is for no redirect, whatever the cache has (`UnixSocketTests.redirected`).
        let local = Self.client(cache, settings[1])
        #expect(try await local.get("https://b.test/?https://a.test/").cacheUse == .bypassed)
        // In the clear nothing of TLS counts, and at another origin no socket.
        _ = try await Self.client(cache).get("http://b.test/")
        for setting in settings {
            #expect(try await Self.client(cache, setting).get("http://b.test/").cacheUse == .hit)
        }
    }

    @Test("Roots that the environment names are other roots than the system's, where those count")
    func namedRoots() {
        func names(_ roots: TrustRoots) -> Set<String?> {
            var settings = TLSSettings()
            settings.roots = roots
            let places = [[], ["/proxy.pem"], ["/proxy.pem", "/certs"], ["proxy.pem"]]
            return Set(places.map(settings.nameOfTrust))
        }
        let own = [CertificateSource.pemFile("/own.pem")]
        #expect(names(.system).count == 4 && names(.system).contains(nil))
        #expect(names(.systemAnd(own)).count == 4 && names(.only(own)).count == 1)
        #expect(names(.system).union(names(.systemAnd(own))).union(names(.only(own))).count == 9)
    }

    @Test("A certificate selects its own responses, and none where it is not shown")
    func certificates() async throws {
        let servers = try ["a.test", "b.test"].map { name in
            try FixtureServer.start(
                .tls(testAuthority.certificate(for: name)) { $0.clientCertificates = .requested }
            ) { request in
                request.target == "/"
                    ? .text("page", ["Cache-Control": "private, max-age=60"])
                    : .status(302, ["Location": String(request.target.dropFirst())])
            }
        }
        let identities: [ClientIdentity?] =
            ["alice.test", "bob.test"].map { name in
                let own = testAuthority.certificate(for: name)
                return ClientIdentity(
                    certificateChain: Array(own.pem.utf8),
                    privateKey: Array(own.keyPEM.utf8)
                )
            } + [nil]
        var map = StaticMap()
        for (server, name) in zip(servers, ["a.test", "b.test"]) {
            try map.set([server.endpoint], for: HostPattern(name), port: 443)
        }
        let addresses = map
        let cache = ResponseCache.memory()
        for use in [CacheUse.miss, .hit] {
            for identity in identities {
                let client = HTTPClient.trusting {
                    ($0.cache, $0.tls.clientIdentity, $0.addresses) = (cache, identity, addresses)
                }
                #expect(try await client.get("https://a.test/").cacheUse == use)
                // Behind a redirect no certificate is shown: that is the page for nobody in particular.
                _ = try await client.get("https://a.test/https://b.test/")
            }
        }
        // That of the client without one, in both rounds.
        #expect(servers[0].records.filter { $0.tls?.clientCertificate == nil }.count == 2)
        #expect(servers[1].records.allSatisfy { $0.tls?.clientCertificate == nil })
        #expect(servers[1].requests.count == 1)
    }
}

/// A store of the program's own, whose user changes.
private final class ChangingStore: CookieStore {
    let user = Locked("alice")
    /// The number of looks at the store after which the user is another one; 0 for never.
    let looks = Locked(0)

    var lastingName: String? { look() }

    func cookies(for url: HTTPURL) -> [Cookie] {
        (try? Cookie("sid", look(), for: url.host)).map { [$0] } ?? []
    }

    private func look() -> String {
        let present = user.withLock { $0 }
        let isLast = looks.withLock { looks in
            looks -= 1
            return looks == 0
        }
        if isLast { user.withLock { $0 = "carol" } }
        return present
    }

    func take(_ headers: HTTPHeaders, from url: HTTPURL) {}
}

/// What each option and setting does to who is asking. A new one has to be put into one of the lists.
@Suite("What belongs to who is asking", .idleLimit)
struct AskerMemberTests {
    private static let url = "https://a.test/items"

    /// The use of the cache by a request, after one of nobody in particular for the same URL, and whether the
    /// two were sent alike.
    private func use(
        by request: Request,
        _ configure: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) async throws -> (use: CacheUse?, isSame: Bool) {
        let sent = Locked<[HTTPHeaders]>([])
        func client(_ cache: ResponseCache?, _ configure: (inout HTTPClient.Configuration) -> Void)
            -> HTTPClient
        {
            .untimed {
                $0.cache = cache
                $0.transport = { request in
                    sent.withLock { $0.append(request.headers) }
                    return try Response(to: request, 200, headers: ["Cache-Control": "max-age=1000"])
                }
                configure(&$0)
            }
        }
        let cache = ResponseCache.memory()
        _ = try await client(cache) { _ in }.get(Self.url)
        let use = try await client(cache, configure).fetch(request).cacheUse
        _ = try await client(nil, configure).fetch(request)
        let all = sent.withLock { $0 }
        return (use, all.first == all.last)
    }

    @Test("Each option of a request is part of who is asking, or keeps the request apart, or shows nothing")
    func options() async throws {
        let asking: Set = ["authenticator", "authenticators", "cookies"]
        let apart: Set = ["bypassesCache", "upgrade", "tls", "identity", "unixSocket"]
        let silent: Set = [
            "addressMap", "isAlwaysDecoded", "failedEndpoints", "repeatability", "timeouts", "waited",
            "isServersChoice", "redirects", "retries", "hedging",
            "tags", "resolver", "proxy", "expectsContinue", "closes", "onInterim", "onUpload", "onDownload",
            "sendingRate", "receivingRate", "encryptedClientHello", "local", "keepAlive",
        ]
        // One asks for the response of the network, the other is the URL.
        let others: Set = ["ignoresStoredResponses", "reference"]
        #expect(Set(OptionRule.all.map(\.name)) == asking.union(apart).union(silent).union(others))
        let full = try RequestOptionTests.full()
        for rule in OptionRule.all where !others.contains(rule.name) {
            var request = Request(.get, Self.url)
            rule.inherit(into: &request.options, from: full.options)
            let (use, isSame) = try await use(by: request)
            let expected: CacheUse =
                asking.contains(rule.name) ? .miss : apart.contains(rule.name) ? .bypassed : .hit
            #expect(use == expected, "\(rule.name)")
            #expect(isSame || use != .hit, "\(rule.name) changes what is sent")
        }
    }

    @Test("Each setting of a client is part of who is asking, or shows nothing")
    func settings() async throws {
        let own = testAuthority.certificate(for: "me.test")
        let asking: [String: @Sendable (inout HTTPClient.Configuration) throws -> Void] = [
            "headers": { $0.headers["X-Api-Key"] = "1" },
            "cookies": { $0.cookies = CookieJar() },
            "unixSockets": { $0.unixSockets[try HTTPURL(Self.url).origin] = try UnixSocketPath("/s") },
            "authenticators": { $0.authenticators = [try HTTPURL(Self.url).origin: .bearer("x")] },
            "tls": {
                $0.tls.clientIdentity = .init(
                    certificateChain: Array(own.pem.utf8),
                    privateKey: Array(own.keyPEM.utf8)
                )
            },
        ]
        // The base decides where the settings are for; `authenticators` of proxies are for proxies.
        let silent: Set = [
            "baseURL", "addresses", "resolver", "vetting", "proxy", "dialling", "localBinding",
            "tcpKeepAlive", "sendingRate", "receivingRate", "encryptedClientHello", "timeouts", "redirects",
            "retries", "hedging", "proxyAuthenticators", "observer", "cache", "maximumConnectionsPerOrigin",
            "maximumConnections", "maximumIdleConnections", "idleTimeout", "maximumConnectionAge",
            "maximumConnectionUses", "maximumBufferedBody", "limits", "leniency", "hsts", "loop",
        ]
        // What these send, the cache sees above it or compares below it; codings select by `Vary`.
        let others: Set = ["interceptors", "networkInterceptors", "transport", "decoding"]
        let stored = Mirror(reflecting: HTTPClient.Configuration()).children.compactMap(\.label)
        #expect(Set(stored) == Set(asking.keys).union(silent).union(others))
        for (name, set) in asking {
            var failure: (any Error)?
            let (use, _) = try await use(by: Request(.get, Self.url)) { settings in
                do { try set(&settings) } catch { failure = error }
            }
            #expect(use == .miss && failure == nil, "\(name)")
        }
        #expect(try await use(by: Request(.get, Self.url)).use == .hit)
    }
}
