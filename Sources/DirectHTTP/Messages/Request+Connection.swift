public import DirectIO
public import DirectTLS
internal import DirectTransport

extension Request {
    /// The TLS settings for this request, in place of all of ``HTTPClient/Configuration/tls``. `nil` uses the
    /// client's.
    ///
    /// They hold for the origin of the URL only: a redirect to another origin is followed with the client's
    /// settings. A request with settings of its own shares connections and TLS sessions only with requests
    /// that have equal ones, and neither reads nor writes the client's cache.
    public var tls: TLSSettings? {
        get { connectionSettings?.settings.tls }
        set { changeConnection { $0.tls = newValue } }
    }

    /// The host that the server's certificate has to prove in place of the URL's, and the server name to
    /// send. `nil`, the default, means the URL's host for both.
    ///
    /// It ends where ``tls`` ends, and like it keeps the request away from the client's cache. The server's
    /// HSTS policy is not learned.
    public var insecureServerIdentity: InsecureServerIdentity? {
        get { connectionSettings?.settings.identity }
        set { changeConnection { $0.identity = newValue } }
    }

    /// Whether the name of the server is encrypted on the way to it. `nil` means
    /// ``HTTPClient/Configuration/encryptedClientHello``.
    ///
    /// It holds for redirects, too, but a list of configurations is one server's: a redirect to another
    /// origin is followed as with ``EncryptedClientHello/required``. Requests share connections and TLS
    /// sessions only with those that have the same value.
    public var encryptedClientHello: EncryptedClientHello? {
        get { connectionSettings?.settings.encryptedClientHello }
        set { changeConnection { $0.encryptedClientHello = newValue } }
    }

    /// The Unix domain socket to connect to instead of an address. `nil`, the default, means an address.
    ///
    /// The URL keeps its name and its path, which determine `Host`, cookies and, for `https`, SNI and the
    /// certificate check. No resolver is asked and no proxy is used. It ends where ``tls`` ends. Together
    /// with ``addresses`` or ``localBinding`` it is an error, and so it is in a client that vets addresses.
    public var unixSocket: UnixSocketPath? {
        get { connectionSettings?.settings.unixSocket }
        set { changeConnection { $0.unixSocket = newValue } }
    }

    /// The address or the interface that the request leaves from, on its way to the server or to a proxy.
    /// `nil` means ``HTTPClient/Configuration/localBinding``. It holds for redirects, too. Queries of
    /// resolvers are not bound.
    public var localBinding: LocalBinding? {
        get { connectionSettings?.settings.local }
        set { changeConnection { $0.local = newValue } }
    }

    /// The probes on the request's connection. `nil` means ``HTTPClient/Configuration/tcpKeepAlive``. They
    /// hold for redirects, too.
    public var tcpKeepAlive: TCPKeepAlive? {
        get { connectionSettings?.settings.keepAlive }
        set { changeConnection { $0.keepAlive = newValue } }
    }

    /// The settings of the request's connection; `nil` if none is set.
    package var connectionSettings: ConnectionSettings.Box? { optionsBox?.options.connectionBox }

    /// Whether the request's trust in its server differs from the client's, so that its responses are not
    /// those that other requests would get.
    var changesTrust: Bool { connectionSettings?.settings.changesTrust ?? false }

    @inline(never)
    private mutating func changeConnection(_ change: (inout ConnectionSettings) -> Void) {
        var settings = connectionSettings?.settings ?? ConnectionSettings()
        change(&settings)
        guard hasOptions || !settings.isEmpty else { return }
        options.connection = settings
    }
}
