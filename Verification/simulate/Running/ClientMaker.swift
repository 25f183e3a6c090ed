internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import DirectResolvers

/// Makes the client's settings from the plan.
struct ClientMaker {
    private let world: World
    private let plan: ClientPlan
    /// The run of the program that the client is for, if it keeps files.
    private let run: ProgramRun?
    /// The call that it is for, if it is for one alone.
    private let number: Int?

    init(_ world: World, run: ProgramRun? = nil, alone number: Int? = nil) {
        (self.world, self.run, self.number) = (world, run, number)
        plan = world.plan.client
    }

    var configuration: HTTPClient.Configuration {
        var settings = HTTPClient.Configuration()
        settings.loop = world.loop
        settings.tls.roots = .only([.der(Material.shared.root)])
        world.settings?.set(&settings.tls)
        settings.maximumConnectionsPerOrigin = plan.perOrigin
        settings.maximumConnections = plan.connections
        settings.maximumConnectionUses = plan.usesPerConnection
        if let time = plan.idleTimeout { settings.idleTimeout = .microseconds(time) }
        if let limit = plan.responseLimit { settings.timeouts.response = .microseconds(limit) }
        if let limit = plan.queueLimit { settings.timeouts.queue = .microseconds(limit) }
        if let limit = plan.readLimit { settings.timeouts.read = .microseconds(limit) }
        if let limit = plan.connectLimit {
            settings.timeouts.connect = .microseconds(limit)
            settings.timeouts.tls = .microseconds(limit)
        }
        if let limit = plan.continueLimit { settings.timeouts.continue = .microseconds(limit) }
        if let bytes = plan.slowestBytes {
            settings.timeouts.minimumSpeed = Timeouts.Speed(bytes: bytes, in: .microseconds(plan.slowestTime))
        }
        if let limit = plan.bodyLimit { settings.maximumBufferedBody = limit }
        if plan.isOldTLS { settings.tls.maximumVersion = .tls12 }
        if plan.acceptsAnyCertificate == true {
            settings.tls.insecureOverride = InsecureCertificateOverride { _ in true }
        }
        setDecoding(&settings.decoding)
        if let limit = plan.transfers?.silentContent {
            settings.decoding.maximumInputWithoutOutput = UInt64(limit)
        }
        if let transfers = plan.transfers, !transfers.isPerRequest {
            settings.receivingRate = transfers.receivingRate.map { RateLimit(bytesPerSecond: $0) }
            settings.sendingRate = transfers.sendingRate.map { RateLimit(bytesPerSecond: $0) }
        }
        for host in world.plan.hosts.indices where world.plan.hosts[host].hasSocket == true {
            guard let origin = try? HTTPURL(world.origin(host)).origin else { continue }
            settings.unixSockets[origin] = try? UnixSocketPath(world.socketPath(ofHost: host))
        }
        if plan.hasBase == true {
            let start =
                world.plan.hosts[0].strictness == nil ? world.origin(0) : "http://\(world.authority(0))"
            settings.baseURL = try? HTTPURL(start + "/folder")
        }
        if plan.bindsAddress == true { settings.localBinding = .address(World.localAddress) }
        setSecurity(&settings)
        if let hedging = plan.hedging {
            var policy = HedgingPolicy()
            if let delay = hedging.delay { policy = HedgingPolicy(after: .microseconds(delay)) }
            settings.hedging = policy
        }
        if plan.hasOwnSecret { settings.headers.add("X-Client-Key", World.clientSecret) }
        if plan.rebuildsRedirects {
            settings.redirects.decide = { redirect in
                let next = redirect.next
                return HTTPClient.Request(next.method, redirect.url, headers: next.headers, body: next.body)
            }
        }
        if plan.retries {
            var policy = RetryPolicy()
            policy.repeatsAnyMethod = plan.repeatsAnyMethod
            settings.retries = policy
        }
        if plan.triesNextOnWrongCertificate { settings.dialling.onCertificateMismatch = .tryNext }
        if plan.keepsCookies {
            let isSmall = world.plan.fillsJars
            let jar = isSmall ? CookieJar(perSite: Plan.cookiesOfSite, total: Plan.cookiesOfAll) : CookieJar()
            if isSmall { world.smallJars.append(jar) }
            settings.cookies = run?.cookies ?? jar
        }
        if plan.caches {
            settings.cache =
                world.plan.keeping?.cache == nil
                ? world.cache : run?.cache
        }
        if plan.rebuildsRequests { settings.interceptors = [rebuild] }
        if plan.hasNetworkInterceptor { settings.networkInterceptors = [{ try await $1($0) }] }
        if plan.addsUserBelowCache { settings.networkInterceptors.append(addUser) }
        if plan.observes { settings.observer = { [world] _ in world.kernel.count("caller: event observed") } }
        setAddresses(&settings)
        setEncryption(&settings)
        setProxy(&settings)
        if let number { setUser(ofCall: number, &settings) }
        return settings
    }

