import CDirectOpenSSL
import Foundation
import TLSFixtures
import Testing

@testable import DirectTLS

@Suite("Resumption")
struct ResumptionTests {
    let server12 = TestServer(
        .leaf("a.test", "b.test", "*.c.test"),
        .init(versions: TLS1_2_VERSION...TLS1_2_VERSION)
    )
    let server13 = TestServer(.leaf("a.test", "b.test", "*.c.test"))
    let sessions = SessionCache()

    private func server(_ version: TLSVersion) -> TestServer { version == .tls12 ? server12 : server13 }

    /// One request and answer, since the tickets of TLS 1.3 arrive with the first read.
    private func exchange(_ pair: Pair, close: Bool = true) throws -> Bool {
        let step = pair.shake()
        guard step == .moved(0) else { throw Unexpected(step) }
        #expect(pair.write("ping") == .moved(4))
        pair.server.send("pong")
        #expect(pair.read() == .moved(4))
        if close { pair.client.close() }
        return pair.client.facts.resumed
    }

    private func visit(
        _ version: TLSVersion,
        _ context: TLSContext,
        _ identity: ServerIdentity,
        port: UInt16 = 443,
        close: Bool = true
    ) throws -> Bool {
        try exchange(Pair(server(version), context, identity, sessions: sessions, port: port), close: close)
    }

    @Test("The second connection resumes the session", arguments: [TLSVersion.tls12, .tls13])
    func secondConnectionResumes(_ version: TLSVersion) throws {
        let context = try TLSContext.testing()
        #expect(try !visit(version, context, .name("a.test")))
        #expect(try visit(version, context, .name("a.test")))
        #expect(try visit(version, context, .name("a.test")))
    }

    @Test("Sessions of TLS 1.3 that follow each other end together")
    func lifetimeInAll() throws {
        let context = try TLSContext.testing()
        let now = Int(time(nil))
        for isResumed in [false, true, true] {
            let pair = try Pair(server13, context, .name("a.test"), sessions: sessions)
            #expect(pair.shake() == .moved(0))
            #expect(pair.client.facts.resumed == isResumed)
            if isResumed {
                #expect(pair.client.proof.lastUse == now + 100)
            } else {
                #expect((pair.client.proof.lastUse ?? 0) >= now + ServerProof.longestUse)
                pair.client.proof.lastUse = now + 100
            }
            pair.server.send("pong")
            #expect(pair.read() == .moved(4))
            pair.client.close()
        }
        let last = try Pair(server13, context, .name("a.test"), sessions: sessions)
        let key = last.client.sessionKey
        #expect(try #require(sessions.take(for: key)).expiry == now + 100)
    }

    @Test(
        "The facts of two handshakes are equal if certificate and chain are, and differ if one of them does"
    )
    func factsAreEqualByValue() throws {
        let context = try TLSContext.testing()
        func facts(_ server: TestServer) throws -> TLSFacts {
            let pair = try Pair(server, context, .name("a.test"))
            _ = try exchange(pair)
            return pair.client.facts
        }
        let first = try facts(server13), second = try facts(server13)
        #expect(first == second && first.hashValue == second.hashValue && first.certificates.count == 2)
        let other = try facts(TestServer(.leaf("a.test", "b.test", "*.c.test")))
        #expect(other != first && other.description == first.description)
    }

