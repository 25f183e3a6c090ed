internal import DirectCore
public import DirectHTTP
internal import DirectIO

/// A resolver that uses HTTPDNS in DNSPod's format.
///
/// The request is `GET /d?dn=…&ttl=1`, the response a line of text such as `192.0.2.1;192.0.2.2,600`.
///
///     let resolver = DNSPodHTTPDNS(.insecureHTTP(["119.29.29.29"]))
///
/// The service has one question for each family: with `families = .both` it is asked two, which it may count
/// as two.
public struct DNSPodHTTPDNS: Resolver, ServiceResolver, CustomStringConvertible, CustomReflectable {
    let client: ServiceClient

    /// Creates a resolver that queries these servers.
    ///
    /// - Parameters:
    ///   - servers: The servers.
    ///   - id: The ID of the account, if the service needs one.
    ///   - token: The token of the account, if the service needs one.
    ///   - clientAddress: The client address for which the service chooses its answers. `nil` lets the
    ///     service use the address that the query comes from.
    ///   - settings: Time limits, TLS and address families.
    public init(
        _ servers: ServiceServers,
        id: String? = nil,
        token: String? = nil,
        clientAddress: IPAddress? = nil,
        _ settings: ServiceSettings = ServiceSettings()
    ) {
        let format = DNSPodFormat(id: id, token: token.map(Secret.init), clientAddress: clientAddress)
        client = ServiceClient(format, servers, settings)
    }
}

/// DNSPod's requests and lines of text.
struct DNSPodFormat: ServiceFormat {
    let id: String?
    let token: Secret?
    let clientAddress: IPAddress?

    var name: String { "DNSPod HTTPDNS" }

    func questions(
        _ host: DomainName,
        families: ServiceSettings.Families,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> [ServiceQuestion] {
        families.types.map { type in
            ServiceQuestion(target: target(host, isForIPv6: type == DNSType.aaaa), type: type)
        }
    }

    private func target(_ host: DomainName, isForIPv6: Bool) -> String {
        var target = "/d?dn=\(host)&ttl=1"
        if isForIPv6 { target += "&type=aaaa" }
        if let clientAddress { target += "&ip=\(clientAddress.withoutZone.description.asQueryValue)" }
        if let id { target += "&id=\(id.asQueryValue)" }
        if let token { target += "&token=\(token.text.asQueryValue)" }
        return target
    }

    func answer(
        _ response: BufferedResponse,
        host: DomainName,
        question: ServiceQuestion
    ) throws(ResolverError.Reason) -> ServiceAnswer {
        try response.checkIsSuccess()
        guard var text = response.text else { throw .malformed("it is not text") }
        while let last = text.last, last.isNewline || last == " " { text.removeLast() }
        var answer = ServiceAnswer()
        guard !text.isEmpty else { return answer }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw .malformed("it has more than one comma") }
        if parts.count == 2 {
            guard let seconds = UInt32(parts[1]), parts[1].first != "+" else {
                throw .malformed("the time to live is not a number of seconds")
            }
            answer.bound(Int64(seconds))
        }
        for (number, part) in parts[0].split(separator: ";", omittingEmptySubsequences: false).enumerated() {
            guard let address = IPAddress(String(part)), address.zone == nil else {
                throw .malformed("address \(number + 1) is invalid")
            }
            answer.addresses.append(address)
        }
        return answer
    }
}
