/// Configures TLS. A value type, so that equal settings share one context and one connection pool.
public struct TLSSettings: Hashable, Sendable {
    /// The trusted roots.
    public var roots = TrustRoots.system

    /// The certificate to send if a server asks for one.
    public var clientIdentity: ClientIdentity?

    /// The oldest TLS version to accept.
    public var minimumVersion = TLSVersion.tls12

    /// The newest TLS version to offer.
    public var maximumVersion = TLSVersion.tls13

    /// The rules that a server's certificates must follow, in addition to those that OpenSSL always checks.
    public var certificateRules = CertificateRules.standard

    /// The pinned keys of servers. Empty by default.
    public var pins = KeyPins()

    /// Whether later connections to the same name and port may resume a session, which skips the full handshake.
    public var resumesSessions = true

    /// Creates the default settings: the system's roots, ``CertificateRules/standard``, TLS 1.2 and 1.3, no client
    /// certificate.
    public init() {}
}

/// The supported versions of TLS.
@nonexhaustive
public enum TLSVersion: UInt16, Hashable, Sendable, Comparable, CustomStringConvertible {
    /// TLS 1.2 (RFC 5246).
    case tls12 = 0x0303
    /// TLS 1.3 (RFC 8446).
    case tls13 = 0x0304

    /// Whether the left version is older than the right one.
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

/// The certificates at which a server's chain may end.
public enum TrustRoots: Hashable, Sendable {
    /// The roots of the operating system, or of `SSL_CERT_FILE` and `SSL_CERT_DIR` if these are set.
    case system
    /// The system's roots and these.
    case systemAnd([CertificateSource])
    /// These roots alone.
    case only([CertificateSource])
}

/// A source of trusted certificates.
public enum CertificateSource: Hashable, Sendable, CustomStringConvertible {
    /// One or more certificates in PEM form.
    case pem([UInt8])
    /// The path of a file with one or more certificates in PEM form. It is read when a client first connects.
    case pemFile(String)
    /// One certificate in DER form.
    case der([UInt8])

    /// The kind of source, and the path of a file.
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
    /// The client's certificate first, then the intermediates up towards a root.
    public let certificateChain: [UInt8]

    /// The private key of the first certificate, not encrypted.
    public let privateKey: [UInt8]

    /// Creates an identity without parsing it: a chain or key that cannot be used is reported when a client connects.
    public init(certificateChain: [UInt8], privateKey: [UInt8]) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }

    /// A description without the key.
    public var description: String {
        "ClientIdentity(certificateChain: \(certificateChain.count) bytes, privateKey: hidden)"
    }

    /// A description without the key.
    public var debugDescription: String { description }

    /// A mirror without the key, so that `dump` does not show it either.
    public var customMirror: Mirror { Mirror(self, children: ["certificateChain": certificateChain.count]) }
}
