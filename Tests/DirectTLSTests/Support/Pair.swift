import CDirectOpenSSL

@testable import DirectTLS

/// Our client and OpenSSL's server, joined in memory.
final class Pair {
    let client: TLSConnection
    let server: ServerSide

    init(
        _ server: TestServer,
        _ context: TLSContext,
        _ identity: ServerIdentity,
        sessions: SessionCache? = nil,
        port: UInt16 = 443
    ) throws {
        self.server = server.accept()
        client = try TLSConnection(
            context: context,
            identity: identity,
            transport: self.server,
            sessions: sessions,
            port: port
        )
    }

    /// Drives both sides until the client is done or has failed.
    ///
    /// - Parameter holdsTrials: Whether a judge is asked, or the result is that it has to be.
    func shake(holdsTrials: Bool = true) -> TLSStep {
        for _ in 0..<100_000 {
            let step = client.handshake()
            server.work()
            switch step {
            case .moved, .ended, .failed: return step
            case .wantsVerdict:
                guard holdsTrials else { return step }
                client.trial?.hold()
            case .wantsRead, .wantsWrite, .again: continue
            }
        }
        return .wantsRead
    }

    /// Drives both sides until the client's read says something else than "later".
    func read() -> TLSStep {
        text = ""
        for _ in 0..<100_000 {
            let step = readOnce()
            server.work()
            if step != .wantsRead, step != .wantsWrite, step != .again { return step }
        }
        return .wantsRead
    }

    /// The bytes of the last `read`.
    private(set) var text = ""

    func readOnce() -> TLSStep {
        withUnsafeTemporaryAllocation(byteCount: 20_000, alignment: 1) { buffer in
            let step = client.read(into: buffer)
            if case .moved(let count) = step { text = String(decoding: buffer[..<count], as: UTF8.self) }
            return step
        }
    }

    /// Writes everything, however little the wire takes at once.
    func write(_ text: String) -> TLSStep {
        var rest = Array(text.utf8)[...]
        // The bytes move between attempts, from one of these to the other.
        let places = (0..<2).map { _ in
            UnsafeMutableRawBufferPointer.allocate(byteCount: rest.count, alignment: 1)
        }
        defer { for place in places { place.deallocate() } }
        for attempt in 0..<1_000_000 where !rest.isEmpty || client.hasUnsentBytes {
            if rest.isEmpty {
                let step = client.flush()
                server.work()
                if step.isFailure { return step }
                continue
            }
            let place = places[attempt % 2]
            rest.withUnsafeBytes { place.copyMemory(from: $0) }
            let step = client.write(UnsafeRawBufferPointer(rebasing: place[..<rest.count]))
            server.work()
            switch step {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wantsRead, .wantsWrite, .again: continue
            case .wantsVerdict, .ended, .failed: return step
            }
        }
        return rest.isEmpty && !client.hasUnsentBytes ? .moved(text.utf8.count) : .wantsWrite
    }
}

extension TLSContext {
    /// Trusts the test authority alone.
    static func testing(_ change: (inout TLSSettings) -> Void = { _ in }) throws -> TLSContext {
        var settings = TLSSettings()
        settings.roots = .only([.der(TestCertificate.authority.der)])
        change(&settings)
        return try TLSContext(settings)
    }
}

extension TLSStep {
    var error: TLSError? {
        if case .failed(let error) = self { error } else { nil }
    }

    var isFailure: Bool { error != nil }
}

/// Ends a test in which something else happened than the rule says.
struct Unexpected: Error {
    let what: String

    init(_ what: some Any) {
        self.what = String(describing: what)
    }
}
