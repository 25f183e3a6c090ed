"""The table of mutants. A mutant sets a member of the settings to its default at the door of its type. If several places read the
member, each has a mutant as well. A figure of a report becomes zero, `nil` or another figure (reports.py)."""

import reports
from model import Table

table = Table()

# Settings of a client

table.door(
    "HTTPClient.Configuration", "HTTPClient.init", "|Pipeline(configuration)|", "Pipeline(mutated(configuration))",
    {
        "AuthenticationTests": "authenticators",
        "BaseURLTests": "baseURL",
        "CachingClientTests": "cache",
        "ClientResolverTests": "resolver",
        "ClientSettingsTests": "idleTimeout maximumConnectionAge limits leniency loop",
        "CookieWalkTests": "cookies hsts",
        "DecodingTests": "decoding",
        "FollowingTests": "maximumConnections maximumConnectionUses",
        "FormTests": "headers",
        "HedgingTests": "hedging",
        "InterceptorTests": "interceptors networkInterceptors",
        "KeepAliveTests": "maximumIdleConnections",
        "KeepAliveTests TimeoutTests": "maximumConnectionsPerOrigin",
        "LocalBindingTests": "localBinding tcpKeepAlive",
        "NameAndAddressTests": "tls",
        "ObserverTests": "observer",
        "PhaseLimitTests": "timeouts",
        "ProxyAuthenticationTests": "proxyAuthenticators",
        "ProxyTests": "vetting proxy",
        "RaceTests": "dialling",
        "RateLimitTests": "sendingRate receivingRate",
        "RedirectTests": "redirects transport",
        "ResponseBodyTests": "maximumBufferedBody",
        "RetryTests": "retries",
        "StaticMapTests NameAndAddressTests": "addresses",
        "UnavailableClientHelloTests": "encryptedClientHello",
        "UnixSocketTests": "unixSockets",
    },
)

# Of a request

table.exempt("Request.replacing", "a copy with another URL; it is no setting")
table.exempt("Request.curlCommand", "a text about the request; it is no setting")
table.door(
    "Request", "Pipeline.send", "||", " let request = mutated(request)",
    {
        "AuthenticationTests": "authenticator",
        "ClientResolverTests": "addressMap",
        "ExpectationTests": "expectsContinue = false\nonInterim",
        "LocalBindingTests": "localBinding tcpKeepAlive",
        "MessageConformanceTests": "method = .get\nheaders = [:]",
        "NameAndAddressTests": "addresses",
        "PhaseLimitTests": "timeouts = RequestTimeouts()",
        "RateLimitTests": "sendingRate receivingRate",
        "RawStreamTests": "upgrade = []",
        "RedirectTests": "redirects",
        "RequestHedgingTests": "hedging",
        "RequestProxyTests": "proxy",
        "RequestResolverTests": "resolver",
        "RequestTLSTests": "tls",
        "RequestTagTests": "tags = RequestTags()",
        "RetryTests": "retries",
        "ServerIdentityApartTests": "insecureServerIdentity",
        "TransferTests": "onUpload onDownload",
        "UnavailableClientHelloTests": "encryptedClientHello",
        "UnixSocketTests": "unixSocket",
        "UploadTests": "body = .none",
    },
    statement="value.{0} = nil",
)

# Of TLS, where the context is made, and on their way from the client to it

table.door(
    "TLSSettings", "TLSContext.init", "init(_ settings: TLSSettings) throws(TLSError) {||", " let settings = mutated(settings)",
    {
        "AlgorithmTests": "cipherSuites groups insecureKeyLog",
        "CertificateCheckTests": "roots",
        "CertificateLimitTests": "maximumCertificateBytes",
        "CertificateRulesTests": "certificateRules",
        "CertificateVerifierTests": "verifier",
        "ChainJudgeTests": "systemFetchesIssuers",
        "InsecureOverrideTests": "insecureOverride",
        "KeyPinningTests": "pins",
        "OCSPStapleTests": "stapling",
        "ProtocolTests": "minimumVersion",
        "ResumptionTests": "resumesSessions",
        "RevocationListTests": "revocationLists",
        "SettingsTests ClientSettingsTests": "clientIdentity maximumVersion",
    },
)
table.door(
    "TLSSettings", "TLSClientState.init", "||", " let settings = mutated(settings)",
    {
        "ClientSettingsTests": "minimumVersion maximumVersion certificateRules resumesSessions",
        "ForeignOriginTests": "clientIdentity",
        "KeyPinningTests": "pins",
        "NameAndAddressTests": "roots",
    },
    name="TLSSettings of a client",
)

# Of proxies

