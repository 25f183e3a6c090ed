internal import DirectHTTP

/// How every probe of a run is made and judged.
struct ProbeSettings: Sendable {
    /// Which name goes out with the handshake.
    enum ServerName: Hashable, Sendable {
        /// The host's.
        case host
        case none
        case other(String)
    }

    var roots = TrustRoots.system
    var versions: ClosedRange<TLSVersion> = .tls12 ... .tls13
    var serverName = ServerName.host
    /// Leaves the second handshake out.
    var skipsDefault = false
    var method = Method.get
    var headers = Headers()
    /// Sends the request even if the certificate is wrong.
    var insecure = false
    var timeout: Duration = .seconds(5)
    var retries = 0
    var minimumDays: Int?
    /// The certificate has to be one of these; empty accepts all.
    var expected: [ExpectedCertificate] = []
    var acceptedStatus = StatusRanges.usual
}

/// A certificate that `--expect` names.
enum ExpectedCertificate: Hashable, Sendable {
    /// The SHA-256 hash of the certificate.
    case certificate([UInt8])
    /// The SHA-256 hash of its key (RFC 7469).
    case key([UInt8])
}

/// The statuses that `--status` accepts.
struct StatusRanges: Hashable, Sendable {
    var ranges: [ClosedRange<UInt16>]

    static let usual = StatusRanges(ranges: [200...399])

    func contains(_ status: UInt16) -> Bool {
        ranges.contains { $0.contains(status) }
    }

    var text: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ",")
    }
}
