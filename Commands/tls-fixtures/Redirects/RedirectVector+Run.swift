internal import DirectHTTP

extension RedirectVector {
    /// Runs the vector with a client whose transport is replaced by the answers.
    func differences() async -> [Difference] {
        let network = ScriptedNetwork(answers)
        let client = HTTPClient { settings in
            self.settings.apply(to: &settings)
            settings.transport = { request in try await network.answer(request) }
        }
        return await differences(of: client) { network.requests.map(Seen.init) }
    }

    /// Sends the request and compares the requests that the network saw and the outcome with the expectation.
    func differences(of client: HTTPClient, seen: () -> [Seen]) async -> [Difference] {
        let got = await ending(of: client)
        let seen = seen()
        var found = Difference.between("requests", expected: sent.map(\.line), got: seen.map(\.line))
        for (index, (wanted, seen)) in zip(sent, seen).enumerated() {
            found += wanted.differences(from: seen).map { $0.found(in: "\(index + 1)") }
        }
        return found + Difference.between("ending", expected: ending, got: got)
    }

    private func ending(of client: HTTPClient) async -> Ending {
        do {
            let response = try await client.fetch(question.request())
            return .answered(Int(response.status.code), response.url.text)
        } catch let error as HTTPError {
            guard case .redirect(let fault) = error.reason else { return .fault("\(error)") }
            return .fault(fault.label)
        } catch {
            return .fault("\(error)")
        }
    }

    /// A request that reached the simulated or real network.
    struct Seen: Sendable {
        var method: String
        var url: String
        var fields: [(name: String, value: String)]
        var body: String
        /// The addresses that the caller set for the request. `nil` over a real network, where they cannot be
        /// seen.
        var addresses: String?
        var isFromNetwork: Bool

        var line: String { "\(method) \(url)" }

        var inUpperCase: Seen {
            var seen = self
            seen.method = method.uppercased()
            return seen
        }
    }
}

/// Gives the answers in turn and records the requests.
private final class ScriptedNetwork: Sendable {
    private let asked = Locked<[Request]>([])
    private let answers: [RedirectVector.Answer]

    init(_ answers: [RedirectVector.Answer]) {
        self.answers = answers
    }

    var requests: [Request] { asked.withLock { $0 } }

    func answer(_ request: Request) async throws -> Response {
        // A server has read the body by the time it answers; one that can be sent once is spent.
        if request.body.bytesInMemory == nil { _ = try await request.body.collect(upTo: 1 << 20) }
        let index = asked.withLock { asked in
            asked.append(request)
            return asked.count - 1
        }
        guard index < answers.count else { return try Response(to: request, .ok) }
        var headers = HTTPHeaders()
        for field in answers[index].fields { headers.add(field.name, bytes: field.value) }
        return try Response(to: request, HTTPStatus(code: answers[index].status) ?? .ok, headers: headers)
    }
}

extension RedirectVector.Settings {
    func apply(to client: inout HTTPClient.Configuration) {
        client.headers = HTTPHeaders(fields)
        client.redirects.isFollowing = follows
        if let limit { client.redirects.limit = limit }
        client.redirects.insecureAllowsDowngrade = allowsDowngrade
        client.redirects.carriesBodyAcrossOrigins = carriesBodyAcrossOrigins
        client.redirects.sendsReferer = sendsReferer
        client.redirects.extraCrossOriginFields = surviving
        if keepsCookies { client.cookies = CookieJar() }
        if keepsHSTS { client.hsts = HSTSStore() }
    }
}

extension RedirectVector.Question {
    fileprivate func request() -> Request {
        var request = Request(HTTPMethod(stringLiteral: method), url, headers: HTTPHeaders(fields))
        if let body {
            let bytes = Array(body.utf8)
            request.body = isSentOnce ? .stream(AsyncStream(once: bytes)) : .bytes(bytes)
        }
        request.addresses = addresses?.map { Endpoint(stringLiteral: $0) }
        return request
    }
}

extension RedirectVector.Sent {
    var line: String { "\(method) \(url)" }

    /// The request as a server sees it: without what is not sent.
    func overNetwork(_ question: RedirectVector.Question, inUpperCase: Bool) -> RedirectVector.Sent {
        var sent = self
        if inUpperCase { sent.method = method.uppercased() }
        sent.url = String(url.prefix { $0 != "#" })
        if sent.body != nil { sent.body = question.body }
        return sent
    }

    func differences(from seen: RedirectVector.Seen) -> [Difference] {
        var found = Difference.between("body", expected: body ?? "none", got: seen.body)
        if seen.body == "none" { found = found.asLess }
        for (name, value) in fields {
            let values = seen.fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
            let got = values.isEmpty ? "none" : values.joined(separator: ", ")
            let differences = Difference.between(name, expected: value ?? "none", got: got)
            // A user agent may send no cookies (RFC 6265, section 5.4).
            let less = name == "Cookie" ? differences.asLess.judged(by: .choice) : differences.asLess
            found += values.isEmpty ? less : differences
        }
        if let addresses, !seen.isFromNetwork {
            let wanted = addresses?.joined(separator: " ") ?? "none"
            found += Difference.between("addresses", expected: wanted, got: seen.addresses ?? "none")
        }
        return found
    }
}

extension RedirectVector.Seen {
    fileprivate init(_ request: Request) {
        method = "\(request.method)"
        url = (try? request.url.text) ?? "no URL"
        fields = request.headers.map { ($0.name, $0.value) }
        body = "a stream"
        if let bytes = request.body.bytesInMemory {
            body = bytes.isEmpty ? "none" : String(decoding: bytes, as: UTF8.self)
        }
        addresses = request.addresses.map { $0.map(\.description).joined(separator: " ") }
        isFromNetwork = false
    }
}

extension RedirectError {
    /// The fault's name in the vectors.
    var label: String {
        let fault: RedirectVector.Fault
        switch self {
        case .tooMany(_, let isLoop): fault = isLoop ? .loop : .tooMany
        case .severalLocations: fault = .severalLocations
        case .location: fault = .badLocation
        case .downgrade: fault = .downgrade
        case .bodyNotReplayable: fault = .bodySentOnce
        case .bodyAcrossOrigins: fault = .bodyAcrossOrigins
        case .delay: return "\(self)"
        @unknown default: return "\(self)"
        }
        return fault.rawValue
    }
}
