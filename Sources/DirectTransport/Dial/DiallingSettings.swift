internal import DirectCore
internal import DirectIO

/// Settings for connecting to a name that has several addresses.
public struct DiallingSettings: Hashable, Sendable {
    /// The treatment of the other addresses when a server presents a certificate that is not accepted.
    public enum WrongServer: Hashable, Sendable {
        /// The request fails. The network works, and trying other addresses would hide the fault.
        case fail
        /// The other addresses are tried. The certificate is never accepted, and the attempt is reported.
        case tryNext
    }

    /// The delay after which the next address is tried beside the previous one, if that has not connected by
    /// then (RFC 8305, section 5). Values below 100 ms count as 100 ms, values above 2 s as 2 s.
    public var stagger: Duration = .milliseconds(250)
    /// Whether new connections try addresses one after the other in the given order, without a race and
    /// without regard to earlier results. An idle connection to any of them is used first.
    public var keepsOrder = false
    /// The reaction to a wrong certificate.
    public var onCertificateMismatch = WrongServer.fail

    /// Creates the default settings.
    public init() {}

    var staggerNanoseconds: UInt64 {
        min(max(stagger.clampedNanoseconds, 100_000_000), 2_000_000_000)
    }
}