    /// What the client of a user has, in place of what the world's client has.
    private func setUser(ofCall number: Int, _ settings: inout HTTPClient.Configuration) {
        guard let user = world.plan.calls[number].user else { return }
        settings.cookies = nil
        switch user {
        case .jar, .otherJar: settings.cookies = world.jar(ofCall: number)
        case .certificate: settings.tls.clientIdentity = Material.shared.identities[0]
        case .key: settings.headers.add("X-User-Key", "key")
        case .anyone: break
        }
    }

    /// An interceptor that builds the request anew from its parts.
    private var rebuild: Interceptor {
        { request, forward in
            let copy = HTTPClient.Request(
                request.method,
                try request.url,
                headers: request.headers,
                body: request.body
            )
            return try await forward(copy)
        }
    }

    /// A network interceptor that adds the user of the call, if the call itself has no credentials.
    private var addUser: Interceptor {
        { [world] request, forward in
            var request = request
            let path = try request.url.text.split(separator: "/").last ?? ""
            let number = request.headers["X-Call"].flatMap { Int($0) } ?? Int(path)
            if request.headers["Authorization"] == nil, let number {
                request.headers.add("Authorization", world.user(ofCall: number))
            }
            return try await forward(request)
        }
    }

    private func setSecurity(_ settings: inout HTTPClient.Configuration) {
        if plan.keepsHSTS == true {
            let store = run?.hsts ?? HSTSStore()
            for host in world.plan.hosts.indices where world.plan.hosts[host].strictness == .known {
                guard let name = try? DomainName(Material.name(host)) else { continue }
                store.add(HSTSStore.Entry(name, until: UnixTime.now.advanced(bySeconds: 1_000_000_000)))
            }
            settings.hsts = store
        }
        guard plan.logsInPerRequest != true else { return }
        for host in world.plan.hosts.indices where world.plan.hosts[host].digest != nil {
            guard let origin = try? HTTPURL(world.origin(host)).origin else { continue }
            settings.authenticators[origin] = authenticator(ofHost: host)
        }
    }

    /// The login at a host.
    func authenticator(ofHost host: Int) -> any Authenticator {
        let (user, password) = (World.user(ofHost: host), world.secret(ofHost: host))
        let isBasic = world.plan.hosts[host].digest?.isBasic == true
        return isBasic ? .basic(user: user, password: password) : .digest(user: user, password: password)
    }

    /// The TLS settings of a request that has its own.
    func settings(_ kind: CallPlan.TLS, forHost host: Int) -> TLSSettings {
        var tls = configuration.tls
        switch kind {
        case .oldVersion: tls.maximumVersion = .tls12
        case .otherRoots: tls.roots = .only([.der(Material.shared.otherRoot)])
        case .rightPin, .wrongPin:
            let pin = kind == .rightPin ? Material.shared.pins[host] : nil
            let text = "sha256/" + Base64.encode(pin?.sha256 ?? [UInt8](repeating: 7, count: 32))
            try? tls.pins.add([text], for: Material.name(host))
        case .staple: tls.stapling = .required
        case .identity, .otherIdentity:
            tls.clientIdentity = Material.shared.identities[kind.identityNumber - 1]
        }
        return tls
    }

