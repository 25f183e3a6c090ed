@testable import DirectHTTP
import DirectCore
import DirectTestCommands
import DirectTLS
import TLSFixtures
import Testing

/// What the path may see, and what it must not see.
private let (secret, cover) = ("secret.test", "cover.test")

private let hasECH = ConditionTrait.enabled(if: FixtureECHKey.isSupported, "needs OpenSSL 4")

@Suite("Encrypted Client Hello", .idleLimit, hasECH)
struct EncryptedClientHelloTests {
    /// A server with both names that has the keys.
    private static func server(
        _ keys: [FixtureECHKey]?,
        names: [String] = [secret, cover],
        _ configure: (inout FixtureTLSSettings) -> Void = { _ in }
    ) throws -> FixtureServer {
        // Unknown names get the public one, as in front of other servers.
        let certificates = names.map { testAuthority.certificate(for: $0) }
        let security = FixtureSecurity.tls(certificates: certificates, default: certificates.last) {
            if let keys {
                $0.encryptedClientHello = FixtureECH()
                $0.encryptedClientHello?.keys = keys
            }
            configure(&$0)
        }
        return try .start(security) { .text($0.serverName ?? "-") }
    }

    private static func request(to server: FixtureServer, _ ech: EncryptedClientHello) -> Request {
        var request = server.request(server.https(secret))
        request.encryptedClientHello = ech
        return request
    }

    private static func config(_ key: FixtureECHKey) throws -> ECHConfigList {
        try ECHConfigList(key.configList)
    }

    private static func accepted(afterRejection: Bool = false, _ key: FixtureECHKey) throws
        -> EncryptedClientHello.Outcome
    {
        .accepted(
            innerName: secret,
            publicName: try config(key).publicName,
            afterRejection: afterRejection
        )
    }

    @Test("The server decrypts the name, and neither side's report hides which names were sent")
    func accepted() async throws {
        let key = try FixtureECHKey(publicName: cover)
        let server = try Self.server([key])
        let client = HTTPClient.trusting()
        let response = try await client.fetch(Self.request(to: server, .config(try Self.config(key))))
        #expect(response.text == secret)
        let facts = try #require(response.transaction?.tls)
        #expect(facts.encryptedClientHello == (try Self.accepted(key)))
        #expect(facts.verifiedName == secret)
        #expect(facts.description.contains("accepted for secret.test under cover.test"))
        #expect(server.records.first?.tls?.outerServerName == cover)
    }

    @Test(
        "The name is in no byte before the server's key decrypts it",
        arguments: [nil, "P-384"],
        [false, true]
    )
    func notOnTheWire(groups: String?, isStale: Bool) async throws {
        let (key, old) = (try FixtureECHKey(publicName: cover), try FixtureECHKey(publicName: cover))
        let server = try Self.server([key]) { $0.groups = groups }
        let client = HTTPClient.trusting { $0.maximumConnectionUses = 1 }
        let request = Self.request(to: server, .config(try Self.config(isStale ? old : key)))
        // The second call resumes the session of the first.
        for _ in 0..<2 { _ = try? await client.fetch(request) }
        server.stop()
        #expect(server.records.count >= 2)
        for connection in server.records {
            let text = String(decoding: connection.socketBytes, as: UTF8.self)
            #expect(text.contains(cover) && !text.contains("secret"))
        }
    }

    @Test("A HelloRetryRequest, and a resumed session, are answered encrypted as well")
    func retryRequestAndResumption() async throws {
        let key = try FixtureECHKey(publicName: cover)
        let server = try Self.server([key]) { $0.groups = "P-384" }
        let client = HTTPClient.trusting { $0.maximumConnectionUses = 1 }
        let request = Self.request(to: server, .config(try Self.config(key)))
        for isResumed in [false, true] {
            let response = try await client.fetch(request)
            #expect(response.transaction?.tls?.encryptedClientHello == (try Self.accepted(key)))
            #expect(response.transaction?.tls?.resumed == isResumed)
        }
    }

