internal import DirectCore
internal import DirectIO
internal import DirectTLS

/// Settings of connections, ready for use. Connections are grouped by its identity, and sessions by its TLS
/// context, so two profiles never share a connection or a TLS session.
package final class ConnectionProfile: Sendable {
    let tls: TLSClientState
    /// The settings of requests that it is for; `nil` for none.
    let settings: ConnectionSettings.Box?
    /// Whether server names are encrypted.
    let ech: EncryptedClientHello
    /// Whether TLS 1.3 may be offered.
    let allowsTLS13: Bool
    /// The options of its sockets.
    let socket: SocketOptions

    init(
        _ box: ConnectionSettings.Box? = nil,
        tls: TLSSettings,
        ech: EncryptedClientHello = .off,
        socket: SocketOptions,
        sessions: SessionCache,
        former: FormerFiles = FormerFiles()
    ) {
        let settings = box?.settings ?? ConnectionSettings()
        self.settings = box
        self.tls = TLSClientState(tls, sessions: sessions, former: former)
        self.ech = settings.encryptedClientHello ?? ech
        allowsTLS13 = tls.maximumVersion == .tls13
        let local = settings.local ?? socket.local
        self.socket = SocketOptions(local: local, keepAlive: settings.keepAlive ?? socket.keepAlive)
    }

    /// The identity that servers have to prove in place of the URL's host; `nil` for the host.
    var identity: InsecureServerIdentity? { settings?.settings.identity }
}

/// The profiles of one client. Equal settings get the same profile.
///
/// A profile is found for as long as it exists: while it has a connection, whose pool holds it, or is one of
/// those that were used last. So no connection is left without a request that can use it.
package final class ConnectionProfiles: Sendable {
    /// The profile of requests without settings of their own.
    let base: ConnectionProfile
    private let tls: TLSSettings
    private let ech: EncryptedClientHello
    private let socket: SocketOptions
    /// The sessions of all profiles, so that they have one limit.
    private let sessions: SessionCache
    private let former = FormerFiles()
    private let known = Locked(Known())

    /// The number of profiles that are kept without a connection.
    static let limit = 64

    private struct Known {
        var profiles = SharedTable<ProfileKey, ConnectionProfile>(keeping: limit)
    }

    private struct ProfileKey: Hashable {
        /// `nil` for the client's own settings.
        let settings: ConnectionSettings.Box?
        /// Whether the client's certificate is withheld.
        let isAnonymous: Bool
    }

    init(tls: TLSSettings, ech: EncryptedClientHello = .off, socket: SocketOptions) {
        self.tls = tls
        self.ech = ech
        self.socket = socket
        sessions = SessionCache(bytes: max(0, tls.maximumCertificateBytes))
        base = ConnectionProfile(tls: tls, ech: ech, socket: socket, sessions: sessions, former: former)
    }

    /// The number of profiles that exist.
    var count: Int { known.withLock { $0.profiles.count } }

    /// Returns the profile for these settings; `nil` if they are the client's own.
    ///
    /// - Parameter isAnonymous: Whether the certificate of the client's settings is withheld from the server.
    package func profile(
        for settings: ConnectionSettings.Box?,
        isAnonymous: Bool
    ) -> ConnectionProfile? {
        let withholds = isAnonymous && settings?.settings.tls == nil && tls.clientIdentity != nil
        guard settings != nil || withholds else { return nil }
        let key = ProfileKey(settings: settings, isAnonymous: withholds)
        return known.withLock { $0.profiles.object(for: key) { make(key) } }
    }

    private func make(_ key: ProfileKey) -> ConnectionProfile {
        var tls = key.settings?.settings.tls ?? tls
        if key.isAnonymous { tls.clientIdentity = nil }
        return ConnectionProfile(
            key.settings,
            tls: tls,
            ech: ech,
            socket: socket,
            sessions: sessions,
            former: former
        )
    }
}
