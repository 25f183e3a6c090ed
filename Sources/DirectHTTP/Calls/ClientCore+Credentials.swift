internal import DirectHTTP1
internal import DirectIO

extension ClientCore {
    /// Sends a request as whoever we are to its origin; over TLS where the host has asked for that.
    func identifiedSend(_ request: Request, _ call: Call) async throws -> Response {
        guard request.authenticator != nil || !settings.authenticators.isEmpty || hasMemory else {
            return try await persistentSend(request, call)
        }
        let url = try request.checkedURL()
        // Before anything else looks at the URL: credentials and cookies are those of the origin that is asked.
        if let safe = settings.hsts?.upgrades(url, at: .now) {
            var request = request
            request.target = .success(safe)
            return try await identifiedSend(request, call)
        }
        guard let authenticator = request.authenticator ?? settings.authenticators[url.origin],
            !request.headers.contains("Authorization")
        else { return try await rememberingSend(request, url, call) }
        return try await vouchedSend(request, url, call, as: authenticator)
    }

    private func vouchedSend(
        _ original: Request,
        _ url: HTTPURL,
        _ call: Call,
        as authenticator: any Authenticator
    ) async throws -> Response {
        let question = AuthenticationQuestion(
            method: original.method,
            url: url,
            body: original.body.bytesInMemory
        )
        var request = original
        var said = try await authenticator.authorization(for: question)
        request.headers["Authorization"] = said
        var response = try await rememberingSend(request, url, call)
        var history = response.history
        for _ in 0..<Self.credentialLimit {
            guard response.status == .unauthorized, original.body.isReplayable else { break }
            let challenges = Challenge.all(in: response.headers)
            let answer = try await authenticator.authorization(
                for: question,
                answering: challenges,
                after: said
            )
            guard let answer else { break }
            history.append(Hop(.authentication, request.method, response))
            await response.body.drain()
            said = answer
            request.headers["Authorization"] = answer
            response = try await rememberingSend(request, url, call)
            history += response.history
        }
        response.history = history
        return response
    }

    /// What the client remembers of earlier responses goes along, and what it is to remember is kept.
    private func rememberingSend(_ request: Request, _ url: HTTPURL, _ call: Call) async throws -> Response {
        var request = request
        settings.cookies?.addField(to: &request.headers, for: url, at: .now)
        let response = try await persistentSend(request, call)
        settings.cookies?.take(response.headers, from: response.url, at: .now)
        if response.url.scheme == .https {
            settings.hsts?.learn(from: response.headers, host: response.url.host, at: .now)
        }
        return response
    }

    private var hasMemory: Bool { settings.cookies != nil || settings.hsts != nil }

    /// A wrong password stays wrong; a nonce may have grown old meanwhile.
    private static let credentialLimit = 2
}

extension RequestBody {
    fileprivate var bytesInMemory: [UInt8]? {
        switch content {
        case .none: []
        case .bytes(let bytes): bytes
        case .stream: nil
        }
    }
}