    @Test("A server with other keys names them, and one new attempt is made with them")
    func retried() async throws {
        let (key, old) = (try FixtureECHKey(publicName: cover), try FixtureECHKey(publicName: cover))
        let server = try Self.server([key])
        let client = HTTPClient.trusting()
        let response = try await client.fetch(Self.request(to: server, .config(try Self.config(old))))
        let outcome = try #require(response.transaction?.tls?.encryptedClientHello)
        #expect(outcome == (try Self.accepted(afterRejection: true, key)))
        #expect(server.records.map(\.received.isEmpty) == [true, false])
        #expect(server.records.map(\.serverName) == [cover, secret])
        #expect(server.records.first?.end == .clientAlert(121))
    }

    @Test("A second refusal is final")
    func refusedTwice() async throws {
        let (key, old) = (try FixtureECHKey(publicName: cover), try FixtureECHKey(publicName: cover))
        let other = try FixtureECHKey(publicName: cover)
        // The first connection goes to a server that names keys which the second one does not have.
        let first = try Self.server([key])
        let second = try Self.server([other])
        let tunnels = [first, second].map { FixtureProxy(["\(first.authority)": $0.authority]) }
        let gate = try FixtureServer.start(behaviour: .sequence(tunnels.map { .proxy($0) }))
        let proxy = try Proxy("http://\(gate.authority)")
        let client = HTTPClient.trusting { $0.proxy = ProxySettings(proxy) }
        let request = Self.request(to: first, .config(try Self.config(old)))
        let error = try await httpError { try await client.fetch(request) }
        guard case .encryptedClientHelloRejected(_, .staleConfig(let fresh))? = error.tlsError else {
            Issue.record("\(error)")
            return
        }
        #expect(fresh.bytes == other.configList)
        #expect(gate.records.count == 2)
        #expect(first.requests.isEmpty && second.requests.isEmpty)
    }

    @Test(
        "A server without keys that proves its public name has disabled it: only .whenAvailable goes on",
        arguments: [FixtureTLSSettings.Version.tls13, .tls12],
        [true, false]
    )
    func disabled(version: FixtureTLSSettings.Version, hasKeys: Bool) async throws {
        let (key, old) = (try FixtureECHKey(publicName: cover), try FixtureECHKey(publicName: cover))
        let server = try Self.server(hasKeys ? [key] : nil) {
            $0.maximumVersion = version
            $0.encryptedClientHello?.namesKeys = false
        }
        let config = try Self.config(old)
        let client = try HTTPClient.trusting(mapping: server, config)
        for ech in [EncryptedClientHello.config(config), .required] {
            let error = try await httpError { try await client.fetch(Self.request(to: server, ech)) }
            #expect(error.tlsError == .encryptedClientHelloRejected(config.publicName, .disabled))
        }
        #expect(server.requests.isEmpty && server.records.allSatisfy { $0.serverName == cover })
        let response = try await client.fetch(Self.request(to: server, .whenAvailable))
        #expect(response.text == secret)
        let outcome = response.transaction?.tls?.encryptedClientHello
        #expect(outcome == .disabledByServer(publicName: config.publicName))
    }

    @Test(
        "Without a certificate for the public name nothing of a refusal is believed, whatever accepts it",
        arguments: [true, false],
        [EncryptedClientHello.whenAvailable, .required]
    )
    func wrongPublicCertificate(namesKeys: Bool, ech: EncryptedClientHello) async throws {
        let (key, old) = (try FixtureECHKey(publicName: cover), try FixtureECHKey(publicName: cover))
        let server = try Self.server([key], names: [secret]) {
            $0.encryptedClientHello?.namesKeys = namesKeys
        }
        let client = try HTTPClient.trusting(mapping: server, Self.config(old)) {
            $0.tls.insecureOverride = InsecureCertificateOverride { _ in true }
        }
        let error = try await httpError { try await client.fetch(Self.request(to: server, ech)) }
        #expect(error.tlsError == .nameMismatch(expected: cover, served: [secret]))
        #expect(server.records.count == 1 && server.requests.isEmpty)
    }

