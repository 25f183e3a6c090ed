import DirectCore
import DirectHTTP
import DirectTestCommands
import DirectTLS
import TLSFixtures
import Testing

@Suite("OCSP staples", .idleLimit)
struct OCSPStapleTests {
    private func server(_ leaf: FixtureCertificate, staple: [UInt8]?) throws -> FixtureServer {
        try .start(.tls(leaf) { $0.ocspStaple = staple }) { _ in
            var reply = FixtureReply.text("hello")
            reply.ending = .close
            return reply
        }
    }

    private func client(_ stapling: OCSPStapling, _ version: TLSVersion = .tls13) -> HTTPClient {
        .trusting {
            $0.tls.stapling = stapling
            $0.tls.maximumVersion = version
        }
    }

    /// Staples for the certificate, and the status that each has.
    private func staples(for leaf: FixtureCertificate) throws -> [(staple: [UInt8]?, status: StapledStatus)] {
        let now = UnixTime.now.seconds
        return [
            (try testAuthority.ocspResponse(for: leaf), .good),
            (nil, .notStapled),
            (try testAuthority.ocspResponse(for: leaf, .revoked), .revoked),
            (try testAuthority.ocspResponse(for: leaf, .unknown), .unknown),
            (
                try testAuthority.ocspResponse(for: leaf, validity: .expired),
                .invalid("it is not of this time")
            ),
            (
                try testAuthority.ocspResponse(for: leaf, validity: .notYet),
                .invalid("it is not of this time")
            ),
            // Without an end it is valid for a day.
            (try testAuthority.ocspResponse(for: leaf, from: now - 12 * 3600, to: nil), .good),
            (
                try testAuthority.ocspResponse(for: leaf, from: now - 30 * 3600, to: nil),
                .invalid("it is not of this time")
            ),
            (
                try TestAuthority().ocspResponse(for: leaf),
                .invalid("its signature is not by the certificate's issuer")
            ),
            // The response "try later". One that cannot be read is no staple that every OpenSSL sends.
            ([0x30, 3, 0x0a, 1, 3], .invalid("the responder answered trylater")),
        ]
    }

    @Test("Each is reported, and only a good one is enough where one is required")
    func statuses() async throws {
        let leaf = try testAuthority.issue(CertificateProfile(for: "a.test"))
        try await expect(staples(for: leaf), from: leaf)
    }

    @Test(
        "One about another certificate is not enough",
        .enabled(if: FixtureTLSSettings.sendsAnyStaple, "this OpenSSL does not send it")
    )
    func aboutAnother() async throws {
        let leaf = try testAuthority.issue(CertificateProfile(for: "a.test"))
        let other = try testAuthority.issue(CertificateProfile(for: "b.test"))
        let staple = try testAuthority.ocspResponse(for: other)
        try await expect([(staple, .invalid("it is about another certificate"))], from: leaf)
    }

    private func expect(
        _ staples: [(staple: [UInt8]?, status: StapledStatus)],
        from leaf: FixtureCertificate
    ) async throws {
        for (staple, status) in staples {
            let server = try server(leaf, staple: staple)
            let reported = try await client(.reported).fetch(server.request(server.https("a.test")))
            #expect(reported.transaction?.tls?.stapledStatus == status)
            let required = client(.required)
            guard status != .good else {
                #expect(try await required.fetch(server.request(server.https("a.test"))).status == 200)
                continue
            }
            let count = server.records.count
            let error = try await httpError {
                try await required.fetch(server.request(server.https("a.test")))
            }
            #expect(error.tlsError == .staple(status))
            #expect(server.records[count...].allSatisfy { $0.receivedCount == 0 })
        }
    }

    @Test("None is asked for unless the settings do")
    func ignored() async throws {
        let leaf = try testAuthority.issue(CertificateProfile(for: "a.test"))
        let server = try server(leaf, staple: try testAuthority.ocspResponse(for: leaf, .revoked))
        let response = try await client(.ignored).fetch(server.request(server.https("a.test")))
        #expect(response.transaction?.tls?.stapledStatus == .notRequested)
    }

    @Test(
        "CVE-2024-0853: a resumed session keeps the staple of its first handshake",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func resumed(version: TLSVersion) async throws {
        let leaf = try testAuthority.issue(CertificateProfile(for: "a.test"))
        let server = try server(leaf, staple: try testAuthority.ocspResponse(for: leaf))
        let client = client(.required, version)
        for isResumed in [false, true] {
            let tls = try await client.fetch(server.request(server.https("a.test"))).transaction?.tls
            #expect(tls?.resumed == isResumed && tls?.stapledStatus == .good)
        }
    }

    @Test("A session of a request that requires no staple serves none that does")
    func otherSettings() async throws {
        let leaf = try testAuthority.issue(CertificateProfile(for: "a.test"))
        let server = try FixtureServer.start(.tls(leaf)) { _ in .text("hello") }
        let client = client(.ignored)
        var request = server.request(server.https("a.test"))
        _ = try await client.fetch(request)
        var tls = TLSSettings()
        tls.roots = .only([.der(testAuthority.rootDER)])
        tls.stapling = .required
        request.tls = tls
        let error = try await httpError { try await client.fetch(request) }
        #expect(error.tlsError == .staple(.notStapled))
    }
}

@Suite("Revocation lists", .idleLimit)
struct RevocationListTests {
    private let authority = TestAuthority()
    private let leaf: FixtureCertificate
    private let server: FixtureServer

