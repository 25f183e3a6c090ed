"""The settings of a client and of a request, except time limits."""


def add_to(table):
    add_client(table)
    add_request(table)
    add_tls(table)
    add_proxies(table)
    add_repetition(table)
    add_decoding(table)


def add_client(table):
    table.door(
        "HTTPClient.Configuration",
        "HTTPClient.init",
        "|Pipeline(configuration)|",
        "Pipeline(mutated(configuration))",
        {
            "baseURL": "BaseURLTests",
            "addresses": "StaticMapTests NameAndAddressTests",
            "resolver": "ClientResolverTests",
            "vetting": "ProxyTests",
            "proxy": "ProxyTests",
            "dialling": "RaceTests",
            "unixSockets": "UnixSocketTests",
            "localBinding": "LocalBindingTests",
            "tcpKeepAlive": "LocalBindingTests",
            "sendingRate": "RateLimitTests",
            "receivingRate": "RateLimitTests",
            "tls": "NameAndAddressTests",
            "encryptedClientHello": "UnavailableClientHelloTests",
            "timeouts": "PhaseLimitTests",
            "headers": "FormTests",
            "redirects": "RedirectTests",
            "retries": "RetryTests",
            "hedging": "HedgingTests",
            "authenticators": "AuthenticationTests",
            "proxyAuthenticators": "ProxyAuthenticationTests",
            "interceptors": "InterceptorTests",
            "networkInterceptors": "InterceptorTests",
            "transport": "RedirectTests",
            "observer": "ObserverTests",
            "cache": "CachingClientTests",
            "maximumConnectionsPerOrigin": "KeepAliveTests TimeoutTests",
            "maximumConnections": "FollowingTests",
            "maximumIdleConnections": "KeepAliveTests",
            "idleTimeout": "ClientSettingsTests",
            "maximumConnectionAge": "ClientSettingsTests",
            "maximumConnectionUses": "FollowingTests",
            "maximumBufferedBody": "ResponseBodyTests",
            "decoding": "DecodingTests",
            "limits": "ClientSettingsTests",
            "leniency": "ClientSettingsTests",
            "cookies": "CookieWalkTests",
            "hsts": "CookieWalkTests",
            "loop": "ClientSettingsTests",
        },
    )
    # Settings that are read in several places.
    table.place(
        "HTTPClient.Configuration.limits of a connection",
        "Dialler.connection", "|settings.limits|", "HTTP1Limits()", "ClientSettingsTests",
    )
    table.place(
        "HTTPClient.Configuration.leniency of a connection",
        "Dialler.connection", "|settings.leniency|", "HTTP1Leniency()", "ClientSettingsTests",
    )
    table.place(
        "HTTPClient.Configuration.vetting over a proxy",
        "Dialler.checkVetting", "|settings.vetting|", "nil as AddressVetting?", "ProxyTests",
    )