    @Test(
        "A session can be resumed after its connection was dropped without close",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func sessionSurvivesAConnectionThatWasJustDropped(_ version: TLSVersion) throws {
        let context = try TLSContext.testing()
        #expect(try !visit(version, context, .name("a.test"), close: false))
        for _ in 0..<sessions.count { #expect(try visit(version, context, .name("a.test"), close: false)) }
    }

    @Test(
        "A session can be resumed after the server ended the stream without close_notify",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func sessionSurvivesAServerThatEndsWithoutCloseNotify(_ version: TLSVersion) throws {
        let context = try TLSContext.testing()
        for isLater in [false, true, true, true, true] {
            let pair = try Pair(server(version), context, .name("a.test"), sessions: sessions)
            #expect(try exchange(pair, close: false) == isLater)
            pair.server.endsStream = true
            #expect(pair.read() == .ended(clean: false))
            pair.client.close()
        }
    }

    @Test("A session is not resumed for another name", arguments: [TLSVersion.tls12, .tls13])
    func anotherNameDoesNotResume(_ version: TLSVersion) throws {
        let context = try TLSContext.testing()
        #expect(try !visit(version, context, .name("a.test")))
        #expect(try !visit(version, context, .name("b.test")))
    }

    @Test("A session is not resumed on another port")
    func anotherPortDoesNotResume() throws {
        let context = try TLSContext.testing()
        #expect(try !visit(.tls13, context, .name("a.test")))
        #expect(try !visit(.tls13, context, .name("a.test"), port: 8443))
    }

    @Test("A session is not resumed in another context")
    func anotherContextDoesNotResume() throws {
        #expect(try !visit(.tls13, .testing(), .name("a.test")))
        #expect(try !visit(.tls13, .testing(), .name("a.test")))
    }

    @Test(
        "After a fatal alert on an open connection the server's sessions are not offered again",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func sessionsAreDroppedAfterAFatalAlert(_ version: TLSVersion) throws {
        let context = try TLSContext.testing()
        let pair = try Pair(server(version), context, .name("a.test"), sessions: sessions)
        #expect(try !exchange(pair, close: false) && sessions.count > 0)
        pair.server.sendRaw(Array("HTTP/1.1 200 OK".utf8))
        guard case .failed(.protocolFailure) = pair.read() else { throw Unexpected("read") }
        #expect(sessions.count == 0)
    }

    @Test("With resumption turned off, no session is kept")
    func resumptionCanBeTurnedOff() throws {
        let context = try TLSContext.testing { $0.resumesSessions = false }
        #expect(try !visit(.tls13, context, .name("a.test")))
        #expect(try !visit(.tls13, context, .name("a.test")))
        #expect(sessions.count == 0)
    }

    /// OpenSSL resumes a session of one name for another, and calls it verified.
    @Test("The name is checked again when a session is resumed", arguments: [TLSVersion.tls12, .tls13])
    func nameIsCheckedAgainOnAResumedSession(_ version: TLSVersion) throws {
        let context = try TLSContext.testing()
        #expect(try !visit(version, context, .name("a.test")))
        for wrong in [try ServerIdentity.name("d.test"), try .address("127.0.0.1"), try .name("x.y.c.test")] {
            try move(from: .name("a.test"), to: wrong, context)
            let pair = try Pair(server(version), context, wrong, sessions: sessions)
            let served = ["a.test", "b.test", "*.c.test"]
            #expect(pair.shake() == .failed(.nameMismatch(expected: wrong.text, served: served)))
            #expect(SSL_session_reused(pair.client.ssl) == 1)
            #expect(sessions.take(for: pair.client.sessionKey) == nil)
            #expect(pair.readOnce().isFailure)
            #expect(try !visit(version, context, .name("a.test")))
        }
    }

    @Test("A session stored for another name of its certificate passes the name check")
    func otherNameOfTheCertificate() throws {
        let context = try TLSContext.testing()
        #expect(try !visit(.tls13, context, .name("a.test")))
        try move(from: .name("a.test"), to: .name("x.c.test"), context)
        #expect(try visit(.tls13, context, .name("x.c.test")))
    }

    @Test("The session of a refused server is not kept", arguments: [TLSVersion.tls12, .tls13])
    func sessionOfARefusedServerIsNotKept(_ version: TLSVersion) throws {
        let context = try TLSContext.testing()
        #expect(try !visit(version, context, .name("a.test")))
        try move(from: .name("a.test"), to: .name("d.test"), context)
        sessions.removeAll(for: try key(of: "a.test", context))
        let pair = try Pair(server(version), context, .name("d.test"), sessions: sessions)
        guard case .failed = pair.shake() else { throw Unexpected("accepted") }
        sessions.removeAll()
        _ = pair.readOnce()
        #expect(sessions.count == 0)
    }

    @Test("The session of a handshake that was refused afterwards is not kept")
    func sessionOfAHandshakeWeRefusedAfterwardsIsNotKept() throws {
        let server = TestServer(.leaf("a.test"), .init(versions: TLS1_2_VERSION...TLS1_2_VERSION, alpn: "h2"))
        let pair = try Pair(server, .testing(), .name("a.test"), sessions: sessions)
        let both: [UInt8] = [2] + Array("h2".utf8) + [8] + Array("http/1.1".utf8)
        SSL_set_alpn_protos(pair.client.ssl, both, UInt32(both.count))
        #expect(pair.shake() == .failed(.unexpectedProtocol("h2")))
        #expect(SSL_SESSION_is_resumable(SSL_get_session(pair.client.ssl)) == 1)
        #expect(sessions.count == 0)
    }

    @Test("A certificate that has expired since is refused when its session is resumed")
    func certificateThatExpiredSinceIsRefusedOnAResumedSession() throws {
        let leaf = TestCertificate(.init(names: [.dns("a.test")], ends: -60), issuer: .authority)
        let server = TestServer(leaf)
        let context = try TLSContext.testing()
        // The clock cannot be moved, so the first connection looks at an earlier time.
        let early = try Pair(server, context, .name("a.test"), sessions: sessions)
        X509_VERIFY_PARAM_set_time(SSL_get0_param(early.client.ssl), time(nil) - 600)
        #expect(try !exchange(early))
        // Nothing of what the cache knows says that the certificate ends.
        let session = try #require(SSL_get_session(early.client.ssl))
        sessions.store(
            try #require(SavedSession(session, proof: ServerProof())),
            for: early.client.sessionKey
        )
        let late = try Pair(server, context, .name("a.test"), sessions: sessions)
        guard case .certificateRejected(let fault) = late.shake().error else { throw Unexpected("accepted") }
        #expect(fault.kind == .expired)
        #expect(SSL_session_reused(late.client.ssl) == 1)
    }

    @Test(
        "A session is not kept after the server's certificate has expired",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func sessionEndsWithTheCertificate(_ version: TLSVersion) throws {
        let leaf = TestCertificate(.init(names: [.dns("a.test")], ends: -60), issuer: .authority)
        let number = version == .tls12 ? TLS1_2_VERSION : TLS1_3_VERSION
        let pair = try Pair(
            TestServer(leaf, .init(versions: number...number)),
            .testing(),
            .name("a.test"),
            sessions: sessions
        )
        X509_VERIFY_PARAM_set_time(SSL_get0_param(pair.client.ssl), time(nil) - 600)
        #expect(try !exchange(pair))
        #expect(sessions.count == 0)
    }

    @Test(
        "After a failed handshake the server's sessions are not offered again",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func sessionsAreDroppedAfterAFailure(_ version: TLSVersion) throws {
        let verifier = CertificateVerifier { $0.isResumed ? .reject("resumed") : .accept }
        let context = try TLSContext.testing { $0.verifier = verifier }
        #expect(try !visit(version, context, .name("a.test")))
        let pair = try Pair(server(version), context, .name("a.test"), sessions: sessions)
        #expect(pair.shake() == .failed(.rejectedByVerifier(reason: "resumed")))
        #expect(sessions.count == 0)
        #expect(try !visit(version, context, .name("a.test")))
    }

    @Test(
        "No session is offered after the first revocation list has ended, also not one of a resumed handshake",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func sessionEndsWithTheRevocationLists(_ version: TLSVersion) throws {
        let authority = TestAuthority("Lists")
        let server = try TestServer(authority.issue(CertificateProfile(for: "a.test")), version)
        let (now, first) = (time(nil), time(nil) + 600)
        let lists = try [3600, 600, 7200].map { seconds in
            let validity = CertificateProfile.Validity(
                notBefore: Int64(now - 60),
                notAfter: Int64(now + seconds)
            )
            return CertificateSource.pem(Array(try authority.revocationListPEM([], validity: validity).utf8))
        }
        let context = try TLSContext.testing {
            $0.roots = .only([.der(authority.rootDER)])
            $0.revocationLists = RevocationLists(lists)
        }
        for isLater in [false, true] {
            let pair = try Pair(server, context, .name("a.test"), sessions: sessions)
            #expect(try exchange(pair) == isLater)
            #expect(pair.client.proof.expiry == first)
        }
        let key = try key(of: "a.test", context)
        #expect(sessions.count > 0 && sessions.take(for: key, now: first) == nil && sessions.count == 0)
    }

    @Test("A ticket of TLS 1.3 is used once")
    func ticketOfTLS13IsUsedOnce() throws {
        let context = try TLSContext.testing()
        #expect(try !visit(.tls13, context, .name("a.test")))
        #expect(sessions.count == 2)
        let first = try Pair(server13, context, .name("a.test"), sessions: sessions)
        let second = try Pair(server13, context, .name("a.test"), sessions: sessions)
        let third = try Pair(server13, context, .name("a.test"), sessions: sessions)
        #expect(sessions.count == 0)
        let used = [first, second].map { pair in
            var (ticket, count): (UnsafePointer<UInt8>?, Int) = (nil, 0)
            SSL_SESSION_get0_ticket(SSL_get_session(pair.client.ssl), &ticket, &count)
            return Array(UnsafeBufferPointer(start: ticket, count: count))
        }
        #expect(used[0] != used[1] && !used[0].isEmpty)
        #expect(SSL_get_session(third.client.ssl) == nil)
    }

    @Test("A session of TLS 1.2 stays in the cache when it is used")
    func sessionOfTLS12IsUsedAgain() throws {
        let context = try TLSContext.testing()
        #expect(try !visit(.tls12, context, .name("a.test")))
        let count = sessions.count
        _ = try Pair(server12, context, .name("a.test"), sessions: sessions)
        #expect(sessions.count == count)
    }

    @Test("A connection may outlive its session cache")
    func connectionMayOutliveTheCacheItWasGiven() throws {
        let context = try TLSContext.testing()
        var cache: SessionCache? = SessionCache()
        let pair = try Pair(server13, context, .name("a.test"), sessions: cache)
        cache = nil
        #expect(try !exchange(pair))
    }

    private func key(of name: String, _ context: TLSContext) throws -> SessionKey {
        SessionKey(identity: try .name(name), serverName: name, port: 443, context: context.number)
    }

    private func move(from: ServerIdentity, to: ServerIdentity, _ context: TLSContext) throws {
        let key = try key(of: from.text, context)
        let session = try #require(sessions.take(for: key))
        let name = to.kind == .name ? to.text : nil
        let other = SessionKey(identity: to, serverName: name, port: 443, context: context.number)
        sessions.store(session, for: other)
        sessions.removeAll(for: key)
    }
}
