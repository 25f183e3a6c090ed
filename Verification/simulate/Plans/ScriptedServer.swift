internal import DirectHTTP

/// A server of a vector, whose answers are in it.
struct ScriptedServer {
    private let vector: JSON
    private let answers: [SequenceVector.Answer]
    /// The number of requests that have got one.
    private var count = 0
    /// Where it is: hosts with ports; none for a proxy.
    private var places: [String] { vector.members["for"]?.texts ?? [] }
    var hosts: [String] { places.compactMap { VectorPlace("http://" + $0)?.host } }

    /// `nil` if it does more than to answer what has arrived, or has a certificate that is not for it.
    init?(_ vector: JSON) {
        let all = vector.answers.list + [vector.then].filter { $0 != .null }
        (self.vector, answers) = (vector, all.compactMap { SequenceVector.Answer($0) })
        let names = vector.certificate.texts
        guard answers.count == all.count, names.isEmpty || hosts.allSatisfy(names.contains) else {
            return nil
        }
    }

    /// Where it redirects to.
    var targets: [String] {
        answers.flatMap { $0.head.split(separator: "\r\n") }.filter { $0.hasPrefix("Location: ") }
            .compactMap { VectorPlace(String($0.dropFirst(10)))?.host }
    }

    /// The answer to requests without a field, for each of its places.
    var challenges: [String: (unless: String, answer: SequenceVector.Answer)] {
        guard let answer = SequenceVector.Answer(vector.challenge.answer) else { return [:] }
        let all = places.isEmpty ? ["proxy"] : places
        return Dictionary(
            uniqueKeysWithValues: all.map { ($0, (vector.challenge.unless.text ?? "", answer)) }
        )
    }

    /// Returns a request that is to arrive, with its answer; `nil` if more is compared than here, or if the
    /// server has several names and the request tells none.
    mutating func arrival(_ request: JSON) -> SequenceVector.Arrival? {
        let words = request.line.text?.split(separator: " ").map(String.init) ?? []
        let digest = request.digest.members
        let named = request.headers.fields.first { $0.name == "Host" }?.value ?? request.sni.text
        guard words.count == 2, places.count < 2 || named != nil, !words[1].hasPrefix("{"),
            ["connection", "lists", "form", "version"].allSatisfy({ request.members[$0] == nil }),
            Set(digest.keys).isSubset(of: [
                "user", "password", "realm", "nonce", "uri", "algorithm", "qop", "opaque",
            ]),
            digest["qop"]?.text ?? "auth" == "auth", digest["algorithm"]?.text?.contains("512") != true
        else { return nil }
        let scheme = vector.certificate == .null ? "http" : "https"
        let origin =
            scheme + "://"
            + (places.first { named != nil && $0.hasPrefix(named ?? "") } ?? places.first ?? "")
        guard var place = VectorPlace(target: words[1], at: places.isEmpty ? nil : origin) else { return nil }
        place.isProxied = places.isEmpty
        var arrival = SequenceVector.Arrival(place: place, method: words[0])
        (arrival.body, arrival.fields) = (request.body.text, request.headers.fields)
        arrival.digest = request.digest
        arrival.answer =
            count < vector.answers.list.count || vector.then != .null
            ? answers[min(count, answers.count - 1)] : SequenceVector.Answer(content: "ok")
        count += 1
        return arrival
    }
}

extension VectorPlace {
    /// Where a request with this target is for.
    init?(target: String, at origin: String?) {
        let isPath = target.hasPrefix("/")
        guard !isPath || origin != nil else { return nil }
        self.init(isPath ? (origin ?? "") + target : target.contains("://") ? target : "http://" + target)
    }
}

extension SequenceVector.Answer {
    /// Reads an answer of a scripted server: bytes, or an object.
    fileprivate init?(_ vector: JSON) {
        guard vector.members.keys.allSatisfy(["close", "tunnel"].contains),
            let text = vector.text ?? vector.close.text ?? vector.tunnel.text
        else { return nil }
        self.init()
        (head, closes, isTunnel) = (text, vector.close != .null, vector.tunnel != .null)
    }
}

extension SequenceVector {
    /// Gives a client the settings that other clients get with a job (Fixtures/clients/README.md).
    func setAsJob(
        _ job: JSON,
        keeps: Set<String>,
        _ settings: inout HTTPClient.Configuration,
        proxy place: String
    ) {
        settings.redirects.isFollowing = job.follow.truth == true
        if !keeps.contains("connections") { settings.maximumIdleConnections = 0 }
        settings.tls.resumesSessions = keeps.contains("sessions")
        let credentials = job.credentials
        if let origin = (try? HTTPURL(steps[0].url))?.origin, credentials != .null {
            settings.authenticators[origin] = authenticator(
                credentials,
                isDigest: credentials.schemes.texts == ["digest"]
            )
        }
        guard job.proxy != .null, var proxy = try? Proxy("http://\(place)") else { return }
        if job.proxy.digest.truth == true, let url = try? HTTPURL("http://\(place)/") {
            settings.proxyAuthenticators[url.origin] = authenticator(job.proxy, isDigest: true)
        } else if let user = job.proxy.user.text, let password = job.proxy.password.text {
            proxy.credentials = Proxy.Credentials(user: user, password: password)
        }
        settings.proxy = ProxySettings(proxy)
    }

    private func authenticator(_ login: JSON, isDigest: Bool) -> any Authenticator {
        let (user, password) = (login.user.text ?? "", login.password.text ?? "")
        return isDigest ? .digest(user: user, password: password) : .basic(user: user, password: password)
    }
}
