internal import DirectCore
internal import DirectTLS

/// What the askers of a client have in common.
struct AskingClient: Sendable {
    private let cookies: String?
    private let certificate: String?
    private let fields: ClientFields

    init(_ configuration: HTTPClient.Configuration, cookies: (any CookieStore)?, fields: ClientFields) {
        self.cookies = CookieHolder(of: cookies).name
        certificate = configuration.tls.clientIdentity.map(\.partition)
        self.fields = fields
    }

    /// Returns who asks with a request that has no cookies of a store yet.
    func asker(of request: Request, at url: HTTPURL, _ trail: Trail?) -> Asker {
        let isShown = url.scheme == .https && trail?.isForeign(to: url) != true
        return Asker(
            request.headers,
            own: fields.identifying(trail),
            cookies: cookies,
            certificate: isShown ? certificate : nil
        )
    }
}

extension ClientIdentity {
    /// Tells the identity from all others. That of files is the same after its renewal.
    fileprivate var partition: String {
        guard let files else {
            return Digest128(certificateChain)?.text ?? Hex.encode(padded: SystemRandom.word())
        }
        // A relative path leads to another file in another process.
        let areAbsolute = files.paths.allSatisfy { $0.hasPrefix("/") }
        return areAbsolute ? "\(files)" : "\(files) \(Self.process)"
    }

    private static let process = Hex.encode(padded: SystemRandom.word())
}
