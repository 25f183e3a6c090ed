import CDirectOpenSSL
import Testing

@testable import DirectTLS

@Suite("The cache of sessions")
struct SessionCacheTests {
    private func session(
        _ version: Int32 = TLS1_2_VERSION,
        timeout: Int = 600,
        madeAt time: Int = 1_000,
        identifier: UInt8 = 1,
        proof: ServerProof = ServerProof()
    ) throws -> SavedSession {
        let session = try #require(SSL_SESSION_new())
        defer { SSL_SESSION_free(session) }
        SSL_SESSION_set_protocol_version(session, version)
        SSL_SESSION_set_time(session, time)
        SSL_SESSION_set_timeout(session, timeout)
        // Without an identifier OpenSSL calls a session not resumable.
        let identifier: [UInt8] = [identifier]
        SSL_SESSION_set1_id(session, identifier, 1)
        return try #require(SavedSession(session, proof: proof))
    }

    /// The identifier of a session, one byte.
    private func identifier(of saved: SavedSession?) throws -> UInt8 {
        let session = try #require(saved?.restored())
        defer { SSL_SESSION_free(session) }
        var count: UInt32 = 0
        let bytes = SSL_SESSION_get_id(session, &count)
        return try #require(count == 1 ? bytes?.pointee : nil)
    }

    private func key(_ name: String, port: UInt16 = 443, context: UInt64 = 1) throws -> SessionKey {
        SessionKey(identity: try .name(name), serverName: name, port: port, context: context)
    }

    @Test("The newest session is taken first")
    func newestSessionIsTakenFirst() throws {
        let cache = SessionCache()
        let key = try key("a.test")
        for number in [1, 2] as [UInt8] { cache.store(try session(identifier: number), for: key, now: 1_000) }
        #expect(try identifier(of: cache.take(for: key, now: 1_000)) == 2)
    }

    @Test("A session is found only by its identity, port and context")
    func keysDoNotMix() throws {
        let cache = SessionCache()
        cache.store(try session(), for: try key("a.test"), now: 1_000)
        #expect(try cache.take(for: key("b.test"), now: 1_000) == nil)
        #expect(try cache.take(for: key("a.test", port: 444), now: 1_000) == nil)
        #expect(try cache.take(for: key("a.test", context: 2), now: 1_000) == nil)
        let addressOfTheSameText = SessionKey(
            identity: try .address("::1"),
            serverName: nil,
            port: 443,
            context: 1
        )
        #expect(cache.take(for: addressOfTheSameText, now: 1_000) == nil)
        #expect(cache.count == 1)
    }

    @Test("A session is valid until its lifetime ends")
    func sessionIsGoodUntilItsTimeIsUp() throws {
        let cache = SessionCache()
        let key = try key("a.test")
        cache.store(try session(timeout: 600), for: key, now: 1_000)
        #expect(cache.take(for: key, now: 1_599) != nil)
        #expect(cache.take(for: key, now: 1_600) == nil)
        #expect(cache.count == 0)
    }

    @Test(
        "A session ends with the certificates, the staple and the revocation lists that its handshake has checked"
    )
    func sessionEndsWithItsProof() throws {
        let key = try key("a.test")
        for proof in [
            ServerProof(chainExpiry: 1_300), ServerProof(stapleExpiry: 1_300),
            ServerProof(revocationExpiry: 1_300), ServerProof(lastUse: 1_300),
        ] {
            let cache = SessionCache()
            cache.store(try session(timeout: 600, proof: proof), for: key, now: 1_000)
            #expect(cache.take(for: key, now: 1_299) != nil)
            #expect(cache.take(for: key, now: 1_300) == nil)
        }
    }

    @Test("No session is kept longer than seven days")
    func noSessionIsKeptLongerThanSevenDays() throws {
        let cache = SessionCache()
        let key = try key("a.test")
        let week = 7 * 24 * 3600
        cache.store(try session(timeout: 10 * week), for: key, now: 1_000)
        #expect(cache.take(for: key, now: 1_000 + week) == nil)
    }

