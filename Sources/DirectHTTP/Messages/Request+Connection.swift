public import DirectTLS
internal import DirectTransport

extension Request {
    /// The TLS settings for this request, in place of all of ``HTTPClient/Configuration/tls``. `nil` uses the client's.
    ///
    /// They hold for the origin of the URL only: a redirect to another origin is followed with the client's settings. A
    /// request with settings of its own shares connections and TLS sessions only with requests that have equal
    /// ones, and neither reads nor writes the client's cache.
    public var tls: TLSSettings? {
        get { connectionSettings?.settings.tls }
        set { changeConnection { $0.tls = newValue } }
    }

    /// The host that the server's certificate has to prove in place of the URL's, and the server name to send. `nil`, the
    /// default, means the URL's host for both.
    ///
    /// It ends where ``tls`` ends, and like it keeps the request away from the client's cache. The server's HSTS policy
    /// is not learned.
    public var insecureServerIdentity: InsecureServerIdentity? {
        get { connectionSettings?.settings.identity }
        set { changeConnection { $0.identity = newValue } }
    }

    /// The settings of the request's connection; `nil` if none is set.
    @inline(__always)
    var connectionSettings: ConnectionSettings.Box? { hasOptions ? options.connection : nil }

    /// Whether the request's trust in its server differs from the client's, so that its responses are not those that
    /// other requests would get.
    var changesTrust: Bool { connectionSettings?.settings.changesTrust ?? false }

    /// Drops the settings that hold for the origin of the URL only.
    mutating func leaveOrigin() {
        guard let settings = connectionSettings?.settings else { return }
        changeConnection { $0 = settings.forAnyOrigin }
    }

    /// Takes from the other request the settings that this one does not set. Those for its origin are not taken for
    /// another one; an invalid URL has none.
    mutating func inheritConnection(of other: Request) {
        guard let given = other.connectionSettings?.settings else { return }
        var isSameOrigin = true
        if case .success(let former) = other.parsedURL { isSameOrigin = isFor(former.origin) }
        changeConnection { $0.inherit(isSameOrigin ? given : given.forAnyOrigin) }
    }

    private mutating func changeConnection(_ change: (inout ConnectionSettings) -> Void) {
        var settings = connectionSettings?.settings ?? ConnectionSettings()
        change(&settings)
        guard hasOptions || !settings.isEmpty else { return }
        options.connection = ConnectionSettings.Box(settings)
    }
}
