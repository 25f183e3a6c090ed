internal import DirectHTTP

/// The client of this package.
struct OurClient: VectorClient {
    var title: String { "direct-http" }
    var givesReasons: Bool { true }
    var takesBytes: Bool { true }
    /// Most of the time is spent waiting.
    var width: Int { 24 }

    func unsupportedReason(to errand: ClientTask) -> String? { nil }

    func run(_ errand: ClientTask) async -> Observation {
        var last = Observation(ending: .untried, text: "")
        do {
            let client = try client(for: errand)
            for url in errand.urls {
                last = await Self.get(url, addresses: errand.addresses, client: client)
                guard last.ending == .answered else { return last }
            }
            return last
        } catch {
            return Observation(ending: .fault(.badSettings), text: "\(error)")
        }
    }

    private func client(for errand: ClientTask) throws -> HTTPClient {
        var settings = HTTPClient.Configuration()
        settings.tls.roots = .only([.pemFile(errand.root)])
        settings.tls.resumesSessions = errand.client.resumes
        if let versions = errand.client.versions {
            guard let oldest = versions.lowerBound.forUs, let newest = versions.upperBound.forUs else {
                throw TLSError.badSettings("no such version of TLS")
            }
            (settings.tls.minimumVersion, settings.tls.maximumVersion) = (oldest, newest)
        }
        if let name = errand.client.certificate {
            let pem = try Files.contents(of: "\(errand.certificates)/\(name).pem")
            settings.tls.clientIdentity = ClientIdentity(certificateChain: pem, privateKey: pem)
        }
        if !errand.mappedAddresses.isEmpty {
            let endpoints = errand.mappedAddresses.map { Endpoint(stringLiteral: $0) }
            try settings.addresses.set(endpoints, for: .host(try HTTPHost(errand.host)))
        }
        settings.dialling.stagger = .milliseconds(errand.dialling.stagger)
        settings.dialling.keepsOrder = errand.dialling.keepsOrder
        settings.dialling.onCertificateMismatch = errand.dialling.passesOverWrongServers ? .tryNext : .fail
        let phaseLimit = Self.phaseLimit
        settings.timeouts = Timeouts(
            connect: phaseLimit,
            tls: phaseLimit,
            write: phaseLimit,
            response: phaseLimit,
            read: phaseLimit
        )
        return HTTPClient(settings)
    }

    /// The time limit of each phase. It is the cost of every server that never answers, and is long enough for
    /// those that do, even on a loaded machine.
    private static let phaseLimit = Duration.milliseconds(2500)

    private static func get(_ url: String, addresses: [String]?, client: HTTPClient) async -> Observation {
        var request = Request(.get, url)
        request.addresses = addresses.map { $0.map { Endpoint(stringLiteral: $0) } }
        do {
            let response = try await client.fetch(request)
            let ending = Ending(response.status)
            var attempts: [(String, Ending)] = []
            for hop in response.history { attempts += Self.attempts(hop) }
            return Observation(
                ending: ending,
                text: String(decoding: response.body, as: UTF8.self),
                attempts: attempts + Self.attempts(response.transaction, ending: ending)
            )
        } catch let error as HTTPError {
            let ending = Ending(error.phase, error.reason)
            var attempts: [(String, Ending)] = []
            for hop in error.history { attempts += Self.attempts(hop) }
            attempts += Self.attempts(error)
            return Observation(ending: ending, text: "\(error)", attempts: attempts)
        } catch {
            return Observation(ending: .other("\(type(of: error))"), text: "\(error)")
        }
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
        return failed + [("\(transaction.endpoint)", ending)]
    }
}

extension ProtocolVersion {
    /// The version in the client's type, or `nil` for versions that the client does not support.
    fileprivate var forUs: TLSVersion? {
        switch self {
        case .tls10, .tls11: nil
        case .tls12: .tls12
        case .tls13: .tls13
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

    private init(_ error: TLSError, _ phase: HTTPError.Phase) {
        switch error {
        case .certificateRejected(let fault): self.init(fault.kind)
        case .nameMismatch: self = .fault(.wrongName)
        case .noPeerCertificate: self = .fault(.badCertificate)
        case .alertReceived(let alert): self = .alert(alert.number)
        case .unexpectedProtocol: self = .fault(.wrongProtocol)
        case .protocolFailure, .tooManyMessages: self = .fault(.badTLS)
        case .connectionLost(let errno): self.init(errno: errno, "\(error)")
        case .truncated: self = .fault(phase == .body ? .incomplete : .closed)
        case .badIdentity, .badSettings: self = .fault(.badSettings)
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
