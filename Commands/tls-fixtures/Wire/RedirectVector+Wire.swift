internal import DirectHTTP
internal import TLSFixtures

extension RedirectVector {
    /// Serves the redirects: two servers, one of them with TLS, to which all names lead.
    func trials(_ authority: WireAuthority) -> Trials {
        guard question.method != "CONNECT" else { return .unsuitable("a tunnel is not redirected") }
        guard question.addresses == nil else {
            return .unsuitable("addresses of the caller cannot be seen over a network")
        }
        // An invalid field value is refused before the redirect is looked at.
        let values = answers.flatMap(\.fields).map(\.value)
        guard values.allSatisfy({ $0.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 9 } }) else {
            return .unsuitable("a field value of the redirect is invalid")
        }
        let named = ([question.url] + sent.map(\.url)).compactMap(Place.init(url:))
        guard named.count == sent.count + 1 else { return .unsuitable("its URL has no host to connect to") }
        let places = named + traps(besides: named)
        return .plans([
            TrialPlan {
                let script = RedirectScript(answers)
                let servers = try NamedServers(places, authority: authority) { scheme in
                    .http { request in try script.answer(request, scheme: scheme) }
                }
                let job = job(routes: servers.routes, authority)
                var trial = Trial(job: job, on: servers) { outcome, facts in
                    differences(outcome, seen: script.requests, facts: facts)
                }
                // A fragment is not sent.
                if head.name.hasPrefix("fragment:") {
                    trial.reasonToLeave = { outcome in
                        let isSilent = outcome.last.response.map { $0.url == nil } ?? false
                        return isSilent ? "it does not tell the URL of a response" : nil
                    }
                }
                return trial
            }
        ])
    }

    /// Where a client may go that follows what it must not: every host in a `Location`, by both schemes, at
    /// each port that is in one.
    private func traps(besides named: [Place]) -> [Place] {
        let locations = answers.flatMap(\.fields).filter { $0.name == "Location" }.map(\.value.latin1)
        let words = locations.flatMap { text in
            text.lowercased().split { !$0.isASCII || !($0.isLetter || $0.isNumber || ".-".contains($0)) }
        }
        // 127.0.0.1 is what some write in other digits.
        let hosts = Set(words.map(String.init).filter { $0.contains(where: \.isLetter) } + ["127.0.0.1"])
        let ports = Set(words.compactMap { UInt16($0) }.filter { $0 > 0 })
        let others = ports.sorted().filter { ![80, 443].contains($0) }.map { "https://%:\($0)/" }
        return hosts.sorted().flatMap { host in
            (["http://%/", "https://%/"] + others).compactMap { Place(url: $0.replacing("%", with: host)) }
        }
        .filter { trap in !named.contains { $0.host == trap.host && $0.port == trap.port } }
    }

    private func job(routes: [Job.Route], _ authority: WireAuthority) -> Job {
        var request = Job.Request(url: question.url)
        request.method = question.method
        request.fields = question.fields.map { (Array($0.name.utf8), Array($0.value.utf8)) }
        request.body = question.body.map { Array($0.utf8) }
        request.isStream = question.isSentOnce
        var job = Job(
            topic: head.topic.rawValue,
            vector: head.name,
            roots: authority.rootFile,
            routes: routes,
            requests: [request]
        )
        job.settings.follows = settings.follows
        job.settings.redirects.limit = settings.limit
        job.settings.redirects.allowsDowngrade = settings.allowsDowngrade
        job.settings.redirects.carriesBodyAcrossOrigins = settings.carriesBodyAcrossOrigins
        job.settings.redirects.sendsReferer = settings.sendsReferer
        job.settings.redirects.surviving = settings.surviving
        job.settings.fields = settings.fields.map { (Array($0.name.utf8), Array($0.value.utf8)) }
        if settings.keepsCookies { job.kept.insert(.cookies) }
        if settings.keepsHSTS { job.kept.insert(.hsts) }
        return job
    }

    private func differences(
        _ outcome: JobOutcome,
        seen: [Seen],
        facts: ClientDescription
    ) -> [Difference] {
        // Some clients write methods in upper case, whatever the caller does.
        let isLax = !facts.givesReasons
        let seen = isLax ? seen.map(\.inUpperCase) : seen
        let wanted = sent.map { $0.overNetwork(question, inUpperCase: isLax) }
        let lines = (wanted.map(\.line), seen.map(\.line))
        let requests = zip(wanted, seen).enumerated().flatMap { index, pair in
            pair.0.differences(from: pair.1).map { $0.found(in: "\(index + 1)") }
        }
        let ends = endDifferences(outcome.last, facts: facts)
        let amount = Difference.between("requests", expected: lines.0, got: lines.1)
        guard lines.0.count > lines.1.count, lines.0.starts(with: lines.1) else {
            return amount + requests + ends
        }
        let right = isToRedirect(after: seen.count) ? head.right : .choice
        return amount.asLess.judged(by: right) + requests + ends.asLess.judged(by: right)
    }

    private func endDifferences(_ last: RequestOutcome, facts: ClientDescription) -> [Difference] {
        switch (ending, last.result) {
        case (.answered(let status, let url), .response(let response)):
            let statuses = response.status.map { Difference.between("status", expected: status, got: $0) }
            guard let got = response.url else { return statuses ?? [] }
            guard !facts.givesReasons else {
                return (statuses ?? []) + Difference.between("URL", expected: url, got: got)
            }
            let (wanted, told) = (Self.told(url), Self.told(got))
            let urls = Difference.between("URL", expected: wanted.text, got: told.text)
            // What it asked for has been seen; how it spells that is its own.
            let isAboutFragment = head.name.hasPrefix("fragment:") && wanted.fragment != told.fragment
            return (statuses ?? []) + (isAboutFragment ? urls : urls.judged(by: .choice))
        case (.fault(let fault), .failed(_, let detail, _)):
            return facts.givesReasons ? Difference.between("error", expected: fault, got: detail) : []
        case (.answered(let status, _), _):
            let found = [Difference(what: "ending", expected: "answered \(status)", got: last.word)].asLess
            // A client may tell of an error by an error.
            return status >= 400 ? found.judged(by: .choice) : found
        case (.fault, .response(let response))
        where !facts.givesReasons && response.status.map { (300..<400).contains($0) } == true:
            // Other clients may hand out the redirect that they do not follow.
            return []
        case (.fault(let fault), _):
            return [Difference(what: "ending", expected: "error \(fault)", got: last.word)]
        }
    }

    /// A URL as every client may tell it, and its fragment.
    private static func told(_ text: String) -> (text: String, fragment: String?) {
        let url = try? HTTPURL(text)
        return (url?.withoutCredentials.text ?? text, url?.fragment)
    }

    /// A Host as all clients would write it: it has no case, and has the port of the scheme if the URL has it
    /// (RFC 9112, section 3.2) or not (RFC 9110, section 4.2.3).
    static func authority(of host: String?, scheme: String) -> String {
        guard let host = host?.lowercased() else { return "none" }
        let port = scheme == "https" ? ":443" : ":80"
        return host.hasSuffix(port) ? String(host.dropLast(port.count)) : host
    }

    /// Whether a client that is told to follow redirects has to follow the one after so many requests. A user
    /// agent may follow them, and is to take care with methods that are not safe (RFC 9110, section 15.4);
    /// some stay with the scheme.
    private func isToRedirect(after count: Int) -> Bool {
        guard count > 0 else { return true }
        let schemes = sent[(count - 1)...count].map { $0.url.prefix { $0 != ":" } }
        return schemes[0] == schemes[1]
            && ["GET", "HEAD", "OPTIONS", "TRACE"].contains(sent[count - 1].method)
    }
}

/// Gives the answers in turn and records the requests.
private final class RedirectScript: Sendable {
    private let seen = Locked<[RedirectVector.Seen]>([])
    private let answers: [RedirectVector.Answer]

    init(_ answers: [RedirectVector.Answer]) {
        self.answers = answers
    }

    var requests: [RedirectVector.Seen] { seen.withLock { $0 } }

    func answer(_ request: FixtureRequest, scheme: String) throws -> FixtureReply {
        let text = try request.text
        let seen = RedirectVector.Seen(
            method: request.method,
            url: "\(scheme)://\(RedirectVector.authority(of: request.host, scheme: scheme))\(request.target)",
            fields: request.headers.fields.map { ($0.name, $0.value) },
            body: text.isEmpty ? "none" : text,
            isFromNetwork: true
        )
        let index = self.seen.withLock { all in
            all.append(seen)
            return all.count - 1
        }
        guard index < answers.count else { return .status(200) }
        var bytes = Array("HTTP/1.1 \(answers[index].status) X\r\nContent-Length: 0\r\n".utf8)
        for field in answers[index].fields {
            bytes += Array("\(field.name): ".utf8) + field.value + Array("\r\n".utf8)
        }
        return .raw(bytes + Array("\r\n".utf8))
    }
}
