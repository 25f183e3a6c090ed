internal import CDirectOpenSSL

/// The reason why an OpenSSL call did not complete.
extension TLSStep {
    /// Classifies the result of the last call, and clears this thread's error queue. A failed certificate
    /// check takes precedence over the errors it left in the queue.
    init(
        of ssl: OpaquePointer,
        _ result: Int32,
        _ transport: UnsafeMutablePointer<TransportState>,
        rejection: @autoclosure () -> TLSError?
    ) {
        switch SSL_get_error(ssl, result) {
        // These two are returned only if the queue is empty; from 4.0 on, whatever is in it.
        case SSL_ERROR_WANT_READ: self = transport.pointee.result
        case SSL_ERROR_WANT_WRITE:
            let stop = transport.pointee.stop ?? .wantsWrite
            if case .failed = stop, let rejection = rejection() {
                self = .failed(rejection)
            } else {
                self = stop
            }
        case SSL_ERROR_WANT_RETRY_VERIFY: self = .wantsVerdict
        case SSL_ERROR_ZERO_RETURN:
            ErrorQueue.clear()
            self = .ended(clean: true)
        default: self = Self.protocolFault(ssl, transport, rejection())
        }
    }

    private static func protocolFault(
        _ ssl: OpaquePointer,
        _ transport: UnsafeMutablePointer<TransportState>,
        _ rejection: TLSError?
    ) -> TLSStep {
        let isAboutStaple =
            ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_TLSV1_BAD_CERTIFICATE_STATUS_RESPONSE
        let code = ErrorQueue.drain()
        if let rejection { return .failed(rejection) }
        // From 3.6 on OpenSSL itself reads a staple. If it cannot, the handshake fails with the reason of the
        // alert that the client sends, behind an error of ASN.1. A received alert is the only error.
        if isAboutStaple, ERR_GET_LIB(code) == ERR_LIB_ASN1 {
            return .failed(.staple(.invalid(StapledStatus.unreadable)))
        }
        let reason = ERR_GET_REASON(code)
        let isAlert = (SSL_AD_REASON_OFFSET..<SSL_AD_REASON_OFFSET + 256).contains(reason)
        // OpenSSL reports a received alert as reason 1000 plus the alert's number.
        guard ERR_GET_LIB(code) == ERR_LIB_SSL, isAlert else { return protocolFailure(ssl, transport, code) }
        return .failed(.alertReceived(TLSAlert(number: UInt8(reason - SSL_AD_REASON_OFFSET))))
    }

    private static func protocolFailure(
        _ ssl: OpaquePointer,
        _ transport: UnsafeMutablePointer<TransportState>,
        _ code: UInt
    ) -> TLSStep {
        let isTLS = ERR_GET_LIB(code) == ERR_LIB_SSL
        // OpenSSL's limit on the other messages of a handshake has the same error.
        let isTooLong = isTLS && ERR_GET_REASON(code) == SSL_R_EXCESSIVE_MESSAGE_SIZE
        if transport.pointee.hasTooManyCertificates || isTooLong && SSL_get_state(ssl) == TLS_ST_CR_CERT {
            return .failed(.certificatesTooLarge(limit: certificateLimit(of: ssl)))
        }
        let kind: TLSError.ProtocolFailure =
            switch ERR_GET_REASON(code) {
            // The version in the header of a record is wrong if the bytes are no record.
            case SSL_R_WRONG_VERSION_NUMBER where isTLS: .notTLS
            case SSL_R_UNSUPPORTED_PROTOCOL where isTLS: .noCommonVersion
            default: .other
            }
        return .failed(.protocolFailure(kind, reason: ErrorQueue.reason(of: code), code: code))
    }
}

extension TransportState {
    /// The result when OpenSSL wants input.
    fileprivate var result: TLSStep {
        if hasTooManyMessages { return .failed(.tooManyMessages(limit: Int(Self.mostMessages))) }
        return switch stop {
        // TLS has an end of its own.
        case .ended: .ended(clean: false)
        case let stop?: stop
        // OpenSSL has used input that yielded no data, and has not asked whether there is more.
        case nil: .again
        }
    }
}
