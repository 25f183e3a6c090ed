internal import DirectCore
public import DirectHTTP
internal import DirectIO
internal import DirectJSON

/// A resolver that uses DNS over JSON, in the format that Google, Cloudflare and Alibaba's public DNS share.
///
///     let servers = ServiceServers.https(["223.5.5.5", "223.6.6.6"], name: "dns.alidns.com")
///     let resolver = DNSOverJSON(servers)                               // Google: name: "dns.google"
///     let other = DNSOverJSON(cloudflare, path: "/dns-query")
public struct DNSOverJSON: Resolver, ServiceResolver {
    let client: ServiceClient

    /// Creates a resolver that queries these servers.
    ///
    /// - Parameters:
    ///   - servers: The servers.
    ///   - path: The path of the service's URL.
    ///   - settings: Time limits, TLS and address families.
    public init(
        _ servers: ServiceServers,
        path: String = "/resolve",
        _ settings: ServiceSettings = ServiceSettings()
    ) {
        client = ServiceClient(DNSJSONFormat(path: path), servers, settings)
    }
}

/// JSON requests and responses.
struct DNSJSONFormat: RecordFormat {
    let path: String
    /// Signs the requests; `nil` for services that ask for no signature.
    var key: AlibabaDNSKey?

    var name: String { key == nil ? "DNS over JSON" : "Alibaba Public DNS" }
    var isSigned: Bool { key != nil }

    func question(
        _ host: DomainName,
        type: UInt16,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> ServiceQuestion {
        var target = "\(path)?name=\(host)&type=\(type)"
        if let key { target += try key.parameters(for: host, at: time) }
        let headers: HTTPHeaders = ["Accept": "application/dns-json, application/json"]
        return ServiceQuestion(target: target, headers: headers, type: type)
    }

    func answer(
        _ response: BufferedResponse,
        host: DomainName,
        question: ServiceQuestion
    ) throws(ResolverError.Reason) -> ServiceAnswer {
        try response.checkIsSuccess()
        let root = try JSONPart(response.body)
        try Self.checkQuestion(root, is: host, question.type)
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
        if question.type == DNSType.https {
            try Self.take(records.filter { $0.type == question.type && $0.name == name }, into: &answer)
            response.boundByFreshness(&answer)
            return answer
        }
        for record in records where record.type == question.type && record.name == name {
            answer.addresses.append(try record.data.address(of: question.type == DNSType.a ? .v4 : .v6))
            answer.bound(record.seconds)
        }
        response.boundByFreshness(&answer)
        return answer
    }

    /// Throws if the response repeats another question, as one of a cache on the way may. Some services
    /// repeat none, or one that is not in a list.
    private static func checkQuestion(
        _ root: JSONPart,
        is host: DomainName,
        _ type: UInt16
    ) throws(ResolverError.Reason) {
        guard let part = try root.optional("Question") else { return }
        let questions = (try? part.elements()) ?? [part]
        for question in questions {
            let name = DNSJSONRecord.name(try question.member("name").text())
            let asked = try question.member("type").integer(in: 0...0xFFFF)
            guard name == host, asked == Int64(type) else { throw .malformed("it answers another question") }
        }
    }

    /// Takes the HTTPS records, which services write as zone files do (RFC 9460, section 2.1; RFC 3597,
    /// section 5).
    private static func take(
        _ records: [DNSJSONRecord],
        into answer: inout ServiceAnswer
    ) throws(ResolverError.Reason) {
        var bindings: [ServiceBinding?] = []
        for record in records {
            bindings.append(ServiceBinding(text: try record.data.text()))
            answer.bound(record.seconds)
        }
        answer.bindings = ServiceBindings(bindings)
    }

    private static func alias(
        of name: DomainName,
        in records: [DNSJSONRecord]
    ) throws(ResolverError.Reason) -> DNSJSONRecord? {
        records.first { $0.type == DNSType.alias && $0.name == name }
    }

    /// The longest alias chain that is followed.
    private static let mostAliases = 16
}

/// An entry of the member `Answer`.
private struct DNSJSONRecord {
    /// The owner name. `nil` if it cannot be in a URL.
    let name: DomainName?
    let type: UInt16
    let seconds: Int64
    let data: JSONPart

    init(_ part: JSONPart) throws(ResolverError.Reason) {
        name = DNSJSONRecord.name(try part.member("name").text())
        type = UInt16(try part.member("type").integer(in: 0...0xFFFF))
        // The range of the DNS message that the JSON was made from (RFC 2181, section 8).
        seconds = try part.member("TTL").integer(in: 0...Int64(UInt32.max))
        data = try part.member("data")
    }

    static func name(_ text: String) -> DomainName? {
        try? DomainName(text.hasSuffix(".") ? String(text.dropLast()) : text)
    }
}
