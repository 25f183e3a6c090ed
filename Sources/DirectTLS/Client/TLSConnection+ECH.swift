internal import CDirectOpenSSL
package import DirectCore

/// The names of a client hello.
package struct HelloNames: Sendable {
    /// The server name; `nil` for none.
    let serverName: String?
    /// Whether and how it is encrypted; `nil` if that was not asked for.
    let ech: ECHOffer?

    /// Makes a value of its parts.
    package init(serverName: String?, ech: ECHOffer? = nil) {
        self.serverName = serverName
        self.ech = ech
    }
}

extension EncryptedClientHello {
    /// Whether the library has it.
    package static var isSupported: Bool { DIRECT_HAS_ECH != 0 }
}

/// Encrypted Client Hello (RFC 9849).
///
/// A server that refuses it answers the outer client hello, with a certificate for the public name. OpenSSL
/// then checks that name in place of the identity's, and ends the handshake with the alert `ech_required`
/// after the server's Finished, or its ServerHelloDone. So such a connection never opens, and all that is
/// taken from it is the refusal.
extension TLSConnection {
    /// Offers what the connection was asked to.
    func offerECH(_ offer: ECHOffer) throws(TLSError) {
        if let config = offer.config {
            // OpenSSL's own configuration may have lowered it, and the name must not go out in clear text.
            guard context.highestVersion >= TLS1_3_VERSION else {
                throw .encryptedClientHelloUnavailable(.versionTooOld)
            }
            try encryptHello(with: config)
        } else if offer.outcome == .greased {
            direct_SSL_grease_ech(ssl)
        }
    }

    /// The public name, if the server has refused the client hello that was encrypted; else `nil`. It is
    /// known when the server's certificates are.
    var unansweredPublicName: ECHPublicName? {
        guard let config = ech?.config, direct_SSL_has_accepted_ech(ssl) == 0 else { return nil }
        return config.publicName
    }

    /// Verifies the chain of a server that has refused, for the public name and nothing else: neither pins
    /// nor the settings' override are about it.
    func verify(_ check: OpaquePointer, for name: ECHPublicName) -> ChainOutcome {
        let text = name.description
        let chain = ChainCheck(check, rules: context.settings.certificateRules, expected: text)
        let demand = X509_STORE_CTX_get0_param(check)
        // The identity may be an address, which the certificate for the public name need not have.
        guard X509_VERIFY_PARAM_set1_ip(demand, nil, 0) == 1,
            X509_VERIFY_PARAM_set1_host(demand, text, 0) == 1
        else {
            X509_STORE_CTX_set_error(check, X509_V_ERR_OUT_OF_MEM)
            return .rejected([chain.fault(X509_V_ERR_OUT_OF_MEM)])
        }
        let outcome = verify(chain, naming: text) { ServerIdentity.proves($0, name: text) }
        if case .accepted = outcome { hasProvedPublicName = true }
        return outcome
    }

    /// The error of a handshake that has failed because the server has refused; `nil` if it has failed for
    /// another reason. Called before the error queue is drained.
    var echRejection: TLSError? {
        guard let name = ech?.config?.publicName else { return nil }
        let isRequired = direct_is_ech_required(ERR_peek_last_error()) == 1
        let isProven = hasProvedPublicName && hasSigned
        guard isRequired else { return nil }
        guard isProven else { return .encryptedClientHelloRejected(name, .unproven) }
        do throws(TLSError) {
            try checkStaple()
            return try freshConfig.map { .encryptedClientHelloRejected(name, .staleConfig(fresh: $0)) }
                ?? .encryptedClientHelloRejected(name, .disabled)
        } catch {
            return error
        }
    }

    /// Whether the server has proved to have the certificate's key. In TLS 1.2 it need not have when OpenSSL
    /// gives up: without a key exchange of one use there is no signature.
    private var hasSigned: Bool {
        switch SSL_get_state(ssl) {
        case TLS_ST_CR_FINISHED, TLS_ST_CR_SRVR_DONE: return direct_SSL_has_peer_signature(ssl) == 1
        default: return false
        }
    }

    /// Requires that an offer was accepted: OpenSSL opens no other connection.
    func checkECH() throws(TLSError) {
        guard let name = unansweredPublicName else { return }
        throw .encryptedClientHelloRejected(name, .unproven)
    }
}

extension TLSLayer {
    /// Lets the client hello be encrypted.
    final func encryptHello(with config: ECHConfigList) throws(TLSError) {
        guard direct_SSL_set1_ech_config_list(ssl, config.offered, config.offered.count) == 1 else {
            let reason = ErrorQueue.drainedReason()
            throw .badSettings("configuration of Encrypted Client Hello: \(reason)")
        }
    }

    /// The fresh configurations of a server that has refused; `nil` if there is none that can be used.
    package final var freshConfig: ECHConfigList? {
        get throws(TLSError) {
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            let isList = direct_SSL_ech_get1_retry_config(ssl, &bytes, &count) == 1
            defer { CRYPTO_free(bytes, nil, 0) }
            guard let bytes, isList else { return nil }
            do throws(ECHConfigError) {
                return try ECHConfigList(Array(UnsafeBufferPointer(start: bytes, count: count)))
            } catch {
                if error == .malformed { throw .protocolFailure(.other, reason: "\(error)", code: 0) }
                return nil
            }
        }
    }
}
