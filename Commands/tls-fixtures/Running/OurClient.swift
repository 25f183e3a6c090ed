internal import CommandKit
internal import DirectCore
internal import DirectCoding
internal import DirectHTTP
internal import DirectHTTP1

/// The client of this package.
struct OurClient: VectorClient {
    var isOurs: Bool { true }
    /// Whether a request may take no longer than its job says. In this process the phases have limits of
    /// their own, and the time of a whole request depends on the machine's load.
    var keepsTimeLimit = false
    /// Most of the time is spent waiting.
    var width: Int { 24 }

    var facts: ClientDescription {
        ClientDescription(
            name: "direct-http",
            version: PackageVersion.text,
            codings: ContentCoding.available.map(\.name),
            givesReasons: true
        )
    }

    func run(_ job: Job) async -> JobOutcome {
        if job.time != nil, job.kept.contains(.hsts) {
            return .left("its list of HSTS takes no time of a job")
        }
        if let credentials = job.settings.credentials, credentials.schemes.count != 1 {
            return .left("it is told the scheme of its credentials")
        }
        let visit: OurVisit
        do {
            visit = try OurVisit(job, keepsTimeLimit: keepsTimeLimit)
        } catch let error as FieldError {
            return .broken("\(error)")
        } catch {
            return .done(
                job.requests.map { _ in RequestOutcome(.failed(kind: "badSettings", text: "\(error)")) }
            )
        }
        var outcomes: [RequestOutcome] = []
        for request in job.requests { outcomes.append(await visit.run(request)) }
        return .done(outcomes)
    }
}

/// One job of our client, with what is kept between its requests.
private final class OurVisit {
    private let job: Job
    private let configuration: HTTPClient.Configuration
    private let clock = JobClock()
    /// The passing of time, if it is held.
    private let held: HeldRun?
    /// One for all requests: it remembers nonces.
    private let authenticator: (any Authenticator)?
    /// The client of all requests, if it keeps connections or sessions.
    private let shared: HTTPClient?

    init(_ job: Job, keepsTimeLimit: Bool) throws {
        self.job = job
        let clock = self.clock
        var configuration = HTTPClient.Configuration()
        try job.settings.apply(to: &configuration)
        configuration.tls.roots = .only([.pemFile(job.roots)])
        let isGivenAddresses = job.settings.proxy?.isGivenAddresses ?? true
        if isGivenAddresses, job.settings.usesMap || job.routes.count > 1 {
            for route in job.routes {
                try configuration.addresses.set(
                    route.addresses.map { Endpoint(stringLiteral: $0) },
                    // The host as in a URL, which may end with a dot.
                    for: .host(try HTTPURL("http://\(route.authority)/").host),
                    port: route.port
                )
            }
        }
        authenticator = job.settings.credentials.map { credentials in
            credentials.schemes == ["digest"]
                ? .digest(user: credentials.user, password: credentials.password)
                : .basic(user: credentials.user, password: credentials.password)
        }
        // Nothing that is not in the job may be connected to.
        configuration.resolver = NoResolver()
        configuration.networkInterceptors = [Self.guarding(job.routes)]
        if !job.kept.contains(.sessions) { configuration.tls.resumesSessions = false }
        if job.kept.contains(.cookies) { configuration.cookies = DatedJar { clock.now } }
        if job.kept.contains(.hsts) { configuration.hsts = HSTSStore() }
        if job.kept.contains(.cache) {
            let staleTime = job.settings.stale.map { Duration.seconds($0) }
            configuration.cache = try ResponseCache(folder: nil, staleWhenUnreachable: staleTime) {
                clock.now
            }
        }
        if !job.kept.contains(.connections) { configuration.maximumIdleConnections = 0 }
        let limit = Duration.milliseconds(job.timeout * job.patience)
        let phaseLimit = min(Self.phaseLimit * job.patience, limit)
        // With a clock that is held, a wait tells by its length what it is for.
        let tlsLimit = job.quiet == nil ? phaseLimit : phaseLimit * 2
        configuration.timeouts = Timeouts(
            connect: phaseLimit,
            tls: tlsLimit,
            write: phaseLimit,
            response: phaseLimit,
            read: phaseLimit,
            total: keepsTimeLimit ? limit : nil
        )
        let dialling = configuration.dialling
        held = job.quiet.map { quiet in
            HeldRun(
                pauses: quiet.mapValues { isConnected in
                    dialling.keepsOrder ? isConnected ? tlsLimit : phaseLimit : dialling.stagger
                }
            )
        }
        if let held { (configuration.loop, configuration.observer) = (held.loop, held.observer) }
        self.configuration = configuration
        shared =
            job.kept.isDisjoint(with: [.connections, .sessions]) ? nil : HTTPClient(configuration)
    }

