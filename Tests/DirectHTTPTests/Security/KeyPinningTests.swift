import DirectCore
import DirectHTTP
import DirectIO
import DirectTestCommands
import TLSFixtures
import Testing

@Suite("Pinned keys", .idleLimit)
struct KeyPinningTests {
    /// A key that no server has.
    private let strange = "sha256/" + String(repeating: "A", count: 43) + "="

    private func client(_ pins: KeyPins, _ configure: (inout HTTPClient.Configuration) -> Void = { _ in })
        -> HTTPClient
    {
        .trusting {
            $0.tls.pins = pins
            configure(&$0)
        }
    }

    @Test("A pin of the server's key or of its authority's is enough, also as one of several")
    func pinned() async throws {
        let server = try FixtureServer.secure("a.test", on: "127.0.0.2")
        let own = try testAuthority.certificate(for: "a.test").pin
        let root = try testAuthority.certificate.pin
        for pins in [[own], [root], [strange, own]] {
            let client = client(try KeyPins(["a.test": pins]))
            #expect(try await client.fetch(server.request(server.https("a.test"))).text == "hello")
        }
    }

    @Test("Without a pinned key no byte is sent, and the error has the keys of the chain")
    func notPinned() async throws {
        let server = try FixtureServer.secure("a.test")
        let client = client(try KeyPins(["a.test": [strange]]))
        let post = server.request(server.https("a.test"), .post, body: .text("secret"))
        let error = try await httpError { try await client.fetch(post) }
        guard case .keyNotPinned(let mismatch)? = error.tlsError else {
            return #expect(Bool(false), "\(error)")
        }
        let own = try testAuthority.certificate(for: "a.test").pin
        let root = try testAuthority.certificate.pin
        #expect(mismatch.name == "a.test")
        #expect(mismatch.seen.map(\.description) == [own, root])
        #expect(error.description.contains(own) && error.description.contains(root))
        #expect(try await server.nextRecord().receivedCount == 0)
    }

    @Test("A chain without a pinned key ends the attempts, unless the settings permit the next address")
    func nextAddress() async throws {
        let other = try testAuthority.issue(CertificateProfile(for: "a.test"))
        let wrong = try FixtureServer.start(.tls(other), on: "127.0.0.2") { _ in .text("wrong") }
        let right = try FixtureServer.secure("a.test", on: "127.0.0.3")
        let pins = try KeyPins(["a.test": [testAuthority.certificate(for: "a.test").pin]])
        var request = wrong.request(wrong.https("a.test"))
        request.addresses = [wrong.endpoint, right.endpoint]
        let strict = client(pins) { $0.dialling.keepsOrder = true }
        let error = try await httpError { try await strict.fetch(request) }
        guard case .keyNotPinned? = error.tlsError else { return #expect(Bool(false), "\(error)") }
        #expect(right.records.isEmpty)
        let patient = client(pins) {
            $0.dialling.keepsOrder = true
            $0.dialling.onCertificateMismatch = .tryNext
        }
        #expect(try await patient.fetch(request).text == "hello")
    }

    @Test("CVE-2016-2402: a pinned certificate outside the verified chain does not count")
    func presentedChain() async throws {
        let stranger = TestAuthority().certificate
        let padded = testAuthority.certificate(for: "a.test").sent(with: [stranger])
        let server = try FixtureServer.start(.tls(padded)) { _ in .text("hello") }
        let client = client(try KeyPins(["a.test": [try stranger.pin]]))
        let error = try await httpError { try await client.fetch(server.request(server.https("a.test"))) }
        guard case .keyNotPinned? = error.tlsError else { return #expect(Bool(false), "\(error)") }
    }

    @Test(
        "OkHttp#9724: a trailing dot or a capital letter does not bypass a pin",
        arguments: ["a.test.", "A.TEST", "A.test."]
    )
    func spelling(name: String) async throws {
        let server = try FixtureServer.secure("a.test")
        for pattern in ["a.test", "a.test.", "A.TEST", "*.test.", "**.Test"] {
            let client = client(try KeyPins([pattern: [strange]]))
            let error = try await httpError { try await client.fetch(server.request(server.https(name))) }
            guard case .keyNotPinned? = error.tlsError else {
                return #expect(Bool(false), "\(pattern): \(error)")
            }
        }
    }

    @Test("Pins belong to the name, whatever address is dialled")
    func dialledAddress() async throws {
        let server = try FixtureServer.secure("127.0.0.2", "a.test", "b.test", on: "127.0.0.2")
        let client = client(try KeyPins(["127.0.0.2": [strange], "b.test": [strange]]))
        #expect(try await client.fetch(server.request(server.https("a.test"))).text == "hello")
        for host in ["b.test", "127.0.0.2"] {
            let error = try await httpError { try await client.fetch(server.request(server.https(host))) }
            guard case .keyNotPinned? = error.tlsError else {
                return #expect(Bool(false), "\(host): \(error)")
            }
        }
    }

    @Test("Each name has its own pins on a shared server")
    func names() async throws {
        let server = try FixtureServer.secure("a.test", "b.test", "x.b.test")
        let pins = try KeyPins([
            "a.test": [testAuthority.certificate(for: "a.test").pin],
            "*.b.test": [testAuthority.certificate(for: "a.test").pin],
        ])
        let client = client(pins)
        #expect(try await client.fetch(server.request(server.https("a.test"))).text == "hello")
        #expect(try await client.fetch(server.request(server.https("b.test"))).text == "hello")
        let error = try await httpError { try await client.fetch(server.request(server.https("x.b.test"))) }
        guard case .keyNotPinned? = error.tlsError else { return #expect(Bool(false), "\(error)") }
    }

    @Test(
        "A resumed session has the keys of its original chain",
        arguments: [FixtureTLSSettings.Version.tls12, .tls13]
    )
    func resumption(version: FixtureTLSSettings.Version) async throws {
        let certificate = testAuthority.certificate(for: "a.test")
        let server = try FixtureServer.start(.tls(certificate) { $0.maximumVersion = version }) { _ in
            .text("hello")
        }
        let root = try testAuthority.certificate.pin
        let client = client(try KeyPins(["a.test": [root]])) { $0.maximumIdleConnections = 0 }
        for isLater in [false, true, true] {
            let response = try await client.fetch(server.request(server.https("a.test")))
            #expect(response.transaction?.tls?.resumed == isLater)
        }
    }

    @Test("A pin in report-only mode permits the connection, and is reported each time, resumed or not")
    func reportOnly() async throws {
        let server = try FixtureServer.secure("a.test")
        let heard = Locked<[KeyMismatch]>([])
        var pins = KeyPins()
        try pins.add([strange], for: "a.test", isReportOnly: true)
        pins.observer = KeyPinObserver { mismatch in heard.withLock { $0.append(mismatch) } }
        let client = client(pins) { $0.maximumIdleConnections = 0 }
        for isLater in [false, true] {
            let response = try await client.fetch(server.request(server.https("a.test")))
            #expect(response.transaction?.tls?.resumed == isLater)
        }
        let mismatches = heard.withLock { $0 }
        #expect(mismatches.count == 2)
        let own = try testAuthority.certificate(for: "a.test").pin
        #expect(mismatches.last?.seen.first?.description == own)
        let areReports = mismatches.allSatisfy { $0.wasReportOnly }
        #expect(areReports)
    }
}

extension FixtureCertificate {
    /// The pin of its key, in the form that the client reads.
    var pin: String {
        get throws { try #require(KeyPin(sha256: publicKeyHash)).description }
    }
}
