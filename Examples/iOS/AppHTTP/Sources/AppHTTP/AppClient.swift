@_exported import DirectHTTP
@_exported import DirectHTTPFoundation
@_exported import DirectProxy
@_exported import DirectResolvers

extension HTTPClient {
    /// A client for an app, which asks HTTPDNS for addresses, and the system if HTTPDNS cannot be reached.
    ///
    /// - Parameters:
    ///   - account: The account at the service.
    ///   - servers: Addresses of the service.
    ///   - roots: The roots of the app, which the service's servers and those of the URLs have to prove.
    public static func forApp(account: String, servers: [Endpoint], roots: TrustRoots) -> HTTPClient {
        var settings = ServiceSettings()
        settings.tls.roots = roots
        let service = AlibabaHTTPDNS(account: account, .https(servers), settings)
        return HTTPClient {
            $0.tls.roots = roots
            $0.resolver = CachingResolver(ChainResolver(service, SystemResolver()))
            $0.timeouts.total = .seconds(30)
        }
    }
}
