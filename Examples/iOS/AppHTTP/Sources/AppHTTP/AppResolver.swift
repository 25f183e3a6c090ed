@_exported import DirectHTTP
@_exported import DirectHTTPFoundation
@_exported import DirectProxy
@_exported import DirectResolvers

extension CachingResolver {
    /// A resolver for an app, which asks HTTPDNS for addresses, and the system if HTTPDNS cannot be reached.
    ///
    /// - Parameters:
    ///   - account: The account at the service.
    ///   - servers: Addresses of the service.
    ///   - roots: The roots that the service's servers have to prove.
    public static func forApp(
        account: String,
        servers: [Endpoint],
        roots: TrustRoots = .system
    ) -> CachingResolver {
        var settings = ServiceSettings()
        settings.tls.roots = roots
        let service = AlibabaHTTPDNS(account: account, .https(servers), settings)
        return CachingResolver(ChainResolver(service, SystemResolver()))
    }
}
