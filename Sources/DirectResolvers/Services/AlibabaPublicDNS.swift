internal import DirectCore
public import DirectHTTP
internal import DirectIO
internal import DirectTLS

/// A resolver that uses Alibaba's public DNS with an account: DNS over JSON with signed requests.
///
///     let resolver = AlibabaPublicDNS(account: "9000", accessKeyID: "…", accessKeySecret: "…")
///
/// Without an account use ``DNSOverJSON`` or ``DNSOverHTTPS``.
public struct AlibabaPublicDNS: Resolver, ServiceResolver, CustomStringConvertible, CustomReflectable {
    /// The service's servers.
    public static let servers = ServiceServers.https(["223.5.5.5", "223.6.6.6"], name: "dns.alidns.com")

    let client: ServiceClient

    /// Creates a resolver that queries these servers.
    ///
    /// - Parameters:
    ///   - account: The account ID of the service's console.
    ///   - accessKeyID: The ID of the access key.
    ///   - accessKeySecret: The secret of the access key. It signs the queries and is never sent.
    ///   - servers: The servers.
    ///   - settings: Time limits, TLS and address families.
    public init(
        account: String,
        accessKeyID: String,
        accessKeySecret: String,
        _ servers: ServiceServers = AlibabaPublicDNS.servers,
        _ settings: ServiceSettings = ServiceSettings()
    ) {
        let key = AlibabaDNSKey(account: account, id: accessKeyID, secret: Secret(accessKeySecret))
        client = ServiceClient(DNSJSONFormat(path: "/resolve", key: key), servers, settings)
    }
}

/// An access key of Alibaba's public DNS.
struct AlibabaDNSKey: Sendable {
    let account: String
    let id: String
    let secret: Secret

    /// Returns the parameters that sign a query for this name: the SHA-256 digest of account, secret, time,
    /// name and ID of the key, without separators.
    func parameters(for host: DomainName, at time: UnixTime) throws(ResolverError.Reason) -> String {
        let text = "\(account)\(secret.text)\(time.seconds)\(host)\(id)"
        guard let digest = MessageDigest.sha256.digest(of: Array(text.utf8)) else {
            throw .refused("this machine's OpenSSL has no SHA-256")
        }
        return
            "&uid=\(account.asQueryValue)&ak=\(id.asQueryValue)&key=\(Hex.encode(digest))&ts=\(time.seconds)"
    }
}
