public import DirectHTTP
internal import DirectIO
internal import DirectJSON

/// DNS as JSON, in the shape that Google, Cloudflare and Alibaba's public DNS share.
///
///     let servers = ServiceServers.https(["223.5.5.5", "223.6.6.6"], name: "dns.alidns.com")
///     let resolver = DNSOverJSON(servers)                               // Google: name: "dns.google"
///     let other = DNSOverJSON(cloudflare, path: "/dns-query")
public struct DNSOverJSON: Resolver {
    private let client: ServiceClient

    /// A resolver that asks these servers.
    public init(
        _ servers: ServiceServers,
        path: String = "/resolve",
        _ settings: ServiceSettings = ServiceSettings()
    ) {
        client = ServiceClient(DNSJSONFormat(path: path), servers, settings)
    }

    public var name: String { client.name }
    public var dependsOnPort: Bool { false }

    public func resolve(
        _ host: DomainName,
        port: UInt16,
        _ context: ResolveContext
    ) async throws -> Resolution {
        try await client.resolve(host, context)
    }

    public func forgetAll() {
        client.forgetAll()
    }
}

struct DNSJSONFormat: ServiceFormat {
    let path: String

    var name: String { "DNS over JSON" }

    func questions(
        _ host: DomainName,
        _ families: ServiceSettings.Families,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> [ServiceQuestion] {
        families.types.map { type in
            ServiceQuestion(
                target: "\(path)?name=\(host)&type=\(type)",
                headers: ["Accept": "application/dns-json, application/json"],
                type: type
            )
        }
    }

    func answer(
        _ response: FullResponse,
        _ host: DomainName,
        _ question: ServiceQuestion
    ) throws(ResolverError.Reason) -> ServiceAnswer {
        try response.checkIsSuccess()
        let root = try JSONPart(response.body)
        var answer = ServiceAnswer()
        try answer.note(code: root.member("Status").integer(in: 0...0xFFFF))
        if try root.optional("TC")?.flag() == true { throw .malformed("it is marked as truncated") }
        let records = try (root.optional("Answer")?.elements() ?? []).map(DNSJSONRecord.init)
        var name = host
        var steps = 0
        while let alias = try Self.alias(of: name, in: records) {
            steps += 1
            guard steps <= Self.mostAliases else { throw .malformed("Answer has aliases that do not end") }
            answer.bound(alias.seconds)
            name = try alias.data.domainName()
        }
        if steps > 0 { answer.canonicalName = name }
        for record in records where record.type == question.type && record.name == name {
            let address = try record.data.address()
            guard address.family == (question.type == DNSType.a ? .v4 : .v6) else {
                throw .malformed("\(record.data.path) is an address of the other family")
            }
            answer.addresses.append(address)
            answer.bound(record.seconds)
        }
        response.boundByFreshness(&answer)
        return answer
    }

    private static func alias(
        of name: DomainName,
        in records: [DNSJSONRecord]
    ) throws(ResolverError.Reason) -> DNSJSONRecord? {
        records.first { $0.type == DNSType.alias && $0.name == name }
    }

    private static let mostAliases = 16
}

private struct DNSJSONRecord {
    /// Nothing if no URL could have such a name.
    let name: DomainName?
    let type: UInt16
    let seconds: Int64
    let data: JSONPart

    init(_ part: JSONPart) throws(ResolverError.Reason) {
        name = DNSJSONRecord.name(try part.member("name").text())
        type = UInt16(try part.member("type").integer(in: 0...0xFFFF))
        // As in the messages it was made from (RFC 2181, section 8).
        seconds = try part.member("TTL").integer(in: 0...Int64(UInt32.max))
        data = try part.member("data")
    }

    private static func name(_ text: String) -> DomainName? {
        try? DomainName(text.hasSuffix(".") ? String(text.dropLast()) : text)
    }
}