    /// The time limit of each phase. It is the cost of every server that never answers, and is long enough
    /// for those that do, even on a loaded machine.
    private static let phaseLimit = Duration.milliseconds(2500)

    /// Fails every request for a host and port that are not in the job.
    private static func guarding(_ routes: [Job.Route]) -> Interceptor {
        let places = routes.compactMap { Place(url: "http://\($0.authority)/") }
        return { request, forward in
            let place = Place(url: try request.url.text)
            guard places.contains(where: { $0.host == place?.host && $0.port == place?.port }) else {
                throw HTTPError(.resolve, .noAddresses)
            }
            return try await forward(request)
        }
    }

    func run(_ asked: Job.Request) async -> RequestOutcome {
        clock.set(job.time.map { UnixTime(seconds: $0 + asked.time) })
        let client = shared ?? HTTPClient(configuration)
        let request = request(asked)
        let outcome =
            if let held {
                await held { await answer(to: request, client: client) }
            } else {
                await answer(to: request, client: client)
            }
        await configuration.cache?.settle()
        return outcome
    }

    private func request(_ asked: Job.Request) -> Request {
        var headers = HTTPHeaders()
        for field in asked.fields { headers.add(field.name.latin1, bytes: field.value) }
        var request = Request(HTTPMethod(stringLiteral: asked.method), asked.url, headers: headers)
        if let body = asked.body {
            request.body = asked.isStream ? .stream(AsyncStream(once: body)) : .bytes(body)
        }
        // The client writes this field itself.
        if asked.body != nil, request.headers["Expect"] == "100-continue" {
            request.headers.remove("Expect")
            request.expectsContinue = true
        }
        request.authenticator = authenticator
        if !asked.upgrade.isEmpty { request.upgrade = asked.upgrade }
        let isWithRequest = !job.settings.usesMap && job.routes.count == 1 && job.settings.proxy == nil
        let texts =
            job.settings.addressTexts
            ?? (isWithRequest ? job.settings.spelling ?? job.routes[0].addresses : nil)
        request.addresses = texts.map { $0.map { Endpoint(stringLiteral: $0) } }
        return request
    }

    private func answer(to request: Request, client: HTTPClient) async -> RequestOutcome {
        do {
            guard job.settings.readsEvents else { return RequestOutcome(try await client.fetch(request)) }
            let response = try await client.send(request)
            var outcome = ReportedResponse(
                status: Int(response.status.code),
                fields: [],
                body: [],
                events: []
            )
            for try await event in response.body.events {
                outcome.events?.append([event.type, event.data, event.id])
            }
            return RequestOutcome(.response(outcome))
        } catch let error as HTTPError {
            return RequestOutcome(error)
        } catch {
            return RequestOutcome(.failed(kind: nil, text: "\(type(of: error)): \(error)"))
        }
    }
}

