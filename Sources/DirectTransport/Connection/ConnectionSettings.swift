package import DirectIO
package import DirectTLS

extension TLSSettings {
    /// Holds the settings by reference, for a value that seldom has any: each copy of it would copy them.
    final class Box: Hashable, Sendable {
        let settings: TLSSettings

        init(_ settings: TLSSettings) {
            self.settings = settings
        }

        static func == (left: Box, right: Box) -> Bool {
            left === right || left.settings == right.settings
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(settings)
        }
    }
}

/// The settings of a request that decide which connections may serve it, apart from its origin and its
/// addresses.
package struct ConnectionSettings: Hashable, Sendable {
    /// The TLS settings that replace the client's; `nil` for the client's own.
    package var tls: TLSSettings? {
        get { tlsBox?.settings }
        set { tlsBox = newValue.map(TLSSettings.Box.init) }
    }
    /// The identity that the server has to prove in place of the URL's host; `nil` for the host.
    package var identity: InsecureServerIdentity?
    /// Whether the server name is encrypted; `nil` for the client's choice.
    package var encryptedClientHello: EncryptedClientHello?
    /// The Unix domain socket to connect to in place of an address; `nil` for an address.
    package var unixSocket: UnixSocketPath?
    /// The place to leave from; `nil` for the client's.
    package var local: LocalBinding?
    /// The keep-alive probes; `nil` for the client's.
    package var keepAlive: TCPKeepAlive?

    private var tlsBox: TLSSettings.Box?

    /// Makes settings that change nothing.
    package init() {}

    /// Whether the settings change nothing.
    package var isEmpty: Bool { self == ConnectionSettings() }

    /// Whether the trust in the server differs from the client's.
    package var changesTrust: Bool { tls != nil || identity != nil }

    /// Holds the settings by reference, with their hash, which would be computed from keys and certificates
    /// for each request.
    package final class Box: Hashable, Sendable {
        package let settings: ConnectionSettings
        private let hash: Int

        /// Returns `nil` if the settings change nothing.
        package init?(_ settings: ConnectionSettings) {
            guard !settings.isEmpty else { return nil }
            self.settings = settings
            hash = settings.hashValue
        }

        package static func == (left: Box, right: Box) -> Bool {
            left === right || left.hash == right.hash && left.settings == right.settings
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(hash)
        }
    }
}
