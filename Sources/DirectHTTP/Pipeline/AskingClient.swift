internal import DirectCore
internal import DirectTLS
internal import DirectTransport

/// The parts that all askers of a client share.
struct AskingClient: Sendable {
    private let cookies: Cookies
    private let certificate: String?
    private let trust: String?
    private let unixSockets: [Origin: UnixSocketPath]
    private let fields: ClientFields

    init(_ configuration: HTTPClient.Configuration, cookies: (any CookieStore)?, fields: ClientFields) {
        self.cookies = Cookies(of: cookies)
        certificate = configuration.tls.clientIdentity.map(\.partition)
        trust = configuration.tls.partition
        unixSockets = configuration.unixSockets
        self.fields = fields
    }

    /// The name of the store at present.
    var cookieHolder: String? {
        switch cookies {
        case .named(let name): name
        case .foreign(let store): CookieHolder(of: store).name
        }
    }

    private enum Cookies {
        case named(String?)
        /// A store of the program's own: each request asks for its name, which changes with its user.
        case foreign(any CookieStore)

        init(of store: (any CookieStore)?) {
            if let store, !(store is CookieJar || store is any CookieStoreOfHolder) {
                self = .foreign(store)
            } else {
                self = .named(CookieHolder(of: store).name)
            }
        }
    }

    /// Returns who asks with a request that has no cookies of a store yet.
    func asker(of request: Request, at url: HTTPURL, _ trail: Trail?) -> Asker {
        let isSecure = url.scheme == .https
        let socket = request.addresses == nil ? unixSockets[url.origin] : nil
        let places = [socket.map { "socket \($0)" }, isSecure ? trust : nil].compactMap(\.self)
        return Asker(
            request.headers,
            own: fields.identifying(trail),
            names: fields.identifyingNames,
            cookies: cookieHolder,
            certificate: isSecure && trail?.isForeign(to: url) != true ? certificate : nil,
            place: places.isEmpty ? nil : places.joined(separator: " ")
        )
    }
}

extension TLSSettings {
    /// Tells settings by which other servers are believed from all others; `nil` for the usual ones. What is
    /// only stricter (pins, a verifier, lists) does not count.
    fileprivate var partition: String? {
        var parts: [String] = []
        switch roots {
        case .system: break
        case .systemAnd(let sources): parts += ["and"] + sources.map(\.partition)
        case .only(let sources): parts += ["only"] + sources.map(\.partition)
        }
        if certificateRules != .standard { parts.append("\(certificateRules)") }
        if let name = insecureOverride.flatMap({ CookieHolder.object($0).name }) { parts.append(name) }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }
}

extension CertificateSource {
    fileprivate var partition: String {
        switch self {
        case .pem(let bytes), .der(let bytes): Digest128(bytes).text
        case .pemFile(let path): path.partition
        }
    }
}

extension ClientIdentity {
    /// Tells the identity from all others. That of files is the same after its renewal.
    fileprivate var partition: String {
        files.map { "\($0.paths.map(\.partition))" } ?? Digest128(certificateChain).text
    }
}

extension Digest128? {
    fileprivate var text: String { self?.text ?? Hex.encode(padded: SystemRandom.word()) }
}

extension String {
    /// A path. A relative one leads to another file in another process.
    fileprivate var partition: String { hasPrefix("/") ? self : "\(self) \(Self.process)" }

    private static let process = Hex.encode(padded: SystemRandom.word())
}
