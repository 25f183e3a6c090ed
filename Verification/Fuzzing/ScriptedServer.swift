import DirectCore
import Glibc

@testable import TLSFixtures

/// A server on loopback that answers the Nth request with the Nth script, in the pieces that the script has.
///
/// One thread serves all connections, and closes those that stay open for 20 ms without a request.
final class ScriptedServer: Sendable {
    /// What is sent for one request.
    struct Answer: Sendable {
        var pieces: [[UInt8]] = []
        var closesAfterwards = false
        var resets = false
    }

    private struct Scene {
        var answers: [Answer] = []
        var requests: [[UInt8]] = []
    }

    let port: UInt16
    private let listener: Int32
    private let scene = Locked(Scene())

    init() {
        do throws(FixtureError) {
            listener = try Sockets.bound(to: "127.0.0.1", port: 0)
            try Sockets.startListening(listener, backlog: 64)
            port = Sockets.port(of: listener)
            try startDetachedThread { [self] in serve() }
        } catch {
            fatalError("no server: \(error)")
        }
    }

    /// Begins a new scene.
    func begin(_ answers: [Answer]) {
        scene.withLock { $0 = Scene(answers: answers) }
    }

    /// The requests of the scene so far.
    var requests: [[UInt8]] { scene.withLock(\.requests) }

    private func serve() -> Never {
        var connections: [Int32: [UInt8]] = [:]
        while true {
            let descriptors = [listener] + connections.keys
            // A client whose time stands still would wait for ever for the rest of half an answer.
            let limit: Duration? = connections.isEmpty ? nil : .milliseconds(20)
            let isReady = Sockets.waitReadable(descriptors, atMost: limit)
            if !isReady.contains(true) {
                for connection in connections.keys { close(connection) }
                connections = [:]
            }
            for (descriptor, isReady) in zip(descriptors, isReady) where isReady {
                if descriptor == listener {
                    if let connection = Sockets.acceptOne(listener) { connections[connection] = [] }
                } else if !receive(on: descriptor, &connections[descriptor, default: []]) {
                    close(descriptor)
                    connections[descriptor] = nil
                }
            }
        }
    }

    /// Receives, and answers a request whose head is complete. Returns whether the connection stays open.
    private func receive(on connection: Int32, _ received: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = buffer.withUnsafeMutableBytes { Sockets.receive(connection, bytes: $0) }
        guard count > 0 else { return false }
        received += buffer[..<count]
        guard let end = received.endOfHead else { return received.count < 1 << 16 }
        let answer = scene.withLock { scene in
            let number = scene.requests.count
            scene.requests.append(Array(received[..<end]))
            return number < scene.answers.count ? scene.answers[number] : Answer(closesAfterwards: true)
        }
        received = []
        for piece in answer.pieces { _ = piece.withUnsafeBytes { Sockets.send(connection, bytes: $0) } }
        if answer.resets { Sockets.lingerForReset(connection) }
        return !answer.closesAfterwards && !answer.resets
    }
}

extension [UInt8] {
    /// The index after the first empty line.
    fileprivate var endOfHead: Int? {
        guard count >= 4 else { return nil }
        return (4...count).first { self[($0 - 4)..<$0].elementsEqual([13, 10, 13, 10]) }
    }
}
