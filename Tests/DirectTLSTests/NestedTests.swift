import CDirectOpenSSL
import Glibc
import Testing

@testable import DirectTLS

@Suite("TLS inside of TLS to a proxy")
struct NestedTests {
    /// What happens to the connection to the proxy.
    enum Fault: CaseIterable {
        /// A record that cannot be decrypted, from the proxy or anyone on the way to it.
        case record
        case recordAndEnd
        case alert
        case end
        case reset

        /// The error that this is for the connection inside.
        func isCause(of error: TLSError?) -> Bool {
            switch (self, error) {
            case (.record, .proxyConnection("proxy.test", .protocolFailure(.other, let reason, _))),
                (.recordAndEnd, .proxyConnection("proxy.test", .protocolFailure(.other, let reason, _))):
                reason == "decryption failed or bad record mac"
            case (.alert, .proxyConnection("proxy.test", .alertReceived(let alert))): alert.number == 20
            case (.end, .truncated): true
            case (.reset, .connectionLost(errno: ECONNRESET)): true
            default: false
            }
        }
    }

    @Test(
        "A fault of the outer connection ends the inner handshake with its cause",
        arguments: Fault.allCases
    )
    func handshake(fault: Fault) throws {
        let pair = try NestedPair()
        #expect(pair.client.handshake() == .wantsRead)
        pair.strike(fault)
        let step = pair.client.handshake()
        #expect(fault.isCause(of: step.error), "\(step)")
        #expect(pair.client.handshake() == step)
    }

    @Test("A fault of the outer connection ends the inner reads with its cause", arguments: Fault.allCases)
    func read(fault: Fault) throws {
        let pair = try NestedPair()
        try pair.open()
        pair.inner.encrypt([1, 2, 3])
        pair.work()
        #expect(pair.read() == .moved(3))
        #expect(pair.read() == .wantsRead)
        pair.strike(fault)
        let step = pair.read()
        if fault == .end {
            #expect(step == .ended(clean: false))
        } else {
            #expect(fault.isCause(of: step.error), "\(step)")
        }
        #expect(pair.read() == step)
    }

    @Test("A fault of the outer connection ends the inner writes with its cause", arguments: Fault.allCases)
    func write(fault: Fault) throws {
        let pair = try NestedPair()
        try pair.open()
        pair.strike(fault)
        // The reading task finds it, below the connection that writes.
        withUnsafeTemporaryAllocation(byteCount: 8, alignment: 1) { _ = pair.outer.client.receive(into: $0) }
        let step = pair.write([1, 2])
        if fault == .end {
            // The peer may still read.
            #expect(step == .moved(2))
        } else {
            #expect(fault.isCause(of: step.error), "\(step)")
        }
    }

    @Test("The text of the error names the proxy")
    func text() throws {
        let pair = try NestedPair()
        pair.strike(.record)
        let text = try #require(pair.client.handshake().error?.description)
        #expect(text.hasPrefix("TLS to the proxy proxy.test: "), "\(text)")
        #expect(text.contains("bad record mac"), "\(text)")
    }

    @Test("A read waits for input, although what the outer connection holds cannot be sent")
    func unsent() throws {
        let pair = try NestedPair()
        try pair.open()
        pair.outer.server.room = 0
        #expect(pair.write([1, 2]) == .moved(2))
        #expect(pair.outer.client.hasUnsentBytes)
        #expect(pair.read() == .wantsWrite)
        pair.outer.server.brokenWritesBy = EPIPE
        #expect(pair.read() == .wantsRead)
    }
}

/// TLS to a server inside of TLS to a proxy, in memory.
private final class NestedPair {
    let outer: Pair
    let inner = TestServer(.leaf("a.test")).accept()
    let client: TLSConnection

    init() throws {
        outer = try Pair(TestServer(.leaf("proxy.test")), .testing(), .name("proxy.test"))
        let step = outer.shake()
        guard step == .moved(0) else { throw Unexpected(step) }
        client = try TLSConnection(context: .testing(), identity: .name("a.test"), transport: outer.client)
    }

    /// Completes the inner handshake, and takes the tickets.
    func open() throws {
        for _ in 0..<10 {
            if case .moved = client.handshake() {
                work()
                _ = read()
                return
            }
            work()
        }
        throw Unexpected("no handshake")
    }

    /// Lets the server do what it can, over the proxy.
    func work() {
        outer.server.work()
        _ = outer.server.takeReceived().withUnsafeBytes { $0.isEmpty ? .moved(0) : inner.send($0) }
        inner.work()
        var bytes = [UInt8](repeating: 0, count: 16_000)
        while case .moved(let count) = bytes.withUnsafeMutableBytes({ inner.receive(into: $0) }) {
            outer.server.encrypt(bytes[..<count])
        }
    }

    func read() -> TLSStep {
        withUnsafeTemporaryAllocation(byteCount: 20_000, alignment: 1) { client.read(into: $0) }
    }

    func write(_ bytes: [UInt8]) -> TLSStep { bytes.withUnsafeBytes { client.write($0) } }

    func strike(_ fault: NestedTests.Fault) {
        switch fault {
        case .record: outer.server.sendRaw(Self.garbage)
        case .recordAndEnd:
            outer.server.sendRaw(Self.garbage)
            outer.server.endsStream = true
        case .alert:
            // What the proxy cannot decrypt it answers with an alert.
            _ = Self.garbage.withUnsafeBytes { outer.server.send($0) }
            outer.server.work()
        case .end: outer.server.endsStream = true
        case .reset: outer.server.brokenBy = ECONNRESET
        }
    }

    private static let garbage: [UInt8] = [23, 3, 3, 0, 40] + [UInt8](repeating: 7, count: 40)
}
