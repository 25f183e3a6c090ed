internal import DirectCore
public import DirectHTTP
public import Foundation

extension HTTPError: LocalizedError {
    /// The same text as `description`. Only Foundation's own errors are localized.
    public var errorDescription: String? { description }
}

extension URLError {
    /// The error behind one that this package's calls have thrown, with phase, reason, host, address and all
    /// attempts; `nil` for other errors.
    public var httpError: HTTPError? {
        userInfo[NSUnderlyingErrorKey] as? HTTPError
    }

    /// The error of an interceptor, an authenticator or of other code of the program behind one that this
    /// package's calls have thrown; `nil` for other errors. It is underneath in a form that prints its type
    /// only: its text may contain anything, even secrets.
    public var programError: (any Error)? {
        switch httpError?.reason {
        case .authenticator(let error), .proxy(.authenticator(let error)): error
        default: (userInfo[NSUnderlyingErrorKey] as? ProgramError)?.error
        }
    }

    /// Converts an error to the closest one of Foundation's, with the given error underneath.
    init(_ error: any Error, for url: URL?) {
        let shown: any Error =
            switch error {
            case is HTTPError, is HTTPURLError, is AuthenticationError, is CancellationError, is URLError:
                error
            default: ProgramError(error: error)
            }
        self.init(Code(error), "\(shown)", for: url, beneath: shown)
    }

    /// Creates an error with these words, and with an error of the program's or of the client's underneath.
    init(_ code: Code, _ words: String, for url: URL?, beneath error: (any Error)? = nil) {
        var facts = Self.facts(url)
        facts[NSLocalizedDescriptionKey] = words
        facts[NSUnderlyingErrorKey] = error
        self.init(code, userInfo: facts)
    }

    /// The failing URL without user and password, because errors end up in logs.
    private static func facts(_ url: URL?) -> [String: Any] {
        guard let url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return [:] }
        parts.user = nil
        parts.password = nil
        guard let safe = parts.url else { return [:] }
        // The second name is that of `NSURLErrorFailingURLStringErrorKey`, which is deprecated, and read.
        return [NSURLErrorFailingURLErrorKey: safe, "NSErrorFailingURLStringKey": safe.absoluteString]
    }
}

/// An error of the program's own code, of which only the type is shown.
private struct ProgramError: Error, CustomStringConvertible, CustomReflectable {
    let error: any Error

    var description: String {
        "the program's own code failed with an error of the type \(type(of: error))"
    }
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension URLError.Code {
    fileprivate init(_ error: any Error) {
        switch error {
        case is CancellationError: self = .cancelled
        case let error as HTTPError: self = Self(error.reason, in: error.phase)
        case let fault as HTTPURLError: self = Self(fault)
        case is AuthenticationError: self = .userAuthenticationRequired
        case let error as URLError: self = error.code
        case is StreamFailure: self = .requestBodyStreamExhausted
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
        case .proxy(.notAProxy): self = .cannotParseResponse
        case .timedOut, .tooSlow: self = .timedOut
        case .connectionClosed: self = .networkConnectionLost
        case .redirect(let fault): self = Self(fault)
        case .bodyTooLarge: self = .dataLengthExceedsMaximum
        case .bodyLength, .bodySource, .requestBody(.alreadySent): self = .requestBodyStreamExhausted
        case .authenticator(let error), .proxy(.authenticator(let error)): self = Self(error)
        case .coding, .download(.coded): self = .cannotDecodeContentData
        case .status, .download(.tooManyRestarts): self = .badServerResponse
        default: self = .unknown
        }
    }

    private init(_ fault: HTTPURLError) {
        switch fault {
        case .notHTTP, .unsupportedScheme: self = .unsupportedURL
        default: self = .badURL
        }
    }

    /// A system error is one of the network, of a file for the request's body, or of a file for the
    /// response's.
    private init(_ error: SystemError, in phase: HTTPError.Phase) {
        switch (error.call, phase) {
        case (_, .connect), (_, .proxy): self = .cannotConnectToHost
        case ("open", .body), ("lstat", .body), ("stat", .body), ("readlink", .body): self = .cannotCreateFile
        case ("write", _), ("fsync", _), ("fchmod", _), ("rename", _): self = .cannotWriteToFile
        case ("open", _): self = error.meansNoFile ? .fileDoesNotExist : .cannotOpenFile
        case ("fstat", _), ("read", _): self = .cannotOpenFile
        default: self = .networkConnectionLost
        }
    }

    private init(_ fault: RedirectError) {
        switch fault {
        // As URLSession, which follows and finds no class for the scheme.
        case _ where fault.namesOtherScheme: self = .unsupportedURL
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
        case .alertReceived(.certificateRequired): self = .clientCertificateRequired
        default: self = .secureConnectionFailed
        }
    }

    private init(_ fault: CertificateFault) {
        switch fault.kind {
        case .notYetValid: self = .serverCertificateNotYetValid
        case .expired: self = .serverCertificateHasBadDate
        case .selfSigned, .untrustedRoot, .unknownIssuer: self = .serverCertificateHasUnknownRoot
        default: self = .serverCertificateUntrusted
        }
    }

    private init(_ error: HTTP1Error, in phase: HTTPError.Phase) {
        // Foundation has no code for "this request cannot be expressed in HTTP". A bad URL is not sent
        // either.
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
