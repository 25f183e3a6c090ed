internal import DirectCore
internal import DirectHTTP
internal import DirectResolvers

/// A resolver of the run with the name that the output shows.
struct NamedResolver: Sendable {
    let name: String
    let resolver: any Resolver

    /// Makes a resolver. Reads its file, or its secret.
    init(_ spec: ResolverSpec, _ options: Options) throws(UsageError) {
        name = spec.name
        var settings = ServiceSettings()
        settings.families = options.family.map { $0 == .v4 ? .v4 : .v6 } ?? .both
        settings.attemptTimeout = options.settings.timeout
        settings.tls.roots = options.settings.roots
        switch spec {
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
        let bytes = try UserFiles.contents(of: path, upTo: 64 << 10)
        let text = String(decoding: bytes, as: UTF8.self)
        return String(text.prefix { $0 != "\n" && $0 != "\r\n" })
    }
}

extension HostReplies {
    /// Asks all resolvers at the same time.
    static func ask(
        _ resolvers: [NamedResolver],
        for host: DomainName,
        port: UInt16,
        family: IPAddress.Family?,
        context: ResolveContext
    ) async -> HostReplies {
        await withTaskGroup(of: (Int, ResolverReply).self) { group in
            for (index, resolver) in resolvers.enumerated() {
                group.addTask {
                    (index, await reply(of: resolver, for: host, port: port, family, context: context))
                }
            }
            var replies: [(Int, ResolverReply)] = []
            for await reply in group { replies.append(reply) }
            return HostReplies(host: host.text, replies: replies.sorted { $0.0 < $1.0 }.map(\.1))
        }
    }

    private static func reply(
        of resolver: NamedResolver,
        for host: DomainName,
        port: UInt16,
        _ family: IPAddress.Family?,
        context: ResolveContext
    ) async -> ResolverReply {
        let start = context.loop.now
        var seconds: Int?
        let result: Result<[IPAddress], ResolverError>
        let none = ResolverError(resolver.name, .noAddresses)
        do {
            let answer = try await resolver.resolver.resolve(host, port: port, context: context)
            seconds = answer.timeToLive.map { Int($0.components.seconds) }
            let addresses = answer.endpoints.map(\.address).filter { family == nil || $0.family == family }
            result = addresses.isEmpty ? .failure(none) : .success(addresses)
        } catch let error as ResolverError {
            result = .failure(error)
        } catch {
            result = .failure(ResolverError(resolver.name, .other(error)))
        }
        let time = context.loop.now.since(start)
        return ResolverReply(resolver: resolver.name, result: result, timeToLive: seconds, time: time)
    }
}

extension Options {
    /// The resolvers of the command line. Reads their files and secrets.
    var namedResolvers: [NamedResolver] {
        get throws(UsageError) {
            var named: [NamedResolver] = []
            for spec in resolvers { named.append(try NamedResolver(spec, self)) }
            return named
        }
    }
}
