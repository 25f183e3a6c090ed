public import DirectCore

/// Whether the server name of a TLS handshake is encrypted (RFC 9849), so that the path to the server sees a
/// public name in its place.
///
/// It needs OpenSSL 4, TLS 1.3, and a configuration of the server: a list that the program has, that a
/// ``StaticMap`` has for the name, or that an HTTPS record has brought.
public enum EncryptedClientHello: Hashable, Sendable {
    /// The name is sent in clear text.
    case off
    /// The name is encrypted if a configuration is known. Otherwise, and if the server has proved under its
    /// public name that it does not want it, the name is sent in clear text.
    case whenAvailable
    /// The name is encrypted, or the request fails before the name is sent.
    case required
    /// The name is encrypted with a configuration of this list, or the request fails before the name is sent.
    case config(ECHConfigList)
    /// The name is sent in clear text, beside an extension that looks like an encrypted one (RFC 9849,
    /// section 6.2). What a server answers to it is ignored.
    case grease

    /// The outcome on a connection.
    public enum Outcome: Hashable, Sendable {
        /// It was not asked for.
        case off
        /// The server has decrypted the inner name, and the path has seen the public one. `afterRejection`
        /// says that it had refused an earlier connection, whose fresh configurations this one has used. The
        /// inner name is `nil` if none was sent.
        case accepted(innerName: String?, publicName: ECHPublicName, afterRejection: Bool)
        /// The server had refused an earlier connection without fresh configurations, under a certificate for
        /// its public name. So the name was sent in clear text.
        case disabledByServer(publicName: ECHPublicName)
        /// The name was sent in clear text, for this reason.
        case notOffered(Obstacle)
        /// An extension without a meaning was sent.
        case greased
    }

    /// The reason why a name cannot be encrypted.
    @nonexhaustive
    public enum Obstacle: Hashable, Sendable {
        /// The package was compiled with an OpenSSL older than 4.
        case libraryTooOld
        /// No configuration of the server is known.
        case noConfig
        /// The settings do not allow TLS 1.3.
        case versionTooOld
        /// The host of the URL is an address, so there is no name to encrypt.
        case hostIsAddress
        /// The URL has the scheme `http`.
        case clearText
    }

    /// The way a server has refused an encrypted client hello.
    @nonexhaustive
    public enum Rejection: Hashable, Sendable {
        /// It has other keys, which it has named under a certificate for its public name.
        case staleConfig(fresh: ECHConfigList)
        /// It has none, and has proved its public name.
        case disabled
        /// It has not proved its public name. OpenSSL ends the handshake before the certificate if the
        /// refusal is in a HelloRetryRequest.
        case unproven
    }

    /// Whether the request must not be sent with its name in clear text.
    package var isDemanded: Bool {
        switch self {
        case .required, .config: true
        case .off, .whenAvailable, .grease: false
        }
    }
}

/// The plan of one handshake for Encrypted Client Hello.
package final class ECHOffer: Sendable {
    /// The list whose configuration is offered; `nil` for none.
    let config: ECHConfigList?
    /// The meaning of a handshake that has succeeded.
    package let outcome: EncryptedClientHello.Outcome

    /// Makes an offer of a configuration.
    package init(_ config: ECHConfigList, innerName: String?, afterRejection: Bool = false) {
        self.config = config
        outcome = .accepted(
            innerName: innerName,
            publicName: config.publicName,
            afterRejection: afterRejection
        )
    }

    /// Offers no configuration.
    package init(_ outcome: EncryptedClientHello.Outcome) {
        config = nil
        self.outcome = outcome
    }
}

extension EncryptedClientHello.Outcome: CustomStringConvertible {
    /// The outcome in words, with the names.
    public var description: String {
        switch self {
        case .off: "off"
        case .accepted(let inner, let name, let afterRejection):
            "accepted for \(inner.map(printable) ?? "no name") under \(name)"
                + (afterRejection ? ", after fresh configurations" : "")
        case .disabledByServer(let name): "disabled by the server, which has proved \(name)"
        case .notOffered(let obstacle): "not offered: \(obstacle)"
        case .greased: "greased"
        }
    }
}

extension EncryptedClientHello.Obstacle: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .libraryTooOld: "OpenSSL is older than 4"
        case .noConfig: "no configuration of the server is known"
        case .versionTooOld: "the settings do not allow TLS 1.3"
        case .hostIsAddress: "the host is an address"
        case .clearText: "the URL is not https"
        }
    }
}

extension EncryptedClientHello.Rejection: CustomStringConvertible {
    /// The refusal in words.
    public var description: String {
        switch self {
        case .staleConfig: "it has other keys"
        case .disabled: "it has no keys"
        case .unproven: "it has not proved its public name"
        }
    }
}
