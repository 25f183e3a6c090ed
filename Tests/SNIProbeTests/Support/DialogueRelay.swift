import DirectTestPeers
import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A server that speaks another protocol before TLS: it goes through a dialogue, and passes everything after
/// it on to a server with TLS, or to several in turn.
final class DialogueRelay: Sendable {
    enum Step: Sendable {
        case send(String)
        case sendBytes([UInt8])
        /// Receives exactly these bytes; the connection ends if there are others.
        case expect(String)
        case expectBytes([UInt8])
        /// Receives so many bytes, whatever they are.
        case skip(Int)
        /// Receives up to this text.
        case skipTo(String)
    }

    private let listener: Listener
    var port: UInt16 { listener.port }

    /// - Parameters:
    ///   - steps: The dialogue of each connection.
    ///   - targets: The ports of the servers with TLS, on 127.0.0.1. A port 0 ends the connection.
    ///   - connections: How many connections are served.
    convenience init(_ steps: [Step], to targets: UInt16..., connections: Int = 1) throws {
        try self.init(steps, inTurn: targets, connections: connections)
    }

    /// The same with the servers in an array.
    init(_ steps: [Step] = [], inTurn targets: [UInt16], connections: Int) throws {
        let listener = try Listener()
        self.listener = listener
        Thread.detachNewThread {
            for number in 0..<connections {
                guard let client = try? listener.accept() else { return }
                let target = targets[number % targets.count]
                Thread.detachNewThread { try? Self.serve(client, steps, target) }
            }
        }
    }

    /// The thread waits for connections that are never made.
    deinit { listener.stop() }

    private static func serve(_ client: Peer, _ steps: [Step], _ target: UInt16) throws {
        for step in steps {
            switch step {
            case .send(let text): try client.send(text)
            case .sendBytes(let bytes): try client.send(bytes)
            case .expect(let text): guard try matches(client, Array(text.utf8)) else { return }
            case .expectBytes(let bytes): guard try matches(client, bytes) else { return }
            case .skip(let count): _ = try client.receive(exactly: count)
            case .skipTo(let end):
                var text = ""
                while !text.hasSuffix(end) {
                    let byte = try client.receive(exactly: 1)
                    guard !byte.isEmpty else { return }
                    text += String(decoding: byte, as: UTF8.self)
                }
            }
        }
        guard target != 0, let server = connected(to: target) else { return }
        Thread.detachNewThread { try? pass(from: server, to: client) }
        try pass(from: client, to: server)
    }

    private static func matches(_ client: Peer, _ bytes: [UInt8]) throws -> Bool {
        try client.receive(exactly: bytes.count) == bytes
    }

    static func pass(from source: Peer, to target: Peer) throws {
        defer { target.finishSending() }
        while true {
            let bytes = try source.receive()
            guard !bytes.isEmpty else { return }
            try target.send(bytes)
        }
    }

    private static func connected(to port: UInt16) -> Peer? {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        let peer = Peer(descriptor: descriptor)
        return code == 0 ? peer : nil
    }
}
