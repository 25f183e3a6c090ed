import DirectCore
import DirectHello
import DirectTestCommands
import DirectTestPeers
import Foundation
import Synchronization

/// A server that answers hellos by a script, or looks at them and hands them on to a server with TLS.
final class HelloPeer: Sendable {
    /// What it takes of what a client says before it gives up.
    enum Appetite: Sendable {
        /// What the first read finds.
        case oneSegment
        case oneRecord
        case bytes(Int)
    }

    /// What becomes of a hello.
    enum Answer: Sendable {
        case send([UInt8])
        case pass(to: UInt16)
        case close
        /// Nothing more happens, and the connection stays.
        case hold
    }

    private let listener: Listener
    private let held = Mutex<[Peer]>([])
    private let number = Atomic<Int>(0)
    var port: UInt16 { listener.port }
    /// The number of connections that are held.
    var holds: Int { held.withLock { $0.count } }

    /// - Parameter answer: Gets the number of the connection, and the whole hello with the heads of its
    ///   records; `nil` for one that is more than the appetite.
    init(
        _ appetite: Appetite = .bytes(1 << 16),
        _ answer: @escaping @Sendable (Int, [UInt8]?) -> Answer
    ) throws {
        listener = try Listener()
        Thread.detachNewThread { [self, listener] in
            while let client = try? listener.accept() {
                let count = number.wrappingAdd(1, ordering: .relaxed).oldValue
                Thread.detachNewThread { [weak self] in
                    guard let hello = try? Self.hello(from: client, appetite) else { return }
                    let bytes = hello.isWhole ? hello.bytes : nil
                    try? self?.carryOut(answer(count, bytes), client, hello.bytes)
                }
            }
        }
    }

    func stop() { listener.stop() }

    private func carryOut(_ answer: Answer, _ client: Peer, _ hello: [UInt8]) throws {
        switch answer {
        case .send(let bytes):
            try client.send(bytes)
            // Until the client has gone.
            while !(try client.receive()).isEmpty {}
        case .pass(let port):
            let server = try Peer.connected(to: Endpoint("127.0.0.1:\(port)"))
            try server.send(hello)
            Thread.detachNewThread { try? DialogueRelay.pass(from: server, to: client) }
            try DialogueRelay.pass(from: client, to: server)
        case .close: break
        case .hold: held.withLock { $0.append(client) }
        }
    }

    private static func hello(from client: Peer, _ appetite: Appetite) throws -> (
        bytes: [UInt8], isWhole: Bool
    ) {
        if case .oneSegment = appetite {
            let bytes = try client.receive()
            var flight = FirstFlight()
            if case .hello = flight.add(bytes.span) { return (bytes, true) }
            return (bytes, false)
        }
        var (bytes, flight) = ([UInt8](), FirstFlight())
        while true {
            let head = try client.receive(exactly: 5)
            guard head.count == 5 else { throw CancellationError() }
            let length = Int(head[3]) << 8 | Int(head[4])
            bytes += head
            if case .bytes(let most) = appetite, bytes.count + length > most { return (bytes, false) }
            let record = try client.receive(exactly: length)
            bytes += record
            if case .hello = flight.add((head + record).span) { return (bytes, true) }
            if case .oneRecord = appetite { return (bytes, false) }
        }
    }
}

extension [UInt8] {
    /// A ServerHello with these versions and this group, or an alert, in one record.
    static func serverHello(legacy: UInt16 = 0x0303, version: UInt16? = nil, group: UInt16? = nil) -> [UInt8]
    {
        var extensions: [UInt8] = []
        if let version { extensions += [0, 43, 0, 2] + version.bigEndianBytes }
        if let group { extensions += [0, 51, 0, 2] + group.bigEndianBytes }
        let body =
            legacy.bigEndianBytes + [UInt8](repeating: 7, count: 32) + [0, 0x13, 0x01, 0]
            + UInt16(extensions.count).bigEndianBytes + extensions
        return [22, 3, 3] + UInt16(body.count + 4).bigEndianBytes + [2, 0] + UInt16(body.count).bigEndianBytes
            + body
    }

    static func alert(_ number: UInt8, isFatal: Bool = true) -> [UInt8] {
        [21, 3, 3, 0, 2, isFatal ? 2 : 1, number]
    }
}
