/// How connections are secured; a value, so that equal settings share one context and one pool.
public struct TLSSettings: Hashable, Sendable {
    /// Whom to trust.
    public var roots = TrustRoots.system

    /// What to show a server that asks who we are.
    public var clientIdentity: ClientIdentity?

    /// The oldest version of TLS to speak.
    public var minimumVersion = TLSVersion.tls12

    /// The newest version of TLS to speak.
    public var maximumVersion = TLSVersion.tls13

    /// Which rules a server's certificates must keep, besides those that OpenSSL always checks.
    public var certificateRules = CertificateRules.widelyKept

    /// Which keys the chains of which servers must contain; none.
    public var pins = KeyPins()

    /// Whether a later connection to the same name and port may skip the full handshake.
    public var resumesSessions = true

    /// The system's roots, the rules that nearly all certificates keep, TLS 1.2 and 1.3, no client certificate.
    public init() {}
}

/// The versions of TLS this library speaks.
@nonexhaustive
public enum TLSVersion: UInt16, Hashable, Sendable, Comparable, CustomStringConvertible {
    /// TLS 1.2 (RFC 5246).
    case tls12 = 0x0303
    /// TLS 1.3 (RFC 8446).
    case tls13 = 0x0304

    /// Whether one version is older than the other.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The version's usual name, such as `TLS 1.3`.
    public var description: String {
        switch self {
        case .tls12: "TLS 1.2"
        case .tls13: "TLS 1.3"
        }
    }
}

/// The certificates that may vouch for a server.
public enum TrustRoots: Hashable, Sendable {
    /// Those of the operating system, or of `SSL_CERT_FILE` and `SSL_CERT_DIR` where these are set.
    case system
    /// The system's and these.
    case systemAnd([CertificateSource])
    /// These alone.
    case only([CertificateSource])
}

/// Where trusted certificates are read from.
public enum CertificateSource: Hashable, Sendable, CustomStringConvertible {
    /// One or more certificates in PEM form.
    case pem([UInt8])
    /// The path of a file with one or more certificates in PEM form, read when a client first connects.
    case pemFile(String)
    /// One certificate in DER form.
    case der([UInt8])

    /// Says which kind of source this is, and the path of a file.
    public var description: String {
        switch self {
        case .pem(let bytes): "PEM (\(bytes.count) bytes)"
        case .pemFile(let path): "PEM file \(printable(path))"
        case .der(let bytes): "DER (\(bytes.count) bytes)"
        }
    }
}

/// A certificate chain and its private key, both in PEM form.
public struct ClientIdentity: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// Our certificate first, then the intermediates that lead towards a root.
    public let certificateChain: [UInt8]

    /// The key of the first certificate, not encrypted.
    public let privateKey: [UInt8]

    /// Nothing is parsed here: a chain or key that cannot be used is reported when a client connects.
    public init(certificateChain: [UInt8], privateKey: [UInt8]) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }

    /// Never shows the key.
    public var description: String {
        "ClientIdentity(certificateChain: \(certificateChain.count) bytes, privateKey: hidden)"
    }

    /// Never shows the key.
    public var debugDescription: String { description }

    /// Never shows the key, not to `dump` either.
    public var customMirror: Mirror { Mirror(self, children: ["certificateChain": certificateChain.count]) }
}
