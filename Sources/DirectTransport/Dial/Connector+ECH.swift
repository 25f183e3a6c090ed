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

    /// Makes an attempt with what the settings say to offer, and the one new attempt after a refusal.
    ///
    /// - Parameter config: The configurations of the server there; `nil` for none. Looked for only if the
    ///   settings ask for them.
    func offering<Arrival, Failure: OfferFailure>(
        _ config: @autoclosure () -> ECHConfigList?,
        attempt: (Connector) async throws(Failure) -> Arrival
    ) async throws(Failure) -> Arrival {
        guard usesECH else { return try await attempt(self) }
        let first: Connector
        do throws(TLSError) {
            first = try offering(config())
        } catch {
            throw Failure(unavailable: error)
        }
        do throws(Failure) {
            return try await attempt(first)
        } catch {
            guard let second = first.afterRejection(error.cause) else { throw error }
            return try await attempt(second)
        }
    }

    /// Returns a copy that offers what the settings say. Throws if they demand what cannot be done.
    private func offering(_ known: ECHConfigList?) throws(TLSError) -> Connector {
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
    /// Returns the configurations of the server at an endpoint: those of the request's own map, then the
    /// client's, then those that have come with the endpoint. A proxy has settings of its own.
    func echConfig(
        for leg: Leg,
        at endpoint: Endpoint,
        of latest: Locked<EndpointSelection>
    ) -> ECHConfigList? {
        guard leg.proxy == nil else { return nil }
        let selection = latest.withLock { $0 }
        let host = leg.destination.host
        return selection.source.author == .request
            ? selection.echConfig?(endpoint) ?? settings.echConfig?(host)
            : settings.echConfig?(host) ?? selection.echConfig?(endpoint)
    }
}

/// The failure of an attempt to which an offer belongs.
protocol OfferFailure: Error {
    var cause: TransportError { get }

    /// The failure of an attempt that is not made.
    init(unavailable error: TLSError)
}

extension AttemptFailure: OfferFailure {
    /// An endpoint without a configuration says nothing about the others.
    init(unavailable error: TLSError) {
        self = .failed(
            .tls,
            reason: .tls(error),
            consequence: error == .encryptedClientHelloUnavailable(.noConfig) ? .tryNext : .stop
        )
    }
}

extension DialFailure: OfferFailure {
    convenience init(unavailable error: TLSError) {
        self.init(cause: .failed(.tls, .tls(error)))
    }
}
