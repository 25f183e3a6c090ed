/// What is fixed for each fault: its exit code, its subject, and its meaning in the manual page.
extension Fault.ID {
    /// The step or the property that a fault is about.
    enum Subject {
        case lookup
        case connection
        case handshake
        /// The names in the certificate.
        case name
        /// The validity of a certificate of the chain.
        case dates
        /// The chain of certificates.
        case chain
        /// The OCSP response that the server sends with the certificate.
        case revocation
        /// The purpose that the certificate was issued for.
        case purpose
        case http
        /// An option that asks for more than an acceptable certificate.
        case expectation
    }

    /// The exit code of a probe whose first fault this is, what it is about, and its meaning.
    var row: (exitCode: Int32, subject: Subject, meaning: String) {
        switch self {
        case .dns: (6, .lookup, "The resolver gave no address.")
        case .refused: (7, .connection, "Nothing listens on the port.")
        case .unreachable: (7, .connection, "The address cannot be reached.")
        case .timeoutTCP: (28, .connection, "No connection before the deadline.")
        case .timeoutTLS: (28, .handshake, "A connection, but no handshake before the deadline.")
        case .sniRefused: (35, .handshake, "The handshake is refused because of the name.")
        case .handshakeRefused: (35, .handshake, "The handshake is refused, whatever the name.")
        case .handshakeBroken: (35, .handshake, "The server violates TLS, or offers what clients refuse.")
        case .reset:
            (35, .handshake, "The server ends the connection during the handshake without an alert.")
        case .notTLS: (35, .handshake, "The server does not use TLS.")
        case .defaultCertificate:
            (60, .name, "The IP does not know the host: it shows its default certificate.")
        case .nameMismatch: (60, .name, "The certificate is not for the host.")
        case .answersVary:
            (60, .name, "Some handshakes with the host's name get the right certificate, and some do not.")
        case .expired: (60, .dates, "The certificate, or one above it, has expired.")
        case .notYetValid: (60, .dates, "The certificate, or one above it, is not valid yet.")
        case .selfSigned: (60, .chain, "The certificate is self-signed.")
        case .unknownIssuer: (60, .chain, "The chain leads to a root that is not trusted.")
        case .intermediateMissing: (60, .chain, "The server left a certificate of the chain out.")
        case .badSignature: (60, .chain, "A signature in the chain is invalid.")
        case .weakCertificate: (60, .chain, "A key or a signature is too weak.")
        case .wrongPurpose: (60, .purpose, "The certificate is not for TLS servers.")
        case .certificateInvalid: (60, .chain, "The chain breaks another rule; the text says which.")
        case .chainSize: (60, .chain, "More than 100 KiB of certificates were sent, which clients refuse.")
        case .keyMismatch: (60, .chain, "The key is not that of the certificate in the file.")
        case .echUnusable:
            (35, .handshake, "With --ech: clients that use Encrypted Client Hello cannot connect.")
        case .helloLost:
            (
                35, .handshake,
                "A ClientHello as long as those of browsers gets no answer, and a short one does."
            )
        case .revoked:
            (
                60, .revocation,
                "The certificate is revoked: the server's own OCSP response says so, or with --revocation its issuer."
            )
        case .stapleMissing:
            (
                60,
                .revocation,
                "The certificate requires an OCSP response, and the server sends none that is valid."
            )
        case .httpBroken: (56, .http, "The response is not HTTP, or is incomplete.")
        case .timeoutHTTP: (28, .http, "No complete response before the deadline.")
        case .httpStatus: (22, .http, "The status is not one of --status.")
        case .tooFewDays:
            (90, .expectation, "The certificate has fewer days left than --critical-days.")
        case .statusEnds:
            (
                90, .expectation,
                "A stapled response, or the issuer's answer, ends within --critical-status-days."
            )
        case .notExpected: (90, .expectation, "The certificate is not the one of --expect.")
        case .strict: (90, .expectation, "With --strict: there is a warning.")
        case .differs: (90, .expectation, "With --same: another certificate than most IPs show.")
        }
    }
}

extension Warning.ID {
    /// The meaning of the warning, in a sentence.
    var meaning: String {
        switch self {
        case .expiresSoon: "The certificate expires soon, or has fewer days left than --warn-days."
        case .otherCertificate: "Another certificate than that of the first IP of the host that passed."
        case .chainOrder: "The chain was sent in the wrong order."
        case .chainSurplus: "Certificates were sent that are not part of the chain."
        case .expiredSent: "A certificate was sent that has expired, and is not needed."
        case .answersVary: "The same handshake gets different answers, none of which is a fault."
        case .echStale: "With --ech: the HTTPS record has old keys, and the server names fresh ones."
        case .echRefused: "With --ech: the server has no keys any more; clients go on without."
        case .helloPieces: "With --long-hello: a ClientHello that comes in pieces gets no answer."
        case .stapleEnds:
            "Less than a quarter of the stapled OCSP response's time is left, or fewer days than --warn-status-days."
        case .revocationEnds: "With --revocation: the same of the issuer's answer."
        case .stapleUnusable:
            "The stapled OCSP response is invalid, out of date, or about another certificate."
        case .stapleRequired: "Of a file: the certificate requires a stapled OCSP response (must-staple)."
        case .redirectsToItself: "The response redirects to the URL that was asked for."
        case .uncleanEnd:
            "The end of the body is marked only by the end of the connection, without close_notify."
        case .revocationUnknown:
            "With --revocation: the issuer does not say whether the certificate is revoked."
        case .notTrustedByAll: "Not every store of --ca trusts the chain; the first one does."
        case .changed: "The result is other than in the file of --baseline."
        }
    }
}
