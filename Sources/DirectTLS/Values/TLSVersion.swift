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

    /// The name of a version that may be an older one, which only OpenSSL's configuration file can name.
    static func text(of number: Int32) -> String {
        TLSVersion(rawValue: UInt16(truncatingIfNeeded: number))?.description ?? "an older version"
    }
}
