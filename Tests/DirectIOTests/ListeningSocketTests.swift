import DirectCore
import DirectTestCommands
import DirectTestPeers
import Testing

@testable import DirectIO

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite("Listening sockets", .idleLimit)
struct ListeningSocketTests {
    private let loop = EventLoop.shared

    @Test(
        "A listening socket accepts each connection once, and then has none",
        arguments: ["127.0.0.1", "::1"]
    )
    func accept(_ address: String) async throws {
        let listener = try ListeningSocket(at: Endpoint(address), on: loop)
        defer { listener.close() }
        #expect(try listener.accept() == nil)
        guard address == "127.0.0.1" else { return }
        let peers = try (0..<3).map { _ in try Peer.connected(to: try #require(listener.localEndpoint)) }
        var sockets: [Socket] = []
        while sockets.count < peers.count {
            while let socket = try listener.accept() { sockets.append(socket) }
            guard sockets.count < peers.count else { break }
            #expect(await listener.input.wait(until: .never, on: loop) == .ready)
        }
        #expect(try listener.accept() == nil)
        for socket in sockets { socket.close() }
        for peer in peers { #expect(try peer.receive() == []) }
    }

    #if os(Linux)
    @Test("A closed socket frees its port, although another process may still hold the descriptor")
    func freed() throws {
        // At an address that nothing else uses, nobody else takes the port.
        let listener = try ListeningSocket(at: "127.78.0.1", on: loop)
        let endpoint = try #require(listener.localEndpoint)
        let held = try #require(duplicate(listener.descriptor, atLeast: 0))
        defer { DirectTestPeers.closeDescriptor(held) }
        listener.close()
        try ListeningSocket(at: endpoint, on: loop).close()
    }
    #endif

    @Test("A port that is taken is an error of bind")
    func taken() throws {
        let other = try Listener()
        let endpoint = Endpoint(other.address, port: other.port)
        do throws(Socket.StartFailure) {
            _ = try ListeningSocket(at: endpoint, on: loop)
            Issue.record("the port was free")
        } catch {
            guard case .system(let error) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(error == SystemError("bind", code: EADDRINUSE))
        }
    }

    @Test("An event of a socket ends its partner's wait for any event, and a reset is seen as one")
    func partner() async throws {
        let listener = try ListeningSocket(at: "127.0.0.1", on: loop)
        defer { listener.close() }
        let endpoint = try #require(listener.localEndpoint)
        let (one, other) = (try Peer.connected(to: endpoint), try Peer.connected(to: endpoint))
        let (near, far) = (try await accepted(listener), try await accepted(listener))
        far.partner = near
        // The first wait returns at once: what happened before is not known.
        #expect(await near.waitForAny(until: .never) == .ready)
        try other.send("x")
        #expect(await near.waitForAny(until: .never) == .ready)
        try one.send("x")
        #expect(await near.waitForAny(until: .never) == .ready)
        #expect(await near.waitForAny(until: loop.now.advanced(byNanoseconds: 1)) == .expired)
        far.partner = nil
        near.reset()
        far.close()
        #expect(throws: SystemError("recv", code: ECONNRESET)) { try one.receive() }
    }

    @Test("Connections leave the last descriptors free, and come in again when there are others", .ownProcess)
    func reserve() async {
        await #expect(processExitsWith: .success) {
            allowDescriptors(64)
            let listener = try ListeningSocket(at: "127.0.0.1", on: .shared)
            let endpoint = try #require(listener.localEndpoint)
            var (peers, sockets) = ([Peer](), [Socket]())
            do throws(SystemError) {
                while true {
                    guard let peer = try? Peer.connected(to: endpoint) else { exit(1) }
                    peers.append(peer)
                    // The peer may have its connection before it is in the listener's queue.
                    var accepted: Socket?
                    while accepted == nil { accepted = try listener.accept() }
                    if let accepted { sockets.append(accepted) }
                }
            } catch {
                try #require(error == SystemError("accept", code: EMFILE))
            }
            // Of the last eight, one has the connection that came first there, one the last peer, and one perhaps
            // the pipe by which this process reports.
            let next = dup(0)
            try #require((56..<61).contains(next))
            _ = close(next)
            for socket in sockets.suffix(4) { socket.close() }
            try #require(try listener.accept() != nil)
        }
    }

    private func accepted(_ listener: ListeningSocket) async throws -> Socket {
        while true {
            if let socket = try listener.accept() { return socket }
            _ = await listener.input.wait(until: .never, on: loop)
        }
    }
}
