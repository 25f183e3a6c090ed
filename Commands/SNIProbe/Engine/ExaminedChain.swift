internal import DirectCore
internal import DirectHTTP

/// A parsed and verified certificate chain. One value is shared by all probes whose servers send the same
/// chain.
final class ExaminedChain: Sendable {
    /// The first ten certificates at most, beginning with the server's own.
    let certificates: [ServedCertificate]
    /// The number of certificates that were sent.
    let count: Int
    /// The size of all certificates together.
    let byteCount: Int
    let isInOrder: Bool
    /// Whether the chain would be in order without the certificates that do not belong to it.
    let hasSurplus: Bool
    let judgement: ChainJudgement
    /// Whether clients that try one path refuse it, where another is trusted.
    let needsSearch: Bool
    /// Whether the other stores of `--ca` trust it.
    let otherStores: [(label: String, isTrusted: Bool)]
    let served: ServedChain

    fileprivate init(_ served: ServedChain) {
        self.served = served
        certificates = served.certificates(atMost: 10)
        count = served.count
        byteCount = served.byteCount
        isInOrder = served.isInOrder
        hasSurplus = !isInOrder && served.isInOrderApartFromOthers
        judgement = served.judged()
        needsSearch = !isInOrder && judgement.isTrusted && !served.isTrustedByFirstPath
        path = judgement.path.isEmpty ? certificates.prefix(1) : judgement.links
        otherStores = served.otherVerdicts
    }

    /// The server's own certificate.
    var leaf: ServedCertificate? { certificates.first }
    /// The server's own certificate, and those above it that lead to the root and are the server's to renew.
    let path: ArraySlice<ServedCertificate>

    typealias End = (notAfter: Int, above: Bool)

    /// The first end on the path to the root, and whether it is that of a certificate above the server's
    /// own. The root does not count: it is this machine's.
    var end: End? {
        let ends = path.enumerated().compactMap { index, certificate in
            certificate.summary.notAfter.map { End($0, index > 0) }
        }
        return ends.min { $0.notAfter < $1.notAfter }
    }

    /// Returns the name in the certificate that matches this identity, or `nil` if none does.
    func match(_ identity: ServerIdentity?) -> String? {
        identity.flatMap(served.match)
    }
}

/// A cache of verified chains. The many servers of a pool usually send few different chains.
final class ChainCache: Sendable {
    private struct DatedChain {
        let chain: ExaminedChain
        let time: Instant
    }

    private let entries = Locked<[[UInt8]: DatedChain]>([:])

    /// The time for which a result is used. It cannot be used forever, because certificates expire during a
    /// long run.
    private static let lifetime = Duration.seconds(60)
    private static let mostChains = 256

    /// Returns the cached result for a chain, or verifies it.
    func examine(_ served: ServedChain) -> ExaminedChain {
        let now = Instant.now
        let known = entries.withLock { $0[served.fingerprint] }
        if let known, now.since(known.time) < Self.lifetime { return known.chain }
        let chain = ExaminedChain(served)
        entries.withLock { entries in
            if entries.count >= Self.mostChains { entries.removeAll(keepingCapacity: true) }
            entries[served.fingerprint] = DatedChain(chain: chain, time: now)
        }
        return chain
    }
}
