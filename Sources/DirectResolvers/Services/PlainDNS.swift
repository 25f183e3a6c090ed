internal import DirectCore
public import DirectHTTP
internal import DirectIO

/// A resolver that asks DNS servers over UDP, and over TCP where an answer does not fit (RFC 1035).
///
///     let resolver = PlainDNS([Endpoint("192.0.2.53")])
///
/// Nothing is encrypted: everyone on the path can read the question and forge the answer. A forger off the
/// path has to guess a random port and a random identifier. The client still authenticates the server that it
/// reaches.
public struct PlainDNS: Resolver, ServiceResolver {
    let client: ServiceClient

    /// Creates a resolver that asks these servers. A server without a port is asked at port 53.
    ///
    /// - Parameters:
    ///   - servers: The servers, in the order in which they are tried at first.
    ///   - clientSubnet: The network that answers are to be for; `nil` sends none.
    ///   - settings: Time limits and address families. The TLS settings have no effect.
    public init(
        _ servers: [Endpoint],
        clientSubnet: ClientSubnet? = nil,
        _ settings: ServiceSettings = ServiceSettings()
    ) {
        let format = DatagramFormat(subnet: clientSubnet)
        client = ServiceClient(format, .insecureHTTP(servers), settings)
    }
}

/// DNS messages in datagrams.
struct DatagramFormat: SocketFormat, RecordFormat {
    let subnet: PlainDNS.ClientSubnet?

    var name: String { "DNS" }

    func question(
        _ host: DomainName,
        type: UInt16,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> ServiceQuestion {
        ServiceQuestion(target: "", type: type)
    }

    func answer(
        _ question: ServiceQuestion,
        for host: DomainName,
        from server: Endpoint,
        limit: @escaping @Sendable () -> Duration,
        within context: ResolveContext
    ) async throws -> ServiceAnswer {
        var exchange = DNSExchange(host, type: question.type, server: server, limit: limit, within: context)
        var message = try await exchange.ask(.modern(subnet: subnet?.optionData))
        if Self.mayKnowNoEDNS(message) { message = try await exchange.ask(.plain) }
        return try ServiceAnswer(message)
    }

    /// Whether a server may have failed because the question had EDNS: those from before it have several
    /// answers to that (RFC 2671, section 5.3; RFC 6891, section 7).
    private static func mayKnowNoEDNS(_ answer: DNSAnswer) -> Bool {
        switch answer.code {
        case DNSAnswer.formatError, DNSAnswer.notImplemented: true
        case DNSAnswer.serverFailure: !answer.hasOptions
        default: false
        }
    }
}