    init() throws {
        leaf = try authority.issue(CertificateProfile(for: "a.test"))
        server = try FixtureServer.start(.tls(leaf)) { _ in .text("hello") }
    }

    private func fetch(_ lists: RevocationLists, from server: FixtureServer? = nil) async throws {
        let client = HTTPClient.untimed {
            $0.tls.roots = .only([.der(authority.rootDER)])
            $0.tls.revocationLists = lists
        }
        let server = server ?? self.server
        #expect(try await client.fetch(server.request(server.https("a.test"))).text == "hello")
    }

    private func pem(_ list: String) -> CertificateSource { .pem(Array(list.utf8)) }

    private func kind(_ lists: RevocationLists, from server: FixtureServer? = nil) async throws
        -> CertificateFault.Kind?
    {
        try await httpError { try await fetch(lists, from: server) }.certificateFault?.kind
    }

    @Test("A certificate that is not on the list is accepted, one on the list is not")
    func listed() async throws {
        let other = try authority.issue(CertificateProfile(for: "b.test"))
        try await fetch(RevocationLists([pem(authority.revocationListPEM([other]))]))
        let revoking = RevocationLists([pem(try authority.revocationListPEM([leaf]))])
        #expect(try await kind(revoking) == .revoked)
        #expect(server.records.allSatisfy { $0.receivedCount == 0 || $0.requests.count == 1 })
    }

    @Test("Without a valid list of the issuer nothing is accepted")
    func missing() async throws {
        let foreign = RevocationLists([pem(try TestAuthority("Other").revocationListPEM([]))])
        #expect(try await kind(foreign) == .noRevocationList)
        let old = RevocationLists([pem(try authority.revocationListPEM([], validity: .expired))])
        #expect(try await kind(old) == .unusableRevocationList)
    }

    @Test("The whole chain is checked, or the server's certificate alone")
    func scope() async throws {
        let middle = try authority.intermediate()
        let server = try FixtureServer.start(.tls(try middle.issue(CertificateProfile(for: "a.test")))) { _ in
            .text("hello")
        }
        let ofMiddle = pem(try middle.revocationListPEM([]))
        #expect(try await kind(RevocationLists([ofMiddle]), from: server) == .noRevocationList)
        try await fetch(RevocationLists([ofMiddle], scope: .serverCertificate), from: server)
        let revoking = pem(try authority.revocationListPEM([middle.certificate]))
        #expect(try await kind(RevocationLists([ofMiddle, revoking]), from: server) == .revoked)
        try await fetch(RevocationLists([ofMiddle, pem(authority.revocationListPEM([]))]), from: server)
    }

    @Test("Lists come from files, several in one PEM text; what cannot be read is an error that names it")
    func sources() async throws {
        let other = try TestAuthority("Other").revocationListPEM([])
        let text = other + (try authority.revocationListPEM([]))
        let folder = try TemporaryFolder()
        try folder.write(text, "lists.pem")
        try await fetch(RevocationLists([.pemFile(folder.path + "/lists.pem")]))
        for bad in [
            CertificateSource.pem(Array("nothing".utf8)), .der([1, 2]), .pemFile(folder.path + "/missing"),
        ] {
            let error = try await httpError { try await fetch(RevocationLists([bad])) }
            guard case .badSettings(let reason)? = error.tlsError else {
                return #expect(Bool(false), "\(error)")
            }
            #expect(reason.contains("revocation list"))
        }
        let none = try await httpError { try await fetch(RevocationLists([])) }
        guard case .badSettings? = none.tlsError else { return #expect(Bool(false), "\(none)") }
    }

    @Test("The lists of one request hold for no other, although both trust the system's roots")
    func sharedRoots() async throws {
        let client = HTTPClient.untimed { $0.tls.roots = .only([.der(authority.rootDER)]) }
        var request = server.request(server.https("a.test"))
        var tls = TLSSettings()
        tls.roots = .only([.der(authority.rootDER)])
        tls.revocationLists = RevocationLists([pem(try authority.revocationListPEM([leaf]))])
        _ = try await client.fetch(request)
        request.tls = tls
        let error = try await httpError { try await client.fetch(request) }
        #expect(error.certificateFault?.kind == .revoked)
        request.tls = nil
        #expect(try await client.fetch(request).status == 200)
    }
}
