internal import DirectCore
internal import DirectHTTP1
internal import DirectIO

/// Tunnels through proxies whose authenticator makes the credentials.
extension Dialler {
    /// Opens a tunnel to the target through the proxy. If the proxy refuses the credentials (407) and its
    /// authenticator has others, tries again on a new connection to the same address of the proxy.
    func openTunnel(
        with connector: Connector,
        target: ProxyTarget,
        result: DialResult,
        entry: ProxyEntry
    ) async throws(AttemptFailure) -> EstablishedTransport {
        guard let authorizer = entry.authorizer, entry.proxy.speaksHTTP else {
            return try await openTunnel(
                with: connector,
                target: target,
                result: result,
                entry: entry,
                as: nil
            )
        }
        let text = String(decoding: target.authority, as: UTF8.self)
        var value: String?
        do throws(AttemptFailure) {
            value = try await ask(within: connector.limits) {
                try await authorizer.authorization(method: .connect, target: text, body: [])
            }
        } catch {
            result.established.close()
            throw error
        }
        var result = result
        var count = 0
        while true {
            do throws(AttemptFailure) {
                return try await openTunnel(
                    with: connector,
                    target: target,
                    result: result,
                    entry: entry,
                    as: value
                )
            } catch {
                guard count < Self.credentialLimit, let refusal = error.credentialRefusal else { throw error }
                count += 1
                let answer = try await ask(within: connector.limits) { [value] in
                    try await authorizer.authorization(
                        method: .connect,
                        target: text,
                        body: [],
                        answering: refusal,
                        after: value
                    )
                }
                guard let answer else { throw error }
                value = answer
                result = try await reconnect(to: entry, at: result, for: connector)
            }
        }
    }

    /// The number of times that a proxy is asked again after 407.
    private static var credentialLimit: Int { 2 }

    /// Connects to the address of the proxy once more.
    private func reconnect(to entry: ProxyEntry, at former: DialResult, for server: Connector)
        async throws(AttemptFailure) -> DialResult
    {
        let destination = Destination(entry.proxy)
        let connector = connector(
            destination,
            limits: server.limits,
            profile: entry.profile,
            options: server.options
        )
        do throws(AttemptFailure) {
            let established = try await connector.connect(to: former.attempt.endpoint)
            return former.with(established)
        } catch {
            guard case .failed(_, let reason) = error.cause else { throw error }
            let failure = DialFailure(
                cause: .failed(.proxy, reason),
                endpoint: former.attempt.endpoint,
                attempts: former.failedAttempts,
                certificates: error.certificates
            )
            throw AttemptFailure(
                phase: .proxy,
                cause: failure.cause,
                consequence: .stop,
                certificates: error.certificates,
                atProxy: failure
            )
        }
    }

    /// Asks code of the caller's, and stops waiting for it at the end of the time to connect.
    private func ask(
        within limits: DialLimits,
        _ make: @escaping @Sendable () async throws -> String?
    ) async throws(AttemptFailure) -> String? {
        let deadline = limits.deadline(.proxy, stall: limits.timeouts.connect)
        do throws(ForeignFailure) {
            return try await askForeignCode(until: deadline.instant, on: loop, make)
        } catch {
            let cause: TransportError =
                switch error {
                case .silent: deadline.timeout
                case .cancelled: .cancelled
                case .threw(let error): .failed(.proxy, .proxy(.authenticator(error)))
                }
            throw AttemptFailure(phase: .proxy, cause: cause, consequence: .stop)
        }
    }
}

extension AttemptFailure {
    /// The fields of the response in which a proxy asked for credentials; `nil` if it did not.
    fileprivate var credentialRefusal: HTTPHeaders? {
        guard case .failed(_, .proxy(.refused(let refusal))) = cause,
            refusal.status == .proxyAuthenticationRequired
        else { return nil }
        return refusal.headers
    }
}
