internal import DirectJSON

extension Job {
    /// The job as a line of the contract.
    ///
    /// - Parameter proxy: The authority of a proxy for clients that cannot be told an address.
    func json(id: Int, proxy: String?) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("id", .number(id)), ("topic", .string(topic)), ("vector", .string(vector)),
            ("roots", .string(roots)),
            ("connect", .object(members: routes.map { ($0.authority, .texts($0.addresses)) })),
        ]
        if let proxy { members.append(("proxy", .string(proxy))) }
        let settings = settings.members
        if !settings.isEmpty { members.append(("settings", .object(members: settings))) }
        if !kept.isEmpty { members.append(("keep", .texts(kept.map(\.rawValue).sorted()))) }
        if let time { members.append(("time", .number(text: "\(time)"))) }
        if let dialling = self.settings.dialling { members.append(("stagger", .number(dialling.stagger))) }
        members.append(("timeout", .number(timeout * patience)))
        members.append(("requests", .array(requests.map { .object(members: $0.members) })))
        return .object(members: members)
    }
}

extension Job.Request {
    fileprivate var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [("url", .string(url))]
        if method != "GET" { members.append(("method", .string(method))) }
        if !fields.isEmpty { members.append(("headers", .pairs(fields))) }
        if let body { members.append(("body", .string(body.latin1))) }
        if isStream { members.append(("stream", .bool(true))) }
        if time != 0 { members.append(("after", .number(text: "\(time)"))) }
        if !upgrade.isEmpty { members.append(("upgrade", .texts(upgrade))) }
        return members
    }
}

extension Job.Settings {
    fileprivate var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        if follows { members.append(("follow", .bool(true))) }
        if redirects != Job.RedirectSettings() { members.append(("redirects", redirects.json)) }
        if !fields.isEmpty { members.append(("headers", .pairs(fields))) }
        if decodes { members.append(("decode", .bool(true))) }
        if readsEvents { members.append(("events", .bool(true))) }
        if let versions {
            members.append(
                ("versions", .texts([versions.lowerBound.rawValue, versions.upperBound.rawValue]))
            )
        }
        if !accepts.isEmpty { members.append(("accept", .texts(accepts.map(\.description)))) }
        if let certificate { members.append(("certificate", .string(certificate))) }
        if !resumes { members.append(("resume", .bool(false))) }
        if let ech { members.append(("ech", .string(ech))) }
        if usesMap { members.append(("addresses", .string("map"))) }
        if let addressTexts { members.append(("addressTexts", .texts(addressTexts))) }
        if let dialling, dialling.isOfAnotherKind { members.append(("dialling", dialling.json)) }
        if let leniency { members.append(("leniency", leniency)) }
        if let limits { members.append(("limits", limits)) }
        if let decoding { members.append(("decoding", decoding)) }
        if let stale { members.append(("stale", .number(text: "\(stale)"))) }
        if let proxy { members.append(("proxy", .object(members: proxy.members))) }
        if let credentials { members.append(("credentials", .object(members: credentials.members))) }
        return members
    }
}

extension Job.RedirectSettings {
    fileprivate var json: JSONValue {
        var members: [(String, JSONValue)] = []
        if let limit { members.append(("limit", .number(limit))) }
        if allowsDowngrade { members.append(("downgrade", .bool(true))) }
        if !carriesBodyAcrossOrigins { members.append(("bodyAcrossOrigins", .bool(false))) }
        if sendsReferer { members.append(("referer", .bool(true))) }
        if !surviving.isEmpty { members.append(("surviving", .texts(surviving))) }
        return .object(members: members)
    }
}

extension Job.ProxyChoice {
    fileprivate var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [("at", .string(place))]
        if let user { members.append(("user", .string(user))) }
        if let password { members.append(("password", .string(password))) }
        if isAnsweredByDigest { members.append(("digest", .bool(true))) }
        if isGivenAddresses { members.append(("addresses", .bool(true))) }
        return members
    }
}

extension Job.Credentials {
    fileprivate var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [("user", .string(user)), ("password", .string(password))]
        if !schemes.isEmpty { members.append(("schemes", .texts(schemes))) }
        return members
    }
}

extension RouteVector.Dialling {
    fileprivate var json: JSONValue {
        var members: [(String, JSONValue)] = []
        if keepsOrder { members.append(("keepsOrder", .bool(true))) }
        if passesOverWrongServers { members.append(("skipsWrongServers", .bool(true))) }
        return .object(members: members)
    }
}

extension JobOutcome {
    /// The outcome as a line of the contract.
    func json(id: Int) -> JSONValue {
        switch self {
        case .done(let outcomes):
            .object(["id": .number(id), "results": .array(outcomes.map { .object(members: $0.members) })])
        case .left(let why): .object(["id": .number(id), "left": .string(why)])
        case .broken(let why), .crashed(let why), .hung(let why):
            .object(["id": .number(id), "broken": .string(why)])
        }
    }
}

extension RequestOutcome {
    fileprivate var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)]
        switch result {
        case .response(let response): members = response.members
        case .failed(let kind, let detail, let text):
            var error: [(String, JSONValue)] = []
            if let kind { error.append(("kind", .string(kind))) }
            if let detail { error.append(("detail", .string(detail))) }
            members = [("error", .object(members: error + [("text", .string(text))]))]
        case .crashed(let why): members = [("error", .object(["text": .string(why)]))]
        }
        if let attempts {
            let pairs = attempts.map { JSONValue.texts([$0.address, "\($0.ending)"]) }
            members.append(("attempts", .array(pairs)))
        }
        return members
    }
}

extension ReportedResponse {
    fileprivate var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        if let status { members.append(("status", .number(status))) }
        if let reason { members.append(("reason", .string(reason))) }
        if let version { members.append(("version", .string(version))) }
        members.append(("headers", .pairs(fields)))
        members.append(("body", .string(body.latin1)))
        if let trailers { members.append(("trailers", .pairs(trailers))) }
        if let interims { members.append(("interims", .array(interims.map { .number(Int($0)) }))) }
        if let url { members.append(("url", .string(url))) }
        if let use { members.append(("use", .string(use))) }
        if let events { members.append(("events", .array(events.map { .texts($0) }))) }
        return members
    }
}

extension ClientDescription {
    /// The first line of a client program.
    var json: JSONValue {
        .object([
            "contract": .number(Self.contract), "name": .string(name), "version": .string(version),
            "codings": .texts(codings), "reasons": .bool(givesReasons),
        ])
    }
}

extension JSONValue {
    fileprivate static func texts(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

    fileprivate static func pairs(_ fields: [(name: [UInt8], value: [UInt8])]) -> JSONValue {
        .array(fields.map { .texts([$0.name.latin1, $0.value.latin1]) })
    }

    fileprivate static func pairs(_ fields: [(name: String, value: String)]) -> JSONValue {
        .array(fields.map { .texts([$0.name, $0.value]) })
    }
}