    @Test("In TLS 1.2, a server that has proved no key has not refused: it may only have the certificate")
    func unsignedRefusal() async throws {
        let old = try FixtureECHKey(publicName: cover)
        var profile = CertificateProfile([.dns(cover)])
        profile.key = .rsa(2048)
        let server = try FixtureServer.start(
            .tls(try testAuthority.issue(profile)) {
                $0.maximumVersion = .tls12
                $0.ciphers = "AES128-GCM-SHA256:@SECLEVEL=0"
            }
        ) { .text($0.serverName ?? "-") }
        let config = try Self.config(old)
        let client = try HTTPClient.trusting(mapping: server, config)
        let error = try await httpError {
            try await client.fetch(Self.request(to: server, .whenAvailable))
        }
        #expect(error.tlsError == .encryptedClientHelloRejected(config.publicName, .unproven))
        #expect(server.records.count == 1)
    }

    @Test("A refusal in a HelloRetryRequest ends the call: OpenSSL does not wait for the certificate")
    func refusedInRetryRequest() async throws {
        let (key, old) = (try FixtureECHKey(publicName: cover), try FixtureECHKey(publicName: cover))
        let server = try Self.server([key]) { $0.groups = "P-384" }
        let config = try Self.config(old)
        let error = try await httpError {
            try await HTTPClient.trusting().fetch(Self.request(to: server, .config(config)))
        }
        #expect(error.tlsError == .encryptedClientHelloRejected(config.publicName, .unproven))
        #expect(server.records.count == 1)
    }

    @Test("GREASE sends the name in clear text, and nothing that a server answers to it counts")
    func greased() async throws {
        let server = try Self.server([try FixtureECHKey(publicName: cover)])
        let client = HTTPClient.trusting { $0.encryptedClientHello = .grease }
        var request = server.request(server.https(secret))
        let response = try await client.fetch(request)
        #expect(response.transaction?.tls?.encryptedClientHello == .greased)
        #expect(server.records.first?.hello?.extensions.contains(0xFE0D) == true)
        request.encryptedClientHello = .off
        let plain = try await client.fetch(request)
        #expect(plain.transaction?.tls?.encryptedClientHello == .off)
        #expect(server.records.last?.hello?.extensions.contains(0xFE0D) == false)
    }

    @Test("Connections and sessions are not shared across the setting")
    func keys() async throws {
        let key = try FixtureECHKey(publicName: cover)
        let server = try Self.server([key])
        let config = try Self.config(key)
        let client = try HTTPClient.trusting(mapping: server, config)
        let settings: [EncryptedClientHello] = [.off, .whenAvailable, .required, .config(config), .grease]
        for setting in settings {
            let response = try await client.fetch(Self.request(to: server, setting))
            #expect(!response.isReused && response.transaction?.tls?.resumed == false)
            #expect(try await client.fetch(Self.request(to: server, setting)).isReused)
        }
        #expect(server.records.count == settings.count)
    }

