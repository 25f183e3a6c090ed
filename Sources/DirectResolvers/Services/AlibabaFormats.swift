internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import DirectTLS

/// Version one of the interface: `GET /{account}/d?host=…`, or `sign_d` with `s = md5(host-secret-t)`.
struct AlibabaOneFormat: ServiceFormat {
    let account: String
    let secret: Secret?
    let clientAddress: IPAddress?

    var name: String { "Alibaba HTTPDNS" }

    func questions(
        _ host: DomainName,
        families: ServiceSettings.Families,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> [ServiceQuestion] {
        var target = "/\(account.asQueryValue)/\(secret == nil ? "d" : "sign_d")?host=\(host)"
        target += "&query=\(families.asAlibabaQuery)"
        if let secret {
            let end = time.advanced(bySeconds: AlibabaSignature.lifetime).seconds
            let signature = MessageDigest.md5.digest(of: Array("\(host)-\(secret.text)-\(end)".utf8))
            guard let signature else { throw .refused("this machine's OpenSSL has no MD5") }
            target += "&t=\(end)&s=\(Hex.encode(signature))"
        }
        if let clientAddress { target += "&ip=\(clientAddress.withoutZone.description.asQueryValue)" }
        return [ServiceQuestion(target: target)]
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
        var answer = ServiceAnswer()
        let lists = [("ipsv6", IPAddress.Family.v6), ("ips", .v4)]
        for (member, family) in lists {
            for part in try root.optional(member)?.elements() ?? [] {
                let address = try part.address()
                guard address.family == family else {
                    throw .malformed("\(part.path) is an address of the other family")
                }
                answer.addresses.append(address)
            }
        }
        if let seconds = try root.optional("ttl")?.integer(in: 0...Int64(UInt32.max)) {
            answer.bound(seconds)
        }
        return answer
    }
}

/// Version two of the interface: `GET /v2/d?…`, with one signature over all parameters.
struct AlibabaTwoFormat: ServiceFormat {
    let account: String
    let secret: Secret?
    let clientAddress: IPAddress?

    var name: String { "Alibaba HTTPDNS" }

    func questions(
        _ host: DomainName,
        families: ServiceSettings.Families,
        at time: UnixTime
    ) throws(ResolverError.Reason) -> [ServiceQuestion] {
        let end = time.advanced(bySeconds: AlibabaSignature.lifetime).seconds
        var parameters = [
            ("id", account), ("m", "0"), ("exp", String(end)), ("v", "1.0"), ("dn", host.text),
            ("q", families.asAlibabaQuery),
        ]
        if let clientAddress { parameters.append(("cip", clientAddress.withoutZone.description)) }
        if let secret {
            let text = parameters.sorted { $0.0 < $1.0 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
            let signature = MessageDigest.hmacSHA256(Array(text.utf8), key: Array(secret.text.utf8))
            guard let signature else { throw .refused("this machine's OpenSSL has no HMAC-SHA256") }
            parameters.append(("s", Hex.encode(signature)))
        }
        let query = parameters.map { "\($0.0)=\($0.1.asQueryValue)" }.joined(separator: "&")
        return [ServiceQuestion(target: "/v2/d?\(query)")]
    }

    func answer(
        _ response: BufferedResponse,
        host: DomainName,
        question: ServiceQuestion
    ) throws(ResolverError.Reason) -> ServiceAnswer {
        try AlibabaSignature.check(response)
        let root = try JSONPart(response.body)
        let code = try root.member("code").text()
        guard code == "success" else { throw .refused(AlibabaSignature.shortened(code)) }
        if let mode = try root.optional("mode")?.integer(in: 0...9), mode != 0 {
            throw .malformed("mode is \(mode), and 0 was asked for")
        }
        for part in try root.member("data").member("answers").elements() {
            guard try part.member("dn").domainName() == host else { continue }
            return try answer(part)
        }
        throw .malformed("data.answers does not have the name")
    }

    private func answer(_ part: JSONPart) throws(ResolverError.Reason) -> ServiceAnswer {
        var answer = ServiceAnswer()
        let lists = [("v6", IPAddress.Family.v6), ("v4", .v4)]
        for (member, family) in lists {
            guard let answers = try part.optional(member) else { continue }
            let addresses = try answers.optional("ips")?.elements() ?? []
            for part in addresses {
                let address = try part.address()
                guard address.family == family else {
                    throw .malformed("\(part.path) is an address of the other family")
                }
                answer.addresses.append(address)
            }
            // A family without addresses has a time to live, too. It must not shorten that of the other family.
            if !addresses.isEmpty, let time = try answers.optional("ttl") {
                answer.bound(try time.integer(in: 0...Int64(UInt32.max)))
            }
        }
        return answer
    }
}

/// The parts that both versions of the interface share.
enum AlibabaSignature {
    /// The validity of a signed query in seconds. The service accepts up to ten minutes; the rest allows for
    /// clocks that differ.
    static let lifetime: Int64 = 300

    /// Throws unless the status is 200. The service sends an error's name in the member `code`.
    static func check(_ response: BufferedResponse) throws(ResolverError.Reason) {
        guard response.status != .ok else { return }
        var text = "HTTP status \(response.status.code)"
        if let part = try? JSONPart(response.body), let code = try? part.member("code").text() {
            text += ", \(shortened(code))"
        }
        throw .refused(text)
    }

    /// Returns the first 64 characters of a server's text with control characters replaced, for use in a log line.
    static func shortened(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(64).map { scalar in
                    scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar
                }
            )
        )
    }
}
