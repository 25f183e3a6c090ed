public import DirectHTTP
public import Foundation

extension HTTPError: LocalizedError {
    /// The same as the description: what is localized is Foundation's own.
    public var errorDescription: String? { description }
}

extension URLError {
    /// What really happened, for an error of this package's calls: phase, reason, name, address and all attempts.
    public var httpError: HTTPError? {
        userInfo[NSUnderlyingErrorKey] as? HTTPError
    }

    /// The error of Foundation's that comes nearest, with the given one underneath.
    init(_ error: any Error, for url: URL?) {
        self.init(
            Code(error),
            userInfo: Self.facts(url).merging([
                NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: "\(error)",
            ]) { $1 }
        )
    }

    /// An error that nothing of ours lies under.
    init(_ code: Code, _ words: String, for url: URL?) {
        self.init(code, userInfo: Self.facts(url).merging([NSLocalizedDescriptionKey: words]) { $1 })
    }

    /// The URL goes without user and password: errors end up in logs.
    private static func facts(_ url: URL?) -> [String: Any] {
        guard let url else { return [:] }
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return [:] }
        parts.user = nil
        parts.password = nil
        guard let safe = parts.url else { return [:] }
        return [NSURLErrorFailingURLErrorKey: safe]
    }
}

extension URLError.Code {
    fileprivate init(_ error: any Error) {
        switch error {
        case is CancellationError: self = .cancelled
        case let error as HTTPError: self = Self(error.reason, in: error.phase)
        case let fault as URLFault: self = Self(fault)
        case is AuthenticationFault: self = .userAuthenticationRequired
        case let error as URLError: self = error.code
        default: self = .unknown
        }
    }

    private init(_ reason: HTTPError.Reason, in phase: HTTPError.Phase) {
        switch reason {
        case .url(let fault): self = Self(fault)
        case .lookup, .resolver: self = .cannotFindHost
        case .address, .noAddresses, .refused: self = .cannotConnectToHost
        case .system(let error): self = Self(error, in: phase)
        case .tls(let error): self = Self(error)
        case .http(let error): self = Self(error, in: phase)
        case .timedOut, .tooSlow: self = .timedOut
        case .connectionClosed: self = .networkConnectionLost
        case .redirect(let fault): self = Self(fault)
        case .bodyTooLarge: self = .dataLengthExceedsMaximum
        case .bodyLength, .bodySource: self = .requestBodyStreamExhausted
        case .coding: self = .cannotDecodeContentData
        case .status: self = .badServerResponse
        default: self = .unknown
        }
    }

    private init(_ fault: URLFault) {
        switch fault {
        case .notHTTP, .unsupportedScheme: self = .unsupportedURL
        default: self = .badURL
        }
    }

    /// What failed was the network, a file for the request's body, or one for the response's.
    private init(_ error: SystemError, in phase: HTTPError.Phase) {
        switch (error.call, phase) {
        case (_, .connect): self = .cannotConnectToHost
        case ("open", .body): self = .cannotCreateFile
        case ("write", _), ("fsync", _), ("rename", _): self = .cannotWriteToFile
        case ("open", _): self = error.code == Self.noEntry ? .fileDoesNotExist : .cannotOpenFile
        case ("fstat", _), ("read", _): self = .cannotOpenFile
        default: self = .networkConnectionLost
        }
    }

    /// `ENOENT`, the same number everywhere.
    private static let noEntry: Int32 = 2

    private init(_ fault: RedirectFault) {
        switch fault {
        case .tooMany: self = .httpTooManyRedirects
        case .location, .severalLocations: self = .redirectToNonExistentLocation
        case .downgrade: self = .appTransportSecurityRequiresSecureConnection
        case .bodyNotReplayable: self = .requestBodyStreamExhausted
        default: self = .badServerResponse
        }
    }

    private init(_ error: TLSError) {
        switch error {
        case .certificateRejected(let fault): self = Self(fault)
        case .nameMismatch: self = .serverCertificateUntrusted
        case .connectionLost, .truncated: self = .networkConnectionLost
        case .alertReceived(116, _): self = .clientCertificateRequired
        default: self = .secureConnectionFailed
        }
    }

    /// By OpenSSL's `X509_V_ERR_…` numbers, which never change.
    private init(_ fault: CertificateFault) {
        switch fault.code {
        case 9: self = .serverCertificateNotYetValid
        case 10: self = .serverCertificateHasBadDate
        case 18, 19, 20: self = .serverCertificateHasUnknownRoot
        default: self = .serverCertificateUntrusted
        }
    }

    private init(_ error: HTTP1Error, in phase: HTTPError.Phase) {
        // Foundation has no word for "this request cannot be said in HTTP"; a bad URL is what it never sends either.
        guard phase != .request, phase != .write else {
            self = .badURL
            return
        }
        switch error {
        case .closedBeforeResponse, .truncatedHead, .truncatedContent, .truncatedChunks, .truncatedUntilClose:
            self = .networkConnectionLost
        case .headTooLarge, .lineTooLong, .tooManyFields, .chunkExtensionsTooLarge, .trailersTooLarge,
            .tooManyTrailers:
            self = .dataLengthExceedsMaximum
        default: self = .cannotParseResponse
        }
    }
}
