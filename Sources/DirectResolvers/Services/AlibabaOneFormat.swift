internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import DirectTLS

/// Version one of the interface: `GET /{account}/d?host=…`, or `sign_d` with `s = md5(host-secret-t)`.
struct AlibabaOneFormat: ServiceFormat {
    let account: String
    let secret: Secret?
    let clientAddress: IPAddress?
    var custom = SDNSParameters()

    var name: String { "Alibaba HTTPDNS" }
    var isSigned: Bool { secret != nil }

    func questions(
        _ host: DomainName,
        families: ServiceSettings.Families,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> [ServiceQuestion] {
        [try question(path: secret == nil ? "d" : "sign_d", hosts: host.text, families: families, at: time)]
    }

    func answer(
        _ response: BufferedResponse,
        host: DomainName,
        question: ServiceQuestion
    ) throws(ResolverError.Reason) -> ServiceAnswer {
        try AlibabaSignature.check(response)
        let root = try JSONPart(response.body)
        let given = try root.member("host")
        guard try given.domainName() == host else { throw .malformed("host is another name") }
        return try answer(root)
    }

    /// Returns the request for one name, or for several with commas between them.
    private func question(
        path: String,
        hosts: String,
        families: ServiceSettings.Families,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> ServiceQuestion {
        var target = "/\(account.asQueryValue)/\(path)?host=\(hosts)&query=\(families.asAlibabaQuery)"
        if let secret {
            let end = time.advanced(bySeconds: AlibabaSignature.lifetime).seconds
            let signature = MessageDigest.md5.digest(of: Array("\(hosts)-\(secret.text)-\(end)".utf8))
            guard let signature else { throw .refused("this machine's OpenSSL has no MD5") }
            target += "&t=\(end)&s=\(Hex.encode(signature))"
        }
        if let clientAddress { target += "&ip=\(clientAddress.withoutZone.description.asQueryValue)" }
        for (key, value) in try custom.checked() { target += "&\(key)=\(value.asQueryValue)" }
        return ServiceQuestion(target: target)
    }

    /// Reads the addresses of one name. `ips` has those of IPv4, unless `type` is that of IPv6 records: an
    /// answer for several names has an entry for each name and type.
    private func answer(_ root: JSONPart) throws(ResolverError.Reason) -> ServiceAnswer {
        var answer = ServiceAnswer()
        let isV6 = try root.optional("type")?.integer(in: 0...Int64(UInt16.max)) == Int64(DNSType.aaaa)
        let lists = [("ipsv6", IPAddress.Family.v6), ("ips", isV6 ? .v6 : .v4)]
        for (member, family) in lists {
            answer.add(try root.optional(member)?.elements() ?? [], of: family)
        }
        if let fault = answer.fault, answer.addresses.isEmpty { throw fault }
        if let seconds = try root.optional("ttl")?.integer(in: 0...Int64(UInt32.max)) {
            answer.bound(seconds)
        }
        return answer
    }
}

extension AlibabaOneFormat: BatchFormat, ScheduledFormat {
    var mostNames: Int { AlibabaBatch.mostNames }

    func question(
        _ hosts: [DomainName],
        families: ServiceSettings.Families,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> ServiceQuestion {
        let path = secret == nil ? "resolve" : "sign_resolve"
        return try question(path: path, hosts: AlibabaBatch.list(hosts), families: families, at: time)
    }

    func answers(_ response: BufferedResponse) throws(ResolverError.Reason) -> BatchAnswers {
        try AlibabaSignature.check(response)
        var answers: BatchAnswers = [:]
        for part in try JSONPart(response.body).member("dns").elements() {
            guard let host = try? part.member("host").domainName() else { continue }
            let new = part.result(answer)
            answers[host] = answers[host]?.adding(new) ?? new
        }
        return answers
    }

    var scheduleTarget: String { AlibabaBatch.scheduleTarget(account) }

    func scheduledServers(_ response: BufferedResponse) throws(ResolverError.Reason) -> [IPAddress] {
        try AlibabaBatch.scheduledServers(response)
    }
}
