package import DirectCore
package import DirectHTTP1
package import DirectIO
package import DirectTLS

/// The settings of a client that dialling needs.
package struct DialConfiguration: Sendable {
    package var dialling = DiallingSettings()
    package var tls = TLSSettings()
    /// Whether server names are encrypted.
    package var encryptedClientHello = EncryptedClientHello.off
    /// Returns the configurations for Encrypted Client Hello that the client has for a host; `nil` if it has
    /// none at all.
    package var echConfig: (@Sendable (HTTPHost) -> ECHConfigList?)?
    /// The options of all sockets.
    package var socket = SocketOptions()
    /// Refuses addresses that must not be dialled; `nil` allows all.
    package var vetting: AddressVetting?
    /// Refuses addresses of proxies; `nil` allows all.
    package var proxyVetting: AddressVetting?
    /// Whether the system's resolver may be asked for the translators of a NAT64 network.
    package var mayAskSystem = true
    /// Whether a server without TLS may send before it is sent anything, as those of SSH and SMTP do. A proxy
    /// may then send the server's first bytes with its reply; else they are an error.
    package var serverMaySpeakFirst = false
    /// The limits of the parser on each connection, and the faults that it tolerates.
    package var limits = HTTP1Limits()
    package var leniency = HTTP1Leniency()
    package var loop = EventLoop.shared

    /// Makes the default settings.
    package init() {}
}

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
