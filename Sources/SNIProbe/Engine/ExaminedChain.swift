internal import DirectHTTP

/// A chain of certificates as values, judged: made once for all servers that show the same one.
final class ExaminedChain: Sendable {
    /// The server's own certificate first; no more than a few, however many there were.
    let certificates: [ServedCertificate]
    /// How many there were.
    let count: Int
    /// How long they are together.
    let byteCount: Int
    let isInOrder: Bool
    /// Whether it is not in order only because of certificates that do not belong to it.
    let hasSurplus: Bool
    let judgement: ChainJudgement
    private let served: ServedChain

    fileprivate init(_ served: ServedChain) {
        self.served = served
        certificates = served.certificates(atMost: 10)
        count = served.count
        byteCount = served.byteCount
        isInOrder = served.isInOrder
        hasSurplus = !isInOrder && served.isInOrderApartFromOthers
        judgement = served.judged()
    }

    /// The server's own certificate.
    var leaf: ServedCertificate? { certificates.first }

    /// The name in the certificate that proves this identity.
    func match(_ identity: ServerIdentity?) -> String? {
        identity.flatMap(served.match)
    }

    /// Whether the server's own certificate is the same one.
    func showsSame(as other: ExaminedChain) -> Bool {
        self === other || leaf?.summary.sha256 == other.leaf?.summary.sha256
    }
}

/// The chains seen last: a pool of servers shows few.
final class ChainCache: Sendable {
    private struct Entry {
        let chain: ExaminedChain
        let time: Instant
    }

    private let entries = Locked<[[UInt8]: Entry]>([:])

    /// Dates go by while a run lasts, so a judgement is not for ever.
    private static let lifetime = Duration.seconds(60)
    private static let mostChains = 256

    func examine(_ served: ServedChain) -> ExaminedChain {
        let now = Instant.now
        let known = entries.withLock { $0[served.fingerprint] }
        if let known, now.since(known.time) < Self.lifetime { return known.chain }
        let chain = ExaminedChain(served)
        entries.withLock { entries in
            if entries.count >= Self.mostChains { entries.removeAll(keepingCapacity: true) }
            entries[served.fingerprint] = Entry(chain: chain, time: now)
        }
        return chain
    }
}
