public import DirectCore
internal import DirectIO
public import DirectTransport

/// A proxy on this machine that gives programs the addresses of your choice under the names that they ask
/// for.
///
/// ```swift
/// var settings = LocalProxySettings()
/// settings.addresses = try StaticMap(curl: ["www.example.com:443:203.0.113.7"])
/// let proxy = LocalProxy(settings)
/// try proxy.start()
/// print(proxy.proxyURL ?? "")  // http://direct:…@127.0.0.1:41234, for https_proxy, a web view, a session
/// ```
///
/// The name is in the program's CONNECT line, the address is the proxy's. TLS, the server's name in it and
/// the check of the certificate stay the program's own, end to end: the proxy sees no key and no content.
///
/// It takes CONNECT, `http` URLs in absolute form and SOCKS version 5, all at one port. It ends with
/// ``stop()``, or when it is let go.
public final class LocalProxy: Sendable {
    private let configuration: LocalProxySettings
    private let running = Locked<ProxyCore?>(nil)

    /// Makes a proxy. It does nothing until ``start()``.
    public init(_ configuration: LocalProxySettings = LocalProxySettings()) {
        self.configuration = configuration
    }

    deinit {
        running.withLock { $0 }?.abort()
    }

    /// Begins to listen. A proxy that listens already begins anew: at another port unless the settings name
    /// one, with new credentials, and the tunnels of before end.
    ///
    /// - Throws: ``LocalProxyError``, if it may not or cannot listen where the settings say.
    public func start() throws(LocalProxyError) {
        _ = try start { _ in true }
    }

    /// Begins to listen, if it may replace the running core. Returns whether it may.
    private func start(if mayReplace: (ProxyCore?) -> Bool) throws(LocalProxyError) -> Bool {
        try running.withLock { running throws(LocalProxyError) in
            guard mayReplace(running) else { return false }
            running.take()?.abort()
            let core = try ProxyCore(configuration)
            running = core
            core.start { [weak self] in self?.restart(core) }
            return true
        }
    }

    /// Listens anew after the death of the listening sockets, unless it was stopped or started meanwhile.
    private func restart(_ dead: ProxyCore) {
        do throws(LocalProxyError) {
            if try start(if: { $0 === dead }) { configuration.onEvent?(.restarted) }
        } catch {
            configuration.onEvent?(.failed(error))
        }
    }

    /// Ends the listening, waits for the tunnels as long as the limit says, and breaks the others off: at
    /// once if the task is cancelled. A second call meanwhile waits for nothing.
    public func stop() async {
        await running.withLock { $0.take() }?.stop()
    }

    /// Where it listens, with the ports that the system has chosen; empty if it does not.
    public var endpoints: [Endpoint] { running.withLock { $0?.endpoints } ?? [] }

    /// The credentials that it requires; `nil` if it does not listen, or requires none.
    public var credentials: Proxy.Credentials? { running.withLock { $0?.access.credentials } }

    /// The proxy as a URL with its credentials, as `https_proxy` and most programs take it; `nil` if it
    /// does not listen.
    public var proxyURL: String? { proxyURLs.first }

    /// The same of each place where it listens.
    package var proxyURLs: [String] {
        let user = credentials.map { "\($0.user):\($0.password)@" } ?? ""
        return endpoints.map { "http://\(user)\($0.forPrograms)" }
    }

    /// The file that tells browsers to take the proxy for all hosts (proxy auto-configuration), if the
    /// settings say that it is served.
    public var pacURL: String? {
        configuration.servesPAC ? endpoints.first.map { "http://\($0.forPrograms)\(PACFile.path)" } : nil
    }

    /// The number of tunnels now.
    public var tunnelCount: Int { running.withLock { $0?.tunnelCount } ?? 0 }
}

extension Endpoint {
    /// Where programs of this machine reach what listens here: `0.0.0.0` and `::` are no addresses.
    fileprivate var forPrograms: Endpoint {
        let reached = address.reached
        return reached.isLoopback ? Endpoint(reached, port: port) : self
    }
}
