internal import CommandKit
internal import TLSFixtures

/// The folder from which servers load their certificates.
struct CertificateFolder: Sendable {
    let path: String

    /// The path of the only root that clients trust.
    var root: String { "\(path)/root.pem" }

    func certificate(_ name: String) throws(FixtureError) -> FixtureCertificate {
        try FixtureCertificate.load(name, from: path)
    }
}

extension ServerSetup {
    /// Returns an ordinary HTTPS server with this certificate.
    static func plain(certificate: String) -> ServerSetup {
        var setup = ServerSetup(name: certificate)
        setup.certificates = [certificate]
        return setup
    }

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - certificate: A certificate to serve instead of its own.
    ///   - slowness: How many times as long as usual its pauses are.
    func start(
        on address: String,
        port: UInt16 = 0,
        certificate: String? = nil,
        slowness: Int = 1,
        from folder: CertificateFolder
    ) throws(FixtureError) -> FixtureServer {
        switch connecting {
        case .refused: return try .refusing(on: address, port: port)
        case .unanswered: return try .unresponsive(on: address, port: port)
        case .accepted: break
        }
        let security = try security(certificate.map { [$0] } ?? certificates, folder: folder)
        return try .start(security, on: address, port: port, behaviour: behaviour(slowness))
    }

    /// Whether its connections end once the client has disconnected, without stopping the server.
    var endsByItself: Bool {
        guard let script else { return true }
        return !script.contains { if case .stall = $0 { true } else { false } }
    }

    /// Whether a client that connects hears nothing for longer than this.
    func isQuiet(for time: Duration) -> Bool {
        guard connecting != .unanswered else { return true }
        let opening = (script ?? []).prefix { if case .awaitHead = $0 { false } else { true } }
        return opening.contains {
            switch $0 {
            case .stall, .awaitClose: true
            case .pause(let pause): pause > time
            default: false
            }
        }
    }

    /// Whether it resets a connection as soon as it is there. Whether the client still sees the connection
    /// first is up to the system's scheduler.
    var resetsAtOnce: Bool {
        if case .reset? = script?.first { true } else { false }
    }

    private func behaviour(_ slowness: Int) -> FixtureBehaviour {
        let steps = script?.map { step -> ByteScript.Step in
            if case .pause(let pause) = step { .pause(pause * slowness) } else { step }
        }
        if let steps { return .bytes(ByteScript(steps)) }
        return .http { request in
            _ = try request.body
            return .text("hello from \(request.serverAddress)").then(.close)
        }
    }

    private func security(
        _ names: [String],
        folder: CertificateFolder
    ) throws(FixtureError) -> FixtureSecurity {
        guard speaksTLS else { return .plain }
        var loaded: [FixtureCertificate] = []
        for name in names { loaded.append(try folder.certificate(name)) }
        var settings = FixtureTLSSettings(certificates: loaded)
        settings.minimumVersion = versions.lowerBound.forServers
        settings.maximumVersion = versions.upperBound.forServers
        settings.unknownName = unknownName
        settings.missingName = missingName
        settings.tickets = tickets
        settings.applicationProtocols = protocols
        settings.forcedApplicationProtocol = forcedProtocol
        settings.refusesUnknownProtocols = refusesOtherProtocols
        if let ciphers { settings.ciphers = ciphers }
        settings.groups = groups
        settings.allowsRenegotiation = allowsRenegotiation
        if let staple { settings.ocspStaple = try folder.bytes(staple) }
        switch clientCertificates {
        case .none: break
        case .requested: settings.clientCertificates = .requested
        case .required: settings.clientCertificates = .required(from: [try folder.certificate("root")])
        }
        return .tls(settings)
    }
}

extension CertificateFolder {
    fileprivate func bytes(_ file: String) throws(FixtureError) -> [UInt8] {
        do throws(Files.Unreadable) {
            return try Files.contents(of: "\(path)/\(file)")
        } catch {
            throw .badFile(path: error.path, why: error.why)
        }
    }
}

extension ProtocolVersion {
    /// The version in the fixtures' type.
    var forServers: FixtureTLSSettings.Version {
        switch self {
        case .tls10: .tls10
        case .tls11: .tls11
        case .tls12: .tls12
        case .tls13: .tls13
        }
    }
}
