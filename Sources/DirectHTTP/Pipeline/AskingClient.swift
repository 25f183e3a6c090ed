internal import DirectCore
internal import DirectTLS
internal import DirectTransport

/// The parts that all askers of a client share.
struct AskingClient: Sendable {
    /// Returns the name of the place of the cookies at present. A store of the program's own is asked each
    /// time: it has another name when its user has changed.
    let cookieHolder: @Sendable () -> String?
    private let certificate: String?
    private let trust: String?
    /// The store of the cookies that requests get; `nil` for none.
    let cookies: (any CookieStore)?
    private let planner: Planner

    init(_ configuration: HTTPClient.Configuration, cookies: (any CookieStore)?, by planner: Planner) {
        self.cookies = cookies
        self.planner = planner
        if let cookies, !(cookies is CookieJar || cookies is any CookieStoreOfHolder) {
            cookieHolder = { cookies.holderName }
        } else {
            cookieHolder = { [name = cookies?.holderName] in name }
        }
        certificate = configuration.tls.clientIdentity.map(\.name)
        trust = configuration.tls.nameOfTrust(systemRoots: TrustRoots.namedPaths)
    }

    /// Returns who asks with a request that has no cookies of a store yet; `nil` where a redirect has led to
    /// a local socket, of which it may see nothing.
    ///
    /// - Parameter cookies: The name of the place of the cookies that it gets.
    func asker(of hop: borrowing HopRequest, at url: HTTPURL, cookies: String?) -> Asker? {
        let (fields, trail) = (planner.fields, hop.trail)
        let isSecure = url.scheme == .https
        let socket = planner.clientSocket(for: hop.request, at: url)
        if socket != nil, trail?.isServersChoice == true { return nil }
        let places = [socket.map { "socket \($0)" }, isSecure ? trust : nil].compactMap(\.self)
        return Asker(
            hop.request.headers,
            own: fields.identifying(trail),
            names: fields.identifyingNames,
            cookies: cookies,
            certificate: isSecure && trail?.isForeign(to: url) != true ? certificate : nil,
            place: places.isEmpty ? nil : places.joined(separator: " ")
        )
    }
}

extension AskerName {
    /// The name of some content; a random one if there is no digest of it.
    fileprivate static func content(_ bytes: [UInt8]) -> String {
        Digest128(bytes)?.text ?? Hex.encode(padded: SystemRandom.word())
    }

    /// The name of a file, which is the same after its renewal. A relative path leads to another file in
    /// another process.
    fileprivate static func file(_ path: String) -> String {
        path.hasPrefix("/") ? path : "\(path) \(process)"
    }

    private static let process = Hex.encode(padded: SystemRandom.word())
}

extension TLSSettings {
    /// Tells settings by which other servers are believed from all others; `nil` for the usual ones. What is
    /// only stricter (pins, a verifier, lists) does not count.
    ///
    /// - Parameter systemRoots: The paths of the system's roots, if they are not the usual ones.
    func nameOfTrust(systemRoots paths: [String]) -> String? {
        let system = paths.map { "system \(AskerName.file($0))" }
        var parts: [String] = []
        switch roots {
        case .system: parts += system
        case .systemAnd(let sources): parts += system + ["and"] + sources.map(\.name)
        case .only(let sources): parts += ["only"] + sources.map(\.name)
        }
        if certificateRules != .standard { parts.append("\(certificateRules)") }
        if let insecureOverride { parts.append(AskerName.object(insecureOverride)) }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }
}

extension CertificateSource {
    fileprivate var name: String {
        switch self {
        case .pem(let bytes), .der(let bytes): AskerName.content(bytes)
        case .pemFile(let path): AskerName.file(path)
        }
    }
}

extension ClientIdentity {
    /// Tells the identity from all others. That of files is the same after its renewal.
    fileprivate var name: String {
        files.map { "\($0.paths.map(AskerName.file))" } ?? AskerName.content(certificateChain)
    }
}
