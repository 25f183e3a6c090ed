internal import DirectCoding
internal import DirectHTTP
internal import DirectHTTP1

extension RequestOutcome {
    /// A response of our client.
    init(_ response: BufferedResponse) {
        let ending = Ending(response.status)
        var attempts: [(String, Ending)] = []
        for hop in response.history { attempts += Self.attempts(hop) }
        attempts += Self.attempts(response.transaction, ending: ending)
        self.init(.response(ReportedResponse(response)), attempts: attempts)
    }

    /// A failure of our client.
    init(_ error: HTTPError) {
        var attempts: [(String, Ending)] = []
        for hop in error.history { attempts += Self.attempts(hop) }
        attempts += Self.attempts(error)
        let ending = Ending(error.phase, error.reason)
        let kind: String? = if case .other = ending { nil } else { "\(ending)" }
        self.init(.failed(kind: kind, detail: error.reason.vectorName, text: "\(error)"), attempts: attempts)
    }

    /// The outcomes at the addresses of an earlier hop.
    private static func attempts(_ hop: Hop) -> [(String, Ending)] {
        if let error = hop.error { return attempts(error) }
        return hop.status.map { attempts(hop.transaction, ending: Ending($0)) } ?? []
    }

    /// The outcomes at the addresses that were tried before a failure.
    private static func attempts(_ error: HTTPError) -> [(String, Ending)] {
        let failed = error.attempts.map { ("\($0.endpoint)", Ending($0.phase, $0.reason)) }
        // Once an address has been selected, a failure there is not among the attempts.
        guard let endpoint = error.endpoint, failed.last?.0 != "\(endpoint)" else { return failed }
        return failed + [("\(endpoint)", Ending(error.phase, error.reason))]
    }

    /// The outcomes at the addresses that were tried before a response.
    private static func attempts(_ transaction: HTTPTransaction?, ending: Ending) -> [(String, Ending)] {
        guard let transaction else { return [] }
        let failed = transaction.failedAttempts.map { ("\($0.endpoint)", Ending($0.phase, $0.reason)) }
        return failed + [(transaction.place, ending)]
    }
}

extension ReportedResponse {
    fileprivate init(_ response: BufferedResponse) {
        status = Int(response.status.code)
        reason = Array(response.reason.utf8).latin1
        version = String(response.version.description.dropFirst("HTTP/".count))
        fields = Self.fields(response.headers)
        body = response.body
        trailers = Self.fields(response.trailers)
        url = response.url.text
        use = response.cacheUse?.rawValue
    }

    private static func fields(_ headers: HTTPHeaders) -> [(name: String, value: String)] {
        headers.indices.map { (headers[$0].name, headers.valueBytes(at: $0).latin1) }
    }
}

extension HTTPError.Reason {
    /// The name of the fault in the vectors of `response`, `request`, `decoding` and `redirect`, or `nil` if
    /// they do not name it.
    fileprivate var vectorName: String? {
        switch self {
        case .http(let error): error.label
        case .coding(let error): error.label
        case .redirect(let error): error.label
        default: nil
        }
    }
}

extension Ending {
    fileprivate init(_ status: HTTPStatus) {
        self = status == .misdirectedRequest ? .fault(.misdirected) : .answered
    }

    /// The vectors' word for an error of our client.
    fileprivate init(_ phase: HTTPError.Phase, _ reason: HTTPError.Reason) {
        switch reason {
        case .address: self = .fault(.noAddress)
        case .noAddresses: self = .fault(.noAddresses)
        case .timedOut: self = .fault(.timeout)
        case .overtaken: self = .fault(.overtaken)
        case .connectionClosed: self = .fault(phase == .body ? .incomplete : .closed)
        case .system(let error): self.init(errno: error.code, "\(error)")
        case .tls(let error): self.init(error, phase)
        case .http(let error): self.init(error)
        default: self = .other("\(reason)")
        }
    }

    private init(errno code: Int32, _ text: String) {
        switch code {
        case SystemNumbers.connectionRefused: self = .fault(.refused)
        case SystemNumbers.connectionReset, SystemNumbers.brokenPipe: self = .fault(.reset)
        case SystemNumbers.timedOut: self = .fault(.timeout)
        default: self = .other(text)
        }
    }

    init(_ error: TLSError, _ phase: HTTPError.Phase) {
        switch error {
        case .certificateRejected(let fault): self.init(fault.kind)
        case .nameMismatch: self = .fault(.wrongName)
        case .encryptedClientHelloRejected, .encryptedClientHelloUnavailable: self = .fault(.unencrypted)
        case .noPeerCertificate: self = .fault(.badCertificate)
        case .alertReceived(let alert): self = .alert(alert.number)
        case .unexpectedProtocol: self = .fault(.wrongProtocol)
        case .protocolFailure, .tooManyMessages: self = .fault(.badTLS)
        case .connectionLost(let errno): self.init(errno: errno, "\(error)")
        case .truncated: self = .fault(phase == .body ? .incomplete : .closed)
        case .uncheckableHost, .badSettings, .wrongPassphrase: self = .fault(.badSettings)
        default: self = .other("\(error)")
        }
    }

    private init(_ error: HTTP1Error) {
        switch error {
        case .closedBeforeResponse: self = .fault(.closed)
        case .truncatedHead, .truncatedContent, .truncatedChunks, .truncatedUntilClose:
            self = .fault(.incomplete)
        default: self = .fault(.badHTTP)
        }
    }

    private init(_ kind: CertificateFault.Kind) {
        switch kind {
        case .unknownIssuer, .selfSigned, .untrustedRoot: self = .fault(.untrusted)
        case .badSignature: self = .fault(.badSignature)
        case .notYetValid: self = .fault(.notYetValid)
        case .expired: self = .fault(.expired)
        case .issuerIsNotCA, .issuerMayNotSign: self = .fault(.notAuthority)
        case .pathLengthExceeded: self = .fault(.pathTooLong)
        case .wrongPurpose: self = .fault(.wrongPurpose)
        case .unknownCriticalExtension: self = .fault(.unknownExtension)
        case .outsideNameConstraints: self = .fault(.outsideConstraints)
        case .nameMismatch: self = .fault(.wrongName)
        case .weakKey, .weakSignature: self = .fault(.weak)
        default: self = .fault(.badCertificate)
        }
    }
}