extension Job.Settings {
    fileprivate func apply(to configuration: inout HTTPClient.Configuration) throws {
        if !fields.isEmpty {
            configuration.headers = HTTPHeaders()
            for field in fields { configuration.headers.add(field.name.latin1, bytes: field.value) }
        }
        configuration.redirects.isFollowing = follows
        if let limit = redirects.limit { configuration.redirects.limit = limit }
        configuration.redirects.insecureAllowsDowngrade = redirects.allowsDowngrade
        configuration.redirects.carriesBodyAcrossOrigins = redirects.carriesBodyAcrossOrigins
        configuration.redirects.sendsReferer = redirects.sendsReferer
        configuration.redirects.extraCrossOriginFields = redirects.surviving
        configuration.decoding.isEnabled = decodes
        configuration.tls.resumesSessions = resumes
        if let versions {
            guard let lowest = versions.lowerBound.forUs, let highest = versions.upperBound.forUs else {
                throw TLSError.badSettings("no such version of TLS")
            }
            (configuration.tls.minimumVersion, configuration.tls.maximumVersion) = (lowest, highest)
        }
        if !accepts.isEmpty {
            let accepts = accepts
            configuration.tls.insecureOverride = InsecureCertificateOverride {
                accepts.contains(Ending($0.fault, .tls))
            }
        }
        if let certificate {
            let pem = try Files.contents(of: certificate)
            configuration.tls.clientIdentity = ClientIdentity(certificateChain: pem, privateKey: pem)
        }
        if let ech { configuration.encryptedClientHello = .config(try ECHConfigList(base64: ech)) }
        configuration.dialling.stagger = .milliseconds(RouteVector.Dialling().stagger)
        if let dialling {
            configuration.dialling.stagger = .milliseconds(dialling.stagger)
            configuration.dialling.keepsOrder = dialling.keepsOrder
            configuration.dialling.onCertificateMismatch =
                dialling.passesOverWrongServers ? .tryNext : .fail
        }
        if let proxy { try proxy.apply(to: &configuration) }
        if let leniency { configuration.leniency = try StrictDecoder.decode(from: leniency) }
        if let limits { configuration.limits = try StrictDecoder.decode(from: limits) }
        if let decoding {
            let bounds = try StrictDecoder.decode(DecodingBounds.self, from: decoding)
            let limits = bounds.limits
            configuration.decoding.maximumSize = limits.size
            configuration.decoding.maximumRatio = limits.ratio
            configuration.decoding.unratedSize = limits.unratedSize
            configuration.decoding.maximumInputWithoutOutput = limits.inputWithoutOutput
            configuration.decoding.maximumCodings = bounds.codings
        }
    }
}

extension Job.ProxyChoice {
    fileprivate func apply(to configuration: inout HTTPClient.Configuration) throws {
        var proxy = try Proxy(place)
        if let user, let password {
            if isAnsweredByDigest {
                let origin = try HTTPURL("http://\(place)/").origin
                configuration.proxyAuthenticators[origin] = .digest(user: user, password: password)
            } else {
                proxy.credentials = Proxy.Credentials(user: user, password: password)
            }
        }
        configuration.proxy = ProxySettings(proxy)
    }
}

extension ProtocolVersion {
    /// The version in the client's type, or `nil` for versions that the client does not support.
    fileprivate var forUs: TLSVersion? {
        switch self {
        case .tls10, .tls11: nil
        case .tls12: .tls12
        case .tls13: .tls13
        }
    }
}

/// A time that stands still until it is set. Without a time it is the system's.
private final class JobClock: Sendable {
    private let time = Locked<UnixTime?>(nil)

    var now: UnixTime { time.withLock { $0 } ?? .now }

    func set(_ now: UnixTime?) { time.withLock { $0 = now } }
}

/// A cookie jar that takes the time from the job.
private final class DatedJar: CookieStore {
    private let jar = CookieJar()
    private let clock: @Sendable () -> UnixTime

    init(clock: @escaping @Sendable () -> UnixTime) {
        self.clock = clock
    }

    func cookies(for url: HTTPURL) -> [Cookie] { jar.cookies(for: url, at: clock()) }

    func take(_ headers: HTTPHeaders, from url: HTTPURL) { jar.take(headers, from: url, at: clock()) }
}

/// Resolves no name, because every address is in the job.
private struct NoResolver: Resolver {
    var name: String { "no resolver" }

    func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        throw ResolverError(name, .notListed)
    }
}

extension AsyncStream<[UInt8]> {
    /// A stream that yields the bytes once.
    init(once bytes: [UInt8]) {
        self.init { continuation in
            continuation.yield(bytes)
            continuation.finish()
        }
    }
}