    @Test("Each endpoint of a resolver's answer has the list of its own record, and no other")
    func records() async throws {
        let keys = try [0, 1].map { _ in try FixtureECHKey(publicName: cover) }
        let port = try SharedPort(on: ["127.0.0.1", "127.0.0.2"])
        let certificates = [secret, cover].map { testAuthority.certificate(for: $0) }
        let servers = try zip(keys, ["127.0.0.1", "127.0.0.2"]).map { key, address in
            let security = FixtureSecurity.tls(certificates: certificates) {
                $0.encryptedClientHello = FixtureECH(key)
            }
            return try FixtureServer.start(security, on: address, port: port.number) { _ in .text("") }
        }
        let bare = Endpoint(stringLiteral: "127.0.0.3:\(port.number)")
        for (server, key) in zip(servers, keys) {
            let others = servers.filter { $0.address != server.address }.map(\.endpoint)
            let answer = RecordResolver(
                endpoints: [bare, server.endpoint] + others,
                configs: try zip(servers, keys).map { ($0.endpoint, try Self.config($1)) }
            )
            let client = HTTPClient.trusting {
                $0.encryptedClientHello = .required
                $0.dialling.keepsOrder = true
                $0.resolver = answer
            }
            let response = try await client.get(server.https(secret))
            #expect(response.transaction?.endpoint == server.endpoint)
            #expect(response.transaction?.tls?.encryptedClientHello == (try Self.accepted(key)))
            // The endpoint without a record is passed over.
            #expect(response.transaction?.failedAttempts.map(\.endpoint) == [bare])
        }
        for server in servers { #expect(server.records.allSatisfy { $0.tls?.outerServerName == cover }) }
    }

    @Test("A ticket that came with a name in clear text is not sent with an encrypted one, nor the reverse")
    func tickets() async throws {
        let key = try FixtureECHKey(publicName: cover)
        let server = try Self.server([key])
        let client = HTTPClient.trusting { $0.maximumConnectionUses = 1 }
        var request = Self.request(to: server, .whenAvailable)
        request.addresses = nil
        var map = StaticMap()
        try map.set([server.endpoint], for: .any)
        for config in [nil, try Self.config(key), nil] {
            map.setEncryptedClientHello(config, for: try DomainName(secret))
            request.addressMap = map
            let facts = try #require(try await client.fetch(request).transaction?.tls)
            #expect(facts.resumed == (config == nil && server.records.count > 1))
            #expect((facts.encryptedClientHello == .notOffered(.noConfig)) == (config == nil))
        }
    }

    @Test(
        "It goes through tunnels of every kind, and a new attempt takes a new one",
        arguments: [false, true]
    )
    func tunnels(isStale: Bool) async throws {
        let (key, old) = (try FixtureECHKey(publicName: cover), try FixtureECHKey(publicName: cover))
        let server = try Self.server([key])
        let routes = FixtureProxy([
            "\(secret):\(server.port)": server.authority, server.authority: server.authority,
        ])
        let gate = try FixtureServer.start(on: "127.0.0.3", behaviour: .proxy(routes))
        let proxyKey = try FixtureECHKey(publicName: "front.test")
        let certificates = ["proxy.test", "front.test"].map { testAuthority.certificate(for: $0) }
        let secureGate = try FixtureServer.start(
            .tls(certificates: certificates) { $0.encryptedClientHello = FixtureECH(proxyKey) },
            on: "127.0.0.4",
            behaviour: .proxy(routes)
        )
        for (scheme, gate) in [("http", gate), ("socks5", gate), ("socks5h", gate), ("https", secureGate)] {
            var proxy = try Proxy("\(scheme)://proxy.test:\(gate.port)")
            proxy.addresses = [gate.endpoint]
            if scheme == "https" { proxy.encryptedClientHello = .config(try Self.config(proxyKey)) }
            let client = HTTPClient.trusting { [proxy] in $0.proxy = ProxySettings(proxy) }
            var request = Self.request(to: server, .config(try Self.config(isStale ? old : key)))
            if scheme == "socks5h" || scheme == "https" { request.addresses = nil }
            let response = try await client.fetch(request)
            let outcome = response.transaction?.tls?.encryptedClientHello
            #expect(outcome == (try Self.accepted(afterRejection: isStale, key)), "\(scheme)")
        }
        #expect(secureGate.records.allSatisfy { $0.tls?.outerServerName == "front.test" })
        #expect(secureGate.records.count == (isStale ? 2 : 1))
    }

    @Test("A redirect to another origin keeps the demand and not the list")
    func redirects() async throws {
        let key = try FixtureECHKey(publicName: cover)
        let certificates = [secret, cover, "other.test"].map { testAuthority.certificate(for: $0) }
        let target = try FixtureServer.start(.tls(certificates: certificates)) { _ in .text("hello") }
        let server = try FixtureServer.start(
            .tls(certificates: certificates) { $0.encryptedClientHello = FixtureECH(key) }
        ) { _ in .redirect(to: target.https("other.test")) }
        let client = HTTPClient.trusting {
            $0.addresses = .init()
            try? $0.addresses.set([target.endpoint], for: .any)
        }
        let error = try await httpError {
            try await client.fetch(Self.request(to: server, .config(try Self.config(key))))
        }
        #expect(error.tlsError == .encryptedClientHelloUnavailable(.noConfig))
        #expect(target.records.isEmpty)
    }
}

@Suite("Encrypted Client Hello that cannot be", .idleLimit)
struct UnavailableClientHelloTests {
    /// A list that OpenSSL 4.0.3 has made for cover.example.test.
    private static let list =
        "AEX+DQBBfAAgACAEMNl9zYtSSzrwJmR4fU9CGs12P4MKNjrzeAwR1M1YLQAEAAEA"
        + "AQASY292ZXIuZXhhbXBsZS50ZXN0AAA="