table.door(
    "Proxy", "ProxyEntry.init", "||", " let proxy = mutated(proxy)",
    {
        "ProxySettingsTests": "tls",
        "ProxyTests": "lookup = value.lookup == .byProxy ? .byClient : .byProxy\ncredentials addresses",
        "UnavailableClientHelloTests": "encryptedClientHello = .off",
    },
    statement="value.{0} = nil",
)
table.door(
    "ProxySettings", "ProxyEntries.init", "||", " let settings = mutated(settings)", {"ProxyTests": "forHTTP forHTTPS exceptions"}
)

# Of what is repeated and decoded

table.door(
    "RetryPolicy", "Attempts.sendInAttempts", "|original.retries ?? retries|", "(original.retries ?? retries).map({ mutated($0) })",
    {
        "PolicySettingsTests": "attempts statuses retriesFailures delay longestDelay",
        "RetryTests": "repeatsAnyMethod budget",
    },
)
table.door(
    "RedirectPolicy", "Redirects.follow", "|request.redirects ?? policy|", "mutated(request.redirects ?? policy)",
    {
        "PolicySettingsTests": "limit",
        "RedirectDelayTests": "longestDelay",
        "RedirectTests": "isFollowing insecureAllowsDowngrade carriesBodyAcrossOrigins sendsReferer extraCrossOriginFields decide",
    },
)
table.door(
    "DecodingSettings", "ContentDecoding.init", "||", " let settings = mutated(settings)",
    {
        "DecodingSettingsTests": "codings maximumSize maximumRatio unratedSize maximumCodings",
        "DecodingTests": "isEnabled",
        "NoOutputTests": "maximumInputWithoutOutput",
    },
)

# Settings that are read in several places, or that have no door

LATIN = "{}.unicodeScalars.map {{ UInt8(truncatingIfNeeded: $0.value) }}"
for row in [
    ("HTTPClient.Configuration.limits of a connection", "Dialler.connection", "|settings.limits|", "HTTP1Limits()", "ClientSettingsTests"),
    ("HTTPClient.Configuration.leniency of a connection", "Dialler.connection", "|settings.leniency|", "HTTP1Leniency()",
     "ClientSettingsTests"),
    ("HTTPClient.Configuration.vetting over a proxy", "Dialler.checkVetting", "|settings.vetting|", "nil as AddressVetting?", "ProxyTests"),
    ("Request.url in the request line", "HTTPURL.targetAndAuthority", "absoluteTargetBytes : |targetBytes|,", '[UInt8(ascii: "/")]',
     "MessageConformanceTests"),
    ("Request.url in HTTPHost", "HTTPURL.targetAndAuthority", "targetBytes, |authorityBytes|)", 'Array("other.test".utf8)',
     "NameAndAddressTests"),
    ("Request.timeouts of prewarm", "Pipeline.prewarm", "|calls.call(for: request)|", 'calls.call(for: Request(.get, "http://a.test/"))',
     "ClientSettingsTests"),
    ("Request.addressMap where it is looked up", "RoutePlanner.chosenRoute", "|request.addressMap|", "StaticMap?.none",
     "ClientResolverTests"),
    ("Proxy.scheme", "Proxy.init", "self.scheme = |scheme|", ".http", "ProxyTests"),
    ("Proxy.host", "Proxy.init", "self.host = |host|", '(try? HTTPHost("other.test")) ?? host', "ProxyTests"),
    ("Proxy.port", "Proxy.init", "self.port = |port|", "port ^ 1", "ProxyTests"),
    ("Proxy.Credentials.user of Basic in UTF-8", "ProxyEntry.authorization", "|credentials.userBytes|", LATIN.format("credentials.user"),
     "ProxySettingsTests"),
    ("Proxy.Credentials.password of Basic in UTF-8", "ProxyEntry.authorization", "|credentials.passwordBytes|",
     LATIN.format("credentials.password"), "ProxySettingsTests"),
    ("Proxy.Credentials.user of SOCKS", "SOCKSMessages.authentication", "|credentials.userBytes|", "credentials.passwordBytes", "ProxyTests"),
    ("Proxy.Credentials.password of SOCKS", "SOCKSMessages.authentication", "|credentials.passwordBytes|", "credentials.userBytes",
     "ProxyTests"),
    ("Basic of a request in UTF-8", "BasicAuthenticator.init", "|Array(user.utf8)|", LATIN.format("user"), "ProxySettingsTests",
     "Request.authenticator"),
    ("Basic of a request in UTF-8, the password", "BasicAuthenticator.init", "|Array(password.utf8)|", LATIN.format("password"),
     "ProxySettingsTests", "Request.authenticator"),
    ("ProxySettings.fromEnvironment", "ProxySettings.fromEnvironment", "try from(|environmentValue|)", "{ _ in nil }", "ProxySettingsTests"),
    ("RedirectPolicy.extraCrossOriginFields of the client's fields", "ClientFields.crossing", "|policy.extraCrossOriginFields|", "[]",
     "PolicySettingsTests"),
    ("RedirectPolicy.deliver", "RedirectPolicy.deliver", "policy.isFollowing = |false|", "true", "RedirectTests"),
    ("RedirectPolicy.follow", "RedirectPolicy.follow", "|RedirectPolicy()|", "RedirectPolicy.deliver", "PolicySettingsTests"),
]:
    table.place(*row)

