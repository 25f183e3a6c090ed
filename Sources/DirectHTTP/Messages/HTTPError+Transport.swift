internal import DirectCore
internal import DirectTLS
internal import DirectTransport

/// The border between the transport's errors and the caller's.
extension HTTPError.Phase {
    /// The phase as the caller knows it.
    init(_ phase: TransportError.Phase) {
        self =
            switch phase {
            case .request: .request
            case .resolve: .resolve
            case .queue: .queue
            case .proxy: .proxy
            case .connect: .connect
            case .tls: .tls
            case .write: .write
            case .response: .response
            case .body: .body
            }
    }
}

extension HTTPError.Reason {
    /// The reason as the caller knows it.
    init(_ reason: TransportError.Reason) {
        self =
            switch reason {
            case .address(let error): .address(error)
            case .noAddresses: .noAddresses
            case .lookup(let error): .lookup(error)
            case .resolver(let error): .resolver(error as? ResolverError ?? ResolverError("", .other(error)))
            case .refused(let refusal): .refused(refusal)
            case .system(let error): .system(error)
            case .overtaken: .overtaken
            case .tls(let error): .tls(error)
            case .proxy(let error): .proxy(error)
            case .http(let error): .http(error)
            case .timedOut(let limit): .timedOut(after: limit)
            case .connectionClosed: .connectionClosed
            case .bodyLength(let announced, let given): .bodyLength(announced: announced, given: given)
            case .bodySource(let error): .bodySource(error)
            case .requestBody(let error): .requestBody(error)
            case .tooSlow(let speed): .tooSlow(speed)
            case .settings(let error): .settings(error)
            case .streamClosed: .streamClosed
            }
    }
}

extension HTTPError {
    /// Returns the failure as the caller's error: an ``HTTPError``, or a `CancellationError`.
    @inline(never)
    static func from(
        _ failure: TransportError,
        name: String?,
        endpoint: Endpoint? = nil,
        attempts: [FailedAttempt] = [],
        certificates: CertificateChain? = nil
    ) -> any Error {
        switch failure {
        case .cancelled: return CancellationError()
        case .failed(let phase, let reason):
            var error = HTTPError(
                Phase(phase),
                Reason(reason),
                name: name,
                endpoint: endpoint,
                attempts: attempts.map(Attempt.init)
            )
            error.chain = certificates
            return error
        }
    }
}

extension DialFailure {
    /// Returns the failure as the caller's error.
    func asError(name: String) -> any Error {
        HTTPError.from(cause, name: name, endpoint: endpoint, attempts: attempts, certificates: certificates)
    }
}

extension Attempt {
    init(_ attempt: FailedAttempt) {
        endpoint = attempt.endpoint
        source = attempt.source
        phase = HTTPError.Phase(attempt.phase)
        reason = HTTPError.Reason(attempt.reason)
        elapsed = attempt.elapsed
        chain = attempt.certificates
    }
}
