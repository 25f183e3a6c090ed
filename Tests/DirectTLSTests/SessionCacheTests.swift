import CDirectOpenSSL
import Testing

@testable import DirectTLS

@Suite("The cache of sessions")
struct SessionCacheTests {
    private func session(
        _ version: Int32 = TLS1_2_VERSION,
        timeout: Int = 600,
        madeAt time: Int = 1_000
    ) throws -> OpaquePointer {
        let session = try #require(SSL_SESSION_new())
        SSL_SESSION_set_protocol_version(session, version)
        SSL_SESSION_set_time(session, time)
        SSL_SESSION_set_timeout(session, timeout)
        // Without an identifier OpenSSL calls a session not resumable.
        let identifier: [UInt8] = [1]
        SSL_SESSION_set1_id(session, identifier, 1)
        return session
    }

    private func key(_ name: String, port: UInt16 = 443, context: UInt64 = 1) throws -> SessionKey {
        SessionKey(identity: try .name(name), serverName: name, port: port, context: context)
    }

    @Test("The newest session is taken first")
    func newestSessionIsTakenFirst() throws {
        let cache = SessionCache()
        let key = try key("a.test")
        let first = try session(), second = try session()
        cache.store(first, for: key, now: 1_000)
        cache.store(second, for: key, now: 1_000)
        let taken = cache.take(for: key, now: 1_000)?.session
        #expect(taken == second)
        SSL_SESSION_free(taken)
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
        let taken = cache.take(for: key, now: 1_599)?.session
        #expect(taken != nil)
        SSL_SESSION_free(taken)
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
            ServerProof(revocationExpiry: 1_300),
        ] {
            let cache = SessionCache()
            cache.store(try session(timeout: 600), for: key, proof: proof, now: 1_000)
            let taken = cache.take(for: key, now: 1_299)?.session
            #expect(taken != nil)
            SSL_SESSION_free(taken)
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
        let all = try (0..<5).map { _ in try session() }
        for session in all { cache.store(session, for: key, now: 1_000) }
        #expect(cache.count == 2)
        let taken = cache.take(for: key, now: 1_000)?.session
        #expect(taken == all[4])
        SSL_SESSION_free(taken)
    }

    @Test("A full cache drops the session of the server that was used least recently")
    func theServerUsedLeastRecentlyMakesRoom() throws {
        let cache = SessionCache(perServer: 4, total: 3)
        for name in ["a.test", "b.test", "c.test"] {
            cache.store(try session(), for: try key(name), now: 1_000)
        }
        SSL_SESSION_free(cache.take(for: try key("a.test"), now: 1_000)?.session)
        cache.store(try session(), for: try key("d.test"), now: 1_000)
        #expect(cache.count == 3)
        #expect(try cache.take(for: key("b.test"), now: 1_000) == nil)
        for name in ["a.test", "c.test", "d.test"] {
            let taken = cache.take(for: try key(name), now: 1_000)?.session
            #expect(taken != nil)
            SSL_SESSION_free(taken)
        }
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
                        if let taken = cache.take(for: keys[(round * 7) % 20], now: 1_000)?.session {
                            SSL_SESSION_free(taken)
                        }
                    }
                }
            }
        }
        #expect(cache.count <= 8)
    }
}