def add_request(table):
    table.exempt("Request.replacing", "a copy with another URL; it is no setting")
    table.exempt("Request.curlCommand", "a text about the request; it is no setting")
    table.door(
        "Request",
        "Pipeline.send",
        "||",
        " let request = mutated(request)",
        {
            "method": ("MessageConformanceTests", "value.method = .get"),
            "headers": ("MessageConformanceTests", "value.headers = [:]"),
            "body": ("UploadTests", "value.body = .none"),
            "addresses": ("NameAndAddressTests", "value.addresses = nil"),
            "addressMap": ("ClientResolverTests", "value.addressMap = nil"),
            "timeouts": ("PhaseLimitTests", "value.timeouts = RequestTimeouts()"),
            "redirects": ("RedirectTests", "value.redirects = nil"),
            "retries": ("RetryTests", "value.retries = nil"),
            "hedging": ("RequestHedgingTests", "value.hedging = nil"),
            "tags": ("RequestTagTests", "value.tags = RequestTags()"),
            "authenticator": ("AuthenticationTests", "value.authenticator = nil"),
            "tls": ("RequestTLSTests", "value.tls = nil"),
            "encryptedClientHello": ("UnavailableClientHelloTests", "value.encryptedClientHello = nil"),
            "insecureServerIdentity": ("ServerIdentityApartTests", "value.insecureServerIdentity = nil"),
            "unixSocket": ("UnixSocketTests", "value.unixSocket = nil"),
            "localBinding": ("LocalBindingTests", "value.localBinding = nil"),
            "tcpKeepAlive": ("LocalBindingTests", "value.tcpKeepAlive = nil"),
            "resolver": ("RequestResolverTests", "value.resolver = nil"),
            "proxy": ("RequestProxyTests", "value.proxy = nil"),
            "expectsContinue": ("ExpectationTests", "value.expectsContinue = false"),
            "upgrade": ("RawStreamTests", "value.upgrade = []"),
            "onInterim": ("ExpectationTests", "value.onInterim = nil"),
            "onUpload": ("TransferTests", "value.onUpload = nil"),
            "onDownload": ("TransferTests", "value.onDownload = nil"),
            "sendingRate": ("RateLimitTests", "value.sendingRate = nil"),
            "receivingRate": ("RateLimitTests", "value.receivingRate = nil"),
        },
    )
    table.place(
        "Request.url in the request line",
        "HTTPURL.targetAndAuthority", "absoluteTargetBytes : |targetBytes|,", '[UInt8(ascii: "/")]',
        "MessageConformanceTests",
    )
    table.place(
        "Request.url in HTTPHost",
        "HTTPURL.targetAndAuthority", "targetBytes, |authorityBytes|)", "Array(\"other.test\".utf8)",
        "NameAndAddressTests",
    )
    table.place(
        "Request.timeouts of prewarm",
        "Pipeline.prewarm", "|calls.call(for: request)|", "calls.call(for: Request(.get, \"http://a.test/\"))", "ClientSettingsTests",
    )
    table.place(
        "Request.addressMap where it is looked up",
        "RoutePlanner.chosenRoute", "|request.addressMap|", "StaticMap?.none", "ClientResolverTests",
    )


def add_tls(table):
    table.door(
        "TLSSettings",
        "TLSContext.init",
        "init(_ settings: TLSSettings) throws(TLSError) {||",
        " let settings = mutated(settings)",
        {
            "roots": "CertificateCheckTests",
            "clientIdentity": "SettingsTests ClientSettingsTests",
            "minimumVersion": "ProtocolTests",
            "maximumVersion": "SettingsTests ClientSettingsTests",
            "certificateRules": "CertificateRulesTests",
            "maximumCertificateBytes": "CertificateLimitTests",
            "systemFetchesIssuers": "ChainJudgeTests",
            "pins": "KeyPinningTests",
            "verifier": "CertificateVerifierTests",
            "insecureOverride": "InsecureOverrideTests",
            "revocationLists": "RevocationListTests",
            "stapling": "OCSPStapleTests",
            "cipherSuites": "AlgorithmTests",
            "groups": "AlgorithmTests",
            "insecureKeyLog": "AlgorithmTests",
            "resumesSessions": "ResumptionTests",
        },
    )
    # The same settings on their way from the client to the TLS context.
    table.door(
        "TLSSettings",
        "TLSClientState.init",
        "||",
        " let settings = mutated(settings)",
        {
            "roots": "NameAndAddressTests",
            "clientIdentity": "ForeignOriginTests",
            "minimumVersion": "ClientSettingsTests",
            "maximumVersion": "ClientSettingsTests",
            "certificateRules": "ClientSettingsTests",
            "pins": "KeyPinningTests",
            "resumesSessions": "ClientSettingsTests",
        },
        name="TLSSettings of a client",
    )