# Time limits. A mutant at a place makes the limit three times as long; one at the door makes it the default.

table.door(
    "Timeouts", "Nanoseconds.init", "||", " let timeouts = mutated(timeouts)",
    {"PhaseLimitTests": "queue resolve connect tls write response read continue minimumSpeed total"},
    statement="value.`{0}` = Timeouts().`{0}`",
)
for member, where, at in [
    ("queue", "Transport.firstFree", "|limits.call.timeouts.queue|"),
    ("resolve of a resolver", "RoundTrip.resolvedRoute", "|call.timeouts.resolve|"),
    ("resolve of the system", "Dialler.askSystem", "|limits.timeouts.resolve|"),
    ("resolve of a fallback", "Dialler.next", "fallback(limits.deadline(.resolve, stall: |limits.timeouts.resolve|)"),
    ("connect", "Connector.openSocket(of:)", "|limits.timeouts.connect|"),
    ("connect of a Unix domain socket", "Connector.openSocket(to:)", "|limits.timeouts.connect|"),
    ("connect of a proxy's negotiation", "Dialler.openTunnel", "|limits.timeouts.connect|"),
    ("tls", "Connector.secure", "over: socket, limits.deadline(.tls, stall: |limits.timeouts.tls|)"),
    ("write of a body", "Upload.wait", "|exchange.timeouts.write|"),
    ("write of a head", "Exchange.sendHead", "|timeouts.write|"),
    ("write of a raw stream", "RawStream.init", "|timeouts.write|"),
    ("response", "Exchange.receiveHead", "stall: |timeouts.response|, from: sent"),
    ("response after an interim one", "Exchange.receiveHead", "restart(&deadline, stall: |timeouts.response|)"),
    ("read of a head", "Exchange.receiveHead", "|timeouts.read|"),
    ("read of a body", "BodyReading.next", "|exchange.timeouts.read|"),
    ("continue", "Exchange.awaitContinue", "|timeouts.continue|"),
    ("total", "Call.init", "|timeouts.total|"),
]:
    piece, name = at.split("|")[1], f"Timeouts.{member}" + ("" if " " in member else " where it is read")
    tripled = f"IdleLimit(setByCaller: .nanoseconds(Int64(clamping: {piece}.nanoseconds &* 3)))"
    suites = "UnixSocketTests" if "Unix" in name else "PhaseLimitTests"
    table.place(name, where, at, f"{piece} &* 3" if member == "total" else tripled, suites)
for member, where, at in [
    ("of a head", "Exchange.receiveHead", "|timeouts.speed|"),
    ("of a response's body", "BodyReading.init", "|exchange.timeouts.speed|"),
    ("of a request's body", "Upload.init", "|exchange.timeouts.speed|"),
]:
    table.place(f"Timeouts.minimumSpeed {member}", where, at, "Timeouts.Speed.Watch(nil)", "PhaseLimitTests")
for member in "queue resolve connect tls write response read continue minimumSpeed total".split():
    value, wrong = {
        "minimumSpeed": ("Speed.Watch(timeouts.minimumSpeed)", "Speed.Watch(nil)"),
        "total": ("timeouts.total?.clampedNanoseconds ?? .max", "7"),
    }.get(member, (f"IdleLimit(setByCaller: timeouts.{member})", "IdleLimit(setByCaller: .nanoseconds(7))"))
    table.place(f"Timeouts.{member} in nanoseconds", "Timeouts.Nanoseconds.init", f"|{value}|", wrong, "TimeoutsTests")
slow = "$0.time.clampedNanoseconds"
table.place("Timeouts.Speed.bytes", "Watch.init", "|speed?.bytes ?? 0|", "1", "PhaseLimitTests")
table.place("Timeouts.Speed.time", "Watch.init", f"|{slow}|", f"{slow} &* 100", "PhaseLimitTests")
table.place("Timeouts.Speed.unlimited", "Timeouts.Speed.unlimited", "Speed(bytes: |0|", "1", "TimeoutsTests")

reports.add_to(table)
