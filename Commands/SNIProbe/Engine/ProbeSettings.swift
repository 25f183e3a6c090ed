internal import DirectHTTP
internal import DirectHello

/// The settings for all probes of a run and for their verdicts.
struct ProbeSettings: Sendable {
    /// The server name in the first handshake.
    enum ServerName: Hashable, Sendable {
        /// The host of the target.
        case host
        /// No server name (`--no-sni`).
        case none
        /// This name (`--sni`).
        case other(String)
    }

    /// The roots that decide.
    var roots = TrustRoots.system
    /// The stores of `--ca`, if there are several. The first is `roots`.
    var stores: [(label: String, roots: TrustRoots)] = []
    var versions: ClosedRange<TLSVersion> = .tls12 ... .tls13
    var serverName = ServerName.host
    /// Whether the second handshake is skipped.
    var skipsDefault = false
    /// The certificate that is shown to servers that ask for one.
    var identity: ClientIdentity?
    /// The protocols that are offered by ALPN; empty for `http/1.1` with a URL and else none.
    var protocols: [String] = []
    /// The proxy that is asked for a tunnel to each address.
    var proxy: TunnelProxy?
    /// The load balancer's header that precedes everything else.
    var proxyHeader: ProxyHeader?
    /// The protocol in which the server is asked to change to TLS.
    var upgrade: StartTLS?
    /// How often the first handshake is made.
    var repeats = 1
    /// The time from one of the repeated handshakes to the next.
    var interval: Duration = .zero
    /// Whether a handshake is made for each other kind of key, and version of TLS.
    var isDeep = false
    /// Whether issuers are asked if their certificates are revoked.
    var asksIssuers = false
    /// Whether HTTPS records are asked for, and Encrypted Client Hello is tried.
    var triesECH = false
    /// What is asked with hellos written here, one after the other.
    var surveys: Set<HelloSurvey> = []
    /// The pause between the pieces of a hello, so that they do not arrive as one.
    var pauseOfPieces: Duration = .milliseconds(200)
    var method = HTTPMethod.get
    var headers = HTTPHeaders()
    /// Whether the request is sent even if the certificate is wrong.
    var insecure = false
    var timeout: Duration = .seconds(5)
    /// Whether confirmations end with the probe's time, too: what runs a plugin may not wait any longer.
    var confirmsInTime = false
    /// The time that a comparison may take after the first handshake, if three times that is not longer.
    var comparisonTime: Duration = .seconds(1)
    var retries = 0
    /// The days below which a certificate is a fault.
    var minimumDays: Int?
    /// The days below which a certificate is a warning; `nil` for the rule of two weeks and a third.
    var warningDays: Int?
    /// The same two for what the issuer says of revocation: stapled responses, and answers to `--revocation`.
    var minimumStatusDays: Int?
    var warningStatusDays: Int?
    /// Whether a warning makes a probe fail.
    var isStrict = false
    /// The accepted certificates. An empty list accepts all.
    var expected: [ExpectedCertificate] = []
    var acceptedStatus = StatusRanges.usual
}

/// A certificate accepted by `--expect`.
enum ExpectedCertificate: Hashable, Sendable {
    /// The SHA-256 hash of the certificate.
    case certificate([UInt8])
    /// The SHA-256 hash of the certificate's public key (RFC 7469).
    case key([UInt8])
}

extension ExpectedCertificate: CustomStringConvertible {
    /// As the option takes it.
    var description: String {
        switch self {
        case .certificate(let hash): "sha256:\(Hex.encode(hash))"
        case .key(let hash): "pin-sha256:\(Base64.encode(hash))"
        }
    }
}

/// The status codes that `--status` accepts.
struct StatusRanges: Hashable, Sendable {
    var ranges: [ClosedRange<UInt16>]

    static let usual = StatusRanges(ranges: [200...399])

    /// Whether a status is accepted.
    func contains(_ status: UInt16) -> Bool {
        ranges.contains { $0.contains(status) }
    }

    /// The ranges in the syntax of the option: `200-299,404`.
    var text: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ",")
    }
}
