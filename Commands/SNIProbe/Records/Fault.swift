/// A reason why a probe failed.
struct Fault: Hashable, Sendable {
    /// The names of faults in the manual and in records. They are part of the interface and never change.
    enum ID: String, CaseIterable, Sendable {
        case dns
        case refused
        case unreachable
        case timeoutTCP = "timeout_tcp"
        case timeoutTLS = "timeout_tls"
        case sniRefused = "sni_refused"
        case handshakeRefused = "handshake_refused"
        case handshakeBroken = "handshake_broken"
        case reset
        case notTLS = "not_tls"
        case defaultCertificate = "default_certificate"
        case nameMismatch = "name_mismatch"
        case answersVary = "answers_vary"
        case expired
        case notYetValid = "not_yet_valid"
        case selfSigned = "self_signed"
        case unknownIssuer = "unknown_issuer"
        case intermediateMissing = "intermediate_missing"
        case badSignature = "bad_signature"
        case weakCertificate = "weak_certificate"
        case wrongPurpose = "wrong_purpose"
        case certificateInvalid = "certificate_invalid"
        case chainSize = "chain_size"
        case keyMismatch = "key_mismatch"
        case echUnusable = "ech_unusable"
        case helloLost = "hello_lost"
        case revoked
        case stapleMissing = "staple_missing"
        case httpBroken = "http_broken"
        case timeoutHTTP = "timeout_http"
        case httpStatus = "http_status"
        case tooFewDays = "too_few_days"
        case statusEnds = "status_ends"
        case notExpected = "not_expected"
        case differs
        case strict
    }

    let id: ID
    /// The text in the long form.
    let text: String
    /// The shorter text in a table line.
    let brief: String
    /// The kind of key, if the fault is about a certificate that only clients with another kind of key get.
    var key: String?

    init(_ id: ID, _ text: String, brief: String? = nil) {
        self.id = id
        self.text = text
        self.brief = brief ?? text
    }
}

/// A remark on a probe that passed.
struct Warning: Hashable, Sendable {
    /// The names of warnings in records. They are part of the interface and never change.
    enum ID: String, CaseIterable, Sendable {
        case expiresSoon = "expires_soon"
        case otherCertificate = "other_certificate"
        case chainOrder = "chain_order"
        case chainSurplus = "chain_surplus"
        case expiredSent = "expired_sent"
        case answersVary = "answers_vary"
        case echStale = "ech_stale"
        case echRefused = "ech_refused"
        case helloPieces = "hello_pieces"
        case stapleEnds = "staple_ends"
        case stapleUnusable = "staple_unusable"
        case stapleRequired = "staple_required"
        case redirectsToItself = "redirects_to_itself"
        case uncleanEnd = "unclean_end"
        case changed
        case revocationUnknown = "revocation_unknown"
        case revocationEnds = "revocation_ends"
        case notTrustedByAll = "not_trusted_by_all"
    }

    let id: ID
    let text: String
}
