"""The table of mutants. A mutant sets a member of the settings to its default at the door of its type. If several places read the
member, each has a mutant as well. A figure of a report becomes zero, `nil` or another figure."""

import re

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
    "RetryPolicy", "Attempts.sendInAttempts", "|original.request.retries ?? retries|", "(original.request.retries ?? retries).map({ mutated($0) })",
    {
        "PolicySettingsTests": "attempts statuses retriesFailures delay longestDelay",
        "RetryTests": "repeatsAnyMethod budget",
    },
)
table.door(
    "RedirectPolicy", "Redirects.follow", "|hop.request.redirects ?? policy|", "mutated(hop.request.redirects ?? policy)",
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
    ("HTTPClient.Configuration.vetting over a proxy", "Journey.checkVetting", "|dialler.settings.vetting|", "nil as AddressVetting?", "ProxyTests"),
    ("Request.url in the request line", "HTTPURL.targetAndAuthority", "absoluteTargetBytes : |targetBytes|,", '[UInt8(ascii: "/")]',
     "MessageConformanceTests"),
    ("Request.url in HTTPHost", "HTTPURL.targetAndAuthority", "targetBytes, |authorityBytes|)", 'Array("other.test".utf8)',
     "NameAndAddressTests"),
    ("Request.timeouts of prewarm", "Pipeline.hop", "|calls.call(for: request)|", 'calls.call(for: Request(.get, "http://a.test/"))',
     "ClientSettingsTests"),
    ("Request.addressMap where it is looked up", "Planner.chosenRoute", "|request.addressMap|", "StaticMap?.none",
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
# Where a wait takes the limit of its phase, the mutant names another one.
for member, where, at, limits in [
    ("queue", "Transport.firstFree", "|request.limit.deadline(.queue, from: start)|", "request.limit.timeouts.queue"),
    ("resolve of a resolver", "ResolverQuery.route", "|limit.deadline(.resolve, from: start)|", "limit.timeouts.resolve"),
    ("resolve of the system", "Journey.askSystem", "let deadline = |deadline(.resolve)|", "limit.timeouts.resolve"),
    ("resolve of a fallback", "Journey.next", "let deadline = |deadline(.resolve)|", "limit.timeouts.resolve"),
    ("connect", "Connector.openSocket(of:)", "|journey.deadline(.connect)|", "journey.limit.timeouts.connect"),
    ("connect of a Unix domain socket", "Connector.openSocket(to:)", "|journey.deadline(.connect)|", "journey.limit.timeouts.connect"),
    ("connect of a proxy's negotiation", "Journey.negotiate", "deadline: |deadline(.proxy)|", "limit.timeouts.connect"),
    ("tls", "Connector.secure", "|journey.deadline(.tls)|", "journey.limit.timeouts.tls"),
    ("write of a body", "Upload.wait", "|exchange.limit.deadline(.write, from: start)|", "exchange.timeouts.write"),
    ("write, for the end of a source", "Upload.waitForEnd", "|exchange.timeouts.write|", ""),
    ("write of a head", "Exchange.sendHead", "|limit.deadline(.write, from: connection.loop.now)|", "timeouts.write"),
    ("write of a raw stream", "RawStream.init", "|timeouts.write|", ""),
    ("response", "Exchange.receiveHead", "|limit.deadline(.response, from: sent)|", "timeouts.response"),
    ("response after an interim one", "Exchange.receiveHead", "restart(&deadline, stall: |timeouts.response|, after: upload)", ""),
    ("read of a head", "Exchange.receiveHead", "|timeouts.read|", ""),
    ("read of a body", "BodyReading.nextPiece", "|exchange.limit.deadline(.body, from: connection.loop.now)|", "exchange.timeouts.read"),
    ("continue", "Exchange.awaitContinue", "|timeouts.continue|", ""),
    ("total", "Call.init", "|timeouts.total|", ""),
]:
    piece, name = at.split("|")[1], f"Timeouts.{member}" + ("" if " " in member else " where it is read")
    tripled = f"IdleLimit(setByCaller: .nanoseconds(Int64(clamping: {limits or piece}.nanoseconds &* 3)))"
    wrong = f"{piece} &* 3" if member == "total" else tripled
    if limits: wrong = re.sub(r"deadline\(\.\w+", rf"\g<0>, stall: {tripled}", piece)
    suites = "UnixSocketTests" if "Unix" in name else "EarlyAnswerTests" if "source" in name else "PhaseLimitTests"
    table.place(name, where, at, wrong, suites)
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

# Reports: the facts, times and counts of HTTPTransaction and CallReport

for member, piece, becomes in [
    ("name", "connection.name", '""'),
    ("endpoint", "connection.endpoint", '"192.0.2.1:1"'),
    ("source", "connection.source", ".url"),
    ("proxy", "connection.path.proxy", "nil"),
    ("translatedAddress", "connection.path.translated", "nil"),
    ("localEndpoint", "connection.path.local", "nil"),
    ("tls", "connection.tls", "nil"),
    ("failedAttempts", "connection.search.failedAttempts.map(Attempt.init)", "[]"),
]:
    suites = {"proxy": "ProxyTests", "translatedAddress": "TranslationTests", "localEndpoint": "LocalBindingTests"}
    suites = suites.get(member, "ObserverTests")
    table.place(f"HTTPTransaction.{member}", f"HTTPTransaction.{member}", f"|{piece}|", becomes, suites)
table.place("HTTPTransaction.unixSocket", "HTTPTransaction.unixSocket", "{ |path| }", "nil", "UnixSocketTests")
for member, other in [("resolve", "connect"), ("connect", "resolve"), ("tls", "connect")]:
    time, its_own = f"HTTPTransaction.{member}Time", f"connection.times.{member}"
    table.place(time, time, f"|{its_own}|", "nil", "TimesTests")
    table.place(f"{time}, another one", time, f"|{its_own}|", f"connection.times.{other}", "TimesTests")
    table.place(f"{time} of a connection that was there", time, "wasIdle ? |nil|", its_own, "TimesTests")
for member, at, becomes in [
    ("requestTime", "|record.sent.since(record.start)|", "record.response.since(record.start)"),
    ("queueTime", "|.nanoseconds(Int64(clamping: record.queued))|", ".zero"),
    ("bodyTime", "|record.response|", "record.start"),
    ("totalTime", "|record.start|", "record.response"),
    ("responseTime", "|record.response.since(record.start)|", "record.sent.since(record.start)"),
]:
    table.place(f"HTTPTransaction.{member}", f"HTTPTransaction.{member}", at, becomes, "TimesTests")

# The sources of a transaction's facts

KNOWN = {"isReused", "requestTime", "responseTime", "resolveTime", "connectTime", "tlsTime", "failedAttempts"}
CLOSING = "|loop.now.since(start) - state.exchanges[place].start|"
for name, where, at, becomes in [
    ("isReused", "Transport.record", "|isReused| ? .reused", "false"),
    ("requestTime, responseTime from the wrong start", "Transport.record", "start: |request.start|,", "sent"),
    ("requestTime to the wrong end", "Transport.record", "sent: |sent|,", "request.start"),
    ("responseTime to the wrong end", "Transport.record", "response: |loop.now|,", "sent"),
    ("resolveTime of a resolver", "ResolverQuery.route", "|loop.now.since(start)|", "nil"),
    ("resolveTime of the system", "Journey.selection", "|loop.now.since(start)|", "nil"),
    ("resolveTime of a fallback", "Journey.next", "|loop.now.since(now)|", "nil"),
    ("resolveTime of a connection", "Dialler.connection", "|selection?.resolveTime|", "nil"),
    ("connectTime of a connection", "Dialler.connection", "|transport.connectTime|", ".zero"),
    ("tlsTime of a connection", "Dialler.connection", "|transport.tlsTime|", "nil"),
    ("failedAttempts of a connection", "Dialler.connection", "|arrival.failedAttempts|", "[]"),
    ("failedAttempts' elapsed time", "Journey.failedAttempts", "|attempt.elapsed|", ".zero"),
    ("connectTime of a link", "Connector.established", "|loop.now.since(start)|", ".zero"),
    ("tlsTime of a link", "Connector.secure", "|loop.now.since(start)|", ".zero"),
    ("connectTime with a proxy's negotiation", "Journey.negotiate", "|(transport.tlsTime ?? .zero)|", ".zero"),
    ("connectTime with the way to a proxy", "Journey.negotiate", "let time = |transport.connectTime| +", "Duration.zero"),
    ("connectTime with the TLS to a proxy", "Journey.negotiate", "|loop.now.since(start)|", ".zero"),
]:
    members = " ".join(f"HTTPTransaction.{word.strip(',')}" for word in name.replace("'", " ").split() if word.strip(",") in KNOWN)
    table.place(f"HTTPTransaction.{name}", where, at, becomes, "TimesTests", members=members)

for member, where, at, becomes, suites in [
    ("method", "ending", "method: |method|, url", ".delete", "TimesTests"),
    ("url", "ending", "url: |url|,", "nil", "ObserverTests"),
    ("outcome", "ending", "outcome: |outcome|,", ".cancelled", "ObserverTests"),
    ("duration", "ending", "|loop.now.since(start)|", ".zero", "TimesTests"),
    ("exchanges", "ending", "|state.exchanges|", "[]", "ObserverTests"),
    ("retryStop", "ending", "|state.retryStop|", "nil", "RetryReportTests"),
    ("Exchange.method", "beginExchange", "CallReport.Exchange(|method|,", ".delete", "TimesTests"),
    ("Exchange.url", "beginExchange", "CallReport.Exchange(method, |url|,", '(try? HTTPURL("http://other.test/")) ?? url', "ObserverTests"),
    ("Exchange.reason", "beginExchange", "|state.reason|, start: start", "nil", "ObserverTests"),
    ("Exchange.start", "beginExchange", "|loop.now.since(start)|", ".zero", "TimesTests"),
    ("Exchange.duration", "close", CLOSING, ".zero", "TimesTests"),
    ("Exchange.duration from the wrong start", "close", CLOSING, "loop.now.since(start)", "TimesTests"),
    ("Exchange.status", "beginBody", ".status = |status|", "nil", "ObserverTests"),
    ("Exchange.transaction", "beginBody", ".transaction = |transaction|", "nil", "ObserverTests"),
    ("Exchange.failedAttempts before a response", "beginBody", "|transaction.failedAttempts|", "[]", "ObserverTests"),
    ("Exchange.failedAttempts without a response", "fail", "|error?.attempts ?? []|", "[]", "ObserverTests"),
    ("Exchange.bodyBytes", "endBody", ".bodyBytes = |count|", "0", "ObserverTests"),
    ("Exchange.isBodyWhole", "endBody", ".isBodyWhole = |isWhole|", "!isWhole", "ObserverTests"),
    ("Exchange.error", "fail", ".error = |error|", "nil", "ObserverTests"),
]:
    table.place(f"CallReport.{member}", f"CallLog.{where}", at, becomes, suites)
for member, where, at, becomes in [
    ("resolverFailures", "noteFailure", "exchange.resolverFailures.append(|failure|)", "ResolverError(name, .notListed)"),
    ("requestBytes", "note", "exchange.requestBytes = |bytes|", "0"),
]:
    table.place(f"CallReport.Exchange.{member}", f"ExchangeLog.{where}", at, becomes, "ObserverTests")
table.place("CallEvent.time", "CallLog.tell", "|loop.now.since(start)|", ".zero", "TimesTests")
table.place("CallEvent.tags", "CallLog.tell", "call: number, tags: |tags|", "RequestTags()", "RequestTagTests")
table.place("CallEvent.call", "CallLog.tell", "CallEvent(call: |number|, tags", "0", "ObserverTests")
table.exempt("CallReport.Exchange.endpoint", "the endpoint of the transaction or of the error, which other figures are")
table.exempt("CallEvent.kind", "the event itself: each of its values is a figure of another member")