    @Test("A ticket of TLS 1.3 without a lifetime is not kept")
    func ticketOfTLS13WithoutALifetimeIsDroppedAtOnce() throws {
        let cache = SessionCache()
        cache.store(try session(TLS1_3_VERSION), for: try key("a.test"), now: 1_000)
        #expect(cache.count == 0)
    }

    @Test("The cache keeps only the newest sessions of a server")
    func oneServerKeepsOnlyItsNewest() throws {
        let cache = SessionCache(perServer: 2, total: 100)
        let key = try key("a.test")
        for number in 0..<5 as Range<UInt8> {
            cache.store(try session(identifier: number), for: key, now: 1_000)
        }
        #expect(cache.count == 2)
        #expect(try identifier(of: cache.take(for: key, now: 1_000)) == 4)
    }

    @Test("A full cache drops the session of the server that was used least recently")
    func theServerUsedLeastRecentlyMakesRoom() throws {
        let cache = SessionCache(perServer: 4, total: 3)
        for name in ["a.test", "b.test", "c.test"] {
            cache.store(try session(), for: try key(name), now: 1_000)
        }
        _ = cache.take(for: try key("a.test"), now: 1_000)
        cache.store(try session(), for: try key("d.test"), now: 1_000)
        #expect(cache.count == 3)
        #expect(try cache.take(for: key("b.test"), now: 1_000) == nil)
        for name in ["a.test", "c.test", "d.test"] {
            #expect(try cache.take(for: key(name), now: 1_000) != nil)
        }
    }

    @Test("Large sessions make room for each other within the limit in bytes, and leave ordinary ones alone")
    func largeSessions() throws {
        let cache = SessionCache(bytes: 250 * 1024)
        let chain = try largeChain(bytes: 108 * 1024)
        for name in ["a.test", "b.test", "c.test"] {
            cache.store(try session(proof: ServerProof(chain: chain)), for: try key(name), now: 1_000)
            cache.store(try session(), for: try key("small." + name), now: 1_000)
        }
        #expect(cache.count == 5)
        for name in ["small.a.test", "small.b.test", "small.c.test"] {
            #expect(try cache.take(for: key(name), now: 1_000) != nil)
        }
        cache.removeAll()
        cache.store(try session(proof: ServerProof(chain: chain)), for: try key("a.test"), now: 1_000)
        #expect(cache.count == 1)
        let none = SessionCache(bytes: 0)
        none.store(try session(proof: ServerProof(chain: chain)), for: try key("a.test"), now: 1_000)
        none.store(try session(), for: try key("b.test"), now: 1_000)
        #expect(none.count == 1)
    }

    private func largeChain(bytes: Int) throws -> CertificateChain {
        let names = (0..<bytes / 18).map { TestCertificate.Name.dns("n\(10_000_000 + $0).a.test") }
        let certificate = TestCertificate(.init(names: names), issuer: .authority)
        let stack = try #require(OPENSSL_sk_new_null())
        defer { OPENSSL_sk_free(stack) }
        OPENSSL_sk_push(stack, UnsafeRawPointer(certificate.x509))
        let chain = try #require(CertificateChain(stack))
        #expect(chain.byteCount > bytes && chain.byteCount < bytes + 1024)
        return chain
    }

    @Test("Several threads may use one cache")
    func manyThreadsMayUseOneCache() async throws {
        let cache = SessionCache(perServer: 2, total: 8)
        let keys = try (0..<20).map { try key("\($0).test") }
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for round in 0..<500 {
                        if let made = try? session() { cache.store(made, for: keys[round % 20], now: 1_000) }
                        if let taken = cache.take(for: keys[(round * 7) % 20], now: 1_000)?.restored() {
                            SSL_SESSION_free(taken)
                        }
                    }
                }
            }
        }
        #expect(cache.count <= 8)
    }
}
