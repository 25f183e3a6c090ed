import DirectResolvers
import DirectTestResolvers
@testable import DirectCore
@testable import DirectIO
import DirectTestCommands
import DirectTLS
@testable import DirectTransport
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

@Suite("Failures that another attempt may change", .idleLimit)
struct WorthRetryingTests {
    struct Strange: Error {}

    /// A client that makes three attempts if its failures permit it.
    private func client(_ configure: (inout HTTPClient.Configuration) -> Void) -> HTTPClient {
        .untimed {
            var policy = RetryPolicy()
            policy.delay = .zero
            $0.retries = policy
            configure(&$0)
        }
    }

    private static var failures: [ResolverError.Reason] {
        [
            .timedOut(after: .seconds(1)), .malformed("TTL"), .refused("busy"), .other(Strange()),
            .request(HTTPError(.connect, .connectionClosed)),
            .lookup(LookupError(code: EAI_AGAIN, systemCode: 0)),
        ]
    }

    private static var answers: [ResolverError.Reason] {
        [
            .noSuchName, .noAddresses, .notListed, .address(.empty),
            .request(HTTPError(.tls, .tls(.nameMismatch(expected: "a.test", served: [])))),
            .lookup(LookupError(code: EAI_NONAME, systemCode: 0)),
        ]
    }

    private func questions(_ reason: ResolverError.Reason, after first: ResolverError.Reason? = nil)
        async throws
        -> Int
    {
        let resolver = ScriptedResolver("last", reason)
        let earlier = first.map { ScriptedResolver("first", $0) }
        let client = client { settings in
            settings.resolver = earlier.map { ChainResolver($0, resolver) } ?? resolver
        }
        let error = try await httpError { try await client.get("http://a.test/") }
        #expect(error.phase == .resolve && error.isWorthRetrying == (resolver.asked.count > 1))
        return resolver.asked.count
    }

    @Test("A resolver that failed is asked again, and one that has answered is not")
    func resolvers() async throws {
        for reason in Self.failures { #expect(try await questions(reason) == 3, "\(reason)") }
        for reason in Self.answers { #expect(try await questions(reason) == 1, "\(reason)") }
    }

    @Test("If one of several resolvers failed, all are asked again, since it may know the name next time")
    func several() async throws {
        #expect(try await questions(.noSuchName, after: .timedOut(after: .seconds(1))) == 3)
        #expect(try await questions(.notListed, after: .noSuchName) == 1)
    }

    @Test(
        "A server that demands a certificate is asked once, and the error says what is missing",
        arguments: [TLSVersion.tls12, .tls13]
    )
    func certificateRequired(version: TLSVersion) async throws {
        let server = try FixtureServer.start(
            .tls(certificates: [testAuthority.certificate(for: "a.test")]) {
                $0.clientCertificates = .required(from: [testAuthority.certificate])
            }
        ) { _ in .text("never") }
        let client = client {
            $0.tls.roots = .only([.pem(testAuthority.rootPEM)])
            $0.tls.maximumVersion = version
        }
        let error = try await httpError { try await client.fetch(server.request("https://a.test/")) }
        #expect(!error.isWorthRetrying && "\(error)".contains("a certificate of the client"), "\(error)")
        #expect(
            version == .tls12 ? error.phase == .tls : error.tlsError == .alertReceived(.certificateRequired)
        )
        #expect(server.records.count == 1)
    }

    @Test(
        "A proxy that is overloaded or does not reach the server is tried again, and one that refuses is not",
        arguments: [
            (ProxyError.refused(ReceivedResponse(503)), 3), (.refused(ReceivedResponse(429)), 3),
            (.refused(ReceivedResponse(403, headers: ["Retry-After": "1"], body: [1])), 1),
            (.socksReply(1), 3), (.socksReply(2), 1), (.socksReply(4), 3), (.socksReply(7), 1),
            (.wrongCredentials, 1), (.nameTooLong, 1),
        ]
    )
    func proxies(_ fault: ProxyError, _ expected: Int) async throws {
        let attempts = Locked(0)
        let client = client {
            $0.transport = { _ in
                attempts.withLock { $0 += 1 }
                throw HTTPError(.proxy, .proxy(fault))
            }
        }
        let error = try await httpError { try await client.get("http://a.test/") }
        guard case .proxy(let reported) = error.reason else { throw error }
        #expect("\(reported)" == "\(fault)" && attempts.withLock { $0 } == expected)
    }

    @Test("A file that cannot be written is no failure that another attempt may change")
    func files() async throws {
        let folder = try TemporaryFolder()
        let response = try await Script((200, [:])).client().send(Request(.get, "http://a.test/"))
        let error = try await httpError { try await response.body.write(to: folder.path + "/none/file") }
        #expect(error.phase == .body && error.systemError?.call == "open" && !error.isWorthRetrying)
    }
}
