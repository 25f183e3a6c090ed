internal import DirectCore
internal import DirectIO
internal import DirectTLS

/// Settings of connections, ready for use. Connections are grouped by its identity, and it has a session cache of its own,
/// so two profiles never share a connection or a TLS session.
package final class ConnectionProfile: Sendable {
    let tls: TLSClientState
    /// The identity that servers have to prove in place of the URL's host; `nil` for the host.
    let identity: InsecureServerIdentity?
    /// The Unix domain socket to connect to; `nil` for addresses.
    let unixSocket: UnixSocketPath?
    /// The options of its sockets.
    let socket: SocketOptions

    init(_ settings: ConnectionSettings = ConnectionSettings(), tls: TLSSettings, socket: SocketOptions) {
        self.tls = TLSClientState(tls)
        identity = settings.identity
        unixSocket = settings.unixSocket
        let local = settings.local ?? socket.local
        self.socket = SocketOptions(local: local, keepAlive: settings.keepAlive ?? socket.keepAlive)
    }
}

/// The profiles of one client. Equal settings get the same profile.
package final class ConnectionProfiles: Sendable {
    /// The profile of requests without settings of their own.
    let base: ConnectionProfile
    private let tls: TLSSettings
    private let socket: SocketOptions
    private let table = Locked(Table())

    /// The number of profiles that are kept. Connections of a dropped one serve no further request.
    private static let limit = 64

    private struct ProfileKey: Hashable {
        /// `nil` for the client's own settings.
        let settings: ConnectionSettings.Box?
        /// Whether the client's certificate is withheld.
        let isAnonymous: Bool
    }

    private struct Table {
        var profiles: [ProfileKey: (profile: ConnectionProfile, lastUse: UInt64)] = [:]
        var useCount: UInt64 = 0
    }

    init(tls: TLSSettings, socket: SocketOptions) {
        self.tls = tls
        self.socket = socket
        base = ConnectionProfile(tls: tls, socket: socket)
    }

    /// Returns the profile for these settings; `nil` if they are the client's own.
    ///
    /// - Parameter isAnonymous: Whether the certificate of the client's settings is withheld from the server.
    package func profile(
        for settings: ConnectionSettings.Box?,
        isAnonymous: Bool
    ) -> ConnectionProfile? {
        let withholds = isAnonymous && settings?.settings.tls == nil && tls.clientIdentity != nil
        guard settings != nil || withholds else { return nil }
        return table.withLock { table in
            let key = ProfileKey(settings: settings, isAnonymous: withholds)
            table.useCount += 1
            let profile = table.profiles[key]?.profile ?? make(key)
            table.profiles[key] = (profile, table.useCount)
            if table.profiles.count > Self.limit,
                let oldest = table.profiles.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                table.profiles[oldest.key] = nil
            }
            return profile
        }
    }

    private func make(_ key: ProfileKey) -> ConnectionProfile {
        let settings = key.settings?.settings ?? ConnectionSettings()
        var tls = settings.tls ?? tls
        if key.isAnonymous { tls.clientIdentity = nil }
        return ConnectionProfile(settings, tls: tls, socket: socket)
    }
}
