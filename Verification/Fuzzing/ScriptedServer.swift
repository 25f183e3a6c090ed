import DirectCore
import Glibc

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
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (listener, port) = withUnsafeMutablePointer(to: &address) { [listener] address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                require(
                    bind(listener, general, size) == 0 && listen(listener, 64) == 0,
                    "a port to listen on"
                )
                getsockname(listener, general, &size)
            }
            return (listener, UInt16(bigEndian: address.pointee.sin_port))
        }
        self.port = port
        require(listener >= 0, "a socket")
        var thread = pthread_t()
        pthread_create(
            &thread,
            nil,
            { server in
                Unmanaged<ScriptedServer>.fromOpaque(server!).takeUnretainedValue().serve()
            },
            Unmanaged.passRetained(self).toOpaque()
        )
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
            var polled = ([listener] + connections.keys).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            // A client whose time stands still would wait for ever for the rest of half an answer.
            if poll(&polled, nfds_t(polled.count), connections.isEmpty ? -1 : 20) == 0 {
                for connection in connections.keys { close(connection) }
                connections = [:]
            }
            for ready in polled where ready.revents != 0 {
                if ready.fd == listener {
                    let connection = accept(listener, nil, nil)
                    if connection >= 0 { connections[connection] = [] }
                } else if !receive(on: ready.fd, &connections[ready.fd, default: []]) {
                    close(ready.fd)
                    connections[ready.fd] = nil
                }
            }
        }
    }

    /// Receives, and answers a request whose head is complete. Returns whether the connection stays open.
    private func receive(on connection: Int32, _ received: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        received += buffer[..<count]
        guard let end = received.endOfHead else { return received.count < 1 << 16 }
        let answer = scene.withLock { scene in
            let number = scene.requests.count
            scene.requests.append(Array(received[..<end]))
            return number < scene.answers.count ? scene.answers[number] : Answer(closesAfterwards: true)
        }
        received = []
        for piece in answer.pieces { send(connection, piece, piece.count, Int32(MSG_NOSIGNAL)) }
        if answer.resets {
            var now = linger(l_onoff: 1, l_linger: 0)
            setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        }
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
