internal import DirectCore
internal import DirectTLS

/// Connects to one address.
typealias Connect = @Sendable (Endpoint) async throws(AttemptFailure) -> EstablishedTransport

/// Encrypted Client Hello (RFC 9849): what a connection offers, and the one new attempt after a refusal.
///
/// A refused handshake ends before any byte of a request, so the new attempt is one of dialling: it is made
/// at the same address, within the same limits, and over a new tunnel if there is a proxy. It is made with
/// fresh configurations that the server has named under its public name. If it has none, it is made in clear
/// text, unless the settings demand encryption. A second refusal is final.
extension Connector {
    /// Whether the server name is to be encrypted, or to look like it.
    var usesECH: Bool { profile.ech != .off }

    /// Returns a function that connects as the settings say.
    ///
    /// - Parameters:
    ///   - configs: Returns the configurations of the server at an endpoint; `nil` for none. Looked for only
    ///     if the settings ask for them.
    ///   - connect: Returns the function that connects with a connector's offer.
    func encrypting(
        with configs: @autoclosure () -> @Sendable (Endpoint) -> ECHConfigList?,
        _ connect: @escaping @Sendable (Connector) -> Connect
    ) -> Connect {
        guard usesECH else { return connect(self) }
        let configs = configs()
        return { endpoint throws(AttemptFailure) in
            let first: Connector
            do throws(TLSError) {
                first = try offering(configs(endpoint))
            } catch {
                throw AttemptFailure(unavailable: error)
            }
            do throws(AttemptFailure) {
                return try await connect(first)(endpoint)
            } catch {
                guard let second = first.afterRejection(error.cause) else { throw error }
                return try await connect(second)(endpoint)
            }
        }
    }

    /// Connects to a proxy, which has settings of its own.
    var connectToProxy: Connect {
        encrypting(with: { _ in nil }) { connector in
            { endpoint throws(AttemptFailure) in try await connector.connect(to: endpoint) }
        }
    }

    /// Returns a copy that offers what the settings say. Throws if they demand what cannot be done.
    func offering(_ known: ECHConfigList?) throws(TLSError) -> Connector {
        var connector = self
        let config = if case .config(let own) = profile.ech { own } else { known }
        if let obstacle = obstacle(config) {
            guard !profile.ech.isDemanded else { throw .encryptedClientHelloUnavailable(obstacle) }
            connector.ech = ECHOffer(.notOffered(obstacle))
        } else if profile.ech == .grease {
            connector.ech = ECHOffer(.greased)
        } else {
            connector.ech = config.map { ECHOffer($0, innerName: serverName) }
        }
        return connector
    }

    /// Returns a copy for the one new attempt after the server (not a proxy) has refused; `nil` for none.
    func afterRejection(_ cause: TransportError) -> Connector? {
        guard case .failed(.tls, .tls(.encryptedClientHelloRejected(let name, let rejection))) = cause,
            case .accepted(_, _, afterRejection: false) = ech?.outcome
        else { return nil }
        var connector = self
        switch rejection {
        case .staleConfig(let fresh):
            connector.ech = ECHOffer(fresh, innerName: serverName, afterRejection: true)
        case .disabled where profile.ech == .whenAvailable:
            connector.ech = ECHOffer(.disabledByServer(publicName: name))
        default: return nil
        }
        return connector
    }

    /// Returns what stands in the way, before anything is dialled; `nil` if nothing does.
    private func obstacle(_ config: ECHConfigList?) -> EncryptedClientHello.Obstacle? {
        if !destination.isSecure { return .clearText }
        if !EncryptedClientHello.isSupported { return .libraryTooOld }
        if !profile.allowsTLS13 { return .versionTooOld }
        guard profile.ech != .grease else { return nil }
        if destination.host.name == nil { return .hostIsAddress }
        return config == nil ? .noConfig : nil
    }

    /// The server name that is sent, in whichever client hello; `nil` for none.
    var serverName: String? { profile.identity.map(\.sentName) ?? destination.host.name?.text }
}

extension Dialler {
    /// Returns the function that finds the configurations of the server at an endpoint: those of the
    /// request's own map, then the client's, then those that have come with the endpoint.
    func echConfigs(
        of latest: Locked<EndpointSelection>,
        for host: HTTPHost
    ) -> @Sendable (Endpoint) -> ECHConfigList? {
        let own = settings.echConfig
        return { endpoint in
            let selection = latest.withLock { $0 }
            return selection.source.author == .request
                ? selection.echConfig?(endpoint) ?? own?(host)
                : own?(host) ?? selection.echConfig?(endpoint)
        }
    }
}

extension AttemptFailure {
    /// The failure of an attempt that is not made. An endpoint without a configuration says nothing about the
    /// others.
    fileprivate init(unavailable error: TLSError) {
        self = .failed(
            .tls,
            reason: .tls(error),
            consequence: error == .encryptedClientHelloUnavailable(.noConfig) ? .tryNext : .stop
        )
    }
}