    private static func request(_ url: String, at endpoint: Endpoint) throws -> Request {
        var request = Request(.get, url)
        request.addresses = [endpoint]
        request.encryptedClientHello = .config(try ECHConfigList(base64: list))
        return request
    }

    @Test("Where it is demanded the request fails before anything is dialled, and says why")
    func demanded() async throws {
        let server = try FixtureServer.secure(secret)
        let client = HTTPClient.trusting()
        let noLibrary = FixtureECHKey.isSupported ? nil : EncryptedClientHello.Obstacle.libraryTooOld
        var cases: [(Request, EncryptedClientHello.Obstacle)] = [
            (try Self.request(server.http(), at: server.endpoint), .clearText),
            (
                try Self.request("https://127.0.0.1:\(server.port)/", at: server.endpoint),
                noLibrary ?? .hostIsAddress
            ),
        ]
        var bare = try Self.request(server.https(secret), at: server.endpoint)
        bare.encryptedClientHello = .required
        cases.append((bare, noLibrary ?? .noConfig))
        var old = try Self.request(server.https(secret), at: server.endpoint)
        old.tls = TLSSettings()
        old.tls?.maximumVersion = .tls12
        cases.append((old, noLibrary ?? .versionTooOld))
        for (request, obstacle) in cases {
            let error = try await httpError { try await client.fetch(request) }
            #expect(error.tlsError == .encryptedClientHelloUnavailable(obstacle))
            #expect(!error.isWorthRetrying)
        }
        #expect(server.records.isEmpty)
    }

    @Test("A proxy has a setting of its own")
    func ofProxy() async throws {
        let gate = try FixtureServer.secure("proxy.test")
        var proxy = try Proxy("https://proxy.test:\(gate.port)")
        proxy.addresses = [gate.endpoint]
        proxy.encryptedClientHello = .required
        let client = HTTPClient.trusting { [proxy] in $0.proxy = ProxySettings(proxy) }
        let error = try await httpError { try await client.get("https://\(secret)/") }
        let obstacle = FixtureECHKey.isSupported ? EncryptedClientHello.Obstacle.noConfig : .libraryTooOld
        #expect(error.tlsError == .encryptedClientHelloUnavailable(obstacle))
        #expect(gate.records.isEmpty)
    }

    @Test("Where it is not demanded the connection's facts say why it was not offered")
    func notDemanded() async throws {
        let server = try FixtureServer.secure(secret)
        let client = HTTPClient.trusting { $0.encryptedClientHello = .whenAvailable }
        let response = try await client.fetch(server.request(server.https(secret)))
        let facts = try #require(response.transaction?.tls)
        let isSupported = FixtureECHKey.isSupported
        #expect(facts.encryptedClientHello == .notOffered(isSupported ? .noConfig : .libraryTooOld))
        #expect(facts.description.contains("encrypted client hello not offered"))
        #expect(server.records.first?.serverName == secret)
    }
}

/// A resolver that has an HTTPS record with a list for each of some endpoints.
private struct RecordResolver: Resolver {
    let endpoints: [Endpoint]
    let configs: [(Endpoint, ECHConfigList)]
    var name: String { "records" }

    func resolve(
        _ name: DomainName,
        port: UInt16,
        context: ResolveContext
    ) async throws -> Resolution {
        var answer = Resolution(endpoints, source: .resolver("records"))
        answer.https = HTTPSRecords(
            configs.map { endpoint, config in
                var record = HTTPSRecord(name)
                record.endpoints = [endpoint]
                record.encryptedClientHello = config
                return record
            }
        )
        return answer
    }
}

extension HTTPClient {
    /// A client whose map has the list for the secret name.
    fileprivate static func trusting(
        mapping server: FixtureServer,
        _ config: ECHConfigList,
        _ configure: (inout Configuration) -> Void = { _ in }
    ) throws -> HTTPClient {
        let name = try DomainName(secret)
        return .trusting {
            $0.addresses.setEncryptedClientHello(config, for: name)
            configure(&$0)
        }
    }
}
