public import DirectProxy

/// A proxy in the app, by which web views and sessions of the system reach the addresses of a resolver.
///
/// Keep it as long as they are there: it ends with its last reference.
public struct AppProxy: Sendable {
    /// The proxy.
    public let proxy: LocalProxy
    /// Says each time that the proxy listens at another port with other credentials, as after a suspension:
    /// then the configurations have to be made anew.
    public let restarts: AsyncStream<Void>

    /// Starts a proxy that asks this resolver.
    public init(_ resolver: any Resolver) throws(LocalProxyError) {
        let (restarts, told) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        var settings = LocalProxySettings()
        settings.resolver = resolver
        settings.onEvent = { event in
            if case .restarted = event { told.yield() }
        }
        self.restarts = restarts
        proxy = LocalProxy(settings)
        try proxy.start()
    }
}
