internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import DirectTLS

/// Version two of the interface: `GET /v2/d?…`, with one signature over all parameters.
struct AlibabaTwoFormat: ServiceFormat {
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
        [try question(hosts: host.text, families: families, at: time)]
    }

    /// Returns the request for one name, or for several with commas between them.
    private func question(
        hosts: String,
        families: ServiceSettings.Families,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> ServiceQuestion {
        let end = time.advanced(bySeconds: AlibabaSignature.lifetime).seconds
        var parameters = [
            ("id", account), ("m", "0"), ("exp", String(end)), ("v", "1.0"), ("dn", hosts),
            ("q", families.asAlibabaQuery),
        ]
        parameters += try custom.checked()
        if let clientAddress { parameters.append(("cip", clientAddress.withoutZone.description)) }
        if let secret {
            let text = parameters.sorted { $0.0 < $1.0 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
            let signature = MessageDigest.hmacSHA256(Array(text.utf8), key: Array(secret.text.utf8))
            guard let signature else { throw .refused("this machine's OpenSSL has no HMAC-SHA256") }
            parameters.append(("s", Hex.encode(signature)))
        }
        let query = parameters.map { "\($0.0)=\($0.1.asQueryValue)" }.joined(separator: "&")
        return ServiceQuestion(target: "/v2/d?\(query)")
    }

    func answer(
        _ response: BufferedResponse,
        host: DomainName,
        question: ServiceQuestion
    ) throws(ResolverError.Reason) -> ServiceAnswer {
        for part in try parts(response) {
            guard try part.member("dn").domainName() == host else { continue }
            return try answer(part)
        }
        throw .malformed("data.answers does not have the name")
    }

    /// Returns the answers for each name.
    private func parts(_ response: BufferedResponse) throws(ResolverError.Reason) -> [JSONPart] {
        try AlibabaSignature.check(response)
        let root = try JSONPart(response.body)
        let code = try root.member("code").text()
        guard code == "success" else { throw .refused(AlibabaSignature.shortened(code)) }
        if let mode = try root.optional("mode")?.integer(in: 0...9), mode != 0 {
            throw .malformed("mode is \(mode), and 0 was asked for")
        }
        return try root.member("data").member("answers").elements()
    }

    private func answer(_ part: JSONPart) throws(ResolverError.Reason) -> ServiceAnswer {
        var answer = ServiceAnswer()
        let lists = [("v6", IPAddress.Family.v6), ("v4", .v4)]
        for (member, family) in lists {
            guard let answers = try part.optional(member) else { continue }
            let addresses = try answers.optional("ips")?.elements() ?? []
            answer.add(addresses, of: family)
            // A family without addresses has a time to live, too. It must not shorten that of the other
            // family.
            if !addresses.isEmpty, let time = try answers.optional("ttl") {
                answer.bound(try time.integer(in: 0...Int64(UInt32.max)))
            }
        }
        if let fault = answer.fault, answer.addresses.isEmpty { throw fault }
        return answer
    }
}

extension AlibabaTwoFormat: BatchFormat, ScheduledFormat {
    var mostNames: Int { AlibabaBatch.mostNames }

    func question(
        _ hosts: [DomainName],
        families: ServiceSettings.Families,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> ServiceQuestion {
        try question(hosts: AlibabaBatch.list(hosts), families: families, at: time)
    }

    func answers(_ response: BufferedResponse) throws(ResolverError.Reason) -> BatchAnswers {
        var answers: BatchAnswers = [:]
        for part in try parts(response) {
            guard let host = try? part.member("dn").domainName() else { continue }
            answers[host] = part.result(answer)
        }
        return answers
    }

    var scheduleTarget: String { AlibabaBatch.scheduleTarget(account) }

    func scheduledServers(_ response: BufferedResponse) throws(ResolverError.Reason) -> [IPAddress] {
        try AlibabaBatch.scheduledServers(response)
    }
}
