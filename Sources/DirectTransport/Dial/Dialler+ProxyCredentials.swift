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
        let authority = String(decoding: target.authority, as: UTF8.self)
        let credentials = authorizer.credentials(method: .connect, target: authority, body: [])
        do throws(AttemptFailure) {
            try await renew(credentials, within: connector.limits)
        } catch {
            result.established.close()
            throw error
        }
        var result = result
        while true {
            do throws(AttemptFailure) {
                let tunnel = try await openTunnel(
                    with: connector,
                    target: target,
                    result: result,
                    entry: entry,
                    as: credentials.latest
                )
                credentials.accept()
                return tunnel
            } catch {
                guard let refusal = error.credentialRefusal,
                    try await renew(credentials, after: refusal, within: connector.limits)
                else { throw error }
                result = try await reconnect(result)
            }
        }
    }

    /// Connects to the address of the proxy once more.
    private func reconnect(_ former: DialResult) async throws(AttemptFailure) -> DialResult {
        do throws(AttemptFailure) {
            return former.with(try await former.connect(former.attempt.endpoint))
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

    /// Makes new credentials, and stops waiting for the caller's code at the end of the time to connect.
    ///
    /// - Parameter refusal: the fields of the response with a challenge; `nil` without one.
    /// - Returns: whether there are new ones.
    @discardableResult
    private func renew(
        _ credentials: RenewedCredentials,
        after refusal: HTTPHeaders? = nil,
        within limits: DialLimits
    ) async throws(AttemptFailure) -> Bool {
        let deadline = limits.deadline(.proxy, stall: limits.timeouts.connect)
        do throws(ForeignFailure) {
            return try await credentials.renew(after: refusal) { source throws(ForeignFailure) in
                try await askForeignCode(
                    until: deadline.instant,
                    on: loop,
                    executor: limits.call.threads,
                    source
                )
            } != nil
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
            refusal.status == Challenger.proxy.status
        else { return nil }
        return refusal.headers
    }
}
