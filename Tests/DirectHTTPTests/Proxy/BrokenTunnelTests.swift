@testable import DirectCore
import DirectIO
import DirectTestCommands
import DirectTestPeers
import DirectTestTime
import DirectTLS
@testable import DirectTransport
import Foundation
import TLSFixtures
import Testing

@testable import DirectHTTP

/// TLS to a server inside of TLS to a proxy, whose connection breaks at each step of a request.
///
/// No time passes on the clock, so nothing but the fault itself can end a call; and all runs on one loop, which
/// a task that never waits would keep for itself.
@Suite("Tunnels that break", .idleLimit)
struct BrokenTunnelTests {
    private let time = HeldTime()

    enum Fault: CaseIterable {
        /// A record that cannot be decrypted, from the proxy or anyone on the way to it.
        case record
        case recordAndEnd
        case end
        case reset
    }

    @Test("In the handshake with the server", arguments: Fault.allCases)
    func handshake(fault: Fault) async throws {
        let listener = try Listener("127.0.0.2")
        let saboteur = try Saboteur(routes: ["a.test:443": "127.0.0.2:\(listener.port)"])
        let call = start(saboteur)
        let peer = try await onOwnThread { try listener.accept() }
        defer { withExtendedLifetime(peer) {} }
        // The first record of the inner handshake.
        #expect(try await onOwnThread { try peer.receive(exactly: 5) }.first == 22)
        saboteur.strike(fault)
        let error = try await httpError { try await call.value }
        #expect(error.phase == .tls)
        check(error, fault, end: error.tlsError == .truncated)
        try await expectLiveLoop()
    }

    @Test("Before the response", arguments: Fault.allCases)
    func response(fault: Fault) async throws {
        let never = Gate()
        let origin = try FixtureServer.secure("a.test", on: "127.0.0.2") { request in
            try request.wait(for: never)
            return .text("")
        }
        let saboteur = try Saboteur(routes: ["a.test:443": origin.authority])
        let call = start(saboteur)
        try await origin.waitUntil { $0.first?.requests.isEmpty == false }
        saboteur.strike(fault)
        let error = try await httpError { try await call.value }
        #expect(error.phase == .response)
        check(error, fault, end: error.protocolError == .closedBeforeResponse)
        try await expectLiveLoop()
        never.open()
    }

    @Test("In an upload that the server does not read", arguments: Fault.allCases)
    func upload(fault: Fault) async throws {
        let never = Gate()
        let origin = try FixtureServer.secure("a.test", on: "127.0.0.2") { request in
            try request.wait(for: never)
            return .text("")
        }
        let saboteur = try Saboteur(routes: ["a.test:443": origin.authority])
        let body = [UInt8](repeating: 1, count: 32 << 20)
        let call = start(saboteur, Request(.post, "https://a.test/", body: .bytes(body)))
        try await origin.waitUntil { $0.first?.requests.isEmpty == false }
        saboteur.strike(fault)
        let error = try await httpError { try await call.value }
        check(error, fault, end: error.protocolError == .closedBeforeResponse)
        try await expectLiveLoop()
        never.open()
    }

    @Test("A fault of the server's handshake has the reason that it has without a proxy")
    func serversFault() async throws {
        // A handshake message of a type that there is not, at which OpenSSL sends an alert.
        let origin = try FixtureServer.scripted(
            [.awaitBytes(64), .send([22, 3, 3, 0, 4, 99, 0, 0, 0]), .awaitClose],
            on: "127.0.0.2"
        )
        let saboteur = try Saboteur(routes: ["a.test:443": origin.authority])
        let direct = try await httpError { try await time.client().fetch(origin.request("https://a.test/")) }
        let proxied = try await httpError { try await client(saboteur).get("https://a.test/") }
        guard case .protocolFailure(_, let reason, _) = direct.tlsError else { throw direct }
        #expect(proxied.tlsError == direct.tlsError && reason.hasPrefix("unexpected"), "\(proxied)")
    }