    private func setDecoding(_ settings: inout DecodingSettings) {
        switch plan.decoding {
        case .none: settings.isEnabled = false
        case .gzip: settings.codings = [.gzip]
        case .deflate: settings.codings = [.deflate]
        case .both: settings.codings = [.gzip, .deflate]
        }
    }

    private func setAddresses(_ settings: inout HTTPClient.Configuration) {
        if let resolvers = world.plan.resolvers {
            settings.resolver = ResolverMaker(world: world, plan: resolvers, run: run).resolver(
                tls: settings.tls
            )
            return
        }
        switch plan.resolving {
        case .system, .request: return
        case .map where world.settings != nil:
            let hosts = world.plan.hosts.indices.map {
                (name: world.name($0), endpoints: world.endpoints(ofHost: $0))
            }
            if let map = try? world.settings?.map(hosts) { settings.addresses = map }
        case .map:
            for host in world.plan.hosts.indices {
                guard let pattern = try? HostPattern(world.name(host)) else { continue }
                try? settings.addresses.set(world.endpoints(ofHost: host), for: pattern)
            }
        case .resolver: settings.resolver = WorldResolver(world: world)
        case .cachingResolver:
            settings.resolver = CachingResolver(WorldResolver(world: world), loop: world.loop)
        }
    }

    private func setEncryption(_ settings: inout HTTPClient.Configuration) {
        guard let encryption = world.plan.encryption else { return }
        settings.encryptedClientHello = .whenAvailable
        let list = encryption.isStale ? Material.shared.staleConfigs : Material.shared.configs
        for host in world.plan.hosts.indices {
            guard let name = try? DomainName(world.name(host)) else { continue }
            settings.addresses.setEncryptedClientHello(list, for: name)
        }
    }

    private func setProxy(_ settings: inout HTTPClient.Configuration) {
        let text: String
        switch plan.proxy {
        case .none: return
        case .http: text = "http://\(Material.proxyName):3128"
        case .https: text = "https://\(Material.proxyName):3129"
        case .socks, .socksLocal: text = "socks5://\(Material.proxyName):1080"
        }
        guard var proxy = try? Proxy(text) else { return world.fault("setup", "no proxy \(text)") }
        if plan.hasProxyCredentials {
            proxy.credentials = Proxy.Credentials(user: "user", password: World.proxySecret)
        }
        if plan.proxy == .socksLocal || plan.resolvesForProxy == true { proxy.lookup = .byClient }
        if plan.proxy == .https { proxy.tls = settings.tls }
        let exceptions = (world.plan.peers?.exceptions).flatMap { try? ProxyExceptions($0.rawValue) }
        settings.proxy = ProxySettings(proxy, except: exceptions ?? ProxyExceptions())
        if let login = world.plan.peers?.login, let url = try? HTTPURL(text) {
            let (user, password) = (World.proxyUser, World.proxySecret)
            settings.proxyAuthenticators[url.origin] =
                login.digest.isBasic
                ? .basic(user: user, password: password) : .digest(user: user, password: password)
        }
    }
}

/// The world has no such name.
enum LookupError: Error {
    case unknownName
}

/// A resolver that answers after a while.
struct WorldResolver: Resolver {
    let world: World

    var name: String { "world" }

    func resolve(_ host: DomainName, port: UInt16, context: ResolveContext) async throws -> Resolution {
        world.kernel.count("resolver: question")
        guard let number = world.host(named: host.text) else { throw LookupError.unknownName }
        await world.kernel.sleep(microseconds: world.plan.hosts[number].resolveTime)
        return Resolution(
            world.endpoints(ofHost: number),
            timeToLive: .milliseconds(200),
            source: .resolver("world")
        )
    }
}
