internal import DirectCore
internal import DirectHTTP
internal import DirectResolvers

extension NamedResolver {
    /// Makes a resolver. Reads its file, or its secret.
    ///
    /// - Parameter forRecords: Whether it is asked for HTTPS records. The system's resolver knows none, so
    ///   the DNS servers of its file are asked in its place.
    init(_ spec: ResolverSpec, _ options: Options, forRecords: Bool = false) throws(UsageError) {
        var name = spec.name
        let resolver: any Resolver
        var settings = ServiceSettings()
        settings.families = options.family.map { $0 == .v4 ? .v4 : .v6 } ?? .both
        settings.attemptTimeout = options.settings.timeout
        settings.tls.roots = options.settings.roots
        if forRecords { settings.httpsRecords = .awaited }
        switch spec {
        case .system where forRecords:
            let servers = Self.servers(in: try UserFiles.contents(of: Self.systemFile, upTo: 1 << 20))
            name = "system, by DNS at " + servers.map(\.description).joined(separator: ", ")
            resolver = PlainDNS(servers, settings)
        case .system: resolver = SystemResolverOfRuns()
        case .dns(let server, let subnet): resolver = PlainDNS([server], clientSubnet: subnet, settings)
        case .https(let host, let path, let servers):
            resolver = DNSOverHTTPS(.https(servers, name: host), path: path, settings)
        case .alibaba(let account, let servers):
            let secret = try Self.secret("SNI_PROBE_ALIBABA_SECRET")
            resolver = AlibabaHTTPDNS(account: account, secret: secret, .https(servers), settings)
        case .dnspod(let id, let servers):
            let token = try Self.secret("SNI_PROBE_DNSPOD_TOKEN")
            resolver = DNSPodHTTPDNS(.https(servers), id: id, token: token, settings)
        case .hosts(let path): resolver = try Self.hosts(path)
        }
        self.init(name: name, resolver: resolver)
    }

    private static let systemFile = "/etc/resolv.conf"

    /// The servers that resolv.conf(5) names, of which only three count.
    static func servers(in file: [UInt8]) -> [Endpoint] {
        let lines = String(decoding: file, as: UTF8.self).split(whereSeparator: \.isNewline)
        let words = lines.map { $0.split(whereSeparator: \.isWhitespace) }
        let named = words.filter { $0.count > 1 && $0[0] == "nameserver" }.compactMap {
            IPAddress(String($0[1]))
        }
        // Without any it is the one on this machine.
        let servers = named.isEmpty ? [IPAddress(.v4, high: 0, low: 0x7F00_0001)] : named
        return servers.prefix(3).map { Endpoint($0) }
    }

    private static func hosts(_ path: String) throws(UsageError) -> StaticMap {
        do throws(StaticMapError) {
            return try StaticMap(hostsFile: path)
        } catch {
            throw UsageError("--resolver hosts: \(error)", code: ExitCode.noInput)
        }
    }

    /// Returns a secret from the environment: the variable itself, or the file that the same name with
    /// `_FILE` gives.
    private static func secret(_ variable: String) throws(UsageError) -> String? {
        if let value = Console.variable(variable) { return value }
        guard let path = Console.variable(variable + "_FILE") else { return nil }
        return try UserFiles.secret(at: path)
    }
}

extension ResolverReply {
    /// Takes the addresses of one family, or of both.
    init(_ answer: NamedResolver.Answer, family: IPAddress.Family?) {
        let none = ResolverError(answer.resolver, .noAddresses)
        let life = (try? answer.result.get())?.timeToLive
        let result = answer.result.flatMap { resolution -> Result<[IPAddress], ResolverError> in
            let addresses = resolution.endpoints.map(\.address).filter {
                family == nil || $0.family == family
            }
            return addresses.isEmpty ? .failure(none) : .success(addresses)
        }
        let seconds = life.map { Int($0.components.seconds) }
        self.init(resolver: answer.resolver, result: result, timeToLive: seconds, time: answer.time)
    }
}

extension Options {
    /// The source of HTTPS records, if they are wanted. Reads files and secrets.
    var recordSource: RecordSource? {
        get throws(UsageError) {
            guard settings.triesECH else { return nil }
            let asked = try (resolvers.isEmpty ? [.system] : resolvers).map { (spec) throws(UsageError) in
                try NamedResolver(spec, self, forRecords: true)
            }
            return RecordSource(asked, limit: settings.timeout)
        }
    }

    /// The resolvers of the command line. Reads their files and secrets.
    var namedResolvers: [NamedResolver] {
        get throws(UsageError) {
            try resolvers.map { (spec) throws(UsageError) in try NamedResolver(spec, self) }
        }
    }
}