    @Test("While the connection is idle", arguments: Fault.allCases)
    func idle(fault: Fault) async throws {
        let origin = try FixtureServer.secure("a.test", on: "127.0.0.2")
        let saboteur = try Saboteur(routes: ["a.test:443": origin.authority])
        let client = try client(saboteur)
        #expect(try await client.get("https://a.test/").text == "hello")
        saboteur.strike(fault)
        try await expectLiveLoop()
        let response = try await client.get("https://a.test/")
        #expect(!response.isReused)
    }

    private func client(_ saboteur: Saboteur) throws -> HTTPClient {
        var proxy = try Proxy("https://proxy.test:\(saboteur.endpoint.port ?? 0)")
        proxy.addresses = [saboteur.endpoint]
        return time.client { [proxy] in
            $0.proxy = ProxySettings(proxy)
        }
    }

    private func start(
        _ saboteur: Saboteur,
        _ request: Request = Request(.get, "https://a.test/")
    ) -> Task<Void, any Error> {
        Task(executorPreference: time.loop) { _ = try await client(saboteur).fetch(request) }
    }

    /// A record is the proxy's fault, and the error says so.
    private func check(_ error: HTTPError, _ fault: Fault, end isEnd: Bool) {
        switch fault {
        case .record, .recordAndEnd:
            guard
                case .proxyConnection("proxy.test", .protocolFailure(.other, let reason, _)) = error.tlsError
            else {
                Issue.record("\(error)")
                return
            }
            #expect(reason == "decryption failed or bad record mac")
            #expect("\(error)".contains("TLS to the proxy proxy.test: "), "\(error)")
        case .end: #expect(isEnd, "\(error)")
        case .reset:
            // One call of the system is told of the reset (104), another one of a broken pipe (32).
            let codes: [Int32] = error.phase == .write ? [104, 32] : [104]
            #expect(codes.contains { error.tlsError == .connectionLost(errno: $0) }, "\(error)")
        }
    }

    /// Returns when the loop has run tasks, and has looked at its sockets.
    private func expectLiveLoop() async throws {
        for _ in 0..<2 { await time.settle() }
    }
}

/// The way to a proxy with TLS, on which bytes can be put that are not the proxy's.
private final class Saboteur: Sendable {
    private let listener: Listener
    private let proxy: FixtureServer
    /// The connection to the client that was made last.
    private let client = Locked<Peer?>(nil)

    var endpoint: Endpoint { Endpoint(listener.address, port: listener.port) }

    init(routes: [String: String]) throws {
        proxy = try FixtureServer.start(
            .tls(testAuthority.certificate(for: "proxy.test")),
            on: "127.0.0.3",
            behaviour: .proxy(FixtureProxy(routes))
        )
        listener = try Listener.atOwnAddress()
        let (listener, proxy, client) = (listener, proxy, client)
        Thread.detachNewThread {
            while let near = try? listener.accept(), let far = try? Peer.connected(to: proxy.endpoint) {
                client.withLock { $0 = near }
                Thread.detachNewThread { Self.copy(from: near, to: far) }
                Thread.detachNewThread { Self.copy(from: far, to: near) }
            }
        }
    }

    deinit { listener.stop() }

    func strike(_ fault: BrokenTunnelTests.Fault) {
        guard let peer = client.withLock({ $0 }) else { return }
        switch fault {
        case .record: try? peer.send(Self.garbage)
        case .recordAndEnd:
            try? peer.send(Self.garbage)
            peer.finishSending()
        case .end: peer.finishSending()
        case .reset: peer.reset()
        }
    }

    private static let garbage: [UInt8] = [23, 3, 3, 0, 40] + [UInt8](repeating: 7, count: 40)

    private static func copy(from source: Peer, to target: Peer) {
        while let bytes = try? source.receive(), !bytes.isEmpty {
            guard (try? target.send(bytes)) != nil else { break }
        }
        target.finishSending()
    }
}