def add_proxies(table):
    table.door(
        "Proxy",
        "ProxyEntry.init",
        "||",
        " let proxy = mutated(proxy)",
        {
            "credentials": ("ProxyTests", "value.credentials = nil"),
            "addresses": ("ProxyTests", "value.addresses = nil"),
            "lookup": ("ProxyTests", "value.lookup = value.lookup == .byProxy ? .byClient : .byProxy"),
            "tls": ("ProxySettingsTests", "value.tls = nil"),
            "encryptedClientHello": ("UnavailableClientHelloTests", "value.encryptedClientHello = .off"),
        },
    )
    table.place("Proxy.scheme", "Proxy.init", "self.scheme = |scheme|", ".http", "ProxyTests")
    table.place("Proxy.host", "Proxy.init", "self.host = |host|", '(try? HTTPHost("other.test")) ?? host', "ProxyTests")
    table.place("Proxy.port", "Proxy.init", "self.port = |port|", "port ^ 1", "ProxyTests")
    table.place(
        "Proxy.Credentials.user of Basic in UTF-8",
        "ProxyEntry.authorization", "|credentials.userBytes|", "credentials.user.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }",
        "ProxySettingsTests",
    )
    table.place(
        "Proxy.Credentials.password of Basic in UTF-8",
        "ProxyEntry.authorization", "|credentials.passwordBytes|", "credentials.password.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }",
        "ProxySettingsTests",
    )
    table.place(
        "Proxy.Credentials.user of SOCKS",
        "SOCKSMessages.authentication", "|credentials.userBytes|", "credentials.passwordBytes", "ProxyTests",
    )
    table.place(
        "Proxy.Credentials.password of SOCKS",
        "SOCKSMessages.authentication", "|credentials.passwordBytes|", "credentials.userBytes", "ProxyTests",
    )
    table.place(
        "Basic of a request in UTF-8",
        "BasicAuthenticator.init", "|Array(user.utf8)|", "user.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }",
        "ProxySettingsTests", members="Request.authenticator",
    )
    table.place(
        "Basic of a request in UTF-8, the password",
        "BasicAuthenticator.init", "|Array(password.utf8)|", "password.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }",
        "ProxySettingsTests", members="Request.authenticator",
    )
    table.door(
        "ProxySettings",
        "ProxyEntries.init",
        "||",
        " let settings = mutated(settings)",
        {"forHTTP": "ProxyTests", "forHTTPS": "ProxyTests", "exceptions": "ProxyTests"},
    )
    table.place(
        "ProxySettings.fromEnvironment", "ProxySettings.fromEnvironment", "try from(|environmentValue|)", "{ _ in nil }",
        "ProxySettingsTests",
    )


def add_repetition(table):
    table.door(
        "RetryPolicy",
        "Attempts.sendInAttempts",
        "|original.retries ?? retries|",
        "(original.retries ?? retries).map({ mutated($0) })",
        {
            "attempts": "PolicySettingsTests",
            "statuses": "PolicySettingsTests",
            "retriesFailures": "PolicySettingsTests",
            "repeatsAnyMethod": "RetryTests",
            "delay": "PolicySettingsTests",
            "longestDelay": "PolicySettingsTests",
            "budget": "RetryTests",
        },
    )
    table.door(
        "RedirectPolicy",
        "Redirects.follow",
        "|request.redirects ?? policy|",
        "mutated(request.redirects ?? policy)",
        {
            "isFollowing": "RedirectTests",
            "limit": "PolicySettingsTests",
            "insecureAllowsDowngrade": "RedirectTests",
            "carriesBodyAcrossOrigins": "RedirectTests",
            "sendsReferer": "RedirectTests",
            "extraCrossOriginFields": "RedirectTests",
            "longestDelay": "RedirectDelayTests",
            "decide": "RedirectTests",
        },
    )
    table.place(
        "RedirectPolicy.extraCrossOriginFields of the client's fields",
        "ClientFields.crossing", "|policy.extraCrossOriginFields|", "[]", "PolicySettingsTests",
    )
    table.place(
        "RedirectPolicy.deliver", "RedirectPolicy.deliver", "policy.isFollowing = |false|", "true", "RedirectTests"
    )
    table.place(
        "RedirectPolicy.follow",
        "RedirectPolicy.follow", "|RedirectPolicy()|", "RedirectPolicy.deliver", "PolicySettingsTests",
    )


def add_decoding(table):
    table.door(
        "DecodingSettings",
        "ContentDecoding.init",
        "||",
        " let settings = mutated(settings)",
        {
            "isEnabled": "DecodingTests",
            "codings": "DecodingSettingsTests",
            "maximumSize": "DecodingSettingsTests",
            "maximumRatio": "DecodingSettingsTests",
            "unratedSize": "DecodingSettingsTests",
            "maximumCodings": "DecodingSettingsTests",
            "maximumInputWithoutOutput": "NoOutputTests",
        },
    )
