internal import DirectHTTP

extension RedirectVector {
    /// Asks a client of ours, whose network is made of the answers.
    func differences() async -> [Difference] {
        let network = ScriptedNetwork(answers)
        let got = await ending(of: network)
        let seen = network.requests
        var found = Difference.between("requests", sent.map(\.line), seen.map(\.line))
        for (index, (wanted, seen)) in zip(sent, seen).enumerated() {
            found += wanted.differences(from: seen).map {
                Difference(what: "\(index + 1): \($0.what)", expected: $0.expected, got: $0.got)
            }
        }
        return found + Difference.between("ending", ending, got)
    }

    private func ending(of network: ScriptedNetwork) async -> Ending {
        do {
            let client = HTTPClient { settings.apply(to: &$0, network) }
            let response = try await client.fetch(question.request())
            return .answered(Int(response.status.code), response.url.text)
        } catch let error as HTTPError {
            guard case .redirect(let fault) = error.reason else { return .fault("\(error)") }
            return .fault(fault.label)
        } catch {
            return .fault("\(error)")
        }
    }
}

/// Gives one answer after the other, and keeps what it was asked.
private final class ScriptedNetwork: Sendable {
    private let asked = Locked<[Request]>([])
    private let answers: [RedirectVector.Answer]

    init(_ answers: [RedirectVector.Answer]) {
        self.answers = answers
    }

    var requests: [Request] { asked.withLock { $0 } }

    func answer(_ request: Request) throws -> Response {
        let index = asked.withLock { asked in
            asked.append(request)
            return asked.count - 1
        }
        guard index < answers.count else { return try Response(to: request, .ok) }
        var headers = Headers()
        for field in answers[index].fields { headers.add(field.name, bytes: field.value) }
        return try Response(to: request, Status(code: answers[index].status) ?? .ok, headers: headers)
    }
}

extension RedirectVector.Settings {
    fileprivate func apply(to client: inout HTTPClient.Settings, _ network: ScriptedNetwork) {
        client.transport = { request in try network.answer(request) }
        client.headers = Headers(fields)
        client.redirects.isFollowing = follows
        if let limit { client.redirects.limit = limit }
        client.redirects.insecureAllowsDowngrade = allowsDowngrade
        client.redirects.carriesBodyAcrossOrigins = carriesBodyAcrossOrigins
        client.redirects.sendsReferer = sendsReferer
        client.redirects.survivingFields = surviving
        if keepsCookies { client.cookies = CookieJar() }
        if keepsHSTS { client.hsts = HSTSStore() }
    }
}

extension RedirectVector.Question {
    fileprivate func request() -> Request {
        var request = Request(Method(stringLiteral: method), url, headers: Headers(fields))
        if let body {
            let bytes = Array(body.utf8)
            request.body = isSentOnce ? .stream(AsyncStream { $0.finish() }) : .bytes(bytes)
        }
        request.addresses = addresses?.map { Endpoint(stringLiteral: $0) }
        return request
    }
}

extension RedirectVector.Sent {
    fileprivate var line: String { "\(method) \(url)" }

    fileprivate func differences(from request: Request) -> [Difference] {
        var found = Difference.between("body", body ?? "none", request.text)
        for (name, value) in fields {
            let values = request.headers.values(for: name)
            let got = values.isEmpty ? "none" : values.joined(separator: ", ")
            found += Difference.between(name, value ?? "none", got)
        }
        if let addresses {
            let got = request.addresses?.map(\.description).joined(separator: " ")
            found += Difference.between(
                "addresses",
                addresses?.joined(separator: " ") ?? "none",
                got ?? "none"
            )
        }
        return found
    }
}

extension Request {
    fileprivate var line: String { "\(method) \((try? url.text) ?? "no URL")" }

    /// What it carries.
    fileprivate var text: String {
        guard let bytes = body.bytesInMemory else { return "a stream" }
        return bytes.isEmpty ? "none" : String(decoding: bytes, as: UTF8.self)
    }
}

extension RedirectFault {
    /// The vectors' word for it.
    fileprivate var label: String {
        let fault: RedirectVector.Fault
        switch self {
        case .tooMany(_, let isLoop): fault = isLoop ? .loop : .tooMany
        case .severalLocations: fault = .severalLocations
        case .location: fault = .badLocation
        case .downgrade: fault = .downgrade
        case .bodyNotReplayable: fault = .bodySentOnce
        case .bodyAcrossOrigins: fault = .bodyAcrossOrigins
        @unknown default: return "\(self)"
        }
        return fault.rawValue
    }
}
