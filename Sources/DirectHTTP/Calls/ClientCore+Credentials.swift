internal import DirectHTTP1
internal import DirectIO

extension ClientCore {
    /// Sends a request as whoever we are to its origin; over TLS where the host has asked for that.
    func identifiedSend(_ request: Request, _ call: Call) async throws -> Response {
        let request = memory?.upgraded(request) ?? request
        guard request.authenticator != nil || !settings.authenticators.isEmpty else {
            return try await rememberingSend(request, call)
        }
        let url = try request.checkedURL()
        guard let authenticator = request.authenticator ?? settings.authenticators[url.origin],
            !request.headers.contains("Authorization")
        else { return try await rememberingSend(request, call) }
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
        var said = try await call.answer(to: url, .request, on: settings.loop) {
            try await authenticator.authorization(for: question)
        }
        request.headers["Authorization"] = said
        var response = try await rememberingSend(request, call)
        var history = response.history
        for _ in 0..<Self.credentialLimit {
            guard response.status == .unauthorized, original.body.isReplayable else { break }
            let challenges = Challenge.all(in: response.headers)
            let answer = try await call.answer(to: url, .response, on: settings.loop) { [said] in
                try await authenticator.authorization(
                    for: question,
                    answering: challenges,
                    after: said
                )
            }
            guard let answer else { break }
            await response.body.drain()
            history.append(call.noting(Hop(.authentication, request.method, response)))
            said = answer
            request.headers["Authorization"] = answer
            response = try await rememberingSend(request, call)
            history += response.history
        }
        response.history = history
        return response
    }

    /// What the client remembers of earlier responses goes along, and what it is to remember is kept.
    private func rememberingSend(_ request: Request, _ call: Call) async throws -> Response {
        let request = memory(of: call)?.prepared(request) ?? request
        guard let cache = settings.cache else { return try await persistentSend(request, call) }
        let url = try request.checkedURL()
        return try await cache.send(request, url: url, defaults: defaults(for: request)) { request, sent in
            var call = call
            call.sent = sent
            return try await self.persistentSend(request, call)
        }
    }

    /// What is remembered for the requests of a call.
    func memory(of call: Call) -> Memory? {
        guard let cookies = call.cookies else { return memory }
        return Memory(cookies: cookies, hsts: settings.hsts)
    }

    /// A wrong password stays wrong; a nonce may have grown old meanwhile.
    private static let credentialLimit = 2
}
