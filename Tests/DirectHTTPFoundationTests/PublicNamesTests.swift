import DirectHTTP
import DirectHTTPExtras
import DirectHTTPFoundation
import DirectHTTPHosts
import DirectHTTPRecords
import DirectProxy
import DirectResolvers
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Public names beside Foundation's")
struct PublicNamesTests {
    @Test("Every public name can be written without its module where Foundation is imported")
    func unqualified() {
        // An ambiguous name does not compile. scripts/check api finds a missing one.
        let types: [Any.Type] = [
            InternationalHostError.self,
            LocalProxy.self, LocalProxyError.self, LocalProxySettings.self, TunnelReport.self,
            HTTPLogger.self, MockRouter.self, MockRouterError.self, MultipartError.self, MultipartPart.self,
            PageError.self, WebLink.self,
            AddressError.self, AddressRange.self, AddressRefusal.self, AddressSource.self,
            AddressVetting.self, AlibabaHTTPDNS.self, AlibabaPublicDNS.self, Attempt.self,
            PlainDNS.self,
            AuthenticationError.self, AuthenticationRequest.self, (any Authenticator).self,
            BearerToken.self, BodyDecoding.self,
            CacheError.self,
            CacheLimits.self, CacheUse.self, CachedAnswer.self, CachingResolver.self, CallEvent.self,
            CallHandle.self, CallReport.self, CertificateFault.self, CertificateRules.self,
            CertificateSource.self, CertificateSummary.self, ChainResolver.self, Challenge.self, Charset.self,
            ClientIdentity.self, ClosureResolver.self, CodingError.self,
            ConnectionState.self, ContentCoding.self, Cookie.self, CookieError.self,
            CookieJar.self, (any CookieStore).self, CredentialAuthenticator.self, DNSOverHTTPS.self,
            DNSOverJSON.self, DNSPodHTTPDNS.self, DecodingSettings.self,
            DiallingSettings.self, DirectURLProtocol.self, DomainName.self,
            DownloadError.self, DownloadOptions.self, DownloadResult.self, Endpoint.self, EventLoop.self,
            FormPart.self, Forward.self, HARError.self, HARRecorder.self, HARReplay.self,
            HSTSStore.self, HedgingPolicy.self, HTTP1Error.self,
            HTTP1Leniency.self, HTTP1Limits.self, HTTPClient.self, HTTPError.self, HTTPHeaders.self,
            HTTPHost.self, HTTPHostError.self, HTTPMethod.self, HTTPSRecord.self, HTTPSRecords.self,
            HTTPStatus.self, HTTPTransaction.self,
            HTTPURL.self, HTTPURLError.self, HTTPVersion.self, Hop.self, HostPattern.self, IPAddress.self,
            Interceptor.self, KeyMismatch.self, KeyPin.self, KeyPinError.self, KeyPinObserver.self,
            KeyPins.self, LineFault.self, LiveMap.self, LookupError.self, ObservedResolver.self, Origin.self,
            OriginConnections.self, Proxy.self, ProxyError.self, ProxyExceptions.self, ProxySettings.self,
            RateLimit.self, RawStream.self, ReceivedResponse.self, Redaction.self,
            Redirect.self,
            RedirectError.self, RedirectPolicy.self, RequestBody.self, RequestBodyError.self,
            RequestTags.self, RequestTimeouts.self, Resolution.self, ResolveContext.self, (any Resolver).self,
            ResolverError.self, ResponseBody.self, ResponseCache.self, RetryBudget.self,
            RetryPolicy.self, RetryStop.self, ServerSentEvent.self, ServiceServers.self, ResolverEvent.self,
            ResolverMetrics.self, ResolverObserver.self, ServiceSettings.self, StaticMap.self,
            StaticMapError.self, SystemError.self, SystemResolver.self, TLSAlert.self, TLSError.self,
            TLSFacts.self, TLSSettings.self, TLSVersion.self, Timeouts.self, TransferProgress.self,
            LocalBinding.self, TCPKeepAlive.self, UnixSocketPath.self, UnixSocketPathError.self,
            CertificateVerifier.self, InsecureCertificateOverride.self, InsecureKeyLog.self,
            InsecureServerIdentity.self,
            OCSPStapling.self, RejectedServer.self, RevocationLists.self, StandardAuthenticator.self,
            StapledStatus.self,
            VerifiedServer.self, ConnectionSettingsError.self,
            TrustRoots.self, URLProtocolBinding.self, UnixTime.self,
            ECHConfigError.self, ECHConfigList.self, ECHPublicName.self, EncryptedClientHello.self,
        ]
        #expect(Set(types.map(ObjectIdentifier.init)).count == types.count)
    }

    @Test("The messages and the configuration are nested in the client")
    func nested() {
        let types: [Any.Type] = [
            HTTPClient.Request.self, HTTPClient.Response.self, HTTPClient.BufferedResponse.self,
            HTTPClient.Configuration.self,
        ]
        #expect(types.map { "\($0)" } == ["Request", "Response", "BufferedResponse", "Configuration"])
    }
}
