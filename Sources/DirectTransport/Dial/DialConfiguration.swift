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
