internal import CDirectOpenSSL
package import DirectCore

/// The offer of a survey to a server, and the keys of certificates that it accepts.
package struct SurveyOffer {
    /// The name in SNI, never an address; `nil` for none.
    package var serverName: String?
    /// Whether `http/1.1` is offered by ALPN.
    var offersHTTP: Bool
    /// The protocols to offer by ALPN instead, best first. Each has 1 to 255 bytes.
    package var protocols: [String] = []
    package var keys = SurveyKeys.all
    /// The only version of TLS; `nil` for those of the context.
    package var version: TLSVersion?
    /// The configuration of Encrypted Client Hello; `nil` for a hello in clear text.
    package var ech: ECHConfigList?

    package init(serverName: String?, offersHTTP: Bool = false) {
        (self.serverName, self.offersHTTP) = (serverName, offersHTTP)
    }
}

/// A TLS connection that accepts any certificate, and records the certificates.
///
/// For examining servers, never for secrets: code that sends data here must have judged the certificates
/// itself.
package final class SurveyConnection: TLSLayer, @unchecked Sendable {
    private let context: SurveyContext
    /// Whether the server sent a CertificateRequest message. Set by OpenSSL's callback, within `handshake`.
    package var hasReceivedCertificateRequest = false

    /// Whether the server asked to renegotiate, which was refused. Set by OpenSSL's callback, within a read.
    package var hasRefusedRenegotiation = false

    /// Prepares a connection. No bytes are sent yet.
    package init(
        context: SurveyContext,
        offering offer: SurveyOffer,
        transport: any TLSTransport
    ) throws(TLSError) {
        self.context = context
        try super.init(context: context.raw, transport: transport)
        if let serverName = offer.serverName, direct_SSL_set_tlsext_host_name(ssl, serverName) != 1 {
            throw .uncheckableHost("cannot be sent: \(printable(serverName))")
        }
        // Zero means success here, unlike in other functions.
        let chosen = offer.protocols.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
        let offered = chosen.isEmpty && offer.offersHTTP ? offeredProtocols : chosen
        if !offered.isEmpty, SSL_set_alpn_protos(ssl, offered, UInt32(offered.count)) != 0 {
            throw .badSettings("ALPN: \(ErrorQueue.drainedReason())")
        }
        if let list = offer.keys.signatureAlgorithms, direct_SSL_set1_sigalgs_list(ssl, list) != 1 {
            throw .badSettings("signature algorithms: \(ErrorQueue.drainedReason())")
        }
        for bound in [SSL_CTRL_SET_MIN_PROTO_VERSION, SSL_CTRL_SET_MAX_PROTO_VERSION] {
            if let version = offer.version { SSL_ctrl(ssl, bound, Int(version.rawValue), nil) }
        }
        if let ech = offer.ech { try encryptHello(with: ech) }
        // Makes servers that have one send an OCSP staple (RFC 6066, section 8).
        SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_STATUS_REQ_TYPE, Int(TLSEXT_STATUSTYPE_ocsp), nil)
    }

    /// The negotiated parameters. Only valid after the handshake.
    package var facts: SurveyFacts {
        SurveyFacts(
            version: SSL_get_version(ssl).map { String(cString: $0) } ?? "",
            cipher: cipher,
            group: group,
            alpn: chosenProtocol,
            staple: staple,
            requestsClientCertificate: hasReceivedCertificateRequest
        )
    }

    /// The authorities of which the server wants a client certificate, the first 20 of them; none if it
    /// leaves the choice to the client (RFC 8446, section 4.2.4). Known even if the handshake has failed.
    package var clientAuthorities: (names: [String], count: Int) {
        guard let names = SSL_get0_peer_CA_list(ssl) else { return ([], 0) }
        let count = OPENSSL_sk_num(names)
        let shown = (0..<max(0, min(count, 20))).map { index in
            CertificateReader.text(OPENSSL_sk_value(names, index).map { OpaquePointer($0) })
        }
        return (shown, Int(count))
    }

    /// The certificates that the server sent, its own first; `nil` if there are none.
    package var served: ServedChain? {
        ServedChain(SSL_get_peer_cert_chain(ssl), context: context)
    }

    /// The OCSP response in DER that the server stapled to its certificate; `nil` if there is none.
    private var staple: [UInt8]? {
        // Borrowed: the bytes belong to OpenSSL.
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = SSL_ctrl(ssl, SSL_CTRL_GET_TLSEXT_STATUS_REQ_OCSP_RESP, 0, &bytes)
        guard count > 0, let bytes else { return nil }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}

/// The kinds of keys that a survey accepts in the server's certificate. A server with several certificates
/// chooses by the signature algorithms that the client offers (RFC 8446, section 4.2.3).
package enum SurveyKeys: Sendable {
    case all
    /// ECDSA keys.
    case ec
    /// RSA keys.
    case rsa

    /// The algorithms in OpenSSL's syntax; `nil` for the default list.
    fileprivate var signatureAlgorithms: String? {
        switch self {
        case .all: nil
        case .ec: "ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512"
        case .rsa: "RSA-PSS+SHA256:RSA-PSS+SHA384:RSA-PSS+SHA512:RSA+SHA256:RSA+SHA384:RSA+SHA512"
        }
    }
}

/// The parameters that a survey's handshake negotiated.
package struct SurveyFacts: Equatable, Sendable {
    /// The version as OpenSSL writes it, such as `TLSv1.3`.
    package let version: String
    /// The cipher suite's IANA name.
    package let cipher: String
    /// The group of the key exchange; `nil` if OpenSSL does not report one.
    package let group: String?
    /// The protocol that the server chose by ALPN; `nil` if it chose none.
    package let alpn: String?
    /// The OCSP response in DER that the server stapled; `nil` if it stapled none.
    package let staple: [UInt8]?
    /// Whether the server requested a client certificate.
    package let requestsClientCertificate: Bool
}
